"""The errors of decisions about changes, and the record of refusals in the audit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from bot.changes.model.change import Change
from bot.policy.model import Why
from bot.store.audit import Event


class ChangeError(Exception):
    """Something can't be done with *change*, given as it now stands."""

    def __init__(self, change: Change) -> None:
        super().__init__(f"{change.id[:8]} is {change.state}")
        self.change = change


class AlreadyDecided(ChangeError):
    """The change was decided by somebody else first, or it expired."""


class AlreadyRequested(ChangeError):
    """The same change was requested before: it waits for a decision or its start, or is under way or done since."""


class NotYours(ChangeError):
    """The decision belongs to somebody else."""


class PolicyTightened(ChangeError):
    """The policy now requires more than when the change was requested, and more than this decision."""


class LookFirst(ChangeError):
    """The person who decides has not seen all of the change, and its card doesn't show all of it."""


class ApprovalWaits(ChangeError):
    """The last approval counts, but *user*, who requested or approved before, has lost their right, for *why*."""

    def __init__(self, change: Change, user: str, why: Why) -> None:
        super().__init__(change)
        self.user = user
        self.why = why


class MoreMustAgree(ChangeError):
    """Several people had to approve the change, so nobody gives it another end alone."""


class NotUndoable(ChangeError):
    """The change was not applied, or was undone already."""


class OldEmailGone(NotUndoable):
    """The change gave a member a new email, and the one before is gone: its undo would leave them with neither."""


class NothingComesBack(NotUndoable):
    """What the change took away was there for a time only, which is over: its undo would bring back nothing that may stay."""


class NotTemporary(ChangeError):
    """The change is not temporary, or was reverted already."""


class Unrecorded(ChangeError):
    """Our database failed after the change was approved: it may have been sent, and will be taken over."""


class UnknownChange(Exception):
    """No change has this id."""


@dataclass(eq=False)
class TimeIsPast(Exception):
    """The requested start or end is past, or passed before the change could be applied; *time*: as it was typed."""

    time: str


class EndsBeforeStart(Exception):
    """The requested change would end before it begins."""


class NotPlanned(ChangeError):
    """The change is not, or no longer, planned."""


@dataclass(eq=False)
class TooManyRequests(Exception):
    """The limit of waiting requests of the person is reached: *count* wait for a decision."""

    count: int


RECORDED_AGAIN_AFTER: Final = timedelta(minutes=1)


@dataclass(slots=True)
class Refusals:
    """Records refusals in the audit, of one person and operation at most one a minute."""

    note: Callable[[Event], Awaitable[None]]
    now: Callable[[], datetime]
    _recorded: dict[tuple[str, str], datetime] = field(default_factory=dict)
    """(person, operation) -> when its last refusal was recorded, of those of the last minute."""

    async def add(self, operation: str, by: str, channel: str, why: str) -> None:
        """Record a refusal, unless the same was recorded within the last minute; raises StoreError."""
        now = self.now()
        # Entries of a future, from before the clock was set back, count as old ones.
        recent = {key: at for key, at in self._recorded.items() if timedelta(0) <= now - at < RECORDED_AGAIN_AFTER}
        if (by, operation) in recent:
            return
        # Set before anything is awaited, or another refusal at the same time would be recorded, too.
        self._recorded = recent | {(by, operation): now}
        await self.note(Event("refused", by, channel, target=operation, detail={"why": why}))
