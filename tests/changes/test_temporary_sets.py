"""The end of a temporary set that cannot simply be taken back."""

from __future__ import annotations

from datetime import timedelta
from itertools import count

import pytest

from bot.changes.model import Change, State
from bot.changes.rights import Decision
from tests.changes.world import ALICE, BOB, OPS, POLICIES, RULE_IDS, Replica, World, a_world, renames, replica

pytestmark = pytest.mark.slow


async def applied_set(world: World, mine: Replica, *, hours: int = 2) -> Change:
    """A rename for some hours, of two rules, approved and carried out."""
    whole = await mine.pipeline.proposer.submit(
        renames(world, "For now", revert_after=hours * 3600), idempotency_key="request"
    )
    await mine.pipeline.decisions.decide(whole, Decision.APPROVE, BOB)
    assert await mine.carry_out_a_set()
    return await mine.pipeline.journal.get(whole.id)


async def as_time_goes_on(world: World, mine: Replica) -> None:
    for _ in range(5):
        world.clock.moment += timedelta(minutes=11)
        while await mine.timers.run_one() or await mine.carry_out_a_set():
            pass


async def tried(world: World, whole: Change, idempotency_key: str) -> list[State]:
    """What became of each *origin*: ``undo``, by a person, or ``revert``, at its end."""
    found = [await world.store.changes.of_key(f"{idempotency_key}:{whole.id}:{number}") for number in range(9)]
    return [undo.state for undo in found if undo is not None]


async def test_an_undo_that_was_denied_before_does_not_let_the_end_be_tried_for_ever(database_url: str) -> None:
    async with a_world(database_url) as world:
        await world.begin(POLICIES["approve"])
        mine = replica(world, "mine", count(1))
        whole = await applied_set(world, mine)
        undo = await mine.pipeline.followups.undo(whole, by=ALICE, channel=OPS)
        await mine.pipeline.decisions.decide(undo, Decision.DENY, BOB)
        for key in RULE_IDS:
            world.edit(("rules", key), {"name": "Theirs"})

        world.clock.moment += timedelta(hours=2)
        await as_time_goes_on(world, mine)

        assert await tried(world, whole, "undo") == [State.DENIED]
        assert await tried(world, whole, "revert") == [State.FAILED], "tried once at its end"
        assert (await mine.pipeline.journal.get(whole.id)).run.revert_failure == "changed", "left in force, and said so"


async def test_an_undo_that_failed_before_its_time_does_not_keep_the_end_from_being_tried(database_url: str) -> None:
    async with a_world(database_url) as world:
        await world.begin(POLICIES["approve"])
        mine = replica(world, "mine", count(1))
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


async def test_requests_and_undos_that_wait_do_not_put_the_end_off(database_url: str) -> None:
    async with a_world(database_url) as world:
        await world.begin(POLICIES["approve"])
        mine = replica(world, "mine", count(1))
        whole = await applied_set(world, mine, hours=1)
        for _ in range(60):
            undo = await mine.pipeline.followups.undo(whole, by=ALICE, channel=OPS)
            await mine.pipeline.decisions.decide(undo, Decision.WITHDRAW, ALICE)
        undo = await mine.pipeline.followups.undo(whole, by=ALICE, channel=OPS)
        other = await mine.pipeline.proposer.submit(renames(world, "Once more"), idempotency_key="another")

        world.clock.moment += timedelta(hours=1)
        await as_time_goes_on(world, mine)

        assert {world.truth()["rules", key]["name"] for key in RULE_IDS} == {"As it was"}
        assert (await mine.pipeline.journal.get(whole.id)).run.undone_by is not None
        assert (await mine.pipeline.journal.get(undo.id)).state is State.STALE, "there is nothing left to undo"
        assert (await mine.pipeline.journal.get(other.id)).state is State.PROPOSED, (
            "its parts are looked at when it is approved"
        )


async def test_what_an_undo_could_not_take_back_still_ends(database_url: str) -> None:
    async with a_world(database_url) as world:
        await world.begin(POLICIES["free"])
        mine = replica(world, "mine", count(1))
        whole = await mine.pipeline.proposer.submit(
            renames(world, "For now", revert_after=7200), idempotency_key="request"
        )
        assert await mine.carry_out_a_set()
        left = world.truth()["rules", RULE_IDS[0]]
        world.edit(("rules", RULE_IDS[0]), left | {"name": "Theirs"})

        await mine.pipeline.followups.undo(await mine.pipeline.journal.get(whole.id), by=ALICE, channel=OPS)
        assert await mine.carry_out_a_set()
        half = await mine.pipeline.journal.get(whole.id)
        world.edit(("rules", RULE_IDS[0]), left)
        world.clock.moment += timedelta(hours=2)
        await as_time_goes_on(world, mine)

        assert half.run.undone_by is None, "a part of it is still there"
        assert half.temporary
        assert {world.truth()["rules", key]["name"] for key in RULE_IDS} == {"As it was"}
        assert (await mine.pipeline.journal.get(whole.id)).run.undone_by is not None


async def test_what_could_not_be_taken_back_at_its_end_is_said(database_url: str) -> None:
    async with a_world(database_url) as world:
        await world.begin(POLICIES["free"])
        mine = replica(world, "mine", count(1))
        whole = await mine.pipeline.proposer.submit(
            renames(world, "For now", revert_after=7200), idempotency_key="request"
        )
        assert await mine.carry_out_a_set()
        world.edit(("rules", RULE_IDS[0]), world.truth()["rules", RULE_IDS[0]] | {"name": "Theirs"})

        world.clock.moment += timedelta(hours=2)
        await as_time_goes_on(world, mine)
        while await mine.outbox.deliver_one():
            pass

        assert (await mine.pipeline.journal.get(whole.id)).run.revert_failure == "partly"
        assert world.told[whole.id, "left"] == 1, "the requester is told"
