"""Propose, decide, apply, reconcile, and what follows: every step in the life of a change, and where it is taken.

Each step commits what it is about to do before it does it, and moves the change by compare-and-set, so that a
process may die at any line, and two people or two replicas may act at once, and the write still happens at most once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import structlog

from bot.changes.decisions import LOOKED, Decisions
from bot.changes.execute import RECONCILE_AFTER, Executor, Failpoint, no_failpoint
from bot.changes.freezing import Freezes
from bot.changes.journal import LEASE, Journal
from bot.changes.model import Change
from bot.changes.propose import FollowUps, Proposer
from bot.changes.refusals import Refusals
from bot.changes.rights import Rights
from bot.changes.verify import AdapterOf
from bot.changes.worker import Wake, work_off
from bot.policy.access import Access
from bot.policy.limits import DEFAULT_LIMITS, OpenLimits
from bot.store.audit import Event
from bot.store.changes import SERVICES
from bot.store.engine import Store

log = structlog.get_logger(__name__)

TAKEN_OVER_AT_ONCE: Final = 4
"""Changes of one service."""


@dataclass(slots=True)
class Pipeline:
    """The one way anything is written. Each step is described where it is taken."""

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
        await work_off("recover", SERVICES, claim, do, width=TAKEN_OVER_AT_ONCE, every=every, wake=Wake())

    async def recover_one(self) -> bool:
        """Take over one change; False where none was left."""
        if (change := await self.journal.claim_due()) is None:
            return False
        await self._take_over(change)
        return True

    async def _take_over(self, change: Change) -> None:
        log.info("taking_over", change=change.id[:8], state=change.state, attempt=change.run.attempt)
        await self.executor.carry_out(change)

    async def note_export(self, event: str, what: str, count: int, *, by: str, channel: str, here: bool) -> None:
        """Record the *event* of an export of *count* records of *what*: ``exporting``, then ``exported`` or nothing.

        *here*: the file goes to the channel, too.
        """
        await self.journal.note(Event(event, by, channel, target=what, detail={"count": count, "here": here}))


async def no_card(_: Change) -> bool:
    """Where there are no cards, there is nothing that one hides."""
    return True


def open_pipeline(
    *,
    store: Store,
    adapter: AdapterOf,
    access: Access,
    now: Callable[[], datetime],
    new_id: Callable[[], str],
    owner: str,
    wake_outbox: Callable[[], None],
    wake_batches: Callable[[], None],
    reconcile_after: Sequence[float] = RECONCILE_AFTER,
    lease: timedelta = LEASE,
    failpoint: Failpoint = no_failpoint,
    open_limits: OpenLimits = DEFAULT_LIMITS,
    shows_all: Callable[[Change], Awaitable[bool]] = no_card,
) -> Pipeline:
    """Make the steps of one process.

    *wake_outbox* and *wake_batches*: as `Journal` has them. *shows_all*: whether the card of a request shows all of it.
    """
    journal = Journal(store, now, owner, wake_outbox, wake_batches, lease, open_limits)
    executor = Executor(journal, adapter, access, reconcile_after, failpoint)
    freezes = Freezes(store, access, now)
    proposer = Proposer(journal, access, executor, freezes, new_id)

    async def has_seen(change: Change, by: str) -> bool:
        return await shows_all(change) or await store.changes.has_decided(change.id, by, LOOKED, change.fingerprint)

    rights = Rights(access, has_seen)
    return Pipeline(
        proposer=proposer,
        decisions=Decisions(journal, access, executor, rights, freezes),
        followups=FollowUps(store, adapter, proposer, rights),
        refusals=Refusals(journal.note, now),
        freezes=freezes,
        executor=executor,
        journal=journal,
    )
