"""Propose, decide, apply, settle: the life of a change, in the order in which it is lived.

Each step commits what it is about to do before it does it, and moves the change by compare-and-set, so that a
process may die at any line, and two people or two replicas may act at once, and the write still happens at most once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.changes.effects import Document, Effects, EffectsOf, Truth
from bot.clients.errors import ClientError, NotFound, OutcomeUnknown
from bot.domain.change import LIVE, UNDONE_BY, Change, Guard, Kind, Move, State, Target, essence
from bot.domain.rule import RuleDraft
from bot.store.engine import Store

log = structlog.get_logger(__name__)

LIFETIME = timedelta(hours=24)
"""How long a proposal waits for a decision."""

LEASE = timedelta(seconds=60)
"""How long a claimed change is left to its owner; well over twice the longest a service call may take."""

SETTLE_AFTER = (0.2, 1.0, 3.0)
"""Seconds between the looks at a service whose answer to a write was lost."""


MOST_UNDOS = 50
"""Failed undos of one change after which it is left alone."""


class Decision(StrEnum):
    CONFIRM = "confirm"
    KEEP = "keep"


DECIDES = {Decision.CONFIRM: Move.APPROVE, Decision.KEEP: Move.CANCEL}


@dataclass(frozen=True, slots=True)
class Proposal:
    """What somebody wants changed. *before* is what they were shown; None for something new."""

    kind: Kind
    target: Target
    before: Document | None
    after: Document | None
    requester: str
    channel: str
    guard: Guard = Guard.NONE
    reason: str = ""
    quiet_refusal: bool = False
    """The one who asks sees a refusal where they typed, so the channel need not."""
    undoes: str | None = None
    """The change that this one takes back."""


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


class UnknownChange(Exception):
    """No change has this id."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The one way anything is written."""

    store: Store
    effects: EffectsOf
    now: Callable[[], datetime]
    new_id: Callable[[], str]
    owner: str
    tell: Callable[[], None]
    """Wakes the worker that brings cards up to date; called after every commit that changes one."""
    settle_after: Sequence[float] = SETTLE_AFTER

    async def submit(self, proposal: Proposal, *, origin: str) -> Change:
        """Propose, and where nothing stands before the change, apply it. Return the change as it then stands."""
        change = await self.propose(proposal, origin=origin)
        return await self.apply(change.id) if change.state is State.APPROVED else change

    async def propose(self, proposal: Proposal, *, origin: str) -> Change:
        """Record the change, once per *origin*; raises TargetBusy while another change holds the target."""
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
            guard=proposal.guard,
            quiet_refusal=proposal.quiet_refusal,
            undoes=proposal.undoes,
            created=now,
            expires=now + LIFETIME,
        )
        async with self.store.transaction() as tx:
            kept = await self.store.changes.add(tx, change, origin)
            if kept.id == change.id and change.guard is Guard.NONE:
                kept = (
                    await self.store.changes.move(
                        tx, change.id, Move.APPROVE, decided_by=change.requester, decided_at=now
                    )
                    or kept
                )
            elif kept.state is State.PROPOSED:
                await self.store.outbox.add(tx, kept.id, "card")
        self.tell()
        return kept

    async def decide(self, change_id: str, decision: Decision, by: str) -> Change:
        """Take the decision if it is *by*'s to take and still open, and apply what was confirmed.

        Raises UnknownChange, NotYours, or AlreadyDecided with the change as it stands.
        """
        change = await self.get(change_id)
        if change.guard is Guard.CONFIRM and by != change.requester:
            raise NotYours(change)
        moved = None
        if change.state is State.PROPOSED:
            late = change.expires is not None and self.now() >= change.expires
            move = Move.EXPIRE if late else DECIDES[decision]
            moved = await self._move(change, move, decided_by=by, decided_at=self.now())
        if moved is None or moved.state is State.EXPIRED:
            raise AlreadyDecided(moved or await self.get(change_id))
        return await self.apply(change_id) if moved.state is State.APPROVED else moved

    async def get(self, change_id: str) -> Change:
        """The change as it stands; raises UnknownChange."""
        if (change := await self.store.changes.get(change_id)) is None:
            raise UnknownChange(change_id)
        return change

    async def apply(self, change_id: str) -> Change:
        """Claim the approved change and carry it out; where another has claimed it, return it as it stands."""
        async with self.store.transaction() as tx:
            claimed = await self.store.changes.claim(tx, change_id, self.owner, LEASE)
        return await self.carry_out(claimed) if claimed is not None else await self.get(change_id)

    async def carry_out(self, change: Change) -> Change:
        """Do the work of a change that this process holds, at its first attempt or after another process died."""
        effects = self.effects(change.target)
        if change.attempt > 1:
            return await self._settle(change, effects)
        try:
            live = await effects.live(change.target)
            if essence(live) != essence(change.before):
                return await self._end(change, Move.OUTDATE, result=live)
            change = await self._remember_twins(change, effects)
        except ClientError as error:
            return await self._end(change, Move.FAIL, **_said(error))
        return await self._write(change, effects)

    async def recover(self, *, every: float) -> None:
        """Take over changes whose process died, or whose outcome is still unknown; runs until cancelled."""
        while True:
            try:
                while (change := await self.store.changes.claim_due(self.owner, LEASE)) is not None:
                    log.info("taking_over", change=change.id[:8], state=change.state, attempt=change.attempt)
                    await self.carry_out(change)
            except Exception as error:
                log.exception("recover_failed", error=type(error).__name__)
            await asyncio.sleep(every)

    async def _remember_twins(self, change: Change, effects: Effects) -> Change:
        """Before a create: note what looks the same already, or a lost answer could not be told from an old rule."""
        if change.kind is not Kind.RULE_CREATE:
            return change
        twins = {"twins": await effects.twins(change)}
        async with self.store.transaction() as tx:
            await self.store.changes.record(tx, change, result=twins)
        return change.model_copy(update={"result": twins})

    async def _write(self, change: Change, effects: Effects) -> Change:
        try:
            answer = await effects.write(change)
        except NotFound as error:
            gone = change.after is None
            return await self._end(change, Move.OUTDATE if gone else Move.FAIL, **_said(error))
        except OutcomeUnknown as error:
            return await self._settle(await self._end(change, Move.LOSE, **_said(error)), effects)
        except ClientError as error:
            return await self._end(change, Move.FAIL, **_said(error))
        if change.kind is Kind.RULE_CREATE:
            born = change.target.model_copy(update={"key": answer})
            change = change.model_copy(update={"target": born})
        return await self._confirm(change, effects, answer)

    async def _confirm(self, change: Change, effects: Effects, answer: str) -> Change:
        """The service said yes: believe it once the target reads so, or reads as what the service made of it."""
        try:
            reading = await effects.read_back(change, ())
        except ClientError as error:
            log.warning("read_back_failed", change=change.id, error=type(error).__name__)
        else:
            stored = reading.truth is Truth.NEITHER and reading.live is not None and change.after is not None
            if reading.truth is Truth.DONE or stored:
                end = {"outcome": answer, "result": reading.live, "target_key": change.target.key}
                return await self._end(change, Move.FINISH, **end)
        return await self._settle(await self._end(change, Move.LOSE, outcome=answer), effects)

    async def _settle(self, change: Change, effects: Effects) -> Change:
        """Nobody knows whether the write happened: look until the service's state says so, never send it again."""
        twins = (change.result or {}).get("twins", ())
        reading = None
        for seconds in self.settle_after:
            await asyncio.sleep(seconds)
            try:
                reading = await effects.read_back(change, twins)
            except ClientError as error:
                log.warning("settling", change=change.id, error=type(error).__name__)
                continue
            if reading.truth is Truth.DONE:
                key = change.target.key or (reading.live or {}).get("id")
                return await self._end(change, Move.FINISH, result=reading.live, target_key=key)
        if reading is not None and reading.truth is Truth.NOT_DONE:
            return await self._end(change, Move.FAIL, result=reading.live)
        if change.state is State.UNKNOWN:
            return change
        return await self._end(change, Move.LOSE, result=reading.live if reading else None)

    async def _end(self, change: Change, move: Move, **fields: Any) -> Change:
        """One step of a claimed change; where somebody took it over meanwhile, how it stands now."""
        fields.setdefault("finished_at", self.now())
        moved = await self._move(change, move, fenced=True, **fields)
        return moved or await self.get(change.id)

    async def undo(self, change: Change, *, by: str, channel: str) -> Change:
        """Take an applied *change* back, by a change like any other; raises NotUndoable for one that was not applied.

        Asked twice, or by two at once, it is one undo: the second asks for what the first one made.
        """
        if change.state is not State.APPLIED or change.undone_by is not None:
            raise NotUndoable(change)
        for number in range(MOST_UNDOS):
            origin = f"undo:{change.id}:{number}"
            known = await self.store.changes.of_origin(origin)
            if known is None or known.state in LIVE | {State.APPLIED}:
                return await self.submit(inverse(change, by=by, channel=channel), origin=origin)
        raise NotUndoable(change)

    async def _undone(self, tx: AsyncConnection, undo: Change) -> None:
        """Mark what *undo* took back, and let the old id of a rule that came back mean the new one."""
        change = await self.store.changes.held(tx, undo.undoes or "")
        if change is None:
            return
        await self.store.changes.record(tx, change, undone_by=undo.id)
        await self.store.outbox.add(tx, change.id, "card")
        if undo.kind is Kind.RULE_CREATE and change.target.key and undo.target.key:
            await self.store.aliases.put(tx, change.target.key, undo.target.key)

    async def _move(self, change: Change, move: Move, *, fenced: bool = False, **fields: Any) -> Change | None:
        fence: dict[str, Any] = {"owner": self.owner, "from_attempt": change.attempt} if fenced else {}
        async with self.store.transaction() as tx:
            moved = await self.store.changes.move(tx, change.id, move, **fence, **fields)
            if moved is not None and not _only_the_asker_cares(moved):
                await self.store.outbox.add(tx, moved.id, "card")
            if moved is not None and moved.state is State.APPLIED and moved.undoes:
                await self._undone(tx, moved)
        self.tell()
        return moved


def inverse(change: Change, *, by: str, channel: str) -> Proposal:
    """What takes *change* back: from what it made, to what was before. Deleting again waits for a click."""
    kind = UNDONE_BY[change.kind]
    after = change.before
    if after is not None and change.target.service == "rules":
        after = RuleDraft.model_validate(after).body()
    elif after is not None and kind is Kind.MEMBER_ADD:
        after = {name: after[name] for name in ("name", "email", "allowedSegments") if name in after}
    return Proposal(
        kind=kind,
        target=change.target.model_copy(update={"key": None}) if kind is Kind.RULE_CREATE else change.target,
        before=change.result if change.after is not None else None,
        after=after,
        requester=by,
        channel=channel,
        guard=Guard.CONFIRM if kind.destroys else Guard.NONE,
        reason=f"undo of {change.id[:8]}",
        undoes=change.id,
    )


def _only_the_asker_cares(change: Change) -> bool:
    return change.quiet_refusal and change.attempt <= 1 and change.state in {State.FAILED, State.STALE, State.APPLYING}


def _said(error: ClientError) -> dict[str, str]:
    """What the service said, or what became of the call: in words for people, and short; and by the error's name."""
    return {"outcome": str(error)[:300], "refusal": type(error).__name__}
