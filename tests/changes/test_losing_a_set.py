"""A process that was stopped between its look at the parts of a set and their beginning, and what others did meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Literal

import pytest

from bot.changes.batch import BatchExecutor, ServiceSite
from bot.changes.execute import MAX_SENDS
from bot.changes.journal import LEASE
from bot.changes.model.change import Change
from bot.changes.model.items import OPEN, Outcome
from bot.changes.proposals import item_change
from bot.changes.worker import ChangeLease, LeaseLost
from tests.changes.world import ALICE, RULE_IDS, Died, Replica, World, renames, replica, rule
from tests.harness.databases import BOTH

pytestmark = pytest.mark.parametrize("database_url", BOTH, indirect=True)


async def claimed(world: World, mine: Replica, new_id: Callable[[], str]) -> tuple[BatchExecutor, Sequence[Change]]:
    """A set that *mine* has claimed and carries out, and its parts as they would be begun."""
    await mine.pipeline.proposer.submit(renames(world, "Ours"), idempotency_key="request")
    world.clock.moment += timedelta(milliseconds=1)
    whole = await mine.sets.journal.claim_due(bulk=True)
    assert whole is not None
    items = await world.store.items.find(whole.id, OPEN, len(RULE_IDS))
    batch = mine.sets.batch(whole, ChangeLease(mine.sets.journal, whole, world.clock()))
    return batch, [item_change(whole, item, change_id=new_id(), now=world.clock()) for item in items]


async def test_what_another_has_done_is_not_begun_again(world: World) -> None:
    ids = count(1)
    mine, other = replica(world, "mine", ids), replica(world, "other", ids)
    batch, items = await claimed(world, mine, lambda: f"{next(ids):032x}")
    world.clock.moment += timedelta(seconds=61)
    assert await other.carry_out_a_set()

    with pytest.raises(LeaseLost):
        await batch.begin(items)
    with pytest.raises(LeaseLost):
        await batch.give_up([item.item_number for item in items], "the service is away")

    assert await world.store.items.tally(batch.whole.id) == {Outcome.APPLIED: len(RULE_IDS)}


async def test_what_another_still_has_is_waited_for_and_then_taken_over(world: World) -> None:
    ids = count(1)
    mine, other = replica(world, "mine", ids), replica(world, "other", ids)
    batch, items = await claimed(world, mine, lambda: f"{next(ids):032x}")
    world.clock.moment += LEASE / 2
    assert len(await batch.begin(items)) == len(RULE_IDS)
    world.clock.moment += LEASE / 2
    lost, world.naps = world.clock(), 0

    assert await other.carry_out_a_set()

    assert world.clock() - lost >= LEASE / 2
    assert await world.store.items.tally(batch.whole.id) == {Outcome.APPLIED: len(RULE_IDS)}


async def test_what_somebody_stopped_is_not_begun(world: World) -> None:
    ids = count(1)
    mine = replica(world, "mine", ids)
    batch, items = await claimed(world, mine, lambda: f"{next(ids):032x}")
    await mine.pipeline.decisions.stop(batch.whole, by=ALICE, request="click")

    assert await batch.begin(items) == []
    await batch.give_up([item.item_number for item in items], "the service is away")

    assert await world.store.items.tally(batch.whole.id) == {Outcome.STOPPED: len(RULE_IDS)}


class Queue(asyncio.Lock):
    """A process dies while it waits for its turn."""

    async def acquire(self) -> Literal[True]:
        raise Died


async def test_what_only_waited_for_its_turn_may_still_be_sent(world: World, mine: Replica) -> None:
    batch, items = await claimed(world, mine, new_id=iter(RULE_IDS).__next__)
    place = items[0].edit.target.place
    await batch.begin(items)
    for _ in range(MAX_SENDS):
        world.clock.moment += LEASE * 2
        whole = await mine.sets.journal.claim_due(bulk=True)
        assert whole is not None
        batch = mine.sets.batch(whole, ChangeLease(mine.sets.journal, whole, world.clock() + LEASE))
        batch.places[place] = ServiceSite(mine.sets.backoff(), Queue())
        with pytest.RaisesGroup(Died):
            await batch.carry_out()

    world.clock.moment += LEASE * 2
    assert await mine.carry_out_a_set()
    assert await world.store.items.tally(batch.whole.id) == {Outcome.APPLIED: len(RULE_IDS)}


async def test_a_part_waits_for_another_that_is_about_the_same_thing(world: World, mine: Replica) -> None:
    first, second = (renames(world, name).items[0] for name in ("Once", "Twice"))
    wanted = replace(renames(world, "Both"), items=[first, replace(second, number=2, before=first.after)])
    whole = await mine.pipeline.proposer.submit(wanted, idempotency_key="request")

    assert await mine.carry_out_a_set()

    assert await world.store.items.tally(whole.id) == {Outcome.APPLIED: 2}
    assert world.truth()["rules", RULE_IDS[0]]["name"] == "Twice"


@pytest.mark.parametrize("step", ["begin", "look"])
@pytest.mark.parametrize("away", [False, True], ids=["the service answers", "the service is away"])
async def test_the_look_is_taken_anew(world: World, mine: Replica, step: str, away: bool) -> None:
    whole = await mine.pipeline.proposer.submit(renames(world, "Ours"), idempotency_key="request")

    def failpoint(name: str) -> None:
        if name == step:
            world.clock.moment += timedelta(minutes=30)
            world.edit(("rules", RULE_IDS[0]), rule("Theirs"))
            if away:
                world.services.rules.stage.faults.add("500", times=99)

    world.clock.moment += timedelta(milliseconds=1)
    await replace(mine.sets, executor=replace(mine.sets.executor, failpoint=failpoint)).carry_out(
        await mine.sets.journal.claim_due(bulk=True) or whole
    )

    tally = await world.store.items.tally(whole.id)
    names = [world.truth()["rules", key]["name"] for key in RULE_IDS]
    expected = {Outcome.FAILED: 2} if away else {Outcome.STALE: 1, Outcome.APPLIED: 1}
    assert tally == expected
    assert names == ["Theirs", "As it was" if away else "Ours"]
