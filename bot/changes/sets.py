"""Carry out a change set: in portions, several parts at a time, each written down before it is sent.

A portion is read, recorded, sent, read back and recorded, and while one is sent, the next is made ready: a process may
die anywhere in it, and the one that takes the set over settles what was under way like any other change, and goes on
with the rest.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import structlog

from bot.changes.applying import HELD_FOR, TOO_OLD, Applier, once_more, said
from bot.changes.effects import Effects, Reading, Snapshot, Truth
from bot.changes.outbox import Wake
from bot.changes.patience import Patience
from bot.changes.portions import Portions
from bot.changes.set_ledger import Ended, Hold, Lost, SetLedger
from bot.clients.errors import ClientError, NotFound, OutcomeUnknown, RateLimited, Unreachable
from bot.domain.change import MOVES, Change, Kind, Move, State, Target
from bot.domain.change_set import Outcome, Part
from bot.domain.essence import essence

log = structlog.get_logger(__name__)

PORTIONS_AT_ONCE: Final = 2
"""One is being sent, and one is read or recorded."""
AT_ONCE: Final = 8
"""Requests to one service at a time."""
SETS_AT_ONCE: Final = 4
LOOK_AGAIN: Final = 1.0
"""Seconds until a part is looked at again that somebody else still holds."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What a service said of one part: its answer, or the error."""

    part: Change
    answer: str = ""
    error: ClientError | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """One service and site, as all portions of a set share it."""

    patience: Patience
    sending: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True)
class Work:
    """A set while it is carried out."""

    whole: Change
    hold: Hold
    portions: Portions
    patience: Callable[[], Patience]
    places: dict[tuple[str, str | None], Place] = field(default_factory=dict)

    def place(self, target: Target) -> Place:
        return self.places.setdefault((target.service, target.site), Place(self.patience()))


@dataclass(frozen=True, slots=True)
class Sets:
    """Does the work of change sets. Any replica may; a claim with a lease decides who does."""

    ledger: SetLedger
    applier: Applier
    new_id: Callable[[], str]
    wake: Wake
    patience: Callable[[], Patience] = Patience
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def run(self, *, every: float) -> None:
        """Carry sets out until cancelled, several at a time, so that a long one holds up no short one."""
        busy: set[asyncio.Task[None]] = set()
        try:
            while True:
                try:
                    while len(busy) < SETS_AT_ONCE and (whole := await self.ledger.claim()) is not None:
                        task = asyncio.create_task(self._logged(whole))
                        busy.add(task)
                        task.add_done_callback(busy.discard)
                        task.add_done_callback(lambda _: self.wake())
                except Exception as error:
                    log.exception("sets", error=type(error).__name__)
                await self.wake.wait(every)
        finally:
            for task in busy:
                task.cancel()
            await asyncio.gather(*busy, return_exceptions=True)

    async def _logged(self, whole: Change) -> None:
        try:
            await self.carry_out(whole)
        except Exception as error:  # it stays claimed until its lease ends, and is then taken over
            others = error.split(Lost)[1] if isinstance(error, ExceptionGroup) else error
            if others is None or isinstance(others, Lost):
                log.warning("set_lost", change=whole.id[:8])
            else:
                log.exception("set_failed", change=whole.id[:8], error=type(error).__name__)

    async def carry_out(self, whole: Change) -> None:
        """Do every part of a set that this process holds, and end it; raises Lost where another took it over."""
        parts = self.ledger.ledger.store.parts
        if whole.decided_at is not None and self.ledger.ledger.now() > whole.decided_at + HELD_FOR:
            async with self.ledger.ledger.store.transaction() as tx:
                await parts.stop(tx, whole.id)
        async with Hold(self.ledger.ledger, whole) as hold:
            work = Work(whole, hold, Portions(parts, whole.id), self.patience)
            while await parts.left(whole.id, 1):
                async with asyncio.TaskGroup() as group:
                    for _ in range(PORTIONS_AT_ONCE):
                        group.create_task(self._portions(work))
            self.applier.reached("end of set")
            await self._end(whole)

    async def _portions(self, work: Work) -> None:
        """One portion after the other: while it is read and recorded, another one is sent."""
        while True:
            await work.hold.sure()
            async with work.portions.next() as portion:
                if not portion:
                    return
                await self._portion(work, portion)

    async def _end(self, whole: Change) -> None:
        """Done where anything was, or may have been; the card has the outcome of each part."""
        tally = await self.ledger.ledger.store.parts.tally(whole.id)
        now = self.ledger.ledger.now()
        done = tally.of((Outcome.APPLIED, Outcome.UNKNOWN, Outcome.UNSETTLED)) > 0
        late = whole.decided_at is not None and now > whole.decided_at + HELD_FOR and whole.attempt <= 1
        fields: dict[str, Any] = {"finished_at": now}
        if done and whole.lasts is not None:
            fields["ends"] = now + timedelta(seconds=whole.lasts)
        if not done and late:
            fields["refusal"] = TOO_OLD
        await self.ledger.ledger.move(whole, Move.FINISH if done else Move.FAIL, fenced=True, **fields)

    async def _portion(self, work: Work, portion: Sequence[Part]) -> None:
        left = [part for part in portion if part.outcome is Outcome.APPLYING]
        waiting = [part for part in portion if part.outcome is Outcome.WAITING]
        async with asyncio.TaskGroup() as group:
            for some in _by_place(left):
                group.create_task(self._take_over(work, some))
            for some in _by_place(waiting):
                group.create_task(self._at_place(work, some))

    async def _take_over(self, work: Work, parts: Sequence[Part]) -> None:
        """Settle what was under way when its process died: what is not done by now is sent again, if that is safe."""
        taken = await self.ledger.take_up([part.change_id or "" for part in parts])
        if not taken:
            await self.sleep(LOOK_AGAIN)  # somebody still holds them
            return
        with work.hold.also(taken):
            rest, now = await self._settled(work.whole, taken)
            again = [change for change in rest if self._may_be_sent_again(change, now)]
            if now is not None:
                await self._carried_out(work, again, now, self.applier.effects(taken[0].target))
            sent = {change.id for change in again}
            await _each([change for change in rest if change.id not in sent], self.applier.carry_out)

    def _may_be_sent_again(self, change: Change, now: Snapshot | None) -> bool:
        """Whether a part whose process died surely did not come true, and may be sent by the one that took over."""
        if now is None or not once_more(change) or self.applier.too_old(change):
            return False
        return now.reading(change).truth is Truth.NOT_DONE

    async def _settled(self, whole: Change, taken: Sequence[Change]) -> tuple[Sequence[Change], Snapshot | None]:
        """Those that do not read as done, after some looks, and the last one; the others are recorded."""
        now = None
        for seconds in (0.0, *self.applier.settle_after):
            await self.sleep(seconds)  # what is on its way still may come true
            try:
                now = await self.applier.effects(taken[0].target).snapshot([change.target for change in taken])
            except ClientError as error:
                log.warning("take_over", change=whole.id[:8], error=type(error).__name__)
                now = None
                continue
            found = {change.id: await self.applier.ours(change, now.reading(change)) for change in taken}
            done = {key for key, reading in found.items() if reading.truth is Truth.DONE}
            ended = [self._ended(*_ending(Sent(change), found[change.id])) for change in taken if change.id in done]
            await self.ledger.finish(whole, ended)
            taken = [change for change in taken if change.id not in done]
            if not taken:
                break
        return taken, now

    async def _at_place(self, work: Work, parts: Sequence[Part]) -> None:
        """Parts of one service and site: read, record, send, read back, record."""
        numbers = [part.number for part in parts]
        try:
            effects = self.applier.effects(parts[0].target)
        except Exception as error:  # noqa: BLE001  a site that is in no setting any more: the others go on
            await self.ledger.give_up(work.whole, numbers, str(error))
            return
        try:
            before = await self._read(effects, parts, work.place(parts[0].target).patience)
        except ClientError as error:
            await self.ledger.give_up(work.whole, numbers, str(error))
            return
        self.applier.reached("begin parts")
        begun = await self.ledger.begin(work.whole, [self._begun(work.whole, part, before) for part in parts])
        with work.hold.also(begun):
            await self._carried_out(work, begun, before, effects)

    async def _carried_out(self, work: Work, begun: Sequence[Change], before: Snapshot, effects: Effects) -> None:
        """Send what is recorded, when it is its turn, read it back, and record what became of it."""
        if not begun:
            return
        place = work.place(begun[0].target)
        async with place.sending:
            self.applier.reached("send parts")
            began = time.monotonic()
            sent = await self._sent(begun, before, effects, place.patience, work.hold)
        sending = time.monotonic() - began
        self.applier.reached("read parts back")
        ended = await self._judged(sent, begun, before, effects)
        work.portions.took(len(begun), sending, time.monotonic() - began - sending)
        self.applier.reached("record parts")
        await self.ledger.finish(work.whole, ended)

    async def _read(self, effects: Effects, parts: Sequence[Part], patience: Patience) -> Snapshot:
        while True:
            await patience.turn()
            try:
                found = await effects.snapshot([part.target for part in parts])
            except (RateLimited, Unreachable) as error:
                patience.try_on(error)
            else:
                patience.went_well()
                return found

    def _begun(self, whole: Change, part: Part, before: Snapshot) -> Change:
        """The change that a part is, as it is written down just before it is sent."""
        if part.kind is None:
            raise ValueError("a part that is only on record")
        change = Change(
            id=self.new_id(),
            kind=part.kind,
            target=part.target,
            before=part.before,
            after=part.after,
            requester=whole.requester,
            channel=whole.channel,
            reason=whole.reason,
            guard=whole.guard,
            approvals=whole.approvals,
            decided_by=whole.decided_by,
            decided_at=whole.decided_at,
            created=self.ledger.ledger.now(),
            state=State.APPLYING,
            attempt=1,
            undoes=part.undoes,
            part_of=whole.id,
            part_number=part.number,
            quiet_refusal=True,
        )
        if part.kind is Kind.RULE_CREATE:
            return change.model_copy(update={"result": {"twins": before.twins(change)}})
        return change

    async def _sent(
        self, parts: Sequence[Change], before: Snapshot, effects: Effects, patience: Patience, hold: Hold
    ) -> Mapping[str, Sent]:
        """Send those parts whose target is as it was shown, several at a time; what the service said of each."""
        fitting = [part for part in parts if essence(before.live(part.target)) == essence(part.before)]
        sent: dict[str, Sent] = {}

        async def send(part: Change) -> None:
            sent[part.id] = await self._send(part, effects, patience, hold)

        await _each(fitting, send)
        return sent

    async def _send(self, part: Change, effects: Effects, patience: Patience, hold: Hold) -> Sent:
        while True:
            try:
                await patience.turn()
                await hold.sure()
                answer = await effects.write(part)
            except (RateLimited, Unreachable) as error:  # nothing was done, so it may be sent again
                try:
                    patience.try_on(error)
                except ClientError:
                    return Sent(part, error=error)
            except ClientError as error:
                return Sent(part, error=error)
            else:
                self.applier.reached("sent part")
                patience.went_well()
                return Sent(part, answer)

    async def _judged(
        self, sent: Mapping[str, Sent], parts: Sequence[Change], before: Snapshot, effects: Effects
    ) -> Sequence[Ended]:
        """Every part with its last move: as the service shows it now, not as it said."""
        try:
            after = await effects.snapshot([_named(sent[part.id]).target for part in parts if part.id in sent])
        except ClientError as error:
            log.warning("read_back_failed", error=type(error).__name__)
            after = None
        ended = []
        for part in parts:
            if part.id in sent:
                named = _named(sent[part.id])
                reading = None if after is None else await self.applier.ours(named, after.reading(named))
                change, move = _ending(sent[part.id], reading)
            else:
                change, move = part.model_copy(update={"result": before.live(part.target)}), Move.OUTDATE
            ended.append(self._ended(change, move))
        return ended

    def _ended(self, change: Change, move: Move) -> Ended:
        made = {"state": MOVES[State.APPLYING, move], "finished_at": self.ledger.ledger.now()}
        return change.model_copy(update=made), move


def _by_place(parts: Sequence[Part]) -> Iterable[list[Part]]:
    """The parts of each service and site together."""
    places: dict[tuple[str, str | None], list[Part]] = {}
    for part in parts:
        places.setdefault((part.target.service, part.target.site), []).append(part)
    return places.values()


async def _each(changes: Iterable[Change], work: Callable[[Change], Awaitable[object]]) -> None:
    """Do *work* with each, several at a time."""
    left = iter(changes)

    async def take() -> None:
        for change in left:
            await work(change)

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(take())


def _named(sent: Sent) -> Change:
    """The part with the id that its creation got."""
    part = sent.part
    if part.kind is not Kind.RULE_CREATE or not sent.answer:
        return part
    return part.model_copy(update={"target": part.target.model_copy(update={"key": sent.answer})})


def _ending(sent: Sent, reading: Reading | None) -> Ended:
    """The part with its last move, by what was said of it and by what was read back, if that could be read."""
    part, error = _named(sent), sent.error
    if isinstance(error, NotFound) and part.after is None:
        return part.model_copy(update=said(error)), Move.OUTDATE
    if error is not None and not isinstance(error, OutcomeUnknown):
        return part.model_copy(update=said(error)), Move.FAIL
    if reading is not None:
        stored = error is None and reading.truth is Truth.NEITHER and None not in (reading.live, part.after)
        if reading.truth is Truth.DONE or stored:
            key = part.target.key or (reading.live or {}).get("id")
            target = part.target.model_copy(update={"key": key})
            return part.model_copy(
                update={"result": reading.live, "outcome": sent.answer, "target": target}
            ), Move.FINISH
    known = {"outcome": sent.answer, "accepted": True} if error is None else said(error)
    return part.model_copy(update=known), Move.LOSE
