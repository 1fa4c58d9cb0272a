"""The end of a temporary set that cannot simply be taken back."""

from __future__ import annotations

from datetime import timedelta
from itertools import count

from bot.changes.deciding import Decision
from bot.domain.change import Change, State
from tests.changes.world import ALICE, BOB, OPS, POLICIES, RULE_IDS, Replica, World, a_world, renames, replica


async def in_force(world: World, mine: Replica) -> Change:
    """A rename for two hours, of two rules, approved and carried out."""
    whole = await mine.pipeline.submit_set(renames(world, "For now", lasts=7200), origin="origin")
    await mine.pipeline.decide(whole.id, Decision.APPROVE, BOB)
    assert await mine.carry_out_a_set()
    return await mine.pipeline.get(whole.id)


async def as_time_goes_on(world: World, mine: Replica) -> None:
    for _ in range(5):
        world.clock.moment += timedelta(minutes=11)
        while await mine.timers.run_one() or await mine.carry_out_a_set():
            pass


async def undos(world: World, whole: Change) -> list[State]:
    found = [await world.store.changes.of_origin(f"undo:{whole.id}:{number}") for number in range(9)]
    return [undo.state for undo in found if undo is not None]


async def test_an_undo_that_was_denied_before_does_not_let_the_end_be_tried_for_ever(database_url: str) -> None:
    async with a_world(database_url) as world:
        await world.begin(POLICIES["approve"])
        mine = replica(world, "mine", count(1))
        whole = await in_force(world, mine)
        undo = await mine.pipeline.undo(whole, by=ALICE, channel=OPS)
        await mine.pipeline.decide(undo.id, Decision.DENY, BOB)
        for key in RULE_IDS:
            world.edit(("rules", key), {"name": "Theirs"})

        world.clock.moment += timedelta(hours=2)
        await as_time_goes_on(world, mine)

        assert await undos(world, whole) == [State.DENIED, State.FAILED], "tried once at its end"
        assert (await mine.pipeline.get(whole.id)).ending == "changed", "left in force, and said so"


async def test_an_undo_that_failed_before_its_time_does_not_keep_the_end_from_being_tried(database_url: str) -> None:
    async with a_world(database_url) as world:
        await world.begin(POLICIES["approve"])
        mine = replica(world, "mine", count(1))
        whole = await in_force(world, mine)
        there = {key: world.truth()["rules", key] for key in RULE_IDS}
        for key in RULE_IDS:
            world.edit(("rules", key), {"name": "Theirs"})
        undo = await mine.pipeline.undo(whole, by=ALICE, channel=OPS)
        await mine.pipeline.decide(undo.id, Decision.APPROVE, BOB)
        assert await mine.carry_out_a_set()
        for key, record in there.items():
            world.edit(("rules", key), record)

        world.clock.moment += timedelta(hours=2)
        await as_time_goes_on(world, mine)

        assert await undos(world, whole) == [State.FAILED, State.APPLIED]
        assert {world.truth()["rules", key]["name"] for key in RULE_IDS} == {"As it was"}
