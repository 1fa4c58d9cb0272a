"""The worker of the outbox rests until the next one is due, and looks in between for those that others have set."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Final

import pytest

from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.parts import ChangeRequest
from bot.changes.notify import DELIVERIES_AT_ONCE
from bot.changes.worker import Wake
from bot.store.outbox import LANES, Delivery, Purpose
from tests.changes.world import World, replica
from tests.drills.fleet import until
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
            await world.store.outbox.enqueue(tx, f"c{number}", Purpose.EXPIRE, due=due)


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
        working = tasks.create_task(replace(replica(world, "mine", count(1)).outbox, wake=rests).run(every=EVERY))
        assert await rests.seconds.get() == rest
        working.cancel()


async def test_what_is_overdue_while_all_places_are_taken_is_waited_for(world: World) -> None:
    await set_timers(world, *[0.0] * (DELIVERIES_AT_ONCE + 1))
    rests, free = Rests(), asyncio.Event()

    mine = replica(world, "mine", count(1))

    async def work(timer: Delivery) -> None:
        await free.wait()
        await mine.timers.do(timer)

    working = asyncio.create_task(replace(mine.outbox, wake=rests, work=work).run(every=EVERY))
    async with asyncio.timeout(30):
        assert await rests.seconds.get() == EVERY
        free.set()
        while (await world.store.outbox.backlogs())["timer"][0]:
            await rests.seconds.get()
    working.cancel()
    with suppress(asyncio.CancelledError):
        await working


@pytest.mark.parametrize("hanging", LANES)
async def test_a_lane_that_hangs_delays_no_other(world: World, hanging: str) -> None:
    """More of it is due than there are places in all lanes, and it is due first."""
    purposes = {
        "messages": Purpose.CARD,
        "no service": Purpose.EXPIRE,
        "rules": Purpose.REVERT,
        "members": Purpose.START,
    }
    lanes = [hanging] * (DELIVERIES_AT_ONCE * len(LANES) + 1) + [lane for lane in LANES if lane != hanging]
    async with world.store.transaction() as tx:
        for number, lane in enumerate(lanes):
            target = Target(service="members" if lane == "members" else "rules", key=str(number))
            edit = Edit(kind=Kind.RULE_DELETE, target=target, before={}, after=None)
            request = ChangeRequest(requester="U1", channel=f"C{number}")
            change = Change(id=f"{number:032x}", created=world.clock(), edit=edit, request=request)
            await world.store.changes.add(tx, change, change.id)
            due = world.clock() - timedelta(hours=2 if lane == hanging else 1)
            await world.store.outbox.enqueue(tx, change.id, purposes[lane], due=due)
    begun, free = Counter[str](), asyncio.Event()

    async def begin(change_id: str) -> None:
        lane = lanes[int(change_id, 16)]
        begun[lane] += 1
        if lane == hanging:
            await free.wait()

    mine = replica(world, "mine", count(1)).outbox
    mine.deliver = lambda change, _, __: begin(change.id)
    mine.work = lambda timer: begin(timer.change_id)
    working = asyncio.create_task(mine.run(every=EVERY))

    async def all_lanes_go_on() -> bool:
        return begun == Counter(LANES) | {hanging: DELIVERIES_AT_ONCE}

    await until(all_lanes_go_on, "as many of it as it has places, and all the others")
    free.set()
    working.cancel()
    await asyncio.wait([working])
