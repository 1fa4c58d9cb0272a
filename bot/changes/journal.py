"""The one place that moves a change: state, audit, the outbox and what falls due, in one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.changes.admission import require_admission
from bot.changes.consequences import BEGINNINGS, CONSEQUENCES, follow_move, record_fields, set_due
from bot.changes.effects import mark_effects
from bot.changes.events import GATEHOUSE, event_of, event_of_claim, event_of_move, event_of_request, report_ends
from bot.changes.model.change import Change, Ended
from bot.changes.model.items import Item
from bot.changes.model.parts import Guard, Held, Question
from bot.changes.model.states import Move, State
from bot.changes.refusals import AlreadyDecided, NotTemporary, TooManyQuestions, UnknownChange
from bot.policy.limits import DEFAULT_LIMITS, MAX_QUESTIONS_PER_REQUEST, OpenLimits
from bot.store.audit import Event
from bot.store.engine import Store
from bot.store.items import rows_of
from bot.store.outbox import Purpose

log = structlog.get_logger(__name__)

LEASE: Final = timedelta(seconds=60)
"""How long a claimed change is left to its owner, at least, unless its owner renews it; `lease_for` derives the real one."""
SLICE: Final = 50
"""Changes that one transaction moves: others wait for it, and for the loop while their records are made."""
PROGRESS: Final = timedelta(seconds=2)
"""How late a card may show the progress of a bulk change: Slack takes about one edit a second, of all cards together."""

MAX_DECISION: Final = 16
"""Characters of a request's key that the database has room for, among the decisions of one person about one change."""

T = TypeVar("T")
Update = Callable[[Change], Mapping[str, Any]]
"""Returns the fields to write on a change, which is locked; raises where its state doesn't allow it."""


@dataclass(frozen=True, slots=True)
class Journal:
    """Records changes and their moves, and wakes the workers that have something to do."""

    store: Store
    now: Callable[[], datetime]
    owner: str
    wake_outbox: Callable[[], None]
    """Wakes the outbox worker; called after every commit that may have enqueued a message."""
    wake_batches: Callable[[], None]
    """Wakes the worker of bulk changes; called where one was approved."""
    lease: timedelta = LEASE
    open_limits: OpenLimits = DEFAULT_LIMITS
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once this process is about to end: then it begins no more items of the bulk changes that it has."""
    at_work: set[str] = field(default_factory=set)
    """Ids of the changes that this process is executing: it doesn't take them over from itself."""

    async def open(
        self,
        change: Change,
        idempotency_key: str,
        items: Sequence[Item] = (),
        *,
        reverts: Change | None = None,
        begin: bool = False,
    ) -> Change:
        """Record a new change, once per *idempotency_key*; one without a guard is approved with it.

        *begin*: claim what is approved, too, for this process to carry out. *reverts*: the temporary change whose end it
        is; raises NotTemporary where that has another end now, or none.
        Raises TargetBusy, AlreadyRequested where the same waits in its channel, and TooManyRequests where it would wait
        beside too many others.
        """
        # Made before the transaction, for which others wait.
        rows = await rows_of(change.id, items)
        async with self.store.transaction() as tx:
            kept = await self.store.changes.add(tx, change, idempotency_key)
            # The same request came before: what it made then is the answer.
            if kept.id != change.id:
                return kept
            await require_admission(self.store, tx, change, reverts, self.open_limits)
            await self.store.items.add(tx, rows)
            events: Sequence[Event] = ()
            if change.decision.guard is Guard.NONE:
                kept, events = await self._approve_at_once(tx, change, begin=begin)
            # What is approved gets its card once it is taken up or done.
            if kept.state in {State.PROPOSED, State.PLANNED}:
                await self.store.outbox.enqueue(tx, kept.id, "card")
                await set_due(self.store, tx, None, kept)
            # Last, for it keeps the head of the audit from every other writer until the commit.
            await self.store.audit.append(tx, event_of_request(change), *events)
        self._wake(kept)
        return kept

    async def _approve_at_once(
        self, tx: AsyncConnection, change: Change, *, begin: bool
    ) -> tuple[Change, Sequence[Event]]:
        """Let *change* through, which nobody has to decide about, and *begin* it; with the events that say so."""
        decided: dict[str, Any] = {"decided_by": change.request.requester, "decided_at": change.created}
        # This process begins it at once. Where it dies first, others take it up once a lease has passed.
        due = change.created + (timedelta() if change.is_bulk else self.lease)
        kept = await self.store.changes.move(tx, change.id, self._release(change), due=due, **decided) or change
        if kept.state is State.PLANNED:
            return kept, [event_of(CONSEQUENCES[Move.PLAN].event, kept, change.request.requester)]
        return await self._claim_approved(tx, kept) if begin else (kept, ())

    def _release(self, change: Change) -> Move:
        """Return the move that releases *change*: at once, or at its time."""
        starts = change.request.starts_at
        return Move.APPROVE if starts is None or starts <= self.now() else Move.PLAN

    async def count(
        self, change: Change, by: str, *, for_later: bool = False, last: Mapping[str, Any] | None = None
    ) -> Change | None:
        """Count an approval of *by*; return the change as it then is, or None where it is too late.

        None as well where more stands before the change by now than *change* says: the right to that wasn't asked.

        *last*: the fields of the decision that it completes; where nobody else approved since *change* was read, the same
        transaction makes it, as `move` does.
        """
        async with self.store.transaction() as tx:
            held = await self.store.changes.get_locked(tx, change.id)
            if held is None or held.state is not State.PROPOSED:
                return None
            if not held.decision.has_requirements_of(change.decision):
                return None
            counted = held.with_approval(by, self.now(), for_later=for_later)
            given = counted.decision.approvals
            events = [event_of("approval", counted, by, given=len(given))] if given != held.decision.approvals else []
            # Somebody who approved in between was not asked about: then this approval completes nothing yet.
            if last is not None and held.decision.approvals == change.decision.approvals:
                made = await self._make_move(tx, counted, Move.APPROVE, by, events, approvals=given, **last)
            else:
                made = counted
                if events:
                    await self.store.changes.record(tx, counted)
                    await self.store.outbox.enqueue(tx, counted.id, "card")
                    await self.store.audit.append(tx, *events)
        if made is not None:
            self._wake(made)
        return made

    async def move(self, change: Change, move: Move, *, by: str = GATEHOUSE, **fields: Any) -> Change | None:
        """Make *move* of a change that nobody is carrying out, or return None where it is not where the move starts.

        What is approved is claimed with it, and returned as this process's to carry out; but for a bulk change.
        """
        async with self.store.transaction() as tx:
            moved = await self._make_move(tx, change, move, by, (), **fields)
        if moved is not None:
            # Only after the commit: what was rolled back did not end, and wakes nobody.
            report_ends([moved])
            self._wake(moved)
        return moved

    def _wake(self, change: Change) -> None:
        self.wake_outbox()
        if change.is_bulk and change.state is State.APPROVED:
            self.wake_batches()

    async def _make_move(
        self, tx: AsyncConnection, change: Change, move: Move, by: str, before: Sequence[Event], **fields: Any
    ) -> Change | None:
        """The change after *move*, with all that goes with it in *tx*. *before*: events that led to it."""
        if is_decision := move is Move.APPROVE:
            move = Move.PLAN if fields.get("held") else self._release(change)
        if move in BEGINNINGS:
            fields.setdefault("due", self.now() + (timedelta() if change.is_bulk else self.lease))
        # Slack can't be asked within a transaction: the move counts only under what the rights were asked for.
        under = change.decision if is_decision else None
        moved = await self.store.changes.move(tx, change.id, move, under=under, **fields)
        if moved is None:
            return None
        await follow_move(self.store, tx, change, moved, move, by)
        after: Sequence[Event] = ()
        event = event_of_move(move, moved, by)
        if move in BEGINNINGS and not moved.is_bulk:
            moved, after = await self._claim_approved(tx, moved)
        await self.store.audit.append(tx, *before, event, *after)
        return moved

    async def finish(self, ended: Sequence[Ended]) -> Sequence[Change]:
        """Move changes that this process carries out, many in one transaction; return those whose lease it still had."""
        finished: list[Change] = []
        for some in slices(ended):
            async with self.store.transaction() as tx:
                mine, stale = await self._finish(tx, some)
            finished += mine
            report_ends([*mine, *stale])
        if finished:
            self.wake_outbox()
        return finished

    async def _finish(self, tx: AsyncConnection, ended: Sequence[Ended]) -> tuple[Sequence[Change], Sequence[Change]]:
        """Move *ended* with all that goes with it in *tx*; return what was moved, and the requests that are stale by it."""
        moved = await self.store.changes.finish(tx, ended, self.owner)
        was = {each.change.id: each.change for each in ended}
        for change, move in moved:
            # An item has neither a card nor anything due of its own: its bulk change has.
            if change.set_id is None:
                await follow_move(self.store, tx, was[change.id], change, move, GATEHOUSE)
        mine = [change for change, _ in moved]
        items = [change for change in mine if change.set_id is not None]
        if items:
            await self.store.items.note(tx, items)
        applied = [change for change in mine if change.state is State.APPLIED]
        stale = await mark_effects(self.store, tx, applied, self.now())
        # In one order, or two processes would wait for each other's rows.
        for set_id in sorted({item.set_id or "" for item in items}):
            await self.store.outbox.enqueue(tx, set_id, "card", within=PROGRESS)
        events = [event_of_move(move, change, GATEHOUSE) for change, move in moved]
        events += [event_of_move(Move.INVALIDATE, each, GATEHOUSE) for each in stale]
        # What was done is recorded even where a newer release has taken over.
        await self.store.audit.append(tx, *events, ends_work=True)
        return mine, stale

    async def hold(self, change: Change, why: Held, **fields: Any) -> None:
        """Have what was planned not begin at its time, and those who asked and approved hear *why*; *fields*: what else is so."""
        now = self.now()

        def keep(planned: Change) -> Mapping[str, Any]:
            is_same = planned.state is State.PLANNED and planned.request.starts_at == change.request.starts_at
            return {"held": why, "held_at": now, **fields} if is_same and not planned.run.held else {}

        await self.record(change, "held", GATEHOUSE, keep, note=Purpose.HELD.of(now))

    async def get(self, change_id: str) -> Change:
        """Return the change as it stands; raises UnknownChange."""
        if (change := await self.store.changes.get(change_id)) is None:
            raise UnknownChange(change_id)
        return change

    async def claim(self, change_id: str) -> Change | None:
        """Claim an approved change; None where another process has."""
        async with self.store.transaction() as tx:
            claimed = await self.store.changes.claim(tx, change_id, self.owner, self.lease)
            if claimed is not None:
                await self.store.audit.append(tx, event_of_claim(claimed))
        return claimed

    async def _claim_approved(self, tx: AsyncConnection, approved: Change) -> tuple[Change, Sequence[Event]]:
        """Claim *approved* for this process, in the transaction of its approval; return it, and the event that says so."""
        claimed = await self.store.changes.take(tx, approved, self.owner, self.lease)
        return (approved, ()) if claimed is None else (claimed, [event_of_claim(claimed)])

    async def claim_due(self, service: str | None = None, *, bulk: bool = False) -> Change | None:
        """Take a change that was left, by a process that died or by a service that was away; of *service* alone, or any.

        *bulk*: a bulk change that was approved or left, instead of a change of one thing.
        """
        due: dict[str, Any] = {"bulk": bulk, "but": self.at_work, "service": service}
        if not await self.store.changes.any_due(**due):
            return None
        async with self.store.transaction() as tx:
            claimed = await self.store.changes.claim_due(tx, self.owner, self.lease, **due)
            if claimed is not None and claimed.is_bulk:
                # Mostly the card of what it undoes tells it.
                within = PROGRESS if claimed.request.cause else timedelta()
                await self.store.outbox.enqueue(tx, claimed.id, "card", within=within)
            if claimed is not None and claimed.state is State.APPLYING:
                await self.store.audit.append(tx, event_of_claim(claimed))
        if claimed is not None and (claimed.run.attempt > 1 or not claimed.is_bulk):
            log.info("taken_up", change=claimed.id[:8], state=claimed.state.value, attempt=claimed.run.attempt)
        if bulk:
            self.wake_outbox()
        return claimed

    async def ask(self, change: Change, question: Question) -> Change:
        """Put *question* to those that were asked before it, and enqueue its note; the same one twice is one.

        Raises AlreadyDecided and TooManyQuestions.
        """
        async with self.store.transaction() as tx:
            held = await self.store.changes.get_locked(tx, change.id) or change
            # Asked again by a second delivery; before the state, so that it does not come too late.
            if question in held.decision.questions:
                return held
            if held.state is not State.PROPOSED:
                raise AlreadyDecided(held)
            if len(held.decision.questions) >= MAX_QUESTIONS_PER_REQUEST:
                raise TooManyQuestions(held)
            asked = held.with_fields(questions=(*held.decision.questions, question))
            await self.store.changes.record(tx, asked)
            await self.store.outbox.enqueue(tx, asked.id, f"ask-{len(asked.decision.questions)}")
            await self.store.audit.append(tx, event_of("asked", asked, question.by, question=question.text))
        self.wake_outbox()
        return asked

    async def record(
        self, change: Change, event: str, by: str, update: Update, *, request: str = "", note: str = ""
    ) -> Change:
        """Write on a change what *update* makes of it as it stands, with an *event* that says so; enqueue the *note*.

        Done once for each *request*. What *update* raises is raised; where it gives nothing, nothing is written.
        Raises NotTemporary for another end of what is being reverted.
        """
        async with self.store.transaction() as tx:
            held = await self.store.changes.get_locked(tx, change.id) or change
            if request and not await self.store.changes.note_decision(tx, held.id, by, request[:MAX_DECISION], event):
                return held
            if not (fields := update(held)):
                return held
            if "reverts_at" in fields and await self.store.changes.is_being_reverted(tx, held.id):
                raise NotTemporary(held)
            noted = held.with_fields(**fields)
            await record_fields(self.store, tx, held, **fields)
            for purpose in filter(None, ("card", note)):
                await self.store.outbox.enqueue(tx, change.id, purpose)
            if "stopped_by" in fields:
                await self.store.items.stop(tx, held.id)
            await self.store.audit.append(tx, event_of(event, noted, by))
        self.wake_outbox()
        return noted

    async def remember(self, changes: Sequence[Change], update: Update) -> Sequence[Change]:
        """Note what *update* gives for the work under way, where it is still this process's; nobody needs to be told."""
        for some in slices(changes):
            async with self.store.transaction() as tx:
                for change in some:
                    held = await self.store.changes.get_locked(tx, change.id)
                    # With another token it is another process's, which knows more of it.
                    if held is not None and held.run.token == change.run.token:
                        await self.store.changes.record(tx, held, **update(change))
        return [change.with_fields(**update(change)) for change in changes]

    async def note(self, event: Event) -> None:
        """Record what moves no change: a refusal, an export."""
        async with self.store.transaction() as tx:
            await self.store.audit.append(tx, event, ends_work=True)


def slices(all_of: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield *all_of* in slices of at most SLICE, which one transaction moves."""
    for first in range(0, len(all_of), SLICE):
        yield all_of[first : first + SLICE]
