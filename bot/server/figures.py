"""Metrics that are measured rather than counted: backlogs and their age, readiness, and the lag of the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import structlog

from bot import metrics
from bot.health import Health, health_of
from bot.store.db import StoreError
from bot.store.engine import Store

log = structlog.get_logger(__name__)

TIMEOUT: Final = 5.0
"""Seconds that the database has to answer; Prometheus waits for ten."""


async def measure(
    store: Store,
    readiness: Callable[[], Awaitable[Mapping[str, Health]]],
    policy_trouble: Callable[[], str | None],
) -> None:
    """Set the metrics that are read on a scrape; a metric that can't be read now has no value."""
    metrics.POLICY_BROKEN.set(policy_trouble() is not None)
    unread = health_of("not read")
    parts: Mapping[str, Health] = {"store": unread}
    backlogs: Mapping[str, tuple[int, float]] = {}
    try:
        async with asyncio.timeout(TIMEOUT):
            parts = await readiness()
            backlogs = await _read_backlogs(store)
    except (StoreError, TimeoutError) as error:
        log.warning("backlogs_not_read", error=type(error).__name__)
        # A database that was ready, and then did not answer, is not ready.
        if parts["store"].is_ready:
            parts = {**parts, "store": unread}
    # Cleared first: what could not be read must not keep its last value.
    for gauge in (metrics.READY, metrics.BACKLOG, metrics.OLDEST):
        gauge.clear()
    for name, part in parts.items():
        metrics.READY.labels(name).set(part.is_ready)
    for what, (count, seconds) in backlogs.items():
        metrics.BACKLOG.labels(what).set(count)
        metrics.OLDEST.labels(what).set(seconds)


async def _read_backlogs(store: Store) -> dict[str, tuple[int, float]]:
    """Return the size of each backlog, and the age of its oldest entry in seconds; raises StoreError."""
    return {
        **await store.changes.backlogs(),
        **await store.outbox.backlogs(),
        "request": await store.inbox.backlog(),
    }


async def watch_loop(*, every: float = 1.0) -> None:
    """Measure the lag of the event loop, until cancelled. *every*: seconds between two measurements."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + every
        await asyncio.sleep(every)
        metrics.LOOP_LAG.observe(max(0.0, loop.time() - due))
