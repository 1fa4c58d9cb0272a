"""The workers of a process, one step at a time."""

from __future__ import annotations

from typing import Final

from bot.changes.pipeline import Pipeline
from bot.changes.timers import TimerWorker
from bot.store.outbox import LANES, MESSAGES

ONE_TIMER: Final = {lane: 1 for lane in LANES if lane != MESSAGES}


async def fire_one(timers: TimerWorker) -> bool:
    """Do the one thing that is overdue the longest; False where nothing is due."""
    journal = timers.journal
    claimed = await journal.store.outbox.claim(journal.owner, journal.lease, ONE_TIMER)
    for timer in claimed:
        await timers.do(timer)
    return bool(claimed)


async def recover_one(pipeline: Pipeline) -> bool:
    """Take over one change; False where none was left."""
    if (change := await pipeline.journal.claim_due()) is None:
        return False
    await pipeline.executor.carry_out(change)
    return True
