"""A service's budget of requests: never more in any minute, whoever sends, and a part of it for changes alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.clients.errors import RateLimited
from bot.clients.gate import MAX_WAIT_SECONDS, Gate, Priority, sending_for
from bot.store.budgets import Budget, Spent
from bot.store.engine import Store, open_store
from handlers.explain.table import words_for
from tests.clocks import StandingClock
from tests.databases import BOTH

LIMIT = 60
MINUTE = 60_000_000
BEGAN = 1_700_000_000_000_000


@given(st.lists(st.integers(0, MINUTE // 4), max_size=80), st.integers(1, 9))
def test_no_minute_has_more_than_the_limit_and_what_has_to_wait_may_go_then(gaps: list[int], most: int) -> None:
    spent, now, sent = Spent(), BEGAN, list[int]()
    for gap in gaps:
        now += gap
        if wait := spent.take(now, most):
            later = now + round(wait * 1_000_000)
            assert Spent.read(spent.text(), later).take(later, most) == 0, "no longer than it says"
        else:
            sent.append(now)
        spent = Spent.read(spent.text(), now)

    assert all(len([one for one in sent if begin <= one < begin + MINUTE]) <= most for begin in sent)


def test_a_clock_that_was_set_back_does_not_use_the_budget_up_for_ever() -> None:
    spent = Spent()
    while not spent.take(BEGAN, LIMIT):
        pass

    back = BEGAN - 60 * MINUTE
    assert Spent.read(spent.text(), back).take(back, LIMIT) == 0


@pytest.fixture
def time() -> StandingClock:
    return StandingClock()


@pytest.fixture
async def replicas(database_url: str, time: StandingClock) -> AsyncIterator[list[Store]]:
    """The stores of two processes on one database; of one on SQLite, which lets no second one in."""
    async with AsyncExitStack() as stack:
        many = 1 if database_url.startswith("sqlite") else 2
        yield [await stack.enter_async_context(open_store(database_url, now=time)) for _ in range(many)]


def gates(replicas: list[Store], time: StandingClock) -> list[Gate]:
    async def sleep(seconds: float) -> None:
        await asyncio.sleep(0)
        time.moment += timedelta(seconds=seconds)

    return [
        Gate("rules", Budget(one.session, "rules", LIMIT), clock=lambda: time().timestamp(), sleep=sleep)
        for one in replicas
    ]


async def taken(gate: Gate, priority: Priority) -> int:
    """How many requests the budget lets through at once."""
    with sending_for(priority):
        for count in range(2 * LIMIT):
            try:
                await gate.turn(write=priority > Priority.READ)
            except RateLimited:
                return count
    return 2 * LIMIT


@pytest.mark.parametrize("database_url", BOTH, indirect=True)
async def test_reads_leave_a_third_and_bulk_changes_a_sixth_on_all_replicas(
    replicas: list[Store], time: StandingClock
) -> None:
    doors = gates(replicas, time)

    assert sum(await asyncio.gather(*(taken(door, Priority.READ) for door in doors))) == LIMIT * 4 // 6
    assert sum(await asyncio.gather(*(taken(door, Priority.BULK) for door in doors))) == LIMIT // 6
    assert sum(await asyncio.gather(*(taken(door, Priority.CHANGE) for door in doors))) == LIMIT // 6
    assert await Budget(replicas[-1].session, "rules", LIMIT).left() == 0
    assert await Budget(replicas[-1].session, "members", LIMIT).left() == LIMIT

    time.moment += timedelta(seconds=66)
    assert await taken(doors[0], Priority.CHANGE) == LIMIT


@pytest.mark.parametrize("database_url", BOTH, indirect=True)
async def test_a_read_waits_for_a_moment_and_is_refused_where_it_would_be_longer(
    replicas: list[Store], time: StandingClock
) -> None:
    door = gates(replicas, time)[0]
    await taken(door, Priority.READ)

    with pytest.raises(RateLimited) as caught:
        await door.turn(write=False)
    assert caught.value.is_ours
    assert "Try again at <!date^" in words_for(caught.value).next
    time.moment += timedelta(seconds=(caught.value.retry_after or 0) - MAX_WAIT_SECONDS + 1)
    before = time.moment
    await door.turn(write=False)
    assert time.moment - before == timedelta(seconds=MAX_WAIT_SECONDS - 1)


@pytest.mark.parametrize("database_url", BOTH, indirect=True)
async def test_a_pause_that_a_service_asked_one_replica_for_is_everybodys(
    replicas: list[Store], time: StandingClock
) -> None:
    first, last = gates(replicas, time)[0], gates(replicas, time)[-1]

    await first.close(90)

    with sending_for(Priority.CHANGE), pytest.raises(RateLimited) as caught:
        await last.turn(write=True)
    assert caught.value.retry_after == 90


async def test_without_a_database_nothing_is_held_up(replicas: list[Store], time: StandingClock) -> None:
    (store,) = replicas
    async with store.transaction() as tx:
        await tx.exec_driver_sql("DROP TABLE settings")

    assert await taken(gates(replicas, time)[0], Priority.READ) == 2 * LIMIT
