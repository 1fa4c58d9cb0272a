"""A row of the outbox is handed out once, never early, and is finished only by its holder, on both databases."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, Final

import pytest

from bot.store.engine import Store, open_store
from bot.store.outbox import Delivery, Purpose
from tests.harness.clocks import StandingClock
from tests.harness.databases import BOTH
from tests.harness.workers import ONE_TIMER
from tests.store.test_store import LEASE

pytestmark = pytest.mark.parametrize("database_url", BOTH, indirect=True)
HOUR = timedelta(hours=1)
ROOM: Final = ONE_TIMER | {"messages": 1}


async def due_in(
    store: Store, clock: StandingClock, span: timedelta, change: str = "c", purpose: str = Purpose.EXPIRE
) -> None:
    async with store.transaction() as tx:
        await store.outbox.enqueue(tx, change, purpose, due=clock() + span)


async def claimed(store: Store, owner: str = "me") -> Delivery | None:
    return next(iter(await store.outbox.claim(owner, LEASE, ROOM)), None)


async def held(store: Store, owner: str = "me") -> Delivery:
    delivery = await claimed(store, owner)
    assert delivery is not None
    return delivery


async def test_it_is_never_handed_out_early(store: Store, clock: StandingClock) -> None:
    await due_in(store, clock, HOUR)

    clock.moment += HOUR - timedelta(microseconds=1)
    assert await claimed(store) is None
    clock.moment += timedelta(microseconds=1)
    assert (await held(store)).change_id == "c"


async def test_of_many_who_look_one_gets_it(store: Store, database_url: str, clock: StandingClock) -> None:
    async with open_store(database_url, now=clock) as another:
        for number in range(5):
            await due_in(store, clock, timedelta(0), f"c{number}")
        looks = [claimed((store, another)[number % 2], f"owner {number}") for number in range(20)]
        got = [each.change_id for each in await asyncio.gather(*looks) if each is not None]
        while (each := await claimed(store, "last")) is not None:
            got.append(each.change_id)

    assert sorted(got) == [f"c{number}" for number in range(5)]


async def test_the_one_that_is_overdue_the_longest_comes_first(store: Store, clock: StandingClock) -> None:
    for number, minutes in enumerate((3, 1, 2)):
        await due_in(store, clock, timedelta(minutes=minutes), f"c{number}")
    listed = await store.outbox.pending_change_ids(Purpose.EXPIRE)
    clock.moment += HOUR

    assert listed == [(await held(store)).change_id for _ in range(3)] == ["c1", "c2", "c0"]


FINISH: Final[dict[str, Callable[[Store, Delivery, StandingClock], Awaitable[Any]]]] = {
    "done": lambda store, held, clock: store.outbox.mark_delivered(held),
    "done, and once more": lambda store, held, clock: store.outbox.mark_delivered(held, again=clock() + HOUR * 5),
    "failed": lambda store, held, clock: store.outbox.retry(held, clock() + HOUR * 5, "away"),
    "not its turn": lambda store, held, clock: store.outbox.give_back(held, clock() + HOUR * 5),
    "given up": lambda store, held, clock: store.outbox.give_up(held, "refused"),
}
"""Each way in which a worker ends what it claimed."""


@pytest.mark.parametrize("finish", FINISH)
async def test_whoever_lost_it_can_finish_it_no_more(store: Store, clock: StandingClock, finish: str) -> None:
    await due_in(store, clock, timedelta(0))
    late = await held(store)
    clock.moment += LEASE
    assert await claimed(store, "you") is None
    clock.moment += timedelta(microseconds=1)
    mine = await held(store, "you")
    assert (mine.version, mine.attempt) == (late.version, late.attempt + 1)

    await FINISH[finish](store, late, clock)

    assert await store.outbox.pending_change_ids(Purpose.EXPIRE) == ["c"]
    assert await claimed(store, "third") is None
    await store.outbox.mark_delivered(mine)
    assert not await store.outbox.pending_change_ids(Purpose.EXPIRE)


@pytest.mark.parametrize("purpose", [Purpose.CARD, Purpose.REMIND, Purpose.EXPIRE])
@pytest.mark.parametrize("finish", FINISH)
async def test_what_is_enqueued_again_while_it_is_held_stays_as_it_was_enqueued(
    store: Store, clock: StandingClock, finish: str, purpose: str
) -> None:
    await due_in(store, clock, timedelta(0), purpose=purpose)
    first = await held(store)

    await due_in(store, clock, HOUR, purpose=purpose)
    await FINISH[finish](store, first, clock)

    clock.moment += HOUR - timedelta(microseconds=1)
    assert await claimed(store) is None
    clock.moment += timedelta(microseconds=1)
    second = await held(store)
    assert (second.version, second.attempt, second.error) == (2, 1, "")


@pytest.mark.parametrize("finish", FINISH)
async def test_what_is_dropped_while_it_is_held_does_not_come_back(
    store: Store, clock: StandingClock, finish: str
) -> None:
    await due_in(store, clock, timedelta(0))
    await due_in(store, clock, HOUR * 2, purpose=Purpose.REMIND)
    first = await held(store)
    async with store.transaction() as tx:
        await store.outbox.drop_for_later(tx, "c", Purpose.EXPIRE)

    await FINISH[finish](store, first, clock)

    clock.moment += HOUR * 9
    assert [(await held(store)).purpose, await claimed(store)] == [Purpose.REMIND, None]


async def test_what_comes_again_counts_and_is_free_again(store: Store, clock: StandingClock) -> None:
    await due_in(store, clock, timedelta(0))
    for number in range(3):
        timer = await held(store)
        assert timer.attempt == number + 1
        await store.outbox.retry(timer, clock() + HOUR)
        assert await claimed(store) is None
        clock.moment += HOUR


@pytest.mark.threat("D7")
async def test_a_clock_that_goes_back_an_hour_makes_nothing_early_and_nothing_twice(
    store: Store, clock: StandingClock
) -> None:
    await due_in(store, clock, timedelta(0), "now")
    await due_in(store, clock, timedelta(minutes=1), "soon")
    mine = await held(store)
    assert mine.change_id == "now"

    clock.moment -= HOUR
    assert await claimed(store, "you") is None
    clock.moment += HOUR
    assert await claimed(store, "you") is None
    await store.outbox.mark_delivered(mine)
    clock.moment += timedelta(minutes=1)
    assert (await held(store, "you")).change_id == "soon"


async def test_what_was_held_when_the_clock_went_back_is_free_once_the_old_lease_is_over(
    store: Store, clock: StandingClock
) -> None:
    await due_in(store, clock, -HOUR * 2)
    await held(store)
    clock.moment -= HOUR

    assert await claimed(store, "you") is None
    clock.moment += HOUR + LEASE * 2
    assert (await held(store, "you")).change_id == "c"
