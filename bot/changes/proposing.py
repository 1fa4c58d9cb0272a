"""Propose: record what somebody wants changed, once, under the guard that stands before it here and now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.access import Access
from bot.changes.applying import Applier
from bot.changes.ledger import Ledger
from bot.changes.proposals import Proposal
from bot.changes.set_proposals import SetProposal
from bot.domain.change import Change, Guard
from bot.domain.policy import STRENGTH


@dataclass(frozen=True, slots=True)
class Proposer:
    """Makes changes of proposals."""

    ledger: Ledger
    access: Access
    applier: Applier
    new_id: Callable[[], str]

    async def submit(self, proposal: Proposal, *, origin: str, reverts: Change | None = None) -> Change:
        """Propose, and where nothing stands before the change, apply it. Return the change as it then stands."""
        if (known := await self.ledger.store.changes.of_origin(origin)) is not None:
            return await self.applier.go_on(known)
        change = await self._checked(proposal)
        if change.guard is Guard.NONE:
            self.applier.reached("claim")
        made = await self.ledger.open(change, origin, reverts=reverts, begin=True)
        return await (self.applier.begin(made) if made.id == change.id else self.applier.go_on(made))

    async def propose(self, proposal: Proposal, *, origin: str, reverts: Change | None = None) -> Change:
        """Record the change, once per *origin*. *reverts*: the temporary change whose end it is.

        Raises TargetBusy while another change holds the target, NotAllowed and NobodyCanApprove as the policy says,
        DirectoryUnavailable where Slack does not tell who asks, and NotTemporary where *reverts* has another end now.
        """
        if (known := await self.ledger.store.changes.of_origin(origin)) is not None:
            return known
        return await self.ledger.open(await self._checked(proposal), origin, reverts=reverts)

    async def _checked(self, proposal: Proposal) -> Change:
        """The change that is proposed, under its guard; raises as `propose` does."""
        change = proposal.change(self.new_id(), self.ledger.now())
        if not proposal.agreed:
            change = await self._under_guard(change, proposal.guard)
        self.applier.reached("propose")
        return change

    async def submit_set(self, proposal: SetProposal, *, origin: str, reverts: Change | None = None) -> Change:
        """Record several changes as one, once per *origin*; raises as `propose` does, and NothingInSet."""
        if (known := await self.ledger.store.changes.of_origin(origin)) is not None:
            return known
        whole = proposal.change(self.new_id(), self.ledger.now())
        if not proposal.agreed:
            whole = await self._under_guard(whole, proposal.guard)
        self.applier.reached("propose")
        return await self.ledger.open(whole, origin, proposal.parts, reverts=reverts)

    async def _under_guard(self, change: Change, asked: Guard | None) -> Change:
        """*change* with what must stand before it here and now: the strictest guard of all that it needs."""
        await self.access.require_all(change, change.requester)
        rule = await self.access.guard_of_all(change.needs, change.requester, change.channel)
        expires = change.created + rule.expires
        return change.model_copy(
            update={
                "guard": max(rule.guard, asked or Guard.NONE, key=STRENGTH.index),
                "approvals_needed": rule.approvals,
                "approvers": rule.approvers,
                "self_approval": rule.self_approval,
                "break_glass": rule.break_glass,
                "summoned": await self.access.summoned(rule, change.requester, change.channel),
                "expires": expires if change.ends is None else min(expires, change.ends),
            }
        )
