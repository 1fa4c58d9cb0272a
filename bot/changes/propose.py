"""Propose a change under the guard that applies here and now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from bot.changes.consequences import LATE_START
from bot.changes.execute import Executor
from bot.changes.freezing import Freezes, Frozen
from bot.changes.journal import Journal
from bot.changes.model.change import Change
from bot.changes.model.parts import CauseKind, ChangeDecision, Guard
from bot.changes.proposals import Proposal
from bot.changes.refusals import TimeIsPast
from bot.policy.access import Access
from bot.policy.freezes import Freeze
from bot.policy.model import STRENGTH

OWN_UNDO_WITHIN: Final = timedelta(hours=1)
"""How long people may undo without approval what they did alone: nobody should wait for others to fix their own mistake."""


@dataclass(frozen=True, slots=True)
class Proposer:
    """Records proposals as changes, under the guard that applies."""

    journal: Journal
    access: Access
    executor: Executor
    freezes: Freezes
    new_id: Callable[[], str]

    async def submit(self, proposal: Proposal, *, idempotency_key: str, reverts: Change | None = None) -> Change:
        """Record *proposal*, and apply it at once where it is a single change without a guard; return it as it then stands.

        Raises as `record` and `Executor.go_on` do.
        """
        return await self.executor.go_on(await self.record(proposal, idempotency_key=idempotency_key, reverts=reverts))

    async def record(self, proposal: Proposal, *, idempotency_key: str, reverts: Change | None = None) -> Change:
        """Record *proposal* once per *idempotency_key*, and return the change; one without a guard is claimed for this process.

        *reverts*: the temporary change whose end it is.
        Raises TargetBusy while another change holds the target, NotAllowed, NobodyCanApprove, ReasonRequired and Frozen as the
        policy says,
        DirectoryUnavailable where Slack doesn't say who the requester is, NotTemporary where *reverts* has another end now,
        TimeIsPast, AlreadyRequested, TooManyRequests, and NothingToDo.
        """
        # First, so that a second delivery gets the same answer, even if a time has passed or a right was lost since.
        if (known := await self.journal.store.changes.find_by_key(idempotency_key)) is not None:
            return known
        change = await self.draft(proposal)
        self.executor.failpoint("propose")
        if change.decision.guard is Guard.NONE:
            self.executor.failpoint("claim")
        items = proposal.items if change.is_bulk else ()
        return await self.journal.open(change, idempotency_key, items, reverts=reverts, begin=not change.is_bulk)

    async def draft(self, proposal: Proposal) -> Change:
        """Return the change that *proposal* would be recorded as now, under its guard; raises as `record` does."""
        change = proposal.change(self.new_id(), self.journal.now())
        if self.executor.is_past_end(change):
            raise TimeIsPast(change.request.reverts_at_as_typed)
        if (starts := change.request.starts_at) is not None and starts <= change.created:
            raise TimeIsPast(change.request.starts_at_as_typed)
        return change if change.is_automatic else await self._with_guard(change, proposal)

    async def _with_guard(self, change: Change, proposal: Proposal) -> Change:
        """Return *change* with the guard that applies here and now: the strictest of all operations that it needs.

        A frozen change is accepted only where somebody may override the freeze: it waits for them, or for the end of the
        freeze. Raises Frozen for any other, NotAllowed, NobodyCanApprove, ReasonRequired and DirectoryUnavailable.
        """
        request, asked = change.request, proposal.guard
        await self.access.require(request.requester, request.channel, *change.needs)
        if self.access.is_own_undo(change):
            expires = change.created + OWN_UNDO_WITHIN
            return replace(change, decision=ChangeDecision(guard=asked or Guard.NONE, expires=expires))
        freeze = await self.freeze_against(proposal, request.starts_at or change.created)
        # That it ends was agreed to, so that it ends earlier needs nobody else.
        if request.cause is not None and request.cause.kind is CauseKind.EARLY_END:
            if freeze is not None:
                raise Frozen(freeze)
            return change
        standing = await self.access.requirements_for(change.needs, request.requester, request.channel)
        rule = standing.rule
        if freeze is not None:
            if not rule.break_glass:
                raise Frozen(freeze)
            asked = Guard.CONFIRM
        ends = (change.request.starts_at, LATE_START), (change.request.reverts_at, timedelta())
        limits = [at + more for at, more in ends if at is not None]
        guard = max(rule.guard, asked or Guard.NONE, key=STRENGTH.index)
        expires = min([change.created + rule.expires, *limits])
        return replace(
            change,
            request=replace(request, reason_url=self.access.link_reason(change)),
            decision=replace(rule.decision, guard=guard, summoned=standing.summoned, expires=expires),
        )

    async def freeze_against(self, proposal: Proposal, at: datetime) -> Freeze | None:
        """Return the freeze that blocks *proposal* at the time *at*; None without one."""
        return await self.freezes.find_for_edits(proposal.edits, at)
