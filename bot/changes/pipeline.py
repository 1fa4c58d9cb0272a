"""Propose, decide, apply, settle: the life of a change, in the order in which it is lived.

Each step commits what it is about to do before it does it, and moves the change by compare-and-set, so that a
process may die at any line, and two people or two replicas may act at once, and the write still happens at most once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

import structlog

from bot.access import Access
from bot.changes.applying import SETTLE_AFTER, Applier, Checkpoint, nowhere
from bot.changes.effects import EffectsOf
from bot.changes.ledger import LEASE, Ledger
from bot.changes.proposals import Proposal, afresh, inverse, put_back
from bot.changes.set_ledger import SetLedger
from bot.changes.set_proposals import SetProposal, again, inverse_of
from bot.domain.change import LIVE, Change, Guard, Kind, Move, Question, State, Target
from bot.domain.change_set import NOT_DONE, Outcome
from bot.domain.policy import STRENGTH
from bot.store.audit import Event
from bot.store.engine import Store

log = structlog.get_logger(__name__)

MOST_UNDOS: Final = 50
"""Failed undos of one change after which it is left alone."""


class Decision(StrEnum):
    CONFIRM = "confirm"
    APPROVE = "approve"
    DENY = "deny"
    KEEP = "keep"
    BREAK_GLASS = "glass"


class AlreadyDecided(Exception):
    """Somebody else decided first, or time did; *change* is how it stands now."""

    def __init__(self, change: Change) -> None:
        super().__init__(change.state)
        self.change = change


class NotYours(Exception):
    """The decision belongs to somebody else."""

    def __init__(self, change: Change) -> None:
        super().__init__(change.requester)
        self.change = change


class NotUndoable(Exception):
    """The change was not applied, or was taken back already; *change* is how it stands."""

    def __init__(self, change: Change) -> None:
        super().__init__(change.state)
        self.change = change


class NotTemporary(Exception):
    """The change does not end by itself, or did already."""

    def __init__(self, change: Change) -> None:
        super().__init__(change.state)
        self.change = change


class NothingToReview(Exception):
    """Nobody owes a review of *change*."""

    def __init__(self, change: Change) -> None:
        super().__init__(change.state)
        self.change = change


class UnknownChange(Exception):
    """No change has this id."""


class Pipeline:
    """The one way anything is written."""

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
    ) -> None:
        """*tell* wakes the workers; it is called after every commit that gives them something to do."""
        self.store = store
        self.access = access
        self.now = now
        self.ledger = Ledger(store, now, owner, tell, lease)
        self.set_ledger = SetLedger(self.ledger)
        self.applier = Applier(self.ledger, effects, settle_after, reached)
        self.effects = effects
        self.new_id = new_id
        self._reached = reached

    async def submit(self, proposal: Proposal, *, origin: str) -> Change:
        """Propose, and where nothing stands before the change, apply it. Return the change as it then stands."""
        change = await self.propose(proposal, origin=origin)
        return await self._applied(change)

    async def _applied(self, change: Change) -> Change:
        """Apply what is approved; a change set is left to its own worker, for it may take long."""
        if change.state is not State.APPROVED or change.is_set:
            return change
        return await self.applier.apply(change)

    async def submit_set(self, proposal: SetProposal, *, origin: str) -> Change:
        """Record several changes as one, once per *origin*; raises as `propose` does, and NothingInSet."""
        if (known := await self.store.changes.of_origin(origin)) is not None:
            return known
        kinds = proposal.kinds
        whole = Change(
            id=self.new_id(),
            kind=kinds[0],
            kinds=kinds,
            size=len(proposal.parts),
            title=proposal.title,
            target=Target(service=proposal.parts[0].target.service),
            before=None,
            after=None,
            requester=proposal.requester,
            channel=proposal.channel,
            reason=proposal.reason,
            undoes=proposal.undoes,
            lasts=proposal.lasts,
            ends=proposal.ends,
            ends_as_typed=proposal.ends_as_typed,
            warnings=proposal.warnings,
            columns=proposal.columns,
            separator=proposal.separator,
            created=self.now(),
        )
        if not proposal.agreed:
            wanted = {(part.kind, part.target.site) for part in proposal.parts if part.kind is not None}
            whole = await self._under_guard(whole, wanted, proposal.guard)
        self._reached("propose")
        return await self.ledger.open(whole, origin, proposal.parts)

    async def propose(self, proposal: Proposal, *, origin: str) -> Change:
        """Record the change, once per *origin*.

        Raises TargetBusy while another change holds the target, NotAllowed and NobodyCanApprove as the policy says,
        DirectoryUnavailable where Slack does not tell who asks.
        """
        if (known := await self.store.changes.of_origin(origin)) is not None:
            return known
        change = await self._guarded(proposal)
        self._reached("propose")
        return await self.ledger.open(change, origin)

    async def _guarded(self, proposal: Proposal) -> Change:
        """The change that *proposal* makes, with what must stand before it here and now."""
        now = self.now()
        change = Change(
            id=self.new_id(),
            kind=proposal.kind,
            target=proposal.target,
            before=proposal.before,
            after=proposal.after,
            requester=proposal.requester,
            channel=proposal.channel,
            reason=proposal.reason,
            warnings=proposal.warnings,
            preview=proposal.preview,
            quiet_refusal=proposal.quiet_refusal,
            undoes=proposal.undoes,
            lasts=proposal.lasts,
            ends=proposal.ends,
            ends_as_typed=proposal.ends_as_typed,
            created=now,
        )
        if proposal.agreed:
            return change
        return await self._under_guard(change, {(proposal.kind, proposal.target.site)}, proposal.guard)

    async def _under_guard(
        self, change: Change, wanted: Collection[tuple[Kind, str | None]], asked: Guard | None
    ) -> Change:
        """*change* with what must stand before it here and now: the strictest guard of all that is *wanted*."""
        for operation in change.operations:
            await self.access.require(operation, change.requester, change.channel)
        rule = await self.access.guard_of_all(wanted, change.requester, change.channel)
        expires = change.created + rule.expires
        return change.model_copy(
            update={
                "guard": max(rule.guard, asked or Guard.NONE, key=STRENGTH.index),
                "approvals_needed": rule.approvals,
                "approvers": rule.approvers,
                "self_approval": rule.self_approval,
                "break_glass": rule.break_glass,
                "summoned": self.access.named(rule.approvers),
                "expires": expires if change.ends is None else min(expires, change.ends),
            }
        )

    async def decide(self, change_id: str, decision: Decision, by: str, *, reason: str = "") -> Change:
        """Take the decision if it is *by*'s to take now and still open, and apply what has all it needs.

        Raises UnknownChange, NotYours, NotAllowed, DirectoryUnavailable, or AlreadyDecided with the change as it stands.
        """
        change = await self.get(change_id)
        if not _open(change, decision):
            raise AlreadyDecided(change)
        if change.expires is not None and self.now() >= change.expires and change.state is State.PROPOSED:
            raise AlreadyDecided(await self.expire(change) or await self.get(change_id))
        await self._check_right(change, decision, by)
        match decision:
            case Decision.KEEP:
                move = Move.CANCEL if change.state is State.PROPOSED else Move.WITHDRAW
                moved = await self.ledger.move(change, move, by=by, **self._decided(by))
            case Decision.DENY:
                moved = await self.ledger.move(change, Move.DENY, by=by, **self._decided(by, reason))
            case Decision.APPROVE:
                return await self._approve(change, by)
            case _:
                glass: dict[str, Any] = {"glass_broken": True} if decision is Decision.BREAK_GLASS else {}
                moved = await self.ledger.move(change, Move.APPROVE, by=by, **self._decided(by, reason), **glass)
        return await self._go_on(moved, change_id)

    def _decided(self, by: str, reason: str = "") -> dict[str, Any]:
        return {"decided_by": by, "decided_at": self.now(), "decision_reason": reason}

    async def _check_right(self, change: Change, decision: Decision, by: str) -> None:
        """Whether the decision is *by*'s, with the rights that they have now in the channel of the change."""
        match decision:
            case Decision.KEEP | Decision.CONFIRM:
                if by != change.requester or (decision is Decision.CONFIRM and change.guard is not Guard.CONFIRM):
                    raise NotYours(change)
                if decision is Decision.CONFIRM:
                    await self._require(change, by)
            case Decision.BREAK_GLASS:
                await self.access.require_glass(change, by, change.channel)
            case _:
                if change.guard is not Guard.APPROVE:
                    raise NotYours(change)
                await self.access.require_approver(change, by, change.channel)

    async def _approve(self, change: Change, by: str) -> Change:
        """One approval more; with the last one, whoever asked and approved before must still have their rights."""
        counted = await self.ledger.count(change, by)
        if counted is None:
            raise AlreadyDecided(await self.get(change.id))
        if await self.access.people([given.by for given in counted.approvals]) < counted.approvals_needed:
            return counted
        await self._require(counted, counted.requester)
        for given in counted.approvals:
            if given.by != by:
                await self.access.require_approver(counted, given.by, counted.channel)
        return await self._go_on(await self.ledger.move(counted, Move.APPROVE, by=by, **self._decided(by)), change.id)

    async def _go_on(self, moved: Change | None, change_id: str) -> Change:
        if moved is None:
            raise AlreadyDecided(await self.get(change_id))
        return await self._applied(moved)

    async def _require(self, change: Change, user: str) -> None:
        """Return where *user* may ask for all of *change* now; raises NotAllowed or DirectoryUnavailable."""
        for operation in change.operations:
            await self.access.require(operation, user, change.channel)

    async def get(self, change_id: str) -> Change:
        """The change as it stands; raises UnknownChange."""
        if (change := await self.store.changes.get(change_id)) is None:
            raise UnknownChange(change_id)
        return change

    async def expire(self, change: Change) -> Change | None:
        """Nobody decided in time; None where somebody did at the last moment."""
        if change.state is not State.PROPOSED:
            return None
        return await self.ledger.move(change, Move.EXPIRE, finished_at=self.now())

    async def recover(self, *, every: float) -> None:
        """Take over changes whose process died, or whose outcome is still unknown; runs until cancelled."""
        while True:
            try:
                while await self.recover_one():
                    pass
            except Exception as error:
                log.exception("recover_failed", error=type(error).__name__)
            await asyncio.sleep(every)

    async def recover_one(self) -> bool:
        """Take over one change; False where none was left."""
        if (change := await self.ledger.claim_due()) is None:
            return False
        log.info("taking_over", change=change.id[:8], state=change.state, attempt=change.attempt)
        await self.applier.carry_out(change)
        return True

    async def undo(self, change: Change, *, by: str, channel: str, agreed: bool = False, reason: str = "") -> Change:
        """Take an applied *change* back, by a change like any other; raises NotUndoable for one that was not applied.

        Asked twice, or by two at once, it is one undo: the second asks for what the first one made.
        """
        if change.state is not State.APPLIED or change.undone_by is not None:
            raise NotUndoable(change)
        change = change.model_copy(update={"target": await self.now_called(change.target)})
        for number in range(MOST_UNDOS):
            origin = f"undo:{change.id}:{number}"
            known = await self.store.changes.of_origin(origin)
            if known is None or known.state in LIVE | {State.APPLIED}:
                if change.is_set:
                    done = await self._done_parts(change)
                    undo = inverse_of(change, done, by=by, channel=channel, agreed=agreed, reason=reason)
                    return await self.submit_set(undo, origin=origin)
                proposal = inverse(change, by=by, channel=channel, agreed=agreed, reason=reason)
                return await self.submit(proposal, origin=origin)
        raise NotUndoable(change)

    async def _done_parts(self, whole: Change) -> Sequence[Change]:
        """The parts of a set that were done and can be taken back; raises NotUndoable where there is none."""
        parts = await self.store.parts.some(whole.id, (Outcome.APPLIED,), whole.size)
        changes = await self.store.changes.many([part.change_id for part in parts if part.change_id])
        done = [change for change in changes.values() if change.state is State.APPLIED and change.undone_by is None]
        if not done:
            raise NotUndoable(whole)
        return [
            change.model_copy(update={"target": await self.now_called(change.target)})
            for change in sorted(done, key=lambda change: change.part_number)
        ]

    async def again(self, whole: Change, *, by: str, channel: str, origin: str) -> Change:
        """Propose those parts of an ended set that were not done, on what there is now; raises NothingInSet."""
        if not whole.is_set or whole.state in LIVE:
            raise AlreadyDecided(whole)
        parts = await self.store.parts.some(whole.id, NOT_DONE, whole.size)
        places = {(part.target.service, part.target.site): part.target for part in parts}
        snapshots = {
            place: await self.effects(target).snapshot(
                [part.target for part in parts if (part.target.service, part.target.site) == place]
            )
            for place, target in places.items()
        }
        failed = [(part, snapshots[part.target.service, part.target.site]) for part in parts]
        return await self.submit_set(again(whole, failed, by=by, channel=channel), origin=origin)

    async def stop(self, whole: Change, *, by: str) -> Change:
        """Let nothing more of a running set begin; raises AlreadyDecided, NotAllowed, DirectoryUnavailable."""
        if not whole.is_set or whole.state not in {State.APPROVED, State.APPLYING}:
            raise AlreadyDecided(whole)
        await self._require(whole, by)
        return await self.set_ledger.stop(whole, by)

    async def being_undone(self, change: Change) -> bool:
        """Whether an undo of *change* is under way: asked for, at work, or of unknown outcome."""
        for number in range(MOST_UNDOS):
            if (known := await self.store.changes.of_origin(f"undo:{change.id}:{number}")) is None:
                break
            if known.state in LIVE:
                return True
        return False

    async def was_not_undone(self, whole: Change) -> bool:
        """Whether an undo of a set ended without taking any of its parts back."""
        known = await self.store.changes.of_origin(f"undo:{whole.id}:0")
        return known is not None and known.state is State.FAILED

    async def put_back(self, change: Change, *, by: str, channel: str, origin: str) -> Change:
        """Propose the end of a temporary *change* that was left because somebody changed its target."""
        if change.state is not State.APPLIED or not change.ending or change.undone_by is not None:
            raise NotTemporary(change)
        target = await self.now_called(change.target)
        live = await self.effects(target).live(target)
        if live is None:
            raise NotTemporary(change)
        moved = change.model_copy(update={"target": target})
        return await self.submit(put_back(moved, live, by=by, channel=channel), origin=origin)

    async def afresh(self, change: Change, *, by: str, channel: str, origin: str) -> Change:
        """Propose what a stale *change* asked for on its target as it is now; raises AlreadyDecided for another one."""
        if change.state is not State.STALE:
            raise AlreadyDecided(change)
        target = await self.now_called(change.target)
        live = await self.effects(target).live(target)
        if live is None or change.kind.creates:
            raise AlreadyDecided(change)
        moved = change.model_copy(update={"target": target})
        return await self.submit(afresh(moved, live, by=by, channel=channel), origin=origin)

    async def now_called(self, target: Target) -> Target:
        """*target* under the id that it has now: a rule that came back has a new one."""
        if target.service != "rules" or target.key is None:
            return target
        return target.model_copy(update={"key": await self.store.aliases.resolve(target.key)})

    async def ask(self, change: Change, *, by: str, text: str) -> Change:
        """Put a question about an open *change* into the thread of its card; the same one twice is one."""
        if change.state is not State.PROPOSED:
            raise AlreadyDecided(change)
        await self.access.require(f"{change.kind.operation.partition('.')[0]}.read", by, change.channel)
        return await self.ledger.ask(change, Question(by=by, text=text))

    async def review(self, change: Change, *, by: str) -> Change:
        """Sign what somebody did alone; raises NothingToReview, NotAllowed, DirectoryUnavailable."""
        if not change.review_owed:
            raise NothingToReview(change)
        if by == change.decided_by:
            raise NotYours(change)
        alone = change.model_copy(update={"requester": change.decided_by})
        await self.access.require_approver(alone, by, change.channel)
        return await self.ledger.record(change, "reviewed", by, reviewed_by=by)

    async def extend(self, change: Change, *, by: str, seconds: int) -> Change:
        """Let a temporary *change* end so much later; raises NotTemporary, NotAllowed, DirectoryUnavailable."""
        ends = max(await self._may_reschedule(change, by), self.now()) + timedelta(seconds=seconds)
        return await self.ledger.record(change, "extended", by, ends=ends)

    async def keep(self, change: Change, *, by: str) -> Change:
        """Let a temporary *change* stay; raises NotTemporary, NotAllowed, DirectoryUnavailable."""
        await self._may_reschedule(change, by)
        return await self.ledger.record(change, "made_permanent", by, ends=None, ending="")

    async def _may_reschedule(self, change: Change, by: str) -> datetime:
        """When *change* ends now. What was approved for two hours is not one person's to make last: others decide."""
        if change.state is not State.APPLIED or change.ends is None or change.undone_by is not None:
            raise NotTemporary(change)
        await self._require(change, by)
        if change.guard is Guard.APPROVE:
            await self.access.require_approver(change, by, change.channel)
        return change.ends

    async def exported(self, what: str, count: int, *, by: str, channel: str, here: bool) -> None:
        """Put on record that somebody gets *count* records of *what* as a file, before they do; *here*: and the channel."""
        kind = f"{count} as a file to {'the channel' if here else 'the person alone'}"
        detail = {"count": count, "here": here, "kind": kind}
        await self.ledger.note(Event("exported", by, channel, target=what, detail=detail))

    async def refused(self, operation: str, by: str, channel: str, why: str) -> None:
        """Put a refusal on record."""
        await self.ledger.note(Event("refused", by, channel, target=operation, detail={"why": why}))


def _open(change: Change, decision: Decision) -> bool:
    """Whether there is still something to decide; a change that waits for its service may still be withdrawn."""
    waits_for_service = change.state is State.APPROVED and bool(change.waits)
    return change.state is State.PROPOSED or (decision is Decision.KEEP and waits_for_service)
