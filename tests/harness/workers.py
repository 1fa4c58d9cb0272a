"""The workers of a process, one step at a time."""

from __future__ import annotations

from bot.changes.pipeline import Pipeline
from bot.changes.timers import TimerWorker


async def fire_one(timers: TimerWorker) -> bool:
    """Do the one thing that is overdue the longest; False where nothing is due."""
    journal = timers.journal
    if (timer := await journal.store.timers.claim(journal.owner, journal.lease)) is None:
        return False
    await timers.do(timer)
    return True


async def recover_one(pipeline: Pipeline) -> bool:
    """Take over one change; False where none was left."""
    if (change := await pipeline.journal.claim_due()) is None:
        return False
    await pipeline.executor.carry_out(change)
    return True
