"""The end of a temporary set that cannot simply be taken back."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.changes.model.change import Change
from bot.changes.model.edits import Kind
from bot.changes.model.states import State
from bot.changes.rights import Decision
from tests.changes.world import ALICE, BOB, OPS, POLICIES, RULE, RULE_IDS, Replica, World, proposal, renames


async def applied_set(world: World, mine: Replica, *, hours: int = 2) -> Change:
    """A rename for some hours, of two rules, approved and carried out."""
    await world.begin(POLICIES["approve"])
    whole = await mine.pipeline.proposer.submit(
        renames(world, "For now", revert_after=hours * 3600), idempotency_key="request"
    )
    await mine.pipeline.decisions.decide(whole, Decision.APPROVE, BOB)
    assert await mine.carry_out_a_set()
    return await mine.pipeline.journal.get(whole.id)


async def as_time_goes_on(world: World, mine: Replica) -> None:
    for _ in range(5):
        world.clock.moment += timedelta(minutes=11)
        while await mine.fire_one() or await mine.carry_out_a_set() or await mine.recover_one():
            pass


async def tried(world: World, whole: Change, idempotency_key: str) -> list[State]:
    """What became of each *origin*: ``undo``, by a person, or ``revert``, at its end."""
    found = [await world.store.changes.find_by_key(f"{idempotency_key}:{whole.id}:{number}") for number in range(9)]
    return [undo.state for undo in found if undo is not None]


async def test_an_undo_that_was_denied_before_does_not_let_the_end_be_tried_for_ever(
    world: World, mine: Replica
) -> None:
    whole = await applied_set(world, mine)
    undo = await mine.pipeline.followups.undo(whole, by=ALICE, channel=OPS)
    await mine.pipeline.decisions.decide(undo, Decision.DENY, BOB)
    for key in RULE_IDS:
        world.edit(("rules", key), {"name": "Theirs"})

    world.clock.moment += timedelta(hours=2)
    await as_time_goes_on(world, mine)

    assert await tried(world, whole, "undo") == [State.DENIED]
    assert await tried(world, whole, "revert") == [], "a look is enough"
    assert (await mine.pipeline.journal.get(whole.id)).run.revert_failure == "changed", "left in force, and said so"


async def test_an_undo_that_failed_before_its_time_does_not_keep_the_end_from_being_tried(
    world: World, mine: Replica
) -> None:
    whole = await applied_set(world, mine)
    there = {key: world.truth()["rules", key] for key in RULE_IDS}
    for key in RULE_IDS:
        world.edit(("rules", key), {"name": "Theirs"})
    undo = await mine.pipeline.followups.undo(whole, by=ALICE, channel=OPS)
    await mine.pipeline.decisions.decide(undo, Decision.APPROVE, BOB)
    assert await mine.carry_out_a_set()
    for key, record in there.items():
        world.edit(("rules", key), record)

    world.clock.moment += timedelta(hours=2)
    await as_time_goes_on(world, mine)

    assert await tried(world, whole, "undo") == [State.FAILED]
    assert await tried(world, whole, "revert") == [State.APPLIED]
    assert {world.truth()["rules", key]["name"] for key in RULE_IDS} == {"As it was"}


@pytest.mark.slow
async def test_requests_and_undos_that_wait_do_not_put_the_end_off(world: World, mine: Replica) -> None:
    whole = await applied_set(world, mine, hours=1)
    for _ in range(60):
        undo = await mine.pipeline.followups.undo(whole, by=ALICE, channel=OPS)
        await mine.pipeline.decisions.decide(undo, Decision.WITHDRAW, ALICE)
    undo = await mine.pipeline.followups.undo(whole, by=ALICE, channel=OPS)
    other = await mine.pipeline.proposer.submit(renames(world, "Once more"), idempotency_key="another")

    world.clock.moment += timedelta(hours=1)
    await as_time_goes_on(world, mine)

    assert {world.truth()["rules", key]["name"] for key in RULE_IDS} == {"As it was"}
    assert (await mine.pipeline.journal.get(whole.id)).run.undone is not None
    assert (await mine.pipeline.journal.get(undo.id)).state is State.STALE, "there is nothing left to undo"
    assert (await mine.pipeline.journal.get(other.id)).state is State.PROPOSED, (
        "its parts are looked at when it is approved"
    )


async def test_what_an_undo_could_not_take_back_still_ends(world: World, mine: Replica) -> None:
    whole = await mine.pipeline.proposer.submit(renames(world, "For now", revert_after=7200), idempotency_key="request")
    assert await mine.carry_out_a_set()
    left = world.truth()["rules", RULE_IDS[0]]
    world.edit(("rules", RULE_IDS[0]), left | {"name": "Theirs"})

    await mine.pipeline.followups.undo(await mine.pipeline.journal.get(whole.id), by=ALICE, channel=OPS)
    assert await mine.carry_out_a_set()
    half = await mine.pipeline.journal.get(whole.id)
    world.edit(("rules", RULE_IDS[0]), left)
    world.clock.moment += timedelta(hours=2)
    await as_time_goes_on(world, mine)

    assert half.run.undone is None, "a part of it is still there"
    assert half.is_temporary
    assert {world.truth()["rules", key]["name"] for key in RULE_IDS} == {"As it was"}
    assert (await mine.pipeline.journal.get(whole.id)).run.undone is not None


async def test_an_item_that_the_service_did_not_take_is_tried_again(world: World, mine: Replica) -> None:
    whole = await applied_set(world, mine)
    world.services.rules.stage.faults.add("500", method="PUT", path=f".*{RULE_IDS[0]}", times=99)

    world.clock.moment += timedelta(hours=2)
    await as_time_goes_on(world, mine)
    assert [world.truth()["rules", key]["name"] for key in RULE_IDS] == ["For now", "As it was"]
    world.services.rules.stage.faults.clear()
    await as_time_goes_on(world, mine)

    assert {world.truth()["rules", key]["name"] for key in RULE_IDS} == {"As it was"}
    assert (await mine.pipeline.journal.get(whole.id)).run.undone is not None


@pytest.mark.parametrize("is_unknown", [False, True])
async def test_an_item_whose_target_another_change_holds_is_tried_again(
    world: World, mine: Replica, *, is_unknown: bool
) -> None:
    """Once it is known what became of the other item."""
    whole = await applied_set(world, mine)
    after = (world.live(RULE) or {}) | {"status": "Inactive"}
    world.clock.moment += timedelta(hours=2)
    wanted = proposal(world, Kind.RULE_UPDATE, RULE, after)
    other = await mine.pipeline.proposer.submit(wanted, idempotency_key="other")
    world.services.rules.stage.faults.add("500", method="GET", times=9)
    other = await mine.pipeline.decisions.decide(other, Decision.APPROVE, BOB)
    world.services.rules.stage.faults.clear()
    assert other.state is State.APPROVED, "it waits for its service"

    if is_unknown:
        world.services.rules.stage.faults.add("500", method="PUT", times=99)
    for _ in range(3):
        world.clock.moment += timedelta(minutes=1)
        while await mine.fire_one() or await mine.carry_out_a_set():
            pass
    tries = await tried(world, whole, "revert")
    assert tries == ([State.APPLIED] if is_unknown else [State.APPLIED, State.FAILED, State.FAILED])

    world.services.rules.stage.faults.clear()
    await mine.pipeline.decisions.decide(other, Decision.WITHDRAW, ALICE)
    await as_time_goes_on(world, mine)
    assert {world.truth()["rules", key]["name"] for key in RULE_IDS} == {"As it was"}
    assert (await mine.pipeline.journal.get(whole.id)).run.undone is not None
