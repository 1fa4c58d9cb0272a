"""Put together the steps of a change: propose, decide, apply, reconcile, undo; and take over what dead processes left.

Each step commits what it is about to do before it does it, and moves the change by compare-and-set, so that a
process may die at any line, and two people or two replicas may act at once, and the write still happens at most once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from bot.changes.decisions import Decisions
from bot.changes.execute import RECONCILE_AFTER, Executor, Failpoint, no_failpoint
from bot.changes.followups import FollowUps, WordsOn
from bot.changes.freezing import Freezes
from bot.changes.journal import Journal
from bot.changes.model.change import Change
from bot.changes.propose import Proposer
from bot.changes.refusals import Refusals
from bot.changes.rights import Rights, Seen
from bot.changes.targets import AdapterOf
from bot.changes.worker import Wake, work_off
from bot.policy.access import Access
from bot.store.tables import SERVICES

log = structlog.get_logger(__name__)

TAKEN_OVER_AT_ONCE: Final = 4
"""Changes of one service."""

LOOKS_FOR_RECORD: Final = 10
RECORD_PAUSE_SECONDS: Final = 0.1
"""Whether somebody has seen a change is looked up for a second, before they are told to look at it."""


@dataclass(slots=True)
class Pipeline:
    """The steps of a change in one process: nothing is written to a service any other way."""

    proposer: Proposer
    decisions: Decisions
    followups: FollowUps
    refusals: Refusals
    freezes: Freezes
    executor: Executor
    journal: Journal

    async def recover(self, *, every: float) -> None:
        """Take over changes whose process died, or whose outcome is still unknown; runs until cancelled."""
        claim, do = self.journal.claim_due, self._take_over
        # Its own Wake, which nobody calls: a process that dies wakes no other, so this only polls.
        await work_off("recover", SERVICES, claim, do, width=TAKEN_OVER_AT_ONCE, every=every, wake=Wake())

    async def _take_over(self, change: Change) -> None:
        log.info("taking_over", change=change.id[:8], state=change.state, attempt=change.run.attempt)
        await self.executor.carry_out(change)


def open_pipeline(
    journal: Journal,
    *,
    adapter: AdapterOf,
    access: Access,
    new_id: Callable[[], str],
    reconcile_after: Sequence[float] = RECONCILE_AFTER,
    failpoint: Failpoint = no_failpoint,
    has_seen: Seen | None = None,
    covered: WordsOn | None = None,
) -> Pipeline:
    """Return the pipeline of one process. *has_seen*: None for what is on record. *covered*: as of `FollowUps`."""
    store = journal.store
    freezes = Freezes(store, access, journal.now)
    executor = Executor(journal, adapter, access, freezes, reconcile_after, failpoint)
    proposer = Proposer(journal, access, executor, freezes, new_id)

    async def is_on_record(change: Change, by: str) -> bool:
        # Slack shows something before its answer is here, and quick people click in between.
        for _ in range(LOOKS_FOR_RECORD):
            if await store.changes.has_seen(change, by):
                return True
            await asyncio.sleep(RECORD_PAUSE_SECONDS)
        return False

    rights = Rights(access, has_seen or is_on_record)
    return Pipeline(
        proposer=proposer,
        decisions=Decisions(journal, access, executor, rights, freezes),
        followups=FollowUps(store, adapter, proposer, rights, covered),
        refusals=Refusals(journal.note, journal.now),
        freezes=freezes,
        executor=executor,
        journal=journal,
    )
