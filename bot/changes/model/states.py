"""The states of a change."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class State(StrEnum):
    PROPOSED = "proposed"
    PLANNED = "planned"
    """Decided, and waiting for its start."""
    APPROVED = "approved"
    APPLYING = "applying"
    APPLIED = "applied"
    FAILED = "failed"
    UNKNOWN = "unknown"
    STALE = "stale"
    CANCELLED = "cancelled"
    DENIED = "denied"
    EXPIRED = "expired"
    UNSETTLED = "unsettled"


HOLDING: Final = frozenset({State.APPROVED, State.APPLYING, State.UNKNOWN})
"""States in which a change holds its target: a second change of the same target is refused. A request that waits for a
decision or for its time holds nothing, or anybody could block a target for everybody else by requesting something."""

IN_EFFECT: Final = frozenset({State.APPLIED, State.UNSETTLED})
"""States of a change that took effect, as far as is known."""

LIVE: Final = HOLDING | {State.PROPOSED, State.PLANNED}
"""States of a change that has not ended."""
