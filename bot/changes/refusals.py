"""Why a change can't be decided about, undone or extended; and refusals on record, those of one minute as one entry."""

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
    """Something cannot be done with *change*, which is how it now stands."""

    def __init__(self, change: Change) -> None:
        super().__init__(f"{change.id[:8]} is {change.state}")
        self.change = change


class AlreadyDecided(ChangeError):
    """The change was decided by somebody else first, or it expired."""


class AlreadyRequested(ChangeError):
    """The same was requested before, and waits for a decision."""


class NotYours(ChangeError):
    """The decision belongs to somebody else."""


class PolicyTightened(ChangeError):
    """The policy asks for more than when the change was asked for, and for more than this decision."""


class LookFirst(ChangeError):
    """Somebody decides about a change whose card doesn't show all of it, and has not seen the rest."""


class ApprovalWaits(ChangeError):
    """The approval was the last one that was needed, and counts; but *user*, who asked or approved before, may not any more."""

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


class NothingToReview(ChangeError):
    """No review of the change is due."""


class TooManyQuestions(ChangeError):
    """All the questions that a request takes were asked about the change."""


class Unrecorded(ChangeError):
    """Our database failed after the change was let through: it may have been sent, and is taken up again."""


class UnknownChange(Exception):
    """No change has this id."""


class EndIsPast(Exception):
    """A request for a change until a time, *end*, that is past, or came before the request could be done."""

    def __init__(self, end: str) -> None:
        super().__init__(end)
        self.end = end


class StartIsPast(Exception):
    """A request for a change from a time on, *start*, that is past."""

    def __init__(self, start: str) -> None:
        super().__init__(start)
        self.start = start


class EndsBeforeStart(Exception):
    """A request for a change that would be over before it begins."""


class NotPlanned(ChangeError):
    """The change waits for no time any more."""


class TooManyRequests(Exception):
    """So many (*count*) requests of the person, or in the *channel*, wait for a decision that there can be no more."""

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
    """Keeps somebody who is refused over and over from filling the audit, which takes its head for each entry.

    The first refusal of a person is recorded at once, those of the minute after it as one entry with their count. What is
    counted and not yet on record is lost where the process is killed; the first refusal never is.
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
        self._minutes[by] = _Minute(now)
        if minute is not None:
            await self._record(by, minute)
        await self.note(Event("refused", by, channel, target=operation, detail={"why": why}))

    def _is_over(self, minute: _Minute) -> bool:
        return not timedelta(0) <= self.now() - minute.begun < COUNTED_FOR

    async def _record(self, by: str, minute: _Minute) -> None:
        """Put what was counted for *by* on record, under what was refused most."""
        if not minute.more:
            return
        (operation, channel, why), _ = minute.more.most_common(1)[0]
        operations = sorted({each[0] for each in minute.more})
        detail = {"why": why, "count": minute.more.total(), "operations": operations}
        await self.note(Event("refused", by, channel, target=operation, detail=detail))

    async def flush(self, *, everything: bool = True) -> None:
        """Put on record what was counted, of minutes that are over or of all."""
        for by in [by for by, minute in self._minutes.items() if everything or self._is_over(minute)]:
            if (minute := self._minutes.pop(by, None)) is None:
                continue
            try:
                await self._record(by, minute)
            except StoreError as error:
                log.warning("refusals_not_recorded", error=str(error), user=by, count=minute.more.total())

    async def run(self, *, every: float) -> None:
        """Close minutes as they end, until cancelled."""
        while True:
            await asyncio.sleep(every)
            await self.flush(everything=False)
