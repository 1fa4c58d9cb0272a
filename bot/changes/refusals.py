"""The errors of decisions about changes, and the record of refusals in the audit, at most two entries a minute per person."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import structlog

from bot.changes.model.change import Change
from bot.policy.model import Why
from bot.store.audit import Event
from bot.store.db import StoreError


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
    """The vote for another end counts, but only *given* of the *needed* people have agreed."""

    def __init__(self, change: Change, given: int, needed: int) -> None:
        super().__init__(change)
        self.given = given
        self.needed = needed


class NotUndoable(ChangeError):
    """The change was not applied, or was undone already."""


class NotTemporary(ChangeError):
    """The change is not temporary, or was reverted already."""


class AlreadyExtended(ChangeError):
    """The end of a temporary change was moved after the card with the button was drawn."""


class NothingToReview(ChangeError):
    """No review of the change is due."""


class TooManyQuestions(ChangeError):
    """The change has as many questions as a request may have."""


class Unrecorded(ChangeError):
    """Our database failed after the change was approved: it may have been sent, and will be taken over."""


class UnknownChange(Exception):
    """No change has this id."""


class EndIsPast(Exception):
    """The requested end is past, or passed before the change could be applied; *end*: as it was typed."""

    def __init__(self, end: str) -> None:
        super().__init__(end)
        self.end = end


class StartIsPast(Exception):
    """The requested start is past; *start*: as it was typed."""

    def __init__(self, start: str) -> None:
        super().__init__(start)
        self.start = start


class EndsBeforeStart(Exception):
    """The requested change would end before it begins."""


class NotPlanned(ChangeError):
    """The change is not, or no longer, planned."""


class TooManyRequests(Exception):
    """The limit of waiting requests, of the person or in the *channel*, is reached: *count* wait for a decision."""

    def __init__(self, count: int, *, channel: bool) -> None:
        super().__init__(count)
        self.count = count
        self.channel = channel


log = structlog.get_logger(__name__)

COUNTED_FOR: Final = timedelta(minutes=1)


@dataclass(slots=True)
class _Minute:
    begun: datetime
    more: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """(operation, channel, why) -> how often since the first."""


@dataclass(slots=True)
class Refusals:
    """Records refusals in the audit, without letting one person fill it: each entry locks the head of the audit.

    The first refusal of a person is recorded at once, those of the minute after it as one entry with their count. Refusals
    that are only counted so far are lost where the process is killed; the first one never is.
    """

    note: Callable[[Event], Awaitable[None]]
    now: Callable[[], datetime]
    _minutes: dict[str, _Minute] = field(default_factory=dict)

    async def add(self, operation: str, by: str, channel: str, why: str) -> None:
        """Record a refusal, or count it; raises StoreError."""
        minute, now = self._minutes.get(by), self.now()
        if minute is not None and not self._is_over(minute):
            minute.more[operation, channel, why] += 1
            return
        # Set before anything is awaited, or another refusal at the same time would begin a minute of its own.
        self._minutes[by] = _Minute(now)
        if minute is not None:
            await self._record(by, minute)
        await self.note(Event("refused", by, channel, target=operation, detail={"why": why}))

    def _is_over(self, minute: _Minute) -> bool:
        return not timedelta(0) <= self.now() - minute.begun < COUNTED_FOR

    async def _record(self, by: str, minute: _Minute) -> None:
        """Record what was counted for *by* as one event, under what was refused most often."""
        if not minute.more:
            return
        (operation, channel, why), _ = minute.more.most_common(1)[0]
        operations = sorted({each[0] for each in minute.more})
        detail = {"why": why, "count": minute.more.total(), "operations": operations}
        await self.note(Event("refused", by, channel, target=operation, detail=detail))

    async def flush(self, *, everything: bool = True) -> None:
        """Record what was counted, of all minutes, or with *everything* false of those that are over."""
        for by in [by for by, minute in self._minutes.items() if everything or self._is_over(minute)]:
            # Gone where another flush took it while this one waited for the database.
            if (minute := self._minutes.pop(by, None)) is None:
                continue
            try:
                await self._record(by, minute)
            except StoreError as error:
                log.warning("refusals_not_recorded", error=str(error), user=by, count=minute.more.total())

    async def run(self, *, every: float) -> None:
        """Record the refusals of each minute that is over, until cancelled; look every so many seconds."""
        while True:
            await asyncio.sleep(every)
            await self.flush(everything=False)
