"""The worker of timers rests until the next one is due, and looks in between for those that others have set."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Final

import pytest

from bot.changes.timers import TIMERS_AT_ONCE, TimerWorker
from bot.changes.worker import Wake
from bot.store.queues import Timer, TimerKind
from tests.changes.world import World, replica
from tests.harness.databases import BOTH

pytestmark = pytest.mark.parametrize("database_url", BOTH, indirect=True)
EVERY: Final = 60.0


class Rests(Wake):
    """Notes for how many seconds the worker would rest, and wakes it only where it was woken."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: asyncio.Queue[float] = asyncio.Queue()

    async def wait(self, seconds: float) -> None:
        self.seconds.put_nowait(seconds)
        await super().wait(3600)


async def set_timers(world: World, *seconds: float) -> None:
    """Set a timer for each of *seconds* from now."""
    async with world.store.transaction() as tx:
        for number, wait in enumerate(seconds):
            due = world.clock() + timedelta(seconds=wait)
            await world.store.timers.set(tx, f"c{number}", TimerKind.EXPIRE, due)


@pytest.mark.parametrize(
    ("timers", "rest"),
    [
        pytest.param((), EVERY, id="none"),
        pytest.param((EVERY * 10,), EVERY, id="later than others may have set one"),
        pytest.param((20, 10, 30), 10, id="the next"),
        pytest.param((0, 10), 10, id="the next after one that is due"),
    ],
)
async def test_it_rests_until_the_next_one_is_due(world: World, timers: tuple[float, ...], rest: float) -> None:
    await set_timers(world, *timers)
    rests = Rests()

    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        working = tasks.create_task(replace(replica(world, "mine", count(1)).timers, wake=rests).run(every=EVERY))
        assert await rests.seconds.get() == rest
        working.cancel()


async def test_what_is_overdue_while_all_places_are_taken_is_waited_for(world: World) -> None:
    await set_timers(world, *[0.0] * (TIMERS_AT_ONCE + 1))
    rests, free = Rests(), asyncio.Event()

    class Busy(TimerWorker):
        async def do(self, timer: Timer) -> None:
            await free.wait()
            await super().do(timer)

    mine = Busy(replica(world, "mine", count(1)).pipeline, rests)
    working = asyncio.create_task(mine.run(every=EVERY))
    async with asyncio.timeout(30):
        assert await rests.seconds.get() == EVERY
        free.set()
        while (await world.store.timers.backlog())[0]:
            await rests.seconds.get()
    working.cancel()
    with suppress(asyncio.CancelledError):
        await working
