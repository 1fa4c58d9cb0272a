"""Do what falls due: expire requests, start planned changes, revert temporary changes.

`OutboxWorker` claims it. What was due while Gatehouse was down is done at the next start, and reported as late.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

import structlog

from bot.changes.consequences import LATE_START, revert_time, start_time
from bot.changes.followups import may_succeed_later
from bot.changes.journal import Journal
from bot.changes.model.change import Change
from bot.changes.model.items import Outcome
from bot.changes.model.moves import GATEHOUSE
from bot.changes.model.obligation import Standing
from bot.changes.model.parts import Cause, CauseKind, Held, RevertFailure
from bot.changes.model.states import LIVE, State
from bot.changes.pipeline import Pipeline
from bot.changes.proposals import NothingToDo
from bot.changes.refusals import NotPlanned, NotTemporary
from bot.clients.errors import ClientError
from bot.policy.inquiry import DirectoryUnavailable
from bot.store.db import TargetBusy
from bot.store.outbox import Delivery, Purpose

log = structlog.get_logger(__name__)

LATE_AFTER: Final = timedelta(minutes=2)
"""A temporary change that is reverted later than this is reported as late."""

NEXT_TURN: Final = timedelta(seconds=10)
"""Until the next try of what is due and can't be done yet."""
MIN_RETRY: Final = timedelta(seconds=30)
MAX_RETRY: Final = timedelta(minutes=10)
TRIES_UNTIL_TOLD: Final = 3
"""After so many failed tries to revert a temporary change, its requester is told that it isn't reverted yet."""


@dataclass(frozen=True, slots=True)
class TimerWorker:
    """Does the work of timers: rows of the outbox that are no message."""

    pipeline: Pipeline

    @property
    def journal(self) -> Journal:
        return self.pipeline.journal

    async def do(self, timer: Delivery) -> None:
        """Do what a claimed *timer* is for; it is done then, or set for the next try."""
        store = self.journal.store
        change = await store.changes.get(timer.change_id)
        again = None if change is None else await TIMER_HANDLERS[timer.purpose](self, change, timer)
        # Only after its work, which may be done twice but must not be lost: a process that dies before leaves it due.
        if again is None:
            await store.outbox.mark_delivered(timer)
        else:
            await store.outbox.retry(timer, again)

    @property
    def _now(self) -> datetime:
        return self.journal.now()

    async def _expire(self, change: Change, _: Delivery) -> datetime | None:
        await self.pipeline.decisions.expire(change)
        return None

    async def _start(self, change: Change, _: Delivery) -> datetime | None:
        """Begin a planned change; where it is too late, hold it and ask, since the moment that it was meant for may be over."""
        if (starts := start_time(change)) is None:
            return None
        if self._now > starts + LATE_START:
            await self.journal.hold(change, Held.LATE)
            return None
        if not await self._is_in_turn(change):
            return self._now + NEXT_TURN
        try:
            await self.pipeline.decisions.start(change)
        except (ClientError, TargetBusy, DirectoryUnavailable) as error:
            log.warning("start_waits", change=change.id[:8], error=type(error).__name__)
            return self._now + NEXT_TURN
        # Somebody began it, put it off or cancelled it in the same moment.
        except NotPlanned:
            pass
        return None

    async def _is_in_turn(self, change: Change) -> bool:
        """Whether no other due change comes first to a target of *change*: each was requested for what the one before leaves."""
        edits_of = self.pipeline.freezes.edits_of
        targets = {edit.target for edit in await edits_of(change) if edit.target.key}
        for other in await self.journal.store.changes.find_due(change.edit.target) if targets else ():
            if _turn(other) < _turn(change) and targets & {edit.target for edit in await edits_of(other)}:
                return False
        return True

    async def _revert(self, change: Change, timer: Delivery) -> datetime | None:
        """Revert a temporary change at its end; where somebody changed its target since, leave it and say so."""
        if (ends := revert_time(change)) is None:
            return None
        again = await self._try_to_revert(change, ends, timer)
        # From that try on, since a process may die in it.
        if again is not None and timer.attempt >= TRIES_UNTIL_TOLD:
            async with self.journal.store.transaction() as tx:
                await self.journal.store.outbox.enqueue(tx, change.id, Purpose.LATE.of(ends), once=True)
            self.journal.wake_outbox()
        return again

    async def _try_to_revert(self, change: Change, ends: datetime, timer: Delivery) -> datetime | None:
        """Try to revert *change*, which *ends* now; return when it is due again, None where nothing is left to try."""
        # The undo may leave nothing to revert; two writes at once would only be in each other's way.
        if await self.pipeline.followups.is_being_undone(change):
            return self._next_try(ends)
        revert = await self.pipeline.followups.last_revert(change)
        # An older one was made for an end that has been put off since, or was somebody's early end.
        if revert is not None and (revert.created < ends or await self._is_retryable(revert)):
            revert = None
        try:
            if revert is None:
                if not await self._is_in_turn(change):
                    return self._now + NEXT_TURN
                with suppress(NothingToDo):
                    cause = _cause(change, timer, self._now - ends)
                    revert = await self.pipeline.followups.revert(change, by=cause.requester, cause=cause)
            return await self._handle_revert(change, ends, revert)
        except (ClientError, TargetBusy) as error:
            log.warning("revert_waits", change=change.id[:8], error=type(error).__name__)
            return self._next_try(ends)
        # Somebody kept or extended it in the same moment; an extension has a timer of its own.
        except NotTemporary:
            return None

    async def _handle_revert(self, change: Change, ends: datetime, revert: Change | None) -> datetime | None:
        """Return when to try again to revert *change* after *revert*; None where it was reverted, or is given up.

        Without a *revert*, nothing of it is there to be put back. Raises a ClientError.
        """
        if revert is not None and (revert.state in LIVE or await self._is_retryable(revert)):
            return self._next_try(ends)
        if not (await self.journal.get(change.id)).is_temporary:
            return None
        if await self._has_unknown(revert or change):
            return self._next_try(ends)
        found = {each for _, shown in await self.pipeline.followups.look(change) for each in shown}
        await self._give_up(change, ends, _why_left(change, revert, found))
        return None

    async def _is_retryable(self, revert: Change) -> bool:
        """Whether to try again: *revert*, or an item of it, is known not to be done, for a reason that may be gone next time."""
        if not revert.is_bulk:  # where somebody edited it between the look and the write, the next look decides
            return revert.state is State.STALE or (revert.state is State.FAILED and may_succeed_later(revert))
        store = self.journal.store
        if await self._has_unknown(revert):
            return False
        left = await store.items.find(revert.id, (Outcome.FAILED, Outcome.BUSY, Outcome.STALE), revert.bulk.size)
        begun = await store.changes.get_many([item.change_id for item in left if item.change_id])
        stopped = (await store.items.tally(revert.id))[Outcome.STOPPED] > 0 and not revert.run.stopped_by
        return stopped or any(item.change_id is None or may_succeed_later(begun[item.change_id]) for item in left)

    async def _has_unknown(self, whole: Change) -> bool:
        return (await self.journal.store.items.tally(whole.id))[Outcome.UNKNOWN] > 0

    def _next_try(self, ends: datetime) -> datetime:
        # The longer it has failed, the longer until the next try: a quarter of that time.
        return self._now + min(max(MIN_RETRY, (self._now - ends) / 4), MAX_RETRY)

    async def _give_up(self, change: Change, ends: datetime, why: RevertFailure) -> None:
        """Say on the card why *change* was not reverted at its end; its requester is notified where they have to act."""

        def update(held: Change) -> Change:
            is_same = revert_time(held) == ends
            return replace(held, run=replace(held.run, revert_failure=why)) if is_same else held

        note = "" if why is RevertFailure.GONE else Purpose.LEFT
        await self.journal.record(change, "not_reverted", GATEHOUSE, update, note=note)


def _why_left(change: Change, revert: Change | None, found: Collection[Standing]) -> RevertFailure:
    """Return why *revert* put back no more of *change*, by what is *found*: nothing is left, or somebody has to say."""
    # What is there in spite of its revert was refused.
    if Standing.OTHER not in found and (revert is None or Standing.THERE not in found):
        return RevertFailure.GONE
    if revert is None:
        return RevertFailure.CHANGED if change.state is State.APPLIED else RevertFailure.UNCONFIRMED
    failures = {State.UNSETTLED: RevertFailure.UNCONFIRMED, State.FAILED: RevertFailure.REFUSED}
    return failures.get(revert.state, RevertFailure.PARTLY)


def _turn(change: Change) -> tuple[datetime, bool, float]:
    """Return the sort key of a due change: its time; at the same time ends come before starts, and the newest ends first."""
    is_start = change.state is State.PLANNED
    due = change.request.starts_at if is_start else change.request.reverts_at
    made = (change.run.finished_at or change.created).timestamp()
    return due or change.created, is_start, made if is_start else -made


def _cause(change: Change, timer: Delivery, late: timedelta) -> Cause:
    """Return the cause of a revert of *change* at its end, with how *late* it is and which try this is."""
    return Cause(
        kind=CauseKind.END,
        requester=change.request.requester,
        late_seconds=int(late.total_seconds()) if late > LATE_AFTER else 0,
        tries=timer.attempt,
    )


TIMER_HANDLERS: Final[Mapping[str, Callable[[TimerWorker, Change, Delivery], Awaitable[datetime | None]]]] = {
    Purpose.EXPIRE: TimerWorker._expire,
    Purpose.START: TimerWorker._start,
    Purpose.REVERT: TimerWorker._revert,
}
