"""The states of a change, and the moves that lead from one to another."""

from __future__ import annotations

from collections.abc import Mapping
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


class Move(StrEnum):
    APPROVE = "approve"
    PLAN = "plan"
    START = "start"
    REPLAN = "replan"
    CANCEL = "cancel"
    DENY = "deny"
    EXPIRE = "expire"
    INVALIDATE = "invalidate"
    CLAIM = "claim"
    FINISH = "finish"
    FAIL = "fail"
    MARK_UNKNOWN = "mark_unknown"
    DEFER = "defer"
    WITHDRAW = "withdraw"
    GIVE_UP = "give_up"


MOVES: Final[Mapping[tuple[State, Move], State]] = {
    (State.PROPOSED, Move.APPROVE): State.APPROVED,
    (State.PROPOSED, Move.PLAN): State.PLANNED,
    (State.PROPOSED, Move.CANCEL): State.CANCELLED,
    (State.PROPOSED, Move.DENY): State.DENIED,
    (State.PROPOSED, Move.EXPIRE): State.EXPIRED,
    (State.PROPOSED, Move.INVALIDATE): State.STALE,
    (State.PLANNED, Move.START): State.APPROVED,
    (State.PLANNED, Move.REPLAN): State.PROPOSED,
    (State.PLANNED, Move.WITHDRAW): State.CANCELLED,
    (State.PLANNED, Move.EXPIRE): State.EXPIRED,
    (State.PLANNED, Move.INVALIDATE): State.STALE,
    (State.APPROVED, Move.CLAIM): State.APPLYING,
    (State.APPROVED, Move.EXPIRE): State.EXPIRED,
    (State.APPROVED, Move.WITHDRAW): State.CANCELLED,
    (State.APPLYING, Move.INVALIDATE): State.STALE,
    (State.APPLYING, Move.FINISH): State.APPLIED,
    (State.APPLYING, Move.FAIL): State.FAILED,
    (State.APPLYING, Move.MARK_UNKNOWN): State.UNKNOWN,
    (State.APPLYING, Move.DEFER): State.APPROVED,
    (State.UNKNOWN, Move.FINISH): State.APPLIED,
    (State.UNKNOWN, Move.FAIL): State.FAILED,
    (State.UNKNOWN, Move.GIVE_UP): State.UNSETTLED,
}
"""PLAN: it is approved for its time. START: its time has come. REPLAN: it is to be approved for another time. WITHDRAW: what
was approved and waits for its time or its service is no longer wanted. DEFER: nothing was sent, since the service
is away, so it is tried again. MARK_UNKNOWN: it may have been done or not, so it is reconciled. GIVE_UP: reconciling
did not show whether it was done."""


HOLDING: Final = frozenset({State.APPROVED, State.APPLYING, State.UNKNOWN})
"""States in which a change holds its target: a second change of the same target is refused. A request that waits for a
decision or for its time holds nothing, or anybody could block a target for everybody else by requesting something."""

LIVE: Final = HOLDING | {State.PROPOSED, State.PLANNED}
"""States of a change that has not ended."""


def sources(move: Move) -> frozenset[State]:
    """Return the states that *move* may start from."""
    return frozenset(state for state, made in MOVES if made is move)
