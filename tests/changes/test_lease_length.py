"""How long a process may hold a change before another takes it over."""

from __future__ import annotations

from datetime import timedelta

from bot.changes.journal import LEASE
from bot.changes.worker import CALLS_PER_LEASE, lease_for
from bot.settings import Settings


def test_a_lease_outlasts_the_calls_of_a_change_with_every_timeout_that_is_allowed() -> None:
    (most,) = (limit.le for limit in Settings.model_fields["service_timeout"].metadata if hasattr(limit, "le"))

    for timeout in (0.1, 15.0, 15.1, most):
        assert lease_for(timeout) >= max(LEASE, timedelta(seconds=CALLS_PER_LEASE * timeout))
