"""The one place that moves a change: state, audit, the outbox and what falls due, in one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.changes.admission import require_admission
from bot.changes.consequences import follow_move, record, set_due, start_time
from bot.changes.effects import mark_effects
from bot.changes.events import count_ends, event_of, event_of_claim, event_of_move, event_of_request
from bot.changes.model.change import Change
from bot.changes.model.items import Item
from bot.changes.model.moves import GATEHOUSE, Approve, Ended, Invalidate, Move, Plan
from bot.changes.model.parts import Guard, Held, LostRight
from bot.changes.model.states import State
from bot.changes.refusals import NotTemporary, UnknownChange
from bot.policy.inquiry import NotAllowed
from bot.policy.limits import MAX_WAITING_REQUESTS
from bot.store.audit import Event
from bot.store.engine import Store
from bot.store.items import rows_of
from bot.store.outbox import Purpose

log = structlog.get_logger(__name__)

LEASE: Final = timedelta(seconds=60)
"""The shortest lease on a claimed change; `lease_for` derives the real one from how long services may take."""
SLICE: Final = 50
"""Changes that one transaction moves at most: other writers wait for it, and building its rows holds up the event loop."""
PROGRESS: Final = timedelta(seconds=2)
"""How late a card may show the progress of a bulk change: Slack takes about one edit a second, of all cards together."""

MAX_DECISION: Final = 16
"""Characters of a request's key that the column for decisions has room for; longer keys are cut."""

T = TypeVar("T")
Update = Callable[[Change], Change]
"""Returns a change, which is locked, as it is to be written, or just as it is; raises where its state doesn't allow it."""


@dataclass(frozen=True, slots=True)
class Journal:
    """Records changes and their moves, and wakes the workers that have something to do."""

    store: Store
    now: Callable[[], datetime]
    owner: str
    wake_outbox: Callable[[], None]
    """Wakes the outbox worker; called after every commit that may have enqueued a message."""
    wake_batches: Callable[[], None]
    """Wakes the worker of bulk changes; called where one was requested or moved."""
    lease: timedelta = LEASE
    max_waiting: int = MAX_WAITING_REQUESTS
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once this process is about to end: it then begins no more items of its bulk changes."""
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
        """Record a new change once per *idempotency_key*, and return it; one without a guard is approved at once.

        *begin*: also claim what is approved, for this process to execute. *reverts*: the temporary change whose end it is.
        Raises TargetBusy, NotTemporary where *reverts* has another end now, or none, AlreadyRequested where the same request
        waits in its channel, and TooManyRequests where too many others of the same person wait.
        """
        # Built before the transaction, since other writers wait for that.
        rows = await rows_of(change.id, items)
        async with self.store.transaction() as tx:
            kept = await self.store.changes.add(tx, change, idempotency_key)
            # The same request came before: what it made then is the answer.
            if kept.id != change.id:
                return kept
            await require_admission(self.store, tx, change, reverts, self.max_waiting)
            await self.store.items.add(tx, rows)
            events: Sequence[Event] = ()
            if change.decision.guard is Guard.NONE:
                kept, events = await self._approve_at_once(tx, change, begin=begin)
            # What is approved gets its card once it is taken up or done.
            if kept.state in {State.PROPOSED, State.PLANNED}:
                await self.store.outbox.enqueue(tx, kept.id, "card")
                await set_due(self.store, tx, None, kept)
            await self.store.audit.append(tx, event_of_request(change), *events)
        self._wake(kept)
        return kept

    async def _approve_at_once(
        self, tx: AsyncConnection, change: Change, *, begin: bool
    ) -> tuple[Change, Sequence[Event]]:
        """Approve or plan *change*, which has no guard; return it, with the audit events. *begin*: claim it, too."""
        move = self._release(change, Approve(by=change.request.requester))
        # This process begins it at once. If it dies first, others take the change over after one lease.
        due = change.created + (timedelta() if change.is_bulk else self.lease)
        kept = await self.store.changes.move(tx, change, move, change.created, due=due) or change
        if kept.state is State.PLANNED:
            return kept, [event_of(move.event, kept, move.by)]
        return await self._claim_approved(tx, kept) if begin else (kept, ())

    def _release(self, change: Change, move: Move) -> Move:
        """Return *move*; of an approval of what is to begin later, the same for its time."""
        starts = change.request.starts_at
        if not isinstance(move, Approve) or starts is None or starts <= self.now():
            return move
        return Plan(by=move.by, reason=move.reason, glass_broken=move.glass_broken)

    async def count(self, change: Change, by: str, *, completes: bool = False) -> Change | None:
        """Count an approval by *by*; return the change as it then stands, or None where it no longer waits for a decision.

        None, too, where it now requires more than *change* says: *by*'s right was checked for less.

        *completes*: *change* is approved with this approval. The move is made in the same transaction, as by `move`, unless
        somebody else approved since *change* was read.
        """
        async with self.store.transaction() as tx:
            held = await self.store.changes.get_locked(tx, change.id)
            if held is None or held.state is not State.PROPOSED:
                return None
            if not held.decision.has_requirements_of(change.decision):
                return None
            counted = held.with_approval(by, self.now())
            given = counted.decision.approvals
            events = [event_of("approval", counted, by, given=len(given))] if given != held.decision.approvals else []
            # Somebody who approved in between was not asked about: then this approval completes nothing yet.
            if completes and held.decision.approvals == change.decision.approvals:
                made = await self._make_move(tx, counted, Approve(by=by), events)
            else:
                made = counted
                if events:
                    await self.store.changes.record(tx, held, counted)
                    await self.store.outbox.enqueue(tx, counted.id, "card")
                    await self.store.audit.append(tx, *events)
        if made is not None:
            self._wake(made)
        return made

    async def move(self, change: Change, move: Move, *, planned: bool = False) -> Change | None:
        """Make *move* of a change that no process is executing, and return it; None where its state doesn't allow the move.

        *planned*: None as well where it has another time than *change* says, or was held or released since.

        A change that is approved or started is also claimed for this process, unless it is a bulk change.
        """
        async with self.store.transaction() as tx:
            moved = await self._make_move(tx, change, move, planned=planned)
        if moved is not None:
            # Only after the commit: what was rolled back did not end, and wakes nobody.
            count_ends([moved])
            self._wake(moved)
        return moved

    def _wake(self, change: Change) -> None:
        self.wake_outbox()
        if change.is_bulk:
            self.wake_batches()

    async def _make_move(
        self, tx: AsyncConnection, change: Change, move: Move, before: Sequence[Event] = (), *, planned: bool = False
    ) -> Change | None:
        """Make *move* within *tx*, with all that follows from it; return as `move` does. *before*: events that led to it."""
        move, now = self._release(change, move), self.now()
        due = now + (timedelta() if change.is_bulk else self.lease) if move.begins else None
        moved = await self.store.changes.move(tx, change, move, now, planned=planned, due=due)
        if moved is None:
            return None
        await follow_move(self.store, tx, change, moved, move, move.by)
        after: Sequence[Event] = ()
        event = event_of_move(move, moved)
        if move.begins and not moved.is_bulk:
            moved, after = await self._claim_approved(tx, moved)
        await self.store.audit.append(tx, *before, event, *after)
        return moved

    async def finish(self, ended: Sequence[Ended]) -> Sequence[Change]:
        """Move changes that this process executes, SLICE in one transaction; return those whose lease it still had."""
        finished: list[Change] = []
        for some in slices(ended):
            async with self.store.transaction() as tx:
                mine, stale = await self._finish(tx, some)
            finished += mine
            count_ends([*mine, *stale])
        if finished:
            self.wake_outbox()
        return finished

    async def _finish(self, tx: AsyncConnection, ended: Sequence[Ended]) -> tuple[Sequence[Change], Sequence[Change]]:
        """Move *ended* within *tx*, with all that follows; return those that were moved, and the requests that went stale."""
        moved = await self.store.changes.finish(tx, ended, self.owner, self.now())
        was = {change.id: change for change, _ in ended}
        for change, move in moved:
            # An item has neither a card nor anything due of its own: its bulk change has.
            if change.set_id is None:
                await follow_move(self.store, tx, was[change.id], change, move, move.by)
        mine = [change for change, _ in moved]
        items = [change for change in mine if change.set_id is not None]
        if items:
            await self.store.items.note(tx, items)
        applied = [change for change in mine if change.state is State.APPLIED]
        wholes = {each.set_id or each.id for each in mine if each.is_bulk or was[each.id].state is State.UNKNOWN}
        stale = await mark_effects(self.store, tx, applied, wholes, self.now())
        # Sorted, so that two processes lock these rows in the same order and can't deadlock.
        for set_id in sorted({item.set_id or "" for item in items}):
            await self.store.outbox.enqueue(tx, set_id, "card", within=PROGRESS)
        events = [event_of_move(move, change) for change, move in [*moved, *((each, Invalidate()) for each in stale)]]
        await self.store.audit.append(tx, *events)
        return mine, stale

    async def hold(self, change: Change, why: Held, *, lost: NotAllowed | None = None) -> None:
        """Keep a planned change from beginning at its time, and notify its requester and approvers of *why*.

        *lost*: whose right was lost. Nothing is done where it has another start now, or is held already.
        """
        now = self.now()

        def keep(planned: Change) -> Change:
            if start_time(planned) != change.request.starts_at:
                return planned
            run = replace(planned.run, held=why, held_at=now)
            run = run if lost is None else replace(run, why_not=LostRight(who=lost.user, why=lost.why))
            return replace(planned, run=run)

        await self.record(change, "held", GATEHOUSE, keep, note=Purpose.HELD.of(now))

    async def get(self, change_id: str) -> Change:
        """Return the change as it stands; raises UnknownChange."""
        if (change := await self.store.changes.get(change_id)) is None:
            raise UnknownChange(change_id)
        return change

    async def claim(self, change_id: str) -> Change | None:
        """Claim an approved change for this process, and return it; None where another process has it."""
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
        """Claim a change whose process died or whose service was away, of *service* or of any; return it, None without one.

        *bulk*: claim a bulk change, approved or left by a process, instead of a change of one thing.
        """
        due: dict[str, Any] = {"bulk": bulk, "but": self.at_work, "service": service}
        # Most polls find nothing, so they only read: a transaction that may write would keep SQLite's other writers waiting.
        if not await self.store.changes.any_due(**due):
            return None
        async with self.store.transaction() as tx:
            claimed = await self.store.changes.claim_due(tx, self.owner, self.lease, **due)
            if claimed is None:
                return None
            if bulk:
                # An undo is mostly shown on the card of what it undoes.
                within = PROGRESS if claimed.request.cause else timedelta()
                await self.store.outbox.enqueue(tx, claimed.id, "card", within=within)
            if claimed.state is State.APPLYING:
                await self.store.audit.append(tx, event_of_claim(claimed))
        log.info("taken_up", change=claimed.id[:8], state=claimed.state.value, attempt=claimed.run.attempt)
        self.wake_outbox()
        return claimed

    async def record(
        self, change: Change, event: str, by: str, update: Update, *, request: str = "", note: str = ""
    ) -> Change:
        """Write what *update* makes of the locked change, with an audit *event*, and enqueue *note*.

        Return the change as it then stands. Done once per *request*. Where *update* returns it as it is, nothing is written; what
        it raises is raised. Raises NotTemporary for a new end of a change that is being reverted.
        """
        async with self.store.transaction() as tx:
            held = await self.store.changes.get_locked(tx, change.id) or change
            if request and not await self.store.changes.note_decision(tx, held.id, by, request[:MAX_DECISION]):
                return held
            if (noted := update(held)) is held:
                return held
            has_other_end = noted.request.reverts_at != held.request.reverts_at
            if has_other_end and await self.store.changes.is_being_reverted(tx, held.id):
                raise NotTemporary(held)
            await record(self.store, tx, held, noted)
            for purpose in filter(None, ("card", note)):
                await self.store.outbox.enqueue(tx, change.id, purpose)
            if noted.run.stopped_by != held.run.stopped_by:
                await self.store.items.stop(tx, held.id)
            ended, as_typed = held.request.reverts_at, held.request.reverts_at_as_typed
            was = {"ended": ended.isoformat(), "ended_as_typed": as_typed} if ended is not None else {}
            await self.store.audit.append(tx, event_of(event, noted, by, **was))
        self.wake_outbox()
        return noted

    async def remember(self, changes: Sequence[Change], update: Update) -> Sequence[Change]:
        """Write what *update* makes of changes under way, and return them; they have neither audit event nor message.

        They are stored only where this process still has the change.
        """
        for some in slices(changes):
            async with self.store.transaction() as tx:
                for change in some:
                    held = await self.store.changes.get_locked(tx, change.id)
                    # With another token, another process has it, and knows more about it.
                    if held is not None and held.run.token == change.run.token:
                        await self.store.changes.record(tx, held, update(held))
        return [update(change) for change in changes]

    async def note(self, event: Event) -> None:
        """Record an audit event that moves no change, such as a refusal or an export."""
        async with self.store.transaction() as tx:
            await self.store.audit.append(tx, event)


def slices(all_of: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield *all_of* in slices of at most SLICE, which one transaction moves."""
    for first in range(0, len(all_of), SLICE):
        yield all_of[first : first + SLICE]
