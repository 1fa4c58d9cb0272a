"""Misses are counted in one row each, and few are kept, and not for long."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from bot.store.engine import Store
from bot.store.misses import MAX_MISSES, REMEMBERED_FOR
from tests.clocks import StandingClock
from tests.databases import BOTH

pytestmark = pytest.mark.parametrize("database_url", BOTH, indirect=True)


async def test_each_is_counted_once_and_the_most_frequent_comes_first(store: Store, clock: StandingClock) -> None:
    await store.misses.add("rules once")
    clock.moment += timedelta(hours=1)
    await asyncio.gather(*(store.misses.add("rules often") for _ in range(8)))
    await store.misses.add("rules later")

    found = await store.misses.most(2)

    assert [(each.text, each.count, each.last) for each in found] == [
        ("rules often", 8, clock.moment),
        ("rules later", 1, clock.moment),
    ]


async def test_what_is_old_goes(store: Store, clock: StandingClock) -> None:
    await store.misses.add("rules old")
    await store.misses.add("rules again")
    clock.moment += REMEMBERED_FOR
    await store.misses.add("rules again")
    clock.moment += timedelta(seconds=1)

    await store.misses.forget()

    assert [each.text for each in await store.misses.most(5)] == ["rules again"]


async def test_the_oldest_of_too_many_go(store: Store, clock: StandingClock) -> None:
    for number in range(MAX_MISSES + 2):
        clock.moment += timedelta(seconds=1)
        await store.misses.add(f"rules {number}")

    await store.misses.forget()

    left = {each.text for each in await store.misses.most(MAX_MISSES + 5)}
    assert left == {f"rules {number}" for number in range(2, MAX_MISSES + 2)}
