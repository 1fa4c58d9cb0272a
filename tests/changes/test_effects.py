"""What the effects of a change are on others: which of them it undoes, and which parts of a temporary one it takes away."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from itertools import permutations

import pytest

from bot.changes.model.change import Change
from bot.changes.model.edits import Kind
from bot.changes.model.moves import Fail, Finish, MarkUnknown
from bot.changes.model.parts import RevertFailure
from bot.changes.model.states import State
from bot.changes.refusals import NothingComesBack
from tests.changes.test_losing_a_set import claimed
from tests.changes.world import ALICE, OPS, POLICIES, RULE, RULE_IDS, Replica, World, proposal, renames

ENDS = ("the change ends", "one fails", "one is undone")


@pytest.mark.parametrize("order", [*permutations(ENDS)], ids=", ".join)
async def test_one_item_is_undone_and_the_other_was_not_done(
    world: World, mine: Replica, order: tuple[str, ...]
) -> None:
    await world.begin(POLICIES["free"])
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
    await world.begin(POLICIES["free"])
    for_now = await updated(world, mine, seconds=7200, name="For now", status="Inactive")
    later = await updated(world, mine, status="Active")
    world.clock.moment += timedelta(hours=2 * is_over)
    assert is_over or (await undone(mine, for_now)).state is State.APPLIED
    with pytest.raises(NothingComesBack):
        await undone(mine, later)


async def test_an_undo_brings_nothing_back_of_a_set_that_is_over(world: World, mine: Replica) -> None:
    await world.begin(POLICIES["free"])
    await mine.pipeline.proposer.submit(renames(world, "For now", revert_after=7200), idempotency_key="set")
    assert await mine.carry_out_a_set()
    later = await updated(world, mine, name="As it was")
    world.clock.moment += timedelta(hours=2)
    with pytest.raises(NothingComesBack):
        await undone(mine, later)


async def test_what_was_kept_is_given_back_by_an_undo(world: World, mine: Replica) -> None:
    await world.begin(POLICIES["free"])
    for_now = await updated(world, mine, seconds=7200, name="For now", status="Inactive")
    later = await updated(world, mine, status="Active")
    await mine.pipeline.decisions.keep(for_now, by=ALICE, request="click")
    assert (await undone(mine, later)).state is State.APPLIED


async def test_an_undo_of_something_older_closes_what_it_takes_away(world: World, mine: Replica) -> None:
    await world.begin(POLICIES["free"])
    older = await updated(world, mine, name="Older")
    await updated(world, mine, name="As it was")
    for_now = await updated(world, mine, seconds=7200, name="Older")
    undo = await undone(mine, older)
    assert undo.state is State.APPLIED
    assert (await mine.pipeline.journal.get(for_now.id)).closed_by == undo.id


async def test_what_an_undo_brings_back_after_its_end_ends_at_once(world: World, mine: Replica) -> None:
    await world.begin(POLICIES["free"])
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
    await world.begin(POLICIES["free"])
    for_now = await updated(world, mine, seconds=7200, name="For now")
    world.services.rules.stage.faults.add("refused_200", method="PUT", times=1)
    world.clock.moment += timedelta(hours=2)
    assert await mine.fire_one()
    await updated(world, mine, status="Inactive")

    assert (await mine.pipeline.journal.get(for_now.id)).run.revert_failure is RevertFailure.REFUSED
