"""Changes that follow from an earlier one: what takes it back, and what asks for the same again on what there is now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot.changes.effects import EffectsOf
from bot.changes.errors import AlreadyDecided, NotTemporary, NotUndoable
from bot.changes.proposals import afresh, inverse, put_back
from bot.changes.proposing import Proposer
from bot.changes.set_proposals import again, inverse_of
from bot.domain.change import LIVE, Change, State, Target
from bot.domain.change_set import NOT_DONE, Outcome
from bot.store.engine import Store

MOST_UNDOS: Final = 50
"""Failed undos of one change after which it is left alone."""


@dataclass(frozen=True, slots=True)
class FollowUps:
    """Proposes what follows."""

    store: Store
    effects: EffectsOf
    proposer: Proposer

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
                    return await self.proposer.submit_set(undo, origin=origin)
                proposal = inverse(change, by=by, channel=channel, agreed=agreed, reason=reason)
                return await self.proposer.submit(proposal, origin=origin)
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

    async def being_undone(self, change: Change) -> bool:
        """Whether an undo of *change* is under way: asked for, at work, or of unknown outcome."""
        return any(undo.state in LIVE for undo in await self._undos(change))

    async def was_not_undone(self, whole: Change) -> bool:
        """Whether an undo of a set, asked for since its end was due, ended without taking any of its parts back."""
        undos = await self._undos(whole)
        return any(undo.state is State.FAILED and undo.created >= (whole.ends or undo.created) for undo in undos)

    async def _undos(self, change: Change) -> Sequence[Change]:
        """Every undo of *change* that was ever asked for, the oldest first."""
        found: list[Change] = []
        while (known := await self.store.changes.of_origin(f"undo:{change.id}:{len(found)}")) is not None:
            found.append(known)
        return found

    async def put_back(self, change: Change, *, by: str, channel: str, origin: str) -> Change:
        """Propose the end of a temporary *change* that was left because somebody changed its target."""
        if change.state is not State.APPLIED or not change.ending or change.undone_by is not None:
            raise NotTemporary(change)
        target = await self.now_called(change.target)
        live = await self.effects(target).live(target)
        if live is None:
            raise NotTemporary(change)
        moved = change.model_copy(update={"target": target})
        return await self.proposer.submit(put_back(moved, live, by=by, channel=channel), origin=origin)

    async def afresh(self, change: Change, *, by: str, channel: str, origin: str) -> Change:
        """Propose what a stale *change* asked for on its target as it is now; raises AlreadyDecided for another one."""
        if change.state is not State.STALE:
            raise AlreadyDecided(change)
        target = await self.now_called(change.target)
        live = await self.effects(target).live(target)
        if live is None or change.kind.creates:
            raise AlreadyDecided(change)
        moved = change.model_copy(update={"target": target})
        return await self.proposer.submit(afresh(moved, live, by=by, channel=channel), origin=origin)

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
        return await self.proposer.submit_set(again(whole, failed, by=by, channel=channel), origin=origin)

    async def now_called(self, target: Target) -> Target:
        """*target* under the id that it has now: a rule that came back has a new one."""
        if target.service != "rules" or target.key is None:
            return target
        return target.model_copy(update={"key": await self.store.aliases.resolve(target.key)})
