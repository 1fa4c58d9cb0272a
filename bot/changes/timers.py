"""What falls due: requests that expire, reminders, temporary changes to be reverted, reviews.

Any replica may take what is due; a claim with a lease decides who does. What was due while nobody ran is done at
the next start, and said to be late.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import structlog

from bot.changes.journal import GATEHOUSE, Journal
from bot.changes.model import LIVE, Change, Outcome, State
from bot.changes.pipeline import Pipeline
from bot.changes.proposals import is_there
from bot.changes.refusals import NotTemporary, NotUndoable
from bot.changes.verify import read_live
from bot.changes.worker import Wake, work_off
from bot.clients.errors import ClientError, RateLimited, Unreachable
from bot.clients.gate import Priority, sending_for
from bot.store.db import TargetBusy
from bot.store.queues import LANES, Timer, TimerKind
from bot.store.tables import NewerRelease
from bot.text.times import in_words

log = structlog.get_logger(__name__)

LATE: Final = timedelta(minutes=2)
"""A temporary change that ends later than this is said to be late."""

REMINDERS: Final = (timedelta(minutes=45), timedelta(hours=3), timedelta(hours=8))
"""Pauses after the first, the second and every later reminder."""

TIMERS_AT_ONCE: Final = 4
"""Timers of one lane."""
REVIEWS: Final = (timedelta(hours=4), timedelta(hours=24))
MIN_RETRY: Final = timedelta(seconds=30)
MAX_RETRY: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class TimerWorker:
    """Does what is due."""

    pipeline: Pipeline
    wake: Wake

    @property
    def journal(self) -> Journal:
        return self.pipeline.journal

    async def run(self, *, every: float) -> None:
        """Do what is due until cancelled, looking every so many seconds."""
        await work_off("timers", LANES, self._claim, self._do, width=TIMERS_AT_ONCE, every=every, wake=self.wake)

    async def run_one(self) -> bool:
        """Do the one thing that is overdue the longest; False where nothing is due."""
        if (timer := await self._claim()) is None:
            return False
        await self._do(timer)
        return True

    async def _claim(self, lane: str | None = None) -> Timer | None:
        return await self.journal.store.timers.claim(self.journal.owner, self.journal.lease, lane)

    async def _do(self, timer: Timer) -> None:
        store = self.journal.store
        try:
            change = await store.changes.get(timer.change_id)
        except NewerRelease:
            store.newer.pass_over(timer.change_id)
            await store.timers.give_back(timer)
            return
        with sending_for(Priority.CHANGE):  # somebody counts on its end, whatever others look up
            again = None if change is None else await DUE[timer.kind](self, change, timer)
        if again is None:
            await store.timers.done(timer)
        else:
            await store.timers.again(timer, again)

    @property
    def _now(self) -> datetime:
        return self.journal.now()

    async def _expire(self, change: Change, _: Timer) -> datetime | None:
        await self.pipeline.decisions.expire(change)
        return None

    async def _remind(self, change: Change, timer: Timer) -> datetime | None:
        if change.state is not State.PROPOSED:
            return None
        await self._enqueue(change, f"remind-{timer.number + 1}")
        return self._now + REMINDERS[min(timer.number, len(REMINDERS) - 1)]

    async def _offer(self, change: Change, _: Timer) -> datetime | None:
        if change.temporary and change.request.reverts_at is not None and change.request.reverts_at > self._now:
            await self._enqueue(change, f"offer-{int(change.request.reverts_at.timestamp()) % 100_000_000}")
        return None

    async def _review(self, change: Change, timer: Timer) -> datetime | None:
        if not change.review_due:
            return None
        await self._enqueue(change, f"review-{timer.number + 1}")
        return self._now + REVIEWS[min(timer.number, len(REVIEWS) - 1)]

    async def _enqueue(self, change: Change, purpose: str) -> None:
        async with self.journal.store.transaction() as tx:
            await self.journal.store.outbox.enqueue(tx, change.id, purpose)
        self.journal.wake_workers()

    async def _revert(self, change: Change, timer: Timer) -> datetime | None:
        """The end of a temporary change: reverted where nobody touched it since, else left and said so."""
        ends = change.request.reverts_at
        if not change.temporary or ends is None:
            return None
        if await self.pipeline.followups.being_undone(change):
            return self._later(change)
        last = await self.pipeline.followups.last_revert(change)
        if last is not None and last.created >= ends and (last.state in LIVE or not _service_away(last)):
            return await self._reverted(change, last)
        try:
            if why_not := await self._in_the_way(change):
                return await self._leave(change, why_not)
            reason = _reason(change, self._now - timer.due)
            revert = await self.pipeline.followups.revert(change, by=change.request.requester, reason=reason)
        except (ClientError, TargetBusy) as error:
            log.warning("revert_waits", change=change.id[:8], error=type(error).__name__)
            return self._later(change)
        except NotUndoable:
            return await self._nothing_to_revert(change)
        except NotTemporary:
            return None
        return await self._reverted(change, revert)

    async def _reverted(self, change: Change, revert: Change) -> datetime | None:
        """What became of the end of *change*: due again where that is not known yet, or nothing could be sent."""
        if revert.state in LIVE or _service_away(revert):
            return self._later(change)
        if revert.state is not State.APPLIED:
            return await self._leave(change, await self._why_left(revert))
        now = await self.journal.get(change.id)
        if not now.temporary:
            return None
        return self._later(now) if await self._has_unknown(revert) else await self._leave(now, "partly")

    async def _why_left(self, revert: Change) -> str:
        tally = await self.journal.store.items.tally(revert.id)
        refused = tally[Outcome.FAILED] > 0 if revert.is_set else revert.state is State.FAILED
        return "refused" if refused else "changed"

    async def _nothing_to_revert(self, change: Change) -> datetime | None:
        """Nobody left anything of *change* to be reverted, unless the outcome of an item is not known yet."""
        now = await self.journal.get(change.id)
        if not now.temporary:
            return None
        return self._later(now) if await self._has_unknown(now) else await self._leave(now, "gone")

    async def _has_unknown(self, whole: Change) -> bool:
        return (await self.journal.store.items.tally(whole.id))[Outcome.UNKNOWN] > 0

    def _later(self, change: Change) -> datetime:
        return self._now + min(max(MIN_RETRY, (self._now - (change.request.reverts_at or self._now)) / 4), MAX_RETRY)

    async def _in_the_way(self, change: Change) -> str:
        """Why the change can't simply be reverted: somebody changed what it made, or it is gone."""
        if change.is_set:  # each of its items is looked at on its own
            return ""
        target = await self.pipeline.followups.now_called(change.edit.target)
        live = await read_live(self.pipeline.executor.adapter(target), target)
        if is_there(change, live):
            return ""
        return "gone" if live is None else "changed"

    async def _leave(self, change: Change, why: str) -> datetime | None:
        """Say on the card, and to the requester, why *change* was not reverted at its end; it is not due again."""

        def left(held: Change) -> Mapping[str, Any]:
            is_same = held.temporary and held.request.reverts_at == change.request.reverts_at
            return {"revert_failure": why} if is_same else {}

        await self.journal.record(change, "not_reverted", GATEHOUSE, left, note="left")
        return None


def _service_away(revert: Change) -> bool:
    """Whether nothing was done because nothing could be sent: then it is tried again."""
    return revert.state is State.FAILED and revert.run.refusal in {Unreachable.__name__, RateLimited.__name__}


def _reason(change: Change, late: timedelta) -> str:
    words = f"{change.id[:8]} was to end now"
    return f"{words}; {in_words(late.total_seconds())} late, Gatehouse was away" if late > LATE else words


DUE: Final[Mapping[TimerKind, Callable[[TimerWorker, Change, Timer], Awaitable[datetime | None]]]] = {
    TimerKind.EXPIRE: TimerWorker._expire,
    TimerKind.REMIND: TimerWorker._remind,
    TimerKind.OFFER: TimerWorker._offer,
    TimerKind.REVERT: TimerWorker._revert,
    TimerKind.REVIEW: TimerWorker._review,
}
