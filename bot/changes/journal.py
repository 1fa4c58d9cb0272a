"""The one place that moves a change: state, audit, the outbox and what falls due, in one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.changes.consequences import CONSEQUENCES, LATER
from bot.changes.model.change import Change, Ended
from bot.changes.model.documents import canonical_form
from bot.changes.model.edits import Kind, Target
from bot.changes.model.items import Item, Outcome
from bot.changes.model.parts import Guard, Held, Question, Redone, Undone
from bot.changes.model.states import LIVE, Move, State
from bot.changes.refusals import (
    AlreadyDecided,
    AlreadyRequested,
    NotTemporary,
    TooManyQuestions,
    TooManyRequests,
    UnknownChange,
)
from bot.metrics import ENDED_CHANGES
from bot.policy.limits import DEFAULT_LIMITS, MAX_QUESTIONS_PER_REQUEST, OpenLimits
from bot.store.audit import Event
from bot.store.engine import Store
from bot.store.items import rows_of
from bot.store.outbox import Purpose
from bot.store.queues import TimerKind

log = structlog.get_logger(__name__)

LEASE: Final = timedelta(seconds=60)
"""How long a claimed change is left to its owner, at least, unless its owner renews it; `lease_for` derives the real one."""

SHOWN_WITHIN: Final = timedelta(seconds=1)
"""How long a card and its requester may wait to hear of an approval: mostly the outcome is there by then, and says it all."""

SLICE: Final = 50
"""Changes that one transaction moves: others wait for it, and for the loop while their records are made."""
PROGRESS: Final = timedelta(seconds=2)
"""How late a card may show how far a bulk change is: Slack takes about one edit a second, of all cards together."""

MAX_DECISION: Final = 16
"""Characters of a request's key that the database has room for, among the decisions of one person about one change."""

T = TypeVar("T")
Update = Callable[[Change], Mapping[str, Any]]
"""What to write on a change that nobody else can change at that moment; raises where it is in no state for it."""

GATEHOUSE: Final = "gatehouse"
"""The actor of what no person did."""

BEGINNINGS: Final = frozenset({Move.APPROVE, Move.START})
"""Moves after which a change is carried out."""
UNDOABLE: Final = (Outcome.APPLIED, Outcome.UNKNOWN)
"""Outcomes of items that are, or may be, there to be undone."""


@dataclass(frozen=True, slots=True)
class Journal:
    """What is recorded, and who is told that there is something to do."""

    store: Store
    now: Callable[[], datetime]
    owner: str
    wake_outbox: Callable[[], None]
    """Wakes who delivers messages; called after every commit that may have enqueued one."""
    wake_batches: Callable[[], None]
    """Wakes who carries out bulk changes; called where one was approved."""
    lease: timedelta = LEASE
    open_limits: OpenLimits = DEFAULT_LIMITS
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once this process is about to end: then it begins no more items of the bulk changes that it has."""
    at_work: set[str] = field(default_factory=set)
    """Ids of the changes that this process is carrying out: it doesn't take them over from itself."""

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
            if reverts is not None:
                await self._require_end(tx, reverts)
            # An undo is never one too many, however many requests wait.
            if change.decision.guard is not Guard.NONE and change.request.undoes is None:
                await self._require_new(tx, change)
                await self._within_limits(tx, change)
            await self.store.items.add(tx, rows)
            actor = GATEHOUSE if _is_automatic(change) else change.request.requester
            events = [event_of("requested", change, actor, **_asked(change))]
            if change.decision.guard is Guard.NONE:
                kept = await self._approved_at_once(tx, change)
                if kept.state is State.PLANNED:
                    await self.store.outbox.enqueue(tx, kept.id, "card")
                    await self._set_later(tx, None, kept)
                    events.append(event_of(CONSEQUENCES[Move.PLAN].event, kept, change.request.requester))
                elif begin:
                    kept, began_now = await self._claimed(tx, kept)
                    events += began_now
            else:
                await self.store.outbox.enqueue(tx, change.id, "card")
                await self._set_later(tx, None, change)
            # Last, for it keeps the head of the audit from every other writer until the commit.
            await self.store.audit.append(tx, *events)
        self._wake(kept)
        return kept

    async def _require_end(self, tx: AsyncConnection, change: Change) -> None:
        held = await self.store.changes.held(tx, change.id) or change
        if not held.is_temporary or held.request.reverts_at != change.request.reverts_at:
            raise NotTemporary(held)

    async def _require_new(self, tx: AsyncConnection, change: Change) -> None:
        """Return where nothing waits that asks for the same in the same place; raises AlreadyRequested."""
        if change.is_bulk:
            return
        for waiting in await self.store.changes.requested(tx, [change]):
            if waiting.id != change.id and waiting.state is State.PROPOSED and _asks_the_same(waiting, change):
                raise AlreadyRequested(waiting)

    async def _within_limits(self, tx: AsyncConnection, change: Change) -> None:
        of_person, in_channel = await self.store.changes.waiting(tx, change.request.requester, change.request.channel)
        if self.open_limits.exceeded(of_person, in_channel):
            of_one = of_person > self.open_limits.per_person
            raise TooManyRequests((of_person if of_one else in_channel) - 1, channel=not of_one)

    async def _approved_at_once(self, tx: AsyncConnection, change: Change) -> Change:
        decided: dict[str, Any] = {"decided_by": change.request.requester, "decided_at": change.created}
        # This process begins it at once. Where it dies first, others take it up once a lease has passed.
        due = change.created + (timedelta() if change.is_bulk else self.lease)
        return await self.store.changes.move(tx, change.id, self._release(change), due=due, **decided) or change

    def _release(self, change: Change) -> Move:
        """The move by which *change* is let through: at once, or at its time."""
        starts = change.request.starts_at
        return Move.APPROVE if starts is None or starts <= self.now() else Move.PLAN

    async def count(
        self, change: Change, by: str, *, for_later: bool = False, last: Mapping[str, Any] | None = None
    ) -> Change | None:
        """One approval of those that are needed, from *by*: the change as it then is, or None where it is too late.

        None as well where more stands before the change by now than *change* says: the right to that wasn't asked.

        *last*: the fields of the decision that it completes; where nobody else approved since *change* was read, the same
        transaction makes it, as `move` does.
        """
        async with self.store.transaction() as tx:
            held = await self.store.changes.held(tx, change.id)
            if (
                held is None
                or held.state is not State.PROPOSED
                or not held.decision.has_requirements_of(change.decision)
            ):
                return None
            # Somebody who approved in between was not asked about: then this approval completes nothing yet.
            completes = last is not None and held.decision.approvals == change.decision.approvals
            given, events = len(held.decision.approvals), list[Event]()
            held = held.with_approval(by, self.now(), for_later=for_later)
            if len(held.decision.approvals) > given:
                events = [event_of("approval", held, by, given=given + 1)]
            if events and not completes:
                await self.store.changes.record(tx, held)
                await self.store.outbox.enqueue(tx, held.id, "card")
                await self.store.audit.append(tx, *events)
            if completes and last is not None:
                held = await self._moved(tx, held, Move.APPROVE, by, events, approvals=held.decision.approvals, **last)
        if held is not None:
            self._wake(held)
        return held

    async def move(self, change: Change, move: Move, *, by: str = GATEHOUSE, **fields: Any) -> Change | None:
        """Make *move* of a change that nobody is carrying out, or return None where it is not where the move starts.

        What is approved is claimed with it, and returned as this process's to carry out; but for a bulk change.
        """
        async with self.store.transaction() as tx:
            moved = await self._moved(tx, change, move, by, (), **fields)
        if moved is not None:
            # Only after the commit: what was rolled back did not end, and wakes nobody.
            tell_ends([moved])
            self._wake(moved)
        return moved

    def _wake(self, change: Change) -> None:
        self.wake_outbox()
        if change.is_bulk and change.state is State.APPROVED:
            self.wake_batches()

    async def _moved(
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
        await self._follow(tx, change, moved, move, by)
        after: Sequence[Event] = ()
        event = event_of_move(move, moved, by)
        if move in BEGINNINGS and not moved.is_bulk:
            moved, after = await self._claimed(tx, moved)
        await self.store.audit.append(tx, *before, event, *after)
        return moved

    async def _follow(self, tx: AsyncConnection, change: Change, moved: Change, move: Move, by: str) -> None:
        """Enqueue what Slack is to show and set what falls due, now that *change* was *moved* through *by*."""
        follows = CONSEQUENCES[move]
        within = SHOWN_WITHIN if move in BEGINNINGS and not moved.is_bulk else timedelta()
        await self.store.outbox.enqueue(tx, moved.id, "card", within=within)
        if move is Move.FINISH and moved.request.starts_at is not None:
            await self.store.outbox.enqueue(tx, moved.id, Purpose.STARTED)
        if moved.bulk.columns and follows.sends_result:
            await self.store.outbox.enqueue(tx, moved.id, "result")
        if _is_news_to_requester(moved, by):
            if not within:
                await self.store.outbox.make_due(tx, moved.id)
            if follows.notice:
                await self.store.outbox.enqueue(tx, moved.id, follows.notice, within=within)
        if moved.is_bulk and follows.stops_items:
            await self.store.items.stop(tx, moved.id)
        if moved.decision.glass_broken and move in {Move.APPROVE, Move.PLAN}:
            await self.store.outbox.enqueue(tx, moved.id, "break_glass")
        await self._set_later(tx, change, moved)

    async def _set_later(self, tx: AsyncConnection, was: Change | None, now: Change) -> None:
        """Set what is due later of a change that stands as *now*, and drop what is not any more; *was*: as it stood before."""
        for what, due_of in LATER.items():
            due = due_of(now)
            # What was said or done already must not become due again because something else changed.
            if due == (due_of(was) if was is not None else None):
                continue
            if isinstance(what, TimerKind):
                timers = self.store.timers
                await (timers.clear(tx, now.id, what) if due is None else timers.set(tx, now.id, what, due))
            elif due is None:
                await self.store.outbox.take_back(tx, now.id, what)
            else:
                await self.store.outbox.enqueue(tx, now.id, what, due=due)

    async def _record(self, tx: AsyncConnection, held: Change, /, **fields: Any) -> None:
        """Write *fields* on a change without moving it, and set what then is due later."""
        await self.store.changes.record(tx, held, **fields)
        await self._set_later(tx, held, held.changed(**fields))

    async def finish(self, ended: Sequence[Ended]) -> Sequence[Change]:
        """Move changes that this process carries out, many in one transaction; return those whose lease it still had."""
        finished: list[Change] = []
        for some in slices(ended):
            items, applied, events = [], [], []
            async with self.store.transaction() as tx:
                moved = await self.store.changes.finish(tx, some, self.owner)
                was = {each.change.id: each.change for each in some}
                for change, move in moved:
                    events.append(event_of_move(move, change, GATEHOUSE))
                    if change.state is State.APPLIED:
                        applied.append(change)
                    # An item has neither a card nor anything due of its own: its bulk change has.
                    if change.set_id is not None:
                        items.append(change)
                    else:
                        await self._follow(tx, was[change.id], change, move, GATEHOUSE)
                if items:
                    await self.store.items.note(tx, items)
                stale = await self._applied(tx, applied)
                events += [event_of_move(Move.INVALIDATE, each, GATEHOUSE) for each in stale]
                # In one order, or two processes would wait for each other's rows.
                for set_id in sorted({item.set_id or "" for item in items} if items else ()):
                    await self.store.outbox.enqueue(tx, set_id, "card", within=PROGRESS)
                # What was done is recorded even where a newer release has taken over.
                await self.store.audit.append(tx, *events, ends_work=True)
            mine = [change for change, _ in moved]
            finished += mine
            tell_ends([*mine, *stale])
        if finished:
            self.wake_outbox()
        return finished

    async def _applied(self, tx: AsyncConnection, changes: Sequence[Change]) -> Sequence[Change]:
        """Mark what applied *changes* took back, and as stale the requests that they overtook; return these.

        A request was made for what there was before: an applied change of the same target, or another undo of the same
        change, leaves nothing to decide.
        """
        by_target = {change.edit.target: change for change in changes}
        await self._redraw_ending(
            tx, [done.edit.target for done in changes if done.edit.kind.destroys or done.edit.kind.creates]
        )
        undone = {change.request.undoes for change in changes if change.request.undoes}
        overtaken = []
        for waiting in await self.store.changes.requested(tx, changes):
            change = by_target.get(waiting.edit.target)
            found = None if change is None else change.run.result
            # The target is again just what the request was made for, so nothing speaks against it.
            if waiting.request.undoes not in undone and canonical_form(waiting.edit.before) == canonical_form(found):
                continue
            fields: dict[str, Any] = {"result": found, "finished_at": self.now()}
            if change is not None and not _is_automatic(change):
                fields["overtaken_by"] = change.request.requester
            if (stale := await self.store.changes.move(tx, waiting.id, Move.INVALIDATE, **fields)) is not None:
                by = change.request.requester if change else GATEHOUSE
                await self._follow(tx, waiting, stale, Move.INVALIDATE, by)
                overtaken.append(stale)
        wholes = {await self._undone(tx, change): change for change in changes if change.request.undoes}
        for set_id, undo in wholes.items():
            await self._undone_whole(tx, set_id, undo)
        return overtaken

    async def _undone(self, tx: AsyncConnection, undo: Change) -> str:
        """Mark what *undo* took back, and let the old id of a rule that came back mean the new one. Return the id of
        the bulk change that it is, or is an item of.
        """
        change = await self.store.changes.held(tx, undo.request.undoes or "", ends_work=True)
        if change is None:
            return ""
        is_review = change.review_due and undo.request.settles_review
        fields = {"reviewed_by": undo.request.requester} if is_review else {}
        if change.is_bulk:
            await self._record(tx, change, **fields)
        else:
            await self._mark_undone(tx, change, undo, undo.id, **fields)
        was_temporary = change.set_id is None and change.request.reverts_at is not None
        if was_temporary and undo.request.requester != change.request.requester:
            await self.store.outbox.enqueue(tx, change.id, "notify-reverted")
        if change.set_id is not None:
            await self.store.items.mark(tx, change.set_id, change.item_number, Outcome.UNDONE)
        await self.store.outbox.enqueue(tx, change.set_id or change.id, "card")
        if undo.edit.kind is Kind.RULE_CREATE and change.edit.target.key and undo.edit.target.key:
            await self.store.former_ids.put(tx, change.edit.target.key, undo.edit.target.key)
            await self._redraw_ending(tx, [change.edit.target])
        return change.id if change.is_bulk else change.set_id or ""

    async def _restore(self, tx: AsyncConnection, undone: Change, redo: Change) -> None:
        """Let what *undone* had undone count again, now that *redo* undid that; what was temporary stays at its end."""
        was = await self.store.changes.held(tx, undone.request.undoes or "", ends_work=True)
        if was is None or was.run.undone_by != undone.id:
            return
        whole = await self.store.changes.held(tx, was.set_id, ends_work=True) if was.set_id else was
        if whole is None or whole.request.reverts_at is not None:
            return
        redone = Redone(change=redo.set_id or redo.id, by=redo.request.requester, at=redo.run.finished_at or self.now())
        await self.store.changes.record(tx, was, undone_by=None, undone=None, redone=redone)
        if was.set_id is not None:
            await self.store.items.mark(tx, was.set_id, was.item_number, Outcome.APPLIED)
        await self.store.outbox.enqueue(tx, whole.id, "card")

    async def _redraw_ending(self, tx: AsyncConnection, targets: Sequence[Target]) -> None:
        """Have the cards of temporary changes say that one of *targets*, theirs, is gone, or there again."""
        for change_id in await self.store.changes.ending(tx, targets) if targets else ():
            await self.store.outbox.enqueue(tx, change_id, "card")

    async def _undone_whole(self, tx: AsyncConnection, set_id: str, undo: Change) -> None:
        """Mark a bulk change as undone where nothing of it is left; what is left of a temporary one still has its end."""
        whole = await self.store.changes.held(tx, set_id, ends_work=True) if set_id else None
        if whole is None or whole.state is not State.APPLIED or whole.run.undone_by is not None:
            return
        if not await self.store.items.has_any(tx, set_id, UNDOABLE):
            await self._mark_undone(tx, whole, undo, undo.set_id or undo.id)

    async def _mark_undone(self, tx: AsyncConnection, change: Change, undo: Change, by: str, **fields: Any) -> None:
        """Write on *change* that *undo* took it back, or the bulk change *by* that it is an item of; and *fields* besides."""
        cause, at = undo.request.cause, undo.run.finished_at
        undone = Undone(at=at, by=undo.request.requester, cause=cause) if cause is not None and at is not None else None
        await self._record(tx, change, undone_by=by, undone=undone, redone=None, **fields)
        await self._restore(tx, change, undo)

    async def hold(self, change: Change, why: Held, **fields: Any) -> None:
        """Have what was planned not begin at its time, and those who asked and approved hear *why*; *fields*: what else is so."""
        now = self.now()

        def held(planned: Change) -> Mapping[str, Any]:
            is_same = planned.state is State.PLANNED and planned.request.starts_at == change.request.starts_at
            return {"held": why, "held_at": now, **fields} if is_same and not planned.run.held else {}

        await self.record(change, "held", GATEHOUSE, held, note=Purpose.HELD.of(now))

    async def get(self, change_id: str) -> Change:
        """The change as it stands; raises UnknownChange."""
        if (change := await self.store.changes.get(change_id)) is None:
            raise UnknownChange(change_id)
        return change

    async def claim(self, change_id: str) -> Change | None:
        """Take an approved change; None where somebody else has."""
        async with self.store.transaction() as tx:
            claimed = await self.store.changes.claim(tx, change_id, self.owner, self.lease)
            if claimed is not None:
                await self.store.audit.append(tx, began(claimed))
        return claimed

    async def _claimed(self, tx: AsyncConnection, approved: Change) -> tuple[Change, Sequence[Event]]:
        """Claim *approved* for this process, in the transaction of its approval; with the event that says so."""
        claimed = await self.store.changes.take(tx, approved, self.owner, self.lease)
        return (approved, ()) if claimed is None else (claimed, [began(claimed)])

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
                within = (
                    PROGRESS if claimed.request.cause else timedelta()
                )  # mostly the card of what it undoes tells it
                await self.store.outbox.enqueue(tx, claimed.id, "card", within=within)
            if claimed is not None and claimed.state is State.APPLYING:
                await self.store.audit.append(tx, began(claimed))
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
            held = await self.store.changes.held(tx, change.id) or change
            # Asked again by a second delivery; before the state, so that it does not come too late.
            if question in held.decision.questions:
                return held
            if held.state is not State.PROPOSED:
                raise AlreadyDecided(held)
            if len(held.decision.questions) >= MAX_QUESTIONS_PER_REQUEST:
                raise TooManyQuestions(held)
            asked = held.changed(questions=(*held.decision.questions, question))
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
            held = await self.store.changes.held(tx, change.id) or change
            if request and not await self.store.changes.decided(tx, held.id, by, request[:MAX_DECISION], event):
                return held
            if not (fields := update(held)):
                return held
            if "reverts_at" in fields and await self.store.changes.is_being_reverted(tx, held.id):
                raise NotTemporary(held)
            noted = held.changed(**fields)
            await self._record(tx, held, **fields)
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
                    held = await self.store.changes.held(tx, change.id)
                    # With another token it is another process's, which knows more of it.
                    if held is not None and held.run.token == change.run.token:
                        await self.store.changes.record(tx, held, **update(change))
        return [change.changed(**update(change)) for change in changes]

    async def note(self, event: Event) -> None:
        """Record what moves no change: a refusal, an export."""
        async with self.store.transaction() as tx:
            await self.store.audit.append(tx, event, ends_work=True)


def slices(all_of: Sequence[T]) -> Iterator[Sequence[T]]:
    """*all_of*, so many at a time as one transaction moves."""
    for first in range(0, len(all_of), SLICE):
        yield all_of[first : first + SLICE]


def tell_ends(changes: Sequence[Change]) -> None:
    """Count and log those of *changes*, which were moved and committed, that ended or are not confirmed."""
    for change in changes:
        if change.state is State.UNKNOWN or change.state not in LIVE:
            kind = "bulk" if change.is_bulk else change.edit.kind.value
            ENDED_CHANGES.labels(change.state, kind).inc()
            if change.set_id is None:  # the line of a bulk change stands for its items
                log.info("change", change=change.id[:8], kind=kind, state=change.state.value, **_told_in_log(change))


def _told_in_log(change: Change) -> dict[str, Any]:
    """How long it took, of what was carried out, and how it came about, where nobody asked for it as such."""
    began, ended, cause = change.decision.decided_at, change.run.finished_at, change.request.cause
    told: dict[str, Any] = {}
    if began is not None and ended is not None:
        told["ms"] = int((ended - began).total_seconds() * 1_000)
    return told if cause is None else {**told, "cause": cause.kind.value, "undoes": (change.request.undoes or "")[:8]}


def event_of(name: str, change: Change, by: str, **detail: Any) -> Event:
    reason = change.decision.decision_reason or change.request.reason
    known = {"kind": change.edit.kind, "reason": reason, "guard": change.decision.guard}
    if change.request.cause is not None:
        known["cause"] = change.request.cause.kind
    return Event(name, by, change.request.channel, change.id, str(change.edit.target), known | detail)


def event_of_move(move: Move, moved: Change, by: str) -> Event:
    return event_of(CONSEQUENCES[move].event, moved, by, **told(moved))


def began(change: Change) -> Event:
    return event_of(CONSEQUENCES[Move.CLAIM].event, change, GATEHOUSE, attempt=change.run.attempt)


def _asked(change: Change) -> dict[str, Any]:
    if change.is_bulk:
        return {"title": change.bulk.title, "items": change.bulk.size, "kinds": list(change.bulk.kinds)}
    return {"before": change.edit.before, "after": change.edit.after}


def told(change: Change) -> dict[str, Any]:
    """What the audit keeps of an end: the service's words, what it looks like now, and what it looked like before."""
    said = {"outcome": change.run.outcome, "undoes": change.request.undoes}
    told: dict[str, Any] = {name: value for name, value in said.items() if value}
    if change.state in {State.APPLIED, State.STALE, State.FAILED}:
        told |= {"before": change.edit.before, "now": change.run.result}
    if change.decision.glass_broken:
        told["glass_broken"] = True
    return told


def _is_automatic(change: Change) -> bool:
    return change.request.cause is not None and change.request.cause.is_automatic


def _asks_the_same(waiting: Change, change: Change) -> bool:
    """Whether *waiting* is there for what *change* asks for: for the same people, or waiting for others in the same channel."""
    old, new = waiting.request, change.request
    is_for_them = new.requester == old.requester or waiting.decision.guard is Guard.APPROVE
    if not is_for_them or old.channel != new.channel:
        return False
    needs = [(each.guard, each.approvals_needed, each.approvers) for each in (waiting.decision, change.decision)]
    times = [(each.starts_at, each.reverts_at, each.revert_after) for each in (old, new)]
    edits = [(e.kind, e.target, canonical_form(e.before), canonical_form(e.after)) for e in (waiting.edit, change.edit)]
    return needs[0] == needs[1] and times[0] == times[1] and edits[0] == edits[1]


def _is_news_to_requester(change: Change, by: str) -> bool:
    """Whether its requester waited, for others or for a time, and did not do themselves what moved *change*, as *by* did."""
    decision, asker = change.decision, change.request.requester
    waited_for_others = decision.guard is Guard.APPROVE and asker != decision.decided_by
    return change.set_id is None and asker != by and (waited_for_others or change.request.starts_at is not None)
