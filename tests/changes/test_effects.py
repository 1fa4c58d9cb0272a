"""What the effects of a change are on others: which of them it undoes, and which parts of a temporary one it takes away."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from itertools import permutations

import pytest

from bot.changes.model.change import Change
from bot.changes.model.edits import Kind, Target
from bot.changes.model.moves import Fail, Finish, MarkUnknown
from bot.changes.model.parts import RevertFailure
from bot.changes.model.states import State
from bot.changes.refusals import NothingComesBack
from bot.changes.rights import Decision
from tests.changes.test_losing_a_set import claimed
from tests.changes.test_temporary_sets import as_time_goes_on
from tests.changes.world import ALICE, BOB, CARA, OPS, POLICIES, RULE, RULE_IDS, Replica, World, proposal, renames, rule

ENDS = ("the change ends", "one fails", "one is undone")


@pytest.mark.parametrize("order", [*permutations(ENDS)], ids=", ".join)
async def test_one_item_is_undone_and_the_other_was_not_done(
    world: World, mine: Replica, order: tuple[str, ...]
) -> None:
    batch, made = await claimed(world, mine, iter(("item1", "item2")).__next__)
    whole = batch.whole
    done, unknown = await batch.begin(made)
    world.edit(("rules", RULE_IDS[0]), done.edit.after)
    done, unknown = await batch.journal.finish([(done, Finish(live=done.edit.after)), (unknown, MarkUnknown())])
    events: dict[str, Callable[[], Awaitable[object]]] = {
        "the change ends": lambda: mine.sets.carry_out(whole),
        "one fails": lambda: batch.journal.finish([(unknown, Fail())]),
        "one is undone": lambda: mine.pipeline.followups.undo(done, by=ALICE, channel=OPS),
    }
    for event in order:
        await events[event]()

    ended = await batch.journal.get(whole.id)
    undone = (await batch.journal.get(done.id)).run.undone
    assert undone is not None
    assert (ended.state, ended.run.undone) == (State.APPLIED, undone)


async def test_of_two_undos_of_a_set_that_wait_the_second_is_out_of_date_then(world: World, mine: Replica) -> None:
    whole = await mine.pipeline.proposer.submit(renames(world, "Ours"), idempotency_key="set")
    assert await mine.carry_out_a_set()
    world.policy = POLICIES["confirm"]
    done = await mine.pipeline.journal.get(whole.id)
    first, second = [await mine.pipeline.followups.undo(done, by=by, channel=OPS) for by in (BOB, CARA)]
    await mine.pipeline.decisions.decide(first, Decision.CONFIRM, BOB)
    assert await mine.carry_out_a_set()
    assert (await mine.pipeline.journal.get(second.id)).state is State.STALE


async def updated(world: World, mine: Replica, *, seconds: int | None = None, **fields: str) -> Change:
    """A change of *fields* of a rule that is done at once; *seconds*: for how long."""
    after = (world.live(RULE) or {}) | fields
    wanted = proposal(world, Kind.RULE_UPDATE, RULE, after, revert_after=seconds)
    return await mine.pipeline.proposer.submit(wanted, idempotency_key=f"{seconds} {fields}")


async def undone(mine: Replica, change: Change) -> Change:
    return await mine.pipeline.followups.undo(await mine.pipeline.journal.get(change.id), by=ALICE, channel=OPS)


@pytest.mark.parametrize("is_over", [False, True])
async def test_an_undo_brings_nothing_back_of_what_was_undone_or_is_over(
    world: World, mine: Replica, *, is_over: bool
) -> None:
    for_now = await updated(world, mine, seconds=7200, name="For now", status="Inactive")
    later = await updated(world, mine, status="Active")
    world.clock.moment += timedelta(hours=2 * is_over)
    assert is_over or (await undone(mine, for_now)).state is State.APPLIED
    with pytest.raises(NothingComesBack):
        await undone(mine, later)


async def test_an_undo_brings_nothing_back_of_a_set_that_is_over(world: World, mine: Replica) -> None:
    await mine.pipeline.proposer.submit(renames(world, "For now", revert_after=7200), idempotency_key="set")
    assert await mine.carry_out_a_set()
    later = await updated(world, mine, name="As it was")
    world.clock.moment += timedelta(hours=2)
    with pytest.raises(NothingComesBack):
        await undone(mine, later)


async def test_what_was_kept_is_given_back_by_an_undo(world: World, mine: Replica) -> None:
    for_now = await updated(world, mine, seconds=7200, name="For now", status="Inactive")
    later = await updated(world, mine, status="Active")
    await mine.pipeline.decisions.keep(for_now, by=ALICE, request="click")
    assert (await undone(mine, later)).state is State.APPLIED


async def test_an_undo_of_something_older_closes_what_it_takes_away(world: World, mine: Replica) -> None:
    older = await updated(world, mine, name="Older")
    await updated(world, mine, name="As it was")
    for_now = await updated(world, mine, seconds=7200, name="Older")
    undo = await undone(mine, older)
    assert undo.state is State.APPLIED
    assert (await mine.pipeline.journal.get(for_now.id)).closed_by == undo.id


async def test_what_others_edited_is_given_for_good_by_a_change_that_sets_it_again(world: World, mine: Replica) -> None:
    for_now = await updated(world, mine, seconds=7200, name="For now")
    world.edit(("rules", RULE_IDS[0]), (world.live(RULE) or {}) | {"name": "Theirs"})
    later = await updated(world, mine, name="For now")
    assert (await mine.pipeline.journal.get(for_now.id)).closed_by == later.id
    assert not (await mine.pipeline.journal.get(later.id)).run.ends_with


async def test_who_deletes_what_is_there_for_a_while_is_not_told_that_it_will_be(world: World, mine: Replica) -> None:
    wanted = proposal(world, Kind.RULE_CREATE, Target(service="rules"), rule("For now"), revert_after=7200)
    made = await mine.pipeline.proposer.submit(wanted, idempotency_key="made")
    deletion = proposal(world, Kind.RULE_DELETE, made.edit.target, None)
    deleted = await mine.pipeline.proposer.submit(deletion, idempotency_key="deleted")
    assert not (await mine.pipeline.journal.get(deleted.id)).run.ends_with
    another = await mine.pipeline.proposer.submit(wanted, idempotency_key="another")
    assert (await undone(mine, another)).state is State.APPLIED, "who clicks has seen what goes"


async def test_what_an_undo_brings_back_of_a_set_that_ended_while_it_waited_ends_as_well(
    world: World, mine: Replica
) -> None:
    await mine.pipeline.proposer.submit(renames(world, "For now", revert_after=3600), idempotency_key="set")
    assert await mine.carry_out_a_set()
    later = await updated(world, mine, name="As it was")
    world.policy = POLICIES["approve"]
    undo = await mine.pipeline.followups.undo(later, by=BOB, channel=OPS)
    world.clock.moment += timedelta(hours=1)
    await as_time_goes_on(world, mine)
    assert (await mine.pipeline.decisions.decide(undo, Decision.APPROVE, CARA)).state is State.APPLIED
    await as_time_goes_on(world, mine)
    assert (world.live(RULE) or {})["name"] == "As it was"


async def test_what_an_undo_brings_back_after_its_end_ends_at_once(world: World, mine: Replica) -> None:
    older = await updated(world, mine, name="Older")
    for_now = await updated(world, mine, seconds=7200, name="As it was")
    world.edit(("rules", RULE_IDS[0]), (world.live(RULE) or {}) | {"name": "Older"})
    world.clock.moment += timedelta(hours=2)
    while await mine.fire_one():
        pass
    assert (await mine.pipeline.journal.get(for_now.id)).run.revert_failure is RevertFailure.GONE

    def heard(*_: object) -> None:
        world.clock.moment += timedelta(seconds=1)

    world.services.rules.stage.heard = heard
    undo = await undone(mine, older)
    was_undone = (await mine.pipeline.journal.get(older.id)).run.undone
    assert was_undone is not None
    assert was_undone.at == undo.run.finished_at != undo.created
    assert await mine.fire_one()
    assert (world.live(RULE) or {})["name"] == "Older"


async def test_an_end_that_was_refused_stays_so_whatever_else_is_changed(world: World, mine: Replica) -> None:
    for_now = await updated(world, mine, seconds=7200, name="For now")
    world.services.rules.stage.faults.add("refused_200", method="PUT", times=1)
    world.clock.moment += timedelta(hours=2)
    assert await mine.fire_one()
    await updated(world, mine, status="Inactive")

    assert (await mine.pipeline.journal.get(for_now.id)).run.revert_failure is RevertFailure.REFUSED
