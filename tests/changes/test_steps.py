"""A move in two steps, whatever goes wrong between them: a member is always there under one of the two emails."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from typing import Final

import pytest

from bot.changes.model.change import Change
from bot.changes.model.items import Outcome
from bot.changes.model.parts import BulkAct, ChangeRequest, Purpose
from bot.changes.model.states import State
from bot.changes.proposals import NewEmailTaken, Proposal, move_steps
from bot.changes.refusals import NotUndoable
from sandbox.services.database import Record
from tests.changes.world import ALICE, EMAILS, OPS, POLICIES, SITE, Died, Replica, World, replica
from tests.harness.databases import BOTH

pytestmark = pytest.mark.parametrize("database_url", BOTH, indirect=True)
OLD, NEW = EMAILS
SEGMENTS: Final = ["free"]


def member(world: World, email: str) -> Record | None:
    return world.truth().get(("members", email))


def there(world: World) -> tuple[bool, bool]:
    """Whether the member is there with the old email, and with the new one, with all that they may see."""
    found = tuple((member(world, email) or {}).get("allowedSegments") == SEGMENTS for email in (OLD, NEW))
    assert any(found), "a customer is lost"
    return bool(found[0]), bool(found[1])


async def asked(world: World, mine: Replica) -> Change:
    old = member(world, OLD)
    assert old is not None
    proposal = Proposal(
        purpose=Purpose(act=BulkAct.CHANGE_EMAIL, about="Ann"),
        items=move_steps(old, NEW, SITE),
        request=ChangeRequest(requester=ALICE, channel=OPS),
        in_steps=True,
    )
    return await mine.pipeline.proposer.submit(proposal, idempotency_key="request")


async def moved(world: World, mine: Replica) -> Change:
    whole = await asked(world, mine)
    return await carried_out(mine, whole)


async def carried_out(mine: Replica, whole: Change) -> Change:
    assert await mine.carry_out_a_set()
    return await mine.pipeline.journal.get(whole.id)


async def undone(world: World, mine: Replica, whole: Change) -> Change:
    return await carried_out(mine, await mine.pipeline.followups.undo(whole, by=ALICE, channel=OPS))


async def again(mine: Replica, whole: Change) -> Change:
    retry = mine.pipeline.followups.request_again(whole, by=ALICE, channel=OPS)
    return await carried_out(mine, await retry)


async def outcomes(world: World, whole: Change) -> list[Outcome]:
    return [item.outcome async for item in world.store.items.all(whole.id)]


async def as_time_goes_on(world: World, mine: Replica) -> None:
    for _ in range(3):
        world.clock.moment += timedelta(seconds=150)
        while await mine.carry_out_a_set() or await mine.recover_one():
            pass


def fails(world: World, fault: str, method: str, times: int = 9) -> None:
    world.services.members.stage.faults.add(fault, method=method, times=times)


def is_well(world: World) -> None:
    world.services.members.stage.faults.clear()


async def test_a_move_its_undo_and_its_redo_each_add_before_they_remove(world: World, mine: Replica) -> None:
    whole = await moved(world, mine)
    assert there(world) == (False, True)
    undo = await undone(world, mine, whole)
    assert there(world) == (True, False)
    await undone(world, mine, undo)

    assert there(world) == (False, True)
    assert (await mine.pipeline.journal.get(whole.id)).run.undone_by is None
    calls = [call.method for call in world.services.members.calls() if call.method != "GET"]
    assert calls == ["POST", "DELETE"] * 3


async def test_an_undo_of_one_step_is_that_of_both(world: World, mine: Replica) -> None:
    whole = await moved(world, mine)
    first = await anext(world.store.items.all(whole.id))

    undo = await mine.pipeline.followups.undo(
        await mine.pipeline.journal.get(first.change_id or ""), by=ALICE, channel=OPS
    )

    assert undo.request.undoes == whole.id
    await carried_out(mine, undo)
    assert there(world) == (True, False)


@pytest.mark.parametrize("fault", ["500", "refused_200", "429", "html", "truncated", "cut_before", "500_after"])
async def test_where_the_addition_is_not_confirmed_nothing_is_removed(world: World, mine: Replica, fault: str) -> None:
    fails(world, fault, "POST")
    whole = await moved(world, mine)
    added = (await outcomes(world, whole))[0] is Outcome.APPLIED
    assert there(world)[0] is not added

    is_well(world)
    await as_time_goes_on(world, mine)
    whole = await mine.pipeline.journal.get(whole.id)
    assert whole.state in {State.APPLIED, State.FAILED}
    if there(world)[0]:
        await again(mine, whole)
    assert there(world) == (False, True)


@pytest.mark.parametrize("fault", ["500", "refused_200", "429"])
async def test_where_the_removal_fails_both_are_there_and_either_way_on_is_open(
    world: World, mine: Replica, fault: str
) -> None:
    fails(world, fault, "DELETE")
    whole = await moved(world, mine)
    is_well(world)
    await as_time_goes_on(world, mine)
    if there(world) == (False, True):
        return  # it was only late
    assert await outcomes(world, whole) == [Outcome.APPLIED, Outcome.FAILED]
    assert there(world) == (True, True)

    retry = await again(mine, await mine.pipeline.journal.get(whole.id))
    assert there(world) == (False, True)
    assert await outcomes(world, retry) == [Outcome.SKIPPED, Outcome.APPLIED]

    undo = await undone(world, mine, await mine.pipeline.journal.get(whole.id))
    assert (undo.state, there(world)) == (State.FAILED, (False, True)), "it would have removed them from both"
    await undone(world, mine, retry)
    assert there(world) == (True, True)


async def test_half_a_move_is_undone_by_removing_what_it_added(world: World, mine: Replica) -> None:
    fails(world, "500", "DELETE")
    whole = await moved(world, mine)
    is_well(world)

    undo = await undone(world, mine, whole)

    assert await outcomes(world, undo) == [Outcome.SKIPPED, Outcome.APPLIED]
    assert (there(world), member(world, NEW)) == ((True, False), None)


@pytest.mark.parametrize("fault", ["500", "refused_200"])
@pytest.mark.parametrize("method", ["POST", "DELETE"])
async def test_an_undo_that_fails_loses_nobody_and_can_be_tried_again(
    world: World, mine: Replica, fault: str, method: str
) -> None:
    whole = await moved(world, mine)
    fails(world, fault, method)
    undo = await undone(world, mine, whole)
    assert there(world)[1], "the new email stays until the old one is back"
    is_well(world)
    await as_time_goes_on(world, mine)

    await again(mine, await mine.pipeline.journal.get(undo.id))

    assert there(world) == (True, False)
    assert (await mine.pipeline.journal.get(whole.id)).run.undone_by is not None


async def test_of_a_member_who_was_changed_since_nothing_is_moved(world: World, mine: Replica) -> None:
    whole = await asked(world, mine)
    now = (member(world, OLD) or {}) | {"allowedSegments": ["vip"]}
    world.edit(("members", OLD), now)
    whole = await carried_out(mine, whole)
    assert (whole.state, await outcomes(world, whole)) == (State.FAILED, [Outcome.FAILED, Outcome.FAILED])
    assert {call.method for call in world.services.members.calls()} == {"GET"}

    retry = await mine.pipeline.followups.request_again(whole, by=ALICE, channel=OPS)

    assert retry.state is State.PROPOSED, "they are asked first"
    [add, _] = [item async for item in world.store.items.all(retry.id)]
    assert (add.after or {})["allowedSegments"] == ["vip"], "what was revoked since is not granted again"


async def test_an_email_that_is_somebody_else_s_by_now_ends_the_move(world: World, mine: Replica) -> None:
    whole = await asked(world, mine)
    theirs = {"name": "Ben", "email": NEW, "allowedSegments": ["beta"]}
    world.edit(("members", NEW), theirs)
    whole = await carried_out(mine, whole)

    assert await outcomes(world, whole) == [Outcome.STALE, Outcome.FAILED]
    assert (there(world)[0], member(world, NEW)) == (True, theirs)
    with pytest.raises(NewEmailTaken):
        await again(mine, whole)


@pytest.mark.parametrize("meddles", [False, True])
async def test_wherever_a_process_dies_the_member_is_there(world: World, meddles: bool) -> None:
    """*meddles*: somebody removes the new email before the next process takes over; then the old one stays."""
    ids = count(1)
    for step in count(1):
        await world.begin(POLICIES["free"])
        first, second = replica(world, "first", ids), replica(world, "second", ids)
        whole = await asked(world, first)
        first.fuse.left = step
        try:
            await first.carry_out_a_set()
        except Died:
            pass
        else:
            break
        was = there(world)
        if meddles and was == (True, True):
            world.edit(("members", NEW), None)
        await as_time_goes_on(world, second)

        whole = await second.pipeline.journal.get(whole.id)
        assert (await world.store.items.tally(whole.id)).left == 0, step
        assert there(world) == (False, True) if not meddles else any(there(world)), step
        if whole.state is State.APPLIED and not meddles:
            await undone(world, second, whole)
            assert there(world) == (True, False), step
        elif whole.state is not State.APPLIED:
            with pytest.raises(NotUndoable):
                await second.pipeline.followups.undo(whole, by=ALICE, channel=OPS)
    assert step > 10, "there were places to die at"
