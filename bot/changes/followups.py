"""Propose what follows from an earlier change: its undo, its revert, and the same request again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from bot.changes.model.change import Change
from bot.changes.model.documents import Document
from bot.changes.model.edits import Edit, Target
from bot.changes.model.items import NOT_DONE, Item, Outcome
from bot.changes.model.moves import Withdraw
from bot.changes.model.obligation import Standing
from bot.changes.model.parts import Cause, CauseKind, Guard
from bot.changes.model.states import HOLDING, LIVE, State
from bot.changes.proposals import (
    NothingToDo,
    Proposal,
    Undoing,
    inverse,
    request_again,
    undo_cause,
)
from bot.changes.propose import OWN_UNDO_WITHIN, Proposer
from bot.changes.refusals import (
    AlreadyDecided,
    AlreadyRequested,
    NothingComesBack,
    NotTemporary,
    NotUndoable,
    OldEmailGone,
)
from bot.changes.rights import Decision, Rights
from bot.changes.targets import LOOKING, AdapterOf, EndPassed
from bot.clients.errors import PERMANENT_CODES, ClientError
from bot.store.engine import Store

WordsOn = Callable[[Iterable[Edit]], Awaitable[tuple[str, ...]]]
FollowUp = Literal["undo", "revert", "again"]
"""What follows from a change: its undo, its revert at the end, or a request of what was not done. Part of an idempotency key."""


@dataclass(frozen=True, slots=True)
class FollowUps:
    """Proposes the changes that follow from an earlier one: undo, revert, and the same request again."""

    store: Store
    adapter: AdapterOf
    proposer: Proposer
    rights: Rights
    covered: WordsOn | None
    """Returns in lines what edits take over, where that is to be shown before they are made."""

    async def undo(
        self,
        change: Change,
        *,
        by: str,
        channel: str,
        reason: str = "",
        since: datetime | None = None,
        by_text: bool = False,
    ) -> Change:
        """Undo an applied *change* by a new change, and return that one; raises NotUndoable where *change* was not applied.

        Requested twice, or by two people at once, it is one undo: the second request gets the change that the first made.
        *since*: when the request came in; what *by* has undone since then is the answer to it, whatever its outcome.
        *by_text*: *by* has not seen what the undo deletes, and so confirms it first where nobody else has to approve.
        Raises as `Rights.require` and `Proposer.submit` do, NothingComesBack, OldEmailGone, and a ClientError where that can't be
        told.
        """
        await self.rights.require(change, Decision.UNDO, by)
        undos, is_own = await self._followups(change, "undo"), self._is_own_act(change, by)
        # Before the check: after this request's own undo, *change* can't be undone any more.
        if (made := _find_since(undos, by, since)) is not None:
            return await self.proposer.executor.go_on(made)
        require_undoable(change)
        await self._require_old_email(change)
        for undo in undos:
            if _is_same_undo(undo, change, by, channel, is_own=is_own):
                return undo
        done = await self._undoings(await self._undoable_changes(change))
        try:
            proposal = inverse(change, done, by=by, channel=channel)
        except NothingToDo:
            raise NothingComesBack(change) from None
        proposal = replace(proposal, request=replace(proposal.request, undoes_own=is_own, reason=reason))
        if is_own and by_text and proposal.kind.destroys:
            proposal = replace(proposal, guard=Guard.CONFIRM)
        # Two requests at the same time count the same undos, so their key is the same, and only one undo is made.
        return await self.proposer.submit(
            await self._with_coverage(proposal), idempotency_key=f"undo:{change.id}:{len(undos)}"
        )

    async def _with_coverage(self, proposal: Proposal) -> Proposal:
        """Return *proposal* with what it takes over, if that is much: then its requester is shown that first, on its card."""
        if self.covered is None or not (covered := await self.covered(proposal.edits)):
            return proposal
        warnings = tuple(dict.fromkeys([*covered, *proposal.request.warnings]))
        return replace(proposal, request=replace(proposal.request, warnings=warnings), guard=Guard.CONFIRM)

    async def _require_old_email(self, change: Change) -> None:
        if old := change.request.moved_from:
            ((_, member),) = await self.read_targets([change.edit.target.with_key(old)])
            if member is None:
                raise OldEmailGone(change)

    def _is_own_act(self, change: Change, by: str) -> bool:
        """Whether *by* alone requested and decided *change*, within OWN_UNDO_WITHIN."""
        decision, done = change.decision, change.run.finished_at
        is_alone = decision.guard is not Guard.APPROVE and not decision.glass_broken
        is_theirs = is_alone and {change.request.requester, decision.decided_by} == {by}
        return is_theirs and done is not None and self.proposer.journal.now() - done <= OWN_UNDO_WITHIN

    async def revert_early(self, change: Change, *, by: str, since: datetime | None = None) -> Change:
        """Revert a temporary *change* before its end; raises as `revert` and `Rights.require` do.

        It needs no approval, as the end was agreed to with the change: anyone who may request such a change may revert it.
        """
        await self.rights.require(change, Decision.REVERT, by)
        return await self.revert(change, by=by, cause=undo_cause(change, CauseKind.EARLY_END), since=since)

    async def revert(self, change: Change, *, by: str, cause: Cause, since: datetime | None = None) -> Change:
        """Revert a temporary *change*, as was agreed when it was requested; once, no matter who asks and how often.

        *since*: as for `undo`. Raises NotUndoable, NothingToDo where nothing of it is left, NotTemporary where its end is no
        longer the one that *change* has, and TargetBusy while another change is being applied to its target; a request that only
        waits does not block it.
        """
        reverts = await self._followups(change, "revert")
        if (made := _find_since(reverts, by, since)) is not None:
            return await self.proposer.executor.go_on(made)
        # A revert that is under way or succeeded is the answer; after one that failed, there is another.
        undone = change.run.undone
        if reverts and (reverts[-1].state in LIVE or (undone is not None and reverts[-1].id == undone.change)):
            return reverts[-1]
        if undone is not None:
            raise NotUndoable(change)
        if not change.is_temporary:
            raise NotTemporary(change)
        if cause.kind is CauseKind.END:
            looked = await self.look(change)
            done: Sequence[Undoing] = [each for each, shown in looked if Standing.THERE in shown]
        else:
            done = await self._undoings(await self._undoable_changes(change))
        proposal = inverse(change, done, by=by, channel=change.request.channel, cause=cause)
        key = f"revert:{change.id}:{len(reverts)}"
        return await self.proposer.submit(proposal, idempotency_key=key, reverts=change)

    async def _items_of(self, whole: Change, outcomes: Iterable[Outcome]) -> Sequence[Item]:
        """Return the items of *whole* with one of these *outcomes*."""
        return await self.store.items.find(whole.id, frozenset(outcomes), whole.bulk.size)

    async def _undoable_changes(self, change: Change) -> Sequence[Change]:
        """Return what can be undone of *change*: itself, or its applied items in order; raises NotUndoable without any."""
        if not (done := [each for each in await self._done_of(change) if each.state is State.APPLIED]):
            raise NotUndoable(change)
        return done

    async def _done_of(self, change: Change) -> Sequence[Change]:
        """Return *change*, which took effect and was not undone, or its items for which that is so, in order."""
        done = [change]
        if change.is_bulk:
            items = await self._items_of(change, (Outcome.APPLIED, Outcome.UNSETTLED))
            done = [*(await self.store.changes.get_many([each.change_id for each in items if each.change_id])).values()]
        return sorted(done, key=lambda each: each.item_number)

    async def look(self, change: Change) -> Sequence[tuple[Undoing, Collection[Standing]]]:
        """Return what *change* did and no later one took away, each with what its open parts show; raises a ClientError."""
        done = [each for each in await self._done_of(change) if each.closed_by is None]
        now = await self.read_targets([each.edit.target for each in done])
        ended = await self._find_ended(done)
        looked = []
        for each, (target, live) in zip(done, now, strict=True):
            # Nobody knows which rule it made, if it made one.
            shown = [Standing.OTHER] if target.key is None else each.shown_by(live).values()
            looked.append((Undoing(each.with_target(target), live, ended), shown))
        return looked

    async def _undoings(self, changes: Sequence[Change]) -> Sequence[Undoing]:
        """Return *changes* that somebody undoes, each with its target as it is now.

        What can't be read is taken to be as its change left it, and so is what one made: it isn't deleted together with what
        others did to it since. All are compared again right before the write.
        """
        called = [each.with_target(await self._current_target(each.edit.target)) for each in changes]
        edited = [each.edit.target for each in called if not each.edit.kind.creates]
        try:
            live = dict(await self.read_targets(edited))
        except ClientError:
            live = {}
        ended = await self._find_ended(changes)
        return [Undoing(each, live.get(each.edit.target, each.run.result), ended) for each in called]

    async def _find_ended(self, changes: Sequence[Change]) -> Sequence[Change]:
        """Return those of the temporary changes that *changes* closed of which the end is past, or that were undone."""
        closed = await self.store.changes.get_many(list({owed for each in changes for owed in each.run.closes}))
        wholes = await self.store.changes.get_many([each.set_id for each in closed.values() if each.set_id is not None])
        now = self.proposer.journal.now()

        def is_over(owed: Change) -> bool:
            ends = wholes.get(owed.set_id or "", owed).request.reverts_at
            return owed.run.undone is not None or (ends is not None and ends <= now)

        return [each for each in closed.values() if is_over(each)]

    async def read_targets(self, targets: Sequence[Target]) -> Sequence[tuple[Target, Document | None]]:
        """Return *targets* with their current ids, each with its content, None where it is absent; raises a ClientError."""
        called = [await self._current_target(target) for target in targets]
        places: dict[tuple[str, str | None], list[Target]] = {}
        for target in called:
            if target.key:
                places.setdefault(target.place, []).append(target)
        snapshots = {place: await self.adapter(some[0], LOOKING).snapshot(some) for place, some in places.items()}
        return [(target, snapshots[target.place].live(target) if target.key else None) for target in called]

    async def is_being_undone(self, change: Change) -> bool:
        """Whether an undo of *change* is at work, or of unknown outcome."""
        return any(undo.state in HOLDING for undo in await self._followups(change, "undo"))

    async def last_revert(self, change: Change) -> Change | None:
        """Return the last try to revert a temporary *change*; None where there was none yet."""
        return next(iter((await self._followups(change, "revert"))[-1:]), None)

    async def _followups(self, change: Change, way: FollowUp) -> Sequence[Change]:
        """Return every change that followed from *change* in this *way*, the oldest first."""
        found: list[Change] = []
        # Their keys are numbered from zero, without gaps: the first number that is free ends the row.
        while (known := await self.store.changes.find_by_key(f"{way}:{change.id}:{len(found)}")) is not None:
            found.append(known)
        return found

    async def request_again(self, change: Change, *, by: str, channel: str, since: datetime | None = None) -> Change:
        """Propose again what *change* asked for and what was not done, based on its targets as they are now.

        *change* is stale, held, undone, failed for now, or an ended bulk change, of which the items that were not done, or are
        undone, are proposed. *since*: as for `undo`. Raises AlreadyDecided for any other, AlreadyRequested where it was requested
        again already, so that two clicks don't create two rules, NothingToDo, and a ClientError.
        """
        is_held = change.state is State.PLANNED and bool(change.run.held)
        has_ended = (
            change.state not in LIVE
            if change.is_bulk
            else change.run.undone or (change.state in {State.STALE, State.FAILED} and may_succeed_later(change))
        )
        if not has_ended and not is_held:
            raise AlreadyDecided(change)
        before = await self._followups(change, "again")
        if (made := _find_since(before, by, since)) is not None:
            made = await self.proposer.executor.go_on(made)
        elif before and _may_be_done(before[-1]):
            raise AlreadyRequested(before[-1])
        else:
            proposal = await self._with_coverage(await self._propose_again(change, by=by, channel=channel))
            made = await self.proposer.submit(proposal, idempotency_key=f"again:{change.id}:{len(before)}")
        # Only once the new request is stored: a crash in between leaves two requests rather than none.
        if is_held:
            await self.proposer.journal.move(change, Withdraw(by=by))
        return made

    async def _propose_again(self, change: Change, *, by: str, channel: str) -> Proposal:
        items = await self._items_not_done(change)
        now = await self.read_targets([item.target for item in items])
        wanted = [(replace(item, target=target), live) for item, (target, live) in zip(items, now, strict=True)]
        again = request_again(change, wanted, by=by, channel=channel)
        # Its start is past, so it is requested for now.
        if (starts := again.request.starts_at) is not None and starts <= self.proposer.journal.now():
            again = replace(again, request=replace(again.request, starts_at=None, starts_at_as_typed=""))
        return again

    async def _items_not_done(self, change: Change) -> Sequence[Item]:
        """Return the items of *change* that were not done; a change of one thing is its own item."""
        if not change.is_bulk:
            return [Item.of(1, change.edit, undoes=change.request.undoes)]
        left = (Outcome.UNDONE,) if change.run.undone else NOT_DONE | {Outcome.WAITING}
        return await self._items_of(change, left)

    async def _current_target(self, target: Target) -> Target:
        """Return *target* with its current id: a rule that was deleted and restored has a new one."""
        if target.service != "rules" or target.key is None:
            return target
        return target.with_key(await self.store.former_ids.resolve(target.key))


def _find_since(made: Sequence[Change], by: str, since: datetime | None) -> Change | None:
    """Return the first of *made* that *by* requested at *since* or later; None without one, or without such a time."""
    mine = (each for each in made if each.request.requester == by)
    return None if since is None else next((each for each in mine if each.created >= since), None)


def _may_be_done(change: Change) -> bool:
    """Whether *change* is done, or may still be."""
    return change.state in LIVE | {State.APPLIED, State.UNSETTLED} and change.run.undone is None


def may_succeed_later(change: Change) -> bool:
    """Whether *change*, which was not done, may be at the next try: its service was away, say, and refused nothing."""
    return change.run.refusal.code not in {*PERMANENT_CODES, EndPassed.code}


def require_undoable(change: Change) -> None:
    """Raise NotUndoable unless *change* was applied and not undone since; what an undo took back is requested again."""
    if change.state is not State.APPLIED or change.run.undone is not None or change.request.undoes is not None:
        raise NotUndoable(change)


def _is_same_undo(undo: Change, change: Change, by: str, channel: str, *, is_own: bool) -> bool:
    """Whether an earlier *undo* of *change* is what *by* asks for now in *channel*.

    Somebody else's pending undo counts only where it waits for an approval: their own confirmation may never come. It never
    counts where *is_own*, since *by* then needs nobody to undo the change.
    """
    if undo.state is State.PROPOSED:
        is_same = undo.decision.guard is Guard.APPROVE and undo.request.channel == channel
        return undo.request.requester == by or (is_same and not is_own)
    return undo.state in HOLDING or (undo.state is State.APPLIED and not change.is_bulk)
