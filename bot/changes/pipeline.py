"""Propose, decide, apply, settle, and what follows: every step in the life of a change, and where it is taken.

Each step commits what it is about to do before it does it, and moves the change by compare-and-set, so that a
process may die at any line, and two people or two replicas may act at once, and the write still happens at most once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

import structlog

from bot.access import Access
from bot.changes.applying import SETTLE_AFTER, Applier, Checkpoint, nowhere
from bot.changes.deciding import Decider
from bot.changes.effects import EffectsOf
from bot.changes.following import FollowUps
from bot.changes.ledger import LEASE, Ledger
from bot.changes.loops import Wake, worked_off
from bot.changes.proposing import Proposer
from bot.changes.refusals import Refusals
from bot.changes.set_ledger import SetLedger
from bot.domain.change import Change
from bot.domain.limits import DEFAULT_LIMITS, OpenLimits
from bot.store.audit import Event
from bot.store.change_queries import SERVICES
from bot.store.engine import Store

log = structlog.get_logger(__name__)

TAKEN_OVER_AT_ONCE: Final = 4
"""Changes of one service."""


class Pipeline:
    """The one way anything is written. Each step is described where it is taken."""

    def __init__(
        self,
        *,
        store: Store,
        effects: EffectsOf,
        access: Access,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
        owner: str,
        tell: Callable[[], None],
        settle_after: Sequence[float] = SETTLE_AFTER,
        lease: timedelta = LEASE,
        reached: Checkpoint = nowhere,
        open_limits: OpenLimits = DEFAULT_LIMITS,
    ) -> None:
        """*tell* wakes the workers; it is called after every commit that gives them something to do."""
        self.store = store
        self.effects = effects
        self.now = now
        self.new_id = new_id
        self.ledger = Ledger(store, now, owner, tell, lease, open_limits)
        self.refusals = Refusals(self.ledger.note, now)
        self.refused = self.refusals.refused
        self.set_ledger = SetLedger(self.ledger)
        self.applier = Applier(self.ledger, effects, access, settle_after, reached)

        proposer = Proposer(self.ledger, access, self.applier, new_id)
        self.propose = proposer.propose
        self.submit = proposer.submit
        self.submit_set = proposer.submit_set
        self.go_on = self.applier.go_on

        decider = Decider(self.ledger, access, self.applier)
        self.get = decider.get
        self.decide = decider.decide
        self.require_look = decider.require_look
        self.note_look = decider.note_look
        self.has_looked = decider.has_looked
        self.require_decision = decider.require_decision
        self.ask = decider.ask
        self.expire = decider.expire
        self.stop = decider.stop
        self.review = decider.review
        self.extend = decider.extend
        self.keep = decider.keep

        followups = FollowUps(store, effects, proposer)
        self.undo = followups.undo
        self.revert = followups.revert
        self.being_undone = followups.being_undone
        self.last_revert = followups.last_revert
        self.put_back = followups.put_back
        self.afresh = followups.afresh
        self.again = followups.again
        self.now_called = followups.now_called

    async def recover(self, *, every: float) -> None:
        """Take over changes whose process died, or whose outcome is still unknown; runs until cancelled."""
        claim, do = self.ledger.claim_due, self._take_over
        await worked_off("recover", SERVICES, claim, do, width=TAKEN_OVER_AT_ONCE, every=every, wake=Wake())

    async def recover_one(self) -> bool:
        """Take over one change; False where none was left."""
        if (change := await self.ledger.claim_due()) is None:
            return False
        await self._take_over(change)
        return True

    async def _take_over(self, change: Change) -> None:
        log.info("taking_over", change=change.id[:8], state=change.state, attempt=change.attempt)
        await self.applier.carry_out(change)

    async def note_export(self, event: str, what: str, count: int, *, by: str, channel: str, here: bool) -> None:
        """Record the *event* of an export of *count* records of *what*: ``exporting``, then ``exported`` or nothing.

        *here*: the file goes to the channel, too.
        """
        kind = f"{count} as a file to {'the channel' if here else 'the person alone'}"
        detail = {"count": count, "here": here, "kind": kind}
        await self.ledger.note(Event(event, by, channel, target=what, detail=detail))
