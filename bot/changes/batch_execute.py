"""Execute a bulk change: several items at a time, each recorded before it is sent, and classified by what came back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import structlog

from bot.changes.batch_items import Batches, Look, Sent, ending, is_to_be_taken_up
from bot.changes.batch_journal import BatchJournal, Ended
from bot.changes.execute import TOO_OLD, Executor, once_more
from bot.changes.model import MOVES, Change, Kind, Move, Outcome, Part, State, Target, canonical_form
from bot.changes.proposals import begun
from bot.changes.verify import Document, Snapshot, Truth, judge
from bot.changes.worker import Backoff, HeldLease, LeaseLost, Wake, worked_off
from bot.clients.errors import ClientError, OutcomeUnknown, RateLimited, Unreachable
from bot.policy.access import DirectoryUnavailable
from bot.store.changes import SERVICES
from bot.store.tables import NewerRelease

log = structlog.get_logger(__name__)

PORTIONS_AT_ONCE: Final = 2
"""One is being sent, and one is read or recorded."""
AT_ONCE: Final = 8
"""Requests to one service at a time."""
AT_A_TIME: Final = 50
"""Parts that are judged in one go."""
LOOK_AGAIN: Final = 1.0
"""Seconds until a part is looked at again that somebody else still holds."""


@dataclass(frozen=True, slots=True)
class ServiceSite:
    """One service and site, as all portions of a set share it."""

    patience: Backoff
    sending: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True)
class BatchExecutor:
    """Carries one set out, for as long as this process holds it."""

    whole: Change
    hold: HeldLease
    portions: Batches
    ledger: BatchJournal
    applier: Executor
    new_id: Callable[[], str]
    patience: Callable[[], Backoff]
    sleep: Callable[[float], Awaitable[None]]
    refused: bool = False
    """Somebody's right to it is gone: what was under way is settled, and nothing more is sent."""
    places: dict[tuple[str, str | None], ServiceSite] = field(default_factory=dict)

    async def carry_out(self) -> None:
        """Do the parts that are left, as far as they need not wait for somebody; raises Lost."""
        async with asyncio.TaskGroup() as group:
            for _ in range(PORTIONS_AT_ONCE):
                group.create_task(self._portions())

    async def _portions(self) -> None:
        """One portion after the other: while it is read and recorded, another one is sent."""
        while True:
            await self.hold.sure()
            async with self.portions.next() as portion:
                if not portion:
                    return
                await self._portion(portion)

    async def _portion(self, portion: Sequence[Part]) -> None:
        left = [part for part in portion if part.outcome is Outcome.APPLYING]
        waiting = [part for part in portion if part.outcome is Outcome.WAITING]
        async with asyncio.TaskGroup() as group:
            for some in _by_place(left):
                group.create_task(self._take_over(some))
            for some in _by_place(waiting):
                group.create_task(self._at_place(some))

    async def _take_over(self, parts: Sequence[Part]) -> None:
        """Settle what was under way when its process died: what is not done by now is sent again, if that is safe."""
        taken = await self.ledger.take_up([part.change_id or "" for part in parts])
        if not taken:
            await self.sleep(LOOK_AGAIN)  # somebody still holds them
            return
        with self.hold.also(taken):
            rest, now = await self._settled(taken)
            again = [change for change in rest if self._may_be_sent_again(change, now)]
            await self._carried_out(again, self._look(taken))
            sent = {change.id for change in again}
            await _each([change for change in rest if change.id not in sent], self.applier.carry_out)

    def _may_be_sent_again(self, change: Change, now: Snapshot | None) -> bool:
        """Whether a part whose process died surely did not come true, and may be sent by the one that took over."""
        if now is None or self.refused or not once_more(change) or self.applier.too_old(change):
            return False
        return judge(change, now).truth is Truth.NOT_DONE

    async def _settled(self, taken: Sequence[Change]) -> tuple[Sequence[Change], Snapshot | None]:
        """Those that do not read as done, after some looks, and the last one; the others are recorded."""
        now = None
        for seconds in (0.0, *self.applier.settle_after):
            await self.sleep(seconds)  # what is on its way still may come true
            try:
                now = await self.applier.adapter(taken[0].target).snapshot([change.target for change in taken])
            except ClientError as error:
                log.warning("take_over", change=self.whole.id[:8], error=type(error).__name__)
                now = None
                continue
            found = {change.id: await self.applier.ours(change, judge(change, now)) for change in taken}
            done = {key for key, reading in found.items() if reading.truth is Truth.DONE}
            ended = [self._ended(*ending(Sent(change), found[change.id])) for change in taken if change.id in done]
            await self.ledger.finish(self.whole, ended)
            taken = [change for change in taken if change.id not in done]
            if not taken:
                break
        return taken, now

    async def _at_place(self, parts: Sequence[Part]) -> None:
        """Parts of one service and site: read, record, send, read back, record."""
        numbers = [part.number for part in parts]
        look = self._look(parts)
        try:
            before = await self._read(look, self._place(parts[0].target).patience)
        except ClientError as error:
            await self.ledger.give_up(self.whole, numbers, str(error))
            return
        self.applier.reached("begin parts")
        at_work = await self.ledger.begin(self.whole, [self._begun(part, before) for part in parts])
        with self.hold.also(at_work):
            await self._carried_out(at_work, look)

    async def _carried_out(self, parts: Sequence[Change], look: Look) -> None:
        """Send what is recorded, when it is its turn, read it back, and record what became of it."""
        if not parts:
            return
        place = self._place(parts[0].target)
        async with place.sending:
            self.applier.reached("send parts")
            began = time.monotonic()
            sent = await self._sent(parts, look, place.patience)
        sending = time.monotonic() - began
        self.applier.reached("read parts back")
        ended = await self._judged(sent, look)
        self.portions.took(len(parts), sending, time.monotonic() - began - sending)
        self.applier.reached("record parts")
        await self.ledger.finish(self.whole, ended)

    def _look(self, parts: Sequence[Part | Change]) -> Look:
        return Look(self.applier.adapter, [part.target for part in parts], self.ledger.ledger.now)

    async def _read(self, look: Look, patience: Backoff) -> Snapshot:
        while True:
            await patience.turn()
            try:
                found = await look.take()
            except (RateLimited, Unreachable) as error:
                patience.try_on(error)
            else:
                patience.went_well()
                return found

    def _begun(self, part: Part, before: Snapshot) -> Change:
        change = begun(self.whole, part, change_id=self.new_id(), now=self.ledger.ledger.now())
        if part.kind is Kind.RULE_CREATE:
            return change.model_copy(update={"result": {"twins": before.lookalikes(change)}})
        return change

    async def _sent(self, parts: Sequence[Change], look: Look, patience: Backoff) -> Sequence[Sent]:
        """Send those parts whose target is as it was shown, several at a time; what came of each."""
        sent: list[Sent] = []

        async def send(part: Change) -> None:
            sent.append(await self._send(part, look, patience))

        await _each(parts, send)
        return sent

    async def _send(self, part: Change, look: Look, patience: Backoff) -> Sent:
        while True:
            try:
                await patience.turn()
                await self.hold.sure()
                began = self.ledger.ledger.now()
                live = await look.live(part)
                if canonical_form(live) != canonical_form(part.before):
                    return _not_sent(part, live)
                self.applier.reached("send part")
                if self.ledger.ledger.now() > began + self.ledger.ledger.lease / 2:
                    continue  # the process was stopped in between: look again
                answer = await look.adapter.write(part)
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

    async def _judged(self, sent: Sequence[Sent], look: Look) -> Sequence[Ended]:
        """Every part with its last move, but for those to be taken up again: as the service shows it now, not as it said."""
        try:
            after = await look.adapter.snapshot([each.named.target for each in sent])
        except ClientError as error:
            log.warning("read_back_failed", error=type(error).__name__)
            after = None
        ended = []
        for number, each in enumerate(sent):
            if number % AT_A_TIME == 0:
                await asyncio.sleep(0)  # whoever asks for something meanwhile is let in between
            reading = None if after is None else await self.applier.ours(each.named, judge(each.named, after))
            if not is_to_be_taken_up(each, reading):
                ended.append(self._ended(*ending(each, reading)))
        return ended

    def _ended(self, change: Change, move: Move) -> Ended:
        made = {"state": MOVES[State.APPLYING, move], "finished_at": self.ledger.ledger.now()}
        return change.model_copy(update=made), move

    def _place(self, target: Target) -> ServiceSite:
        return self.places.setdefault((target.service, target.site), ServiceSite(self.patience()))


def _not_sent(part: Change, live: Document | None) -> Sent:
    """A part whose target is no longer as it was shown: that is all, where nothing was sent before this process had it."""
    if part.attempt > 1:
        return Sent(part, error=OutcomeUnknown(part.target.service, "changed since it was taken over"))
    return Sent(part, moved_to=(live,))


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


SETS_AT_ONCE: Final = 4
"""Sets of one service."""


@dataclass(frozen=True, slots=True)
class BatchWorker:
    """Does the work of change sets. Any replica may; a claim with a lease decides who does."""

    ledger: BatchJournal
    applier: Executor
    new_id: Callable[[], str]
    wake: Wake
    patience: Callable[[], Backoff] = Backoff
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def run(self, *, every: float) -> None:
        """Carry sets out until cancelled, several at a time, so that a long one holds up no short one."""
        claim, do = self.ledger.claim, self._carry_out
        await worked_off("sets", SERVICES, claim, do, width=SETS_AT_ONCE, every=every, wake=self.wake)

    async def _carry_out(self, whole: Change) -> None:
        """Where it fails, it stays claimed until its lease ends, and is then taken over."""
        try:
            await self.carry_out(whole)
        except* LeaseLost:
            log.warning("set_lost", change=whole.id[:8])
        except* NewerRelease:
            self.ledger.ledger.store.newer.pass_over(whole.id)

    async def carry_out(self, whole: Change) -> None:
        """Do every part of a set that this process holds, and end it; raises Lost where another took it over."""
        parts = self.ledger.ledger.store.parts
        too_old = self.applier.too_old(whole)
        try:
            lost = None if too_old else await self.applier.lost_right(whole)
        except DirectoryUnavailable as error:
            await self._wait(whole, error)
            return
        if lost or too_old:
            async with self.ledger.ledger.store.transaction() as tx:
                await parts.stop(tx, whole.id)
        async with HeldLease(self.ledger.ledger, whole) as hold:
            portions = Batches(parts, whole.id)
            carrier = BatchExecutor(
                whole, hold, portions, self.ledger, self.applier, self.new_id, self.patience, self.sleep, bool(lost)
            )
            while await parts.left(whole.id, 1):
                await carrier.carry_out()
            self.applier.reached("end of set")
            await self._end(whole, lost or {})

    async def _wait(self, whole: Change, error: DirectoryUnavailable) -> None:
        """Slack cannot be asked: try again later. What was begun already is looked at again when the lease is over."""
        log.warning("set_waits", change=whole.id[:8], error=str(error))
        tally = await self.ledger.ledger.store.parts.tally(whole.id)
        if tally[Outcome.WAITING] == tally.meant:
            await self.applier.wait(whole, f"Slack does not say {error}")

    async def _end(self, whole: Change, lost: Mapping[str, str]) -> None:
        """Done where anything was, or may have been; the card has the outcome of each part."""
        tally = await self.ledger.ledger.store.parts.tally(whole.id)
        now = self.ledger.ledger.now()
        done = tally.of((Outcome.APPLIED, Outcome.UNKNOWN, Outcome.UNSETTLED)) > 0
        late = self.applier.too_old(whole) and whole.attempt <= 1
        fields: dict[str, Any] = {"finished_at": now, **lost}
        if done and whole.lasts is not None:
            fields["ends"] = now + timedelta(seconds=whole.lasts)
        if not done and late and not lost:
            fields["refusal"] = TOO_OLD
        await self.ledger.ledger.move(whole, Move.FINISH if done else Move.FAIL, fenced=True, **fields)
