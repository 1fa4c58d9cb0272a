"""What Slack is owed is delivered by one process, however long that takes. On both databases."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any, Final

import pytest
import sqlalchemy as sa

from bot.changes.journal import Journal
from bot.changes.model.change import Change
from bot.changes.notify import MAX_TRIES, MAX_UNENDED_TRIES, MAX_WAIT_SECONDS, REMINDER_PAUSES, OutboxWorker
from bot.changes.worker import Wake
from bot.store.engine import Store, open_store
from bot.store.outbox import Delivery, Purpose
from bot.store.tables import outbox
from tests.drills.fleet import until
from tests.harness.clocks import StandingClock
from tests.harness.databases import BOTH
from tests.harness.proposing import with_fields
from tests.store.test_store import change as a_change

LEASE: Final = timedelta(seconds=0.3)
LONG_LEASE: Final = timedelta(hours=1)
pytestmark = pytest.mark.parametrize("database_url", BOTH, indirect=True)


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock()


@pytest.fixture
async def store(database_url: str, clock: StandingClock) -> AsyncIterator[Store]:
    async with open_store(database_url, now=clock) as opened:
        yield opened


def worker_of(journal: Journal, deliver: Callable[[Change, str, bool], Awaitable[None]]) -> OutboxWorker:
    async def work(_: Delivery) -> None:
        raise NotImplementedError

    return OutboxWorker(journal, deliver, work, Wake())


def worker(store: Store, clock: StandingClock, owner: str, told: asyncio.Event, free: asyncio.Event) -> OutboxWorker:
    async def deliver(change: Change, purpose: str, is_plain: bool) -> None:
        told.set()
        await free.wait()

    return worker_of(Journal(store, clock, owner, Wake(), Wake(), LEASE), deliver)


async def a_card_is_due(store: Store, clock: StandingClock) -> None:
    change = a_change(clock)
    async with store.transaction() as tx:
        await store.changes.add(tx, change, "one")
        await store.outbox.enqueue(tx, change.id, "card")


async def nothing_waits(store: Store) -> bool:
    return (await store.outbox.backlogs())["message"][0] == 0


async def lease_of(store: Store) -> int:
    async with store.session.reading() as connection:
        return int(await connection.scalar(sa.select(outbox.c.lease)) or 0)


async def test_what_takes_longer_than_a_lease_is_delivered_once(store: Store, clock: StandingClock) -> None:
    await a_card_is_due(store, clock)
    told, free, never = asyncio.Event(), asyncio.Event(), asyncio.Event()
    delivering = asyncio.create_task(worker(store, clock, "first", told, free).deliver_one())
    await told.wait()

    for _ in range(3):
        before = await lease_of(store)
        clock.moment += LEASE * 2 / 3

        async def renewed(before: int = before) -> bool:
            return await lease_of(store) > before

        await until(renewed, "the lease is renewed", 30)
    assert not await worker(store, clock, "second", never, free).deliver_one()

    free.set()
    assert await delivering
    assert await nothing_waits(store)


async def test_a_stop_in_the_middle_of_a_claim_still_delivers_what_was_claimed(
    store: Store, clock: StandingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await a_card_is_due(store, clock)
    told: list[str] = []

    async def deliver(change: Change, purpose: str, is_plain: bool) -> None:
        told.append(purpose)

    deliverer = worker_of(Journal(store, clock, "first", Wake(), Wake(), LONG_LEASE), deliver)
    claim = store.outbox.claim

    async def claims_and_is_stopped(*arguments: Any, **options: Any) -> list[Delivery]:
        found = await claim(*arguments, **options)
        running.cancel()
        await asyncio.sleep(0)  # the commit is made, and who waits for it is cancelled before hearing of it
        return found

    monkeypatch.setattr(store.outbox, "claim", claims_and_is_stopped)
    running = asyncio.create_task(deliverer.run(every=60))
    await asyncio.wait([running])
    await deliverer.flush(60)

    assert told == ["card"]
    assert await nothing_waits(store)


class Killed(BaseException):
    """The process is gone, and nothing more of it runs."""


async def test_what_no_process_survives_is_plain_in_the_end(store: Store, clock: StandingClock) -> None:
    await a_card_is_due(store, clock)
    tries: list[bool] = []

    async def deliver(change: Change, purpose: str, is_plain: bool) -> None:
        tries.append(is_plain)
        if not is_plain:
            raise Killed

    for number in range(MAX_UNENDED_TRIES + 1):
        journal = Journal(store, clock, f"process {number}", Wake(), Wake(), LEASE)
        with suppress(Killed):
            await worker_of(journal, deliver).deliver_one()
        clock.moment += 2 * LEASE

    assert tries == [False] * MAX_UNENDED_TRIES + [True]
    assert await nothing_waits(store)


async def test_what_fails_with_an_error_is_never_plain(store: Store, clock: StandingClock) -> None:
    await a_card_is_due(store, clock)
    tries: list[bool] = []

    async def deliver(change: Change, purpose: str, is_plain: bool) -> None:
        tries.append(is_plain)
        raise ConnectionResetError

    deliverer = worker_of(Journal(store, clock, "first", Wake(), Wake(), LONG_LEASE), deliver)
    for _ in range(MAX_UNENDED_TRIES + 1):
        assert await deliverer.deliver_one()
        clock.moment += timedelta(minutes=5)

    assert not any(tries)


async def test_a_channel_that_hangs_delays_no_other_and_keeps_its_order(store: Store, clock: StandingClock) -> None:
    changes = [with_fields(a_change(clock), channel=channel) for channel in ("C1", "C1", "C2")]
    for change in changes:
        clock.moment += timedelta(seconds=1)
        async with store.transaction() as tx:
            await store.changes.add(tx, change, change.id)
            await store.outbox.enqueue(tx, change.id, "card")
    begun: list[str] = []
    free = asyncio.Event()

    async def deliver(change: Change, _: str, is_plain: bool) -> None:
        begun.append(change.id)
        if change.id == changes[0].id:
            await free.wait()

    deliverer = worker_of(Journal(store, clock, "first", Wake(), Wake(), LONG_LEASE), deliver)
    running = asyncio.create_task(deliverer.run(every=3600))
    first, next_one, elsewhere = (change.id for change in changes)

    async def only_the_hanging_channel_waits() -> bool:
        return (await store.outbox.backlogs())["message"][0] == 2

    await until(only_the_hanging_channel_waits, "the other channel has its message")
    assert not await deliverer.deliver_one(), "it is not that channel's turn"
    assert next_one not in begun

    free.set()
    await until(partial(nothing_waits, store), "all is delivered")
    assert [each for each in begun if each != elsewhere] == [first, next_one]
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_a_graceful_stop_waits_for_what_is_under_way(store: Store, clock: StandingClock) -> None:
    await a_card_is_due(store, clock)
    told, free = asyncio.Event(), asyncio.Event()
    deliverer = worker(store, clock, "first", told, free)
    running = asyncio.create_task(deliverer.run(every=3600))
    await told.wait()

    running.cancel()
    for _ in range(3):  # as long as a stop takes that finds nothing to do
        await store.outbox.next_due()
    assert not running.done()
    free.set()
    await asyncio.gather(running, return_exceptions=True)

    assert await nothing_waits(store)


class Notes:
    """A worker that notes which messages it was given, and fails with what is *refused*; their card is there."""

    def __init__(self, store: Store, clock: StandingClock) -> None:
        self.named: list[str] = []
        self.refused: Exception | None = None
        self.store, self.clock = store, clock
        self.worker = worker_of(Journal(store, clock, "mine", Wake(), Wake(), LEASE), self._deliver)

    async def _deliver(self, change: Change, name: str, is_plain: bool) -> None:
        self.named.append(name)
        if self.refused is not None:
            raise self.refused

    async def enqueue(self, change: Change, purpose: Purpose, span: timedelta) -> None:
        async with self.store.transaction() as tx:
            await self.store.outbox.enqueue(tx, change.id, purpose, due=self.clock() + span)

    async def after(self, span: timedelta) -> list[str]:
        """What is delivered once *span* has passed."""
        self.clock.moment += span
        self.named.clear()
        while await self.worker.deliver_one():
            pass
        return self.named


@pytest.fixture
def notes(store: Store, clock: StandingClock) -> Notes:
    return Notes(store, clock)


HOUR, MOMENT = timedelta(hours=1), timedelta(microseconds=1)


async def added_now(notes: Notes, **fields: Any) -> Change:
    change = with_fields(a_change(notes.clock), **fields)
    async with notes.store.transaction() as tx:
        await notes.store.changes.add(tx, change, "one")
    return change


async def test_a_reminder_comes_at_its_time_and_again_after_each_pause(notes: Notes) -> None:
    change = await added_now(notes)
    await notes.enqueue(change, Purpose.REMIND, HOUR)
    assert (await notes.store.outbox.backlogs())["message"][0] == 0, "it is for later"

    assert await notes.after(HOUR - MOMENT) == []
    assert await notes.after(MOMENT) == ["remind-1"]
    for number, pause in enumerate((*REMINDER_PAUSES, REMINDER_PAUSES[-1]), 2):
        assert await notes.after(pause - MOMENT) == []
        assert await notes.after(MOMENT) == [f"remind-{number}"]


async def test_a_reminder_that_slack_never_took_is_not_the_last(notes: Notes) -> None:
    change = await added_now(notes)
    await notes.enqueue(change, Purpose.REMIND, timedelta())
    notes.refused = ValueError("no")
    for _ in range(MAX_TRIES):
        assert await notes.after(timedelta(seconds=MAX_WAIT_SECONDS)) == ["remind-1"]

    notes.refused = None
    assert await notes.after(REMINDER_PAUSES[0]) == ["remind-2"]


class TooMany(Exception):
    seconds = 77.0


async def test_what_slack_does_not_take_now_is_sent_when_slack_says(notes: Notes) -> None:
    await notes.enqueue(await added_now(notes), Purpose.CARD, timedelta())
    notes.refused = TooMany()
    spans = timedelta(), timedelta(seconds=77) - MOMENT, MOMENT
    assert [[*await notes.after(span)] for span in spans] == [["card"], [], ["card"]]


@pytest.mark.parametrize(("late", "said"), [(-MOMENT, ["offer-1"]), (timedelta(), [])])
async def test_an_end_that_is_past_is_offered_to_nobody(notes: Notes, late: timedelta, said: list[str]) -> None:
    change = await added_now(notes, reverts_at=notes.clock() + HOUR)
    await notes.enqueue(change, Purpose.OFFER, HOUR / 2)

    assert await notes.after(HOUR + late) == said


async def test_a_note_waits_for_the_card_that_it_is_about(store: Store, clock: StandingClock) -> None:
    change = a_change(clock)
    async with store.transaction() as tx:
        await store.changes.add(tx, change, "one")
        await store.outbox.enqueue(tx, change.id, "remind-1")
        clock.moment += timedelta(seconds=1)
        await store.outbox.enqueue(tx, change.id, "card")
    (card,) = await store.outbox.claim("me", LEASE)
    assert card.purpose == "card"
    await store.outbox.retry(card, clock() + timedelta(hours=1), "SlackUnreachable")
    assert not await store.outbox.claim("me", LEASE)
    assert await store.outbox.next_due() == clock() + timedelta(hours=1), "nobody looks in vain for the note"

    clock.moment += timedelta(hours=1, seconds=1)
    (card,) = await store.outbox.claim("me", LEASE)
    async with store.transaction() as tx:
        await store.cards.put(tx, change.id, "C0OPS0001", "1.1", "card")
    await store.outbox.mark_delivered(card)
    (note,) = await store.outbox.claim("me", LEASE)
    assert note.purpose == "remind-1"
