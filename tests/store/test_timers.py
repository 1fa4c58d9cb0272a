"""What falls due is handed out once, never early, and finished by whoever still holds it. On both databases."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from bot.store.engine import Store, open_store
from bot.store.queues import Timer, TimerKind
from tests.harness.clocks import StandingClock
from tests.harness.databases import BOTH
from tests.store.test_store import LEASE

pytestmark = pytest.mark.parametrize("database_url", BOTH, indirect=True)
HOUR = timedelta(hours=1)


async def due_in(
    store: Store, clock: StandingClock, span: timedelta, change: str = "c", kind: TimerKind = TimerKind.REVERT
) -> None:
    async with store.transaction() as tx:
        await store.timers.set(tx, change, kind, clock() + span)


async def claimed(store: Store, owner: str = "me") -> Timer | None:
    return await store.timers.claim(owner, LEASE)


async def held(store: Store, owner: str = "me") -> Timer:
    timer = await claimed(store, owner)
    assert timer is not None
    return timer


async def test_it_is_never_handed_out_early(store: Store, clock: StandingClock) -> None:
    await due_in(store, clock, HOUR)

    clock.moment += HOUR - timedelta(microseconds=1)
    assert await claimed(store) is None
    clock.moment += timedelta(microseconds=1)
    assert (await held(store)).due == clock()


async def test_of_many_who_look_one_gets_it(store: Store, database_url: str, clock: StandingClock) -> None:
    async with open_store(database_url, now=clock) as another:
        for number in range(5):
            await due_in(store, clock, timedelta(0), f"c{number}")
        looks = [claimed((store, another)[number % 2], f"owner {number}") for number in range(20)]
        got = [timer.change_id for timer in await asyncio.gather(*looks) if timer is not None]
        while (timer := await claimed(store, "last")) is not None:
            got.append(timer.change_id)

    assert sorted(got) == [f"c{number}" for number in range(5)]


async def test_the_one_that_is_overdue_the_longest_comes_first(store: Store, clock: StandingClock) -> None:
    for number, minutes in enumerate((3, 1, 2)):
        await due_in(store, clock, timedelta(minutes=minutes), f"c{number}")
    clock.moment += HOUR

    assert [(await held(store)).change_id for _ in range(3)] == ["c1", "c2", "c0"]


async def test_one_that_was_left_is_handed_out_again_after_its_lease(store: Store, clock: StandingClock) -> None:
    await due_in(store, clock, timedelta(0))
    first = await held(store)

    clock.moment += LEASE
    assert await claimed(store, "you") is None
    clock.moment += timedelta(microseconds=1)
    second = await held(store, "you")
    assert (second.due, second.number) == (first.due, first.number)


@pytest.mark.parametrize("finish", ["done", "again"])
async def test_whoever_lost_it_can_finish_it_no_more(store: Store, clock: StandingClock, finish: str) -> None:
    await due_in(store, clock, timedelta(0))
    late = await held(store)
    clock.moment += LEASE * 2
    mine = await held(store, "you")

    await (store.timers.remove(late) if finish == "done" else store.timers.reschedule(late, clock() + HOUR))

    assert [timer.due for timer in await store.timers.list_pending(TimerKind.REVERT)] == [mine.due]
    assert await claimed(store, "third") is None
    await store.timers.remove(mine)
    assert not await store.timers.list_pending(TimerKind.REVERT)


async def test_what_comes_again_counts_and_is_free_again(store: Store, clock: StandingClock) -> None:
    await due_in(store, clock, timedelta(0), kind=TimerKind.REVERT)
    for number in range(3):
        timer = await held(store)
        assert timer.number == number
        await store.timers.reschedule(timer, clock() + HOUR)
        assert await claimed(store) is None
        clock.moment += HOUR


@pytest.mark.parametrize("finish", ["done", "again"])
async def test_one_that_is_set_anew_while_held_stays_as_it_was_set(
    store: Store, clock: StandingClock, finish: str
) -> None:
    await due_in(store, clock, timedelta(0))
    timer = await held(store)

    await due_in(store, clock, HOUR)
    await (store.timers.remove(timer) if finish == "done" else store.timers.reschedule(timer, clock() + HOUR * 5))

    (left,) = await store.timers.list_pending(TimerKind.REVERT)
    assert left.due == clock() + HOUR
    clock.moment += HOUR
    assert (await held(store)).number == 0


async def test_one_that_is_cleared_while_held_does_not_come_back(store: Store, clock: StandingClock) -> None:
    await due_in(store, clock, timedelta(0))
    await due_in(store, clock, timedelta(0), kind=TimerKind.EXPIRE)
    timer = await held(store)
    async with store.transaction() as tx:
        await store.timers.clear(tx, "c", timer.kind)

    await store.timers.reschedule(timer, clock())

    assert [await claimed(store) is None for _ in range(2)] == [False, True]


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
    await store.timers.remove(mine)
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


async def test_all_that_will_be_is_listed_the_next_one_first(store: Store, clock: StandingClock) -> None:
    for number in reversed(range(60)):
        await due_in(store, clock, HOUR * (number + 1), f"c{number}")

    assert [each.change_id for each in await store.timers.list_pending(TimerKind.REVERT)] == [
        f"c{number}" for number in range(60)
    ]
