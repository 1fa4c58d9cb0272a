"""The moves of a change: each is a class that says where it starts and ends, what it writes, and what follows from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import ClassVar, Final

from bot.changes.model.change import Change
from bot.changes.model.documents import Document
from bot.changes.model.parts import Frozen, Guard, Held, LostRight, Refused
from bot.changes.model.states import State

GATEHOUSE: Final = "gatehouse"
"""The actor of what nobody asked for at that moment."""


@dataclass(frozen=True, kw_only=True)
class Move:
    """A move of a change, made by *by*: the only way into another state."""

    by: str = GATEHOUSE

    starts: ClassVar[frozenset[State]]
    to: ClassVar[State]
    event: ClassVar[str]
    """Its name in the audit."""
    notice: ClassVar[str] = ""
    """The purpose of the direct message that tells the requester, if they waited for somebody else."""
    begins: ClassVar[bool] = False
    """The change is executed after it, so it holds its target from then on."""
    stops_items: ClassVar[bool] = False
    """It ends a bulk change before any of its items was begun."""

    def apply(self, change: Change, at: datetime) -> Change:
        """Return *change* after this move, made at the time *at*."""
        raise NotImplementedError


# People decide


@dataclass(frozen=True, kw_only=True)
class _Decide(Move):
    reason: str = ""

    def apply(self, change: Change, at: datetime) -> Change:
        decision = replace(change.decision, decided_by=self.by, decided_at=at, decision_reason=self.reason)
        return replace(change, state=self.to, decision=decision)


@dataclass(frozen=True, kw_only=True)
class Approve(_Decide):
    starts, to = frozenset({State.PROPOSED}), State.APPROVED
    event, notice, begins = "approved", "notify-approved", True

    glass_broken: bool = False

    def apply(self, change: Change, at: datetime) -> Change:
        is_counted = change.decision.guard is Guard.APPROVE and not self.glass_broken
        made = super().apply(change.with_approval(self.by, at) if is_counted else change, at)
        decision = replace(made.decision, glass_broken=self.glass_broken)
        return replace(made, decision=decision, run=replace(made.run, attempt=0))


class Plan(Approve):
    """It is approved for its time."""

    to, event, begins = State.PLANNED, "planned", False


class Cancel(_Decide):
    starts, to = frozenset({State.PROPOSED}), State.CANCELLED
    event, notice, stops_items = "cancelled", "notify-denied", True


class Withdraw(_Decide):
    """What was approved and waits for its time or its service is no longer wanted."""

    starts, to = frozenset({State.PLANNED, State.APPROVED}), State.CANCELLED
    event, notice, stops_items = "withdrawn", "notify-denied", True


class Deny(_Decide):
    starts, to = frozenset({State.PROPOSED}), State.DENIED
    event, notice, stops_items = "denied", "notify-denied", True


class Start(Move):
    """The time of a planned change has come, or somebody says so."""

    starts, to = frozenset({State.PLANNED}), State.APPROVED
    event, begins = "started", True

    def apply(self, change: Change, at: datetime) -> Change:
        run = replace(change.run, started_at=at, held=Held.NOT, attempt=0)
        run = run if self.by == GATEHOUSE else replace(run, time_changed_by=self.by)
        return replace(change, state=self.to, run=run)


@dataclass(frozen=True, kw_only=True)
class Replan(Move):
    """A planned change is to be approved for another time: nobody has approved that yet."""

    starts, to = frozenset({State.PLANNED}), State.PROPOSED
    event = "replanned"

    starts_at: datetime | None
    as_typed: str
    expires: datetime

    def apply(self, change: Change, at: datetime) -> Change:  # noqa: ARG002  all moves have one shape
        made = put_off(change, self.starts_at, self.as_typed, self.by)
        undecided = replace(made.decision, approvals=(), decided_by=None, decided_at=None, decision_reason="")
        return replace(made, state=self.to, decision=replace(undecided, glass_broken=False, expires=self.expires))


def put_off(change: Change, starts_at: datetime | None, as_typed: str, by: str) -> Change:
    """Return a planned *change* with another start, which *by* gave it; it is no longer held."""
    request = replace(change.request, starts_at=starts_at, starts_at_as_typed=as_typed)
    return replace(change, request=request, run=replace(change.run, held=Held.NOT, held_at=None, time_changed_by=by))


# A change ends


@dataclass(frozen=True, kw_only=True)
class _End(Move):
    live: Document | None = None
    """The target as it was last seen."""
    why: Refused | LostRight | Frozen | None = None
    """None leaves what is on record of it."""

    def apply(self, change: Change, at: datetime) -> Change:
        run = replace(change.run, finished_at=at, result=self.live)
        if self.why is not None:
            run = replace(run, why_not=self.why)
        return replace(change, state=self.to, run=run)


def ending_after(change: Change, since: datetime) -> Change:
    """Return *change* with its end: “for two hours” counts from *since*, not from when it was requested."""
    if (seconds := change.request.revert_after) is None:
        return change
    return replace(change, request=replace(change.request, reverts_at=since + timedelta(seconds=seconds)))


class Expire(_End):
    starts, to = frozenset({State.PROPOSED, State.PLANNED, State.APPROVED}), State.EXPIRED
    event, notice, stops_items = "expired", "notify-expired", True


@dataclass(frozen=True, kw_only=True)
class Invalidate(_End):
    """Its target is no longer as it was shown. *overtaken_by*: who changed it, where that was done with Gatehouse."""

    starts, to = frozenset({State.PROPOSED, State.PLANNED, State.APPLYING}), State.STALE
    event, notice, stops_items = "stale", "notify-failed", True

    overtaken_by: str = ""

    def apply(self, change: Change, at: datetime) -> Change:
        made = super().apply(change, at)
        return replace(made, run=replace(made.run, overtaken_by=self.overtaken_by))


class Fail(_End):
    starts, to = frozenset({State.APPLYING, State.UNKNOWN}), State.FAILED
    event, notice = "failed", "notify-failed"


class GiveUp(_End):
    """Reconciling did not show whether it was done."""

    starts, to = frozenset({State.UNKNOWN}), State.UNSETTLED
    event, notice = "unsettled", "notify-failed"

    def apply(self, change: Change, at: datetime) -> Change:
        # It may have been there since its outcome became unknown.
        return ending_after(super().apply(change, at), change.run.finished_at or at)


@dataclass(frozen=True, kw_only=True)
class _Sent(_End):
    key: str | None = None
    """The key of what it created; None leaves the target as it is."""

    def apply(self, change: Change, at: datetime) -> Change:
        made = super().apply(change, at)
        return made if self.key is None else made.with_target(made.edit.target.with_key(self.key))


class Finish(_Sent):
    starts, to = frozenset({State.APPLYING, State.UNKNOWN}), State.APPLIED
    event = "applied"

    def apply(self, change: Change, at: datetime) -> Change:
        return ending_after(super().apply(change, at), at)


@dataclass(frozen=True, kw_only=True)
class MarkUnknown(_Sent):
    """It may have been done or not, so it is reconciled."""

    starts, to, event = frozenset({State.APPLYING}), State.UNKNOWN, "unknown"

    accepted: bool = False
    """The service returned success."""

    def apply(self, change: Change, at: datetime) -> Change:
        made = super().apply(change, at)
        return replace(made, run=replace(made.run, accepted=self.accepted))


# A process executes a change


@dataclass(frozen=True, kw_only=True)
class Claim(Move):
    """A process takes it for the time of *lease*; what was begun already stays in its state."""

    starts, to, event = frozenset({State.APPROVED}), State.APPLYING, "applying"

    lease: timedelta

    def apply(self, change: Change, at: datetime) -> Change:
        run = change.run
        run = replace(run, attempt=run.attempt + 1, token=run.token + 1, leased_until=at + self.lease)
        return replace(change, state=self.to if change.state in self.starts else change.state, run=run)


@dataclass(frozen=True, kw_only=True)
class Defer(Move):
    """Nothing was sent, since its service is away or Slack doesn't answer: it is tried again at *due*."""

    starts, to, event = frozenset({State.APPLYING}), State.APPROVED, "deferred"

    waits: str
    due: datetime

    def apply(self, change: Change, at: datetime) -> Change:  # noqa: ARG002  all moves have one shape
        return replace(change, state=self.to, run=replace(change.run, waits=self.waits, attempt=0))


Ended = tuple[Change, Move]
"""A change that the caller executes, as it was before, and the move that it makes."""
