"""Carry out a change set: in portions, several parts at a time, each written down before it is sent.

A portion is read, recorded, sent, read back and recorded, and while one is sent, the next is made ready: a process may
die anywhere in it, and the one that takes the set over settles what was under way like any other change, and goes on
with the rest.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog

from bot.changes.applying import Applier, once_more
from bot.changes.effects import Document, Effects, Snapshot, Truth
from bot.changes.leases import Hold
from bot.changes.looks import Look
from bot.changes.part_ends import Sent, ending, is_to_be_taken_up
from bot.changes.patience import Patience
from bot.changes.portions import Portions
from bot.changes.set_ledger import Ended, SetLedger
from bot.changes.set_proposals import begun
from bot.clients.errors import ClientError, OutcomeUnknown, RateLimited, Unreachable
from bot.domain.change import MOVES, Change, Kind, Move, State, Target
from bot.domain.change_set import Outcome, Part
from bot.domain.essence import essence

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
class Place:
    """One service and site, as all portions of a set share it."""

    patience: Patience
    sending: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True)
class Carrier:
    """Carries one set out, for as long as this process holds it."""

    whole: Change
    hold: Hold
    portions: Portions
    ledger: SetLedger
    applier: Applier
    new_id: Callable[[], str]
    patience: Callable[[], Patience]
    sleep: Callable[[float], Awaitable[None]]
    refused: bool = False
    """Somebody's right to it is gone: what was under way is settled, and nothing more is sent."""
    places: dict[tuple[str, str | None], Place] = field(default_factory=dict)

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
        return now.reading(change).truth is Truth.NOT_DONE

    async def _settled(self, taken: Sequence[Change]) -> tuple[Sequence[Change], Snapshot | None]:
        """Those that do not read as done, after some looks, and the last one; the others are recorded."""
        now = None
        for seconds in (0.0, *self.applier.settle_after):
            await self.sleep(seconds)  # what is on its way still may come true
            try:
                now = await self.applier.effects(taken[0].target).snapshot([change.target for change in taken])
            except ClientError as error:
                log.warning("take_over", change=self.whole.id[:8], error=type(error).__name__)
                now = None
                continue
            found = {change.id: await self.applier.ours(change, now.reading(change)) for change in taken}
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
        ended = await self._judged(sent, look.effects)
        self.portions.took(len(parts), sending, time.monotonic() - began - sending)
        self.applier.reached("record parts")
        await self.ledger.finish(self.whole, ended)

    def _look(self, parts: Sequence[Part | Change]) -> Look:
        return Look(self.applier.effects(parts[0].target), [part.target for part in parts], self.ledger.ledger.now)

    async def _read(self, look: Look, patience: Patience) -> Snapshot:
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
            return change.model_copy(update={"result": {"twins": before.twins(change)}})
        return change

    async def _sent(self, parts: Sequence[Change], look: Look, patience: Patience) -> Sequence[Sent]:
        """Send those parts whose target is as it was shown, several at a time; what came of each."""
        sent: list[Sent] = []

        async def send(part: Change) -> None:
            sent.append(await self._send(part, look, patience))

        await _each(parts, send)
        return sent

    async def _send(self, part: Change, look: Look, patience: Patience) -> Sent:
        while True:
            try:
                await patience.turn()
                await self.hold.sure()
                began = self.ledger.ledger.now()
                live = await look.live(part)
                if essence(live) != essence(part.before):
                    return _not_sent(part, live)
                self.applier.reached("send part")
                if self.ledger.ledger.now() > began + self.ledger.ledger.lease / 2:
                    continue  # the process was stopped in between: look again
                answer = await look.effects.write(part)
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

    async def _judged(self, sent: Sequence[Sent], effects: Effects) -> Sequence[Ended]:
        """Every part with its last move, but for those to be taken up again: as the service shows it now, not as it said."""
        try:
            after = await effects.snapshot([each.named.target for each in sent])
        except ClientError as error:
            log.warning("read_back_failed", error=type(error).__name__)
            after = None
        ended = []
        for number, each in enumerate(sent):
            if number % AT_A_TIME == 0:
                await asyncio.sleep(0)  # whoever asks for something meanwhile is let in between
            reading = None if after is None else await self.applier.ours(each.named, after.reading(each.named))
            if not is_to_be_taken_up(each, reading):
                ended.append(self._ended(*ending(each, reading)))
        return ended

    def _ended(self, change: Change, move: Move) -> Ended:
        made = {"state": MOVES[State.APPLYING, move], "finished_at": self.ledger.ledger.now()}
        return change.model_copy(update=made), move

    def _place(self, target: Target) -> Place:
        return self.places.setdefault((target.service, target.site), Place(self.patience()))


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
