"""A process dies at any step of a set that creates rules: none is made twice, and none is taken for another's."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from typing import Final

import pytest

from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.items import Item, Outcome
from bot.changes.model.parts import ChangeRequest
from bot.changes.model.states import State
from bot.changes.proposals import Proposal, combine
from bot.store.db import TargetBusy
from tests.changes.world import ALICE, OPS, POLICIES, Died, Replica, World, replica, rule
from tests.harness.proposing import CHANGES

NAME: Final = "Alike"
CREATION: Final = Proposal.of(
    edit=Edit(kind=Kind.RULE_CREATE, target=Target(service="rules"), before=None, after=rule(NAME)),
    request=ChangeRequest(requester=ALICE, channel=OPS),
)


async def begun_anew(world: World) -> tuple[Replica, Replica]:
    await world.begin(POLICIES["free"])
    ids = count(1)
    return replica(world, "first", ids), replica(world, "second", ids)


async def dies(mine: Replica, step: int) -> bool:
    """Whether *mine* died at its so manieth *step*; False where it had done its set by then."""
    mine.fuse.left = step
    try:
        await mine.carry_out_a_set()
    except Died:
        return True
    return False


async def taken_over(world: World, mine: Replica) -> None:
    """What was left is carried out by another process, if there was anything left, and looked at until it is known."""
    for _ in range(4):
        world.clock.moment += timedelta(seconds=61)
        await mine.carry_out_a_set()
        while await mine.recover_one():
            pass


def made(world: World) -> list[str]:
    """The ids of the rules that are alike, as the service has them."""
    return sorted(key for (_, key), record in world.truth().items() if record["name"] == NAME)


async def items_of(world: World, whole: Change) -> list[Item]:
    return [item async for item in world.store.items.all(whole.id)]


async def claimed(world: World, whole: Change) -> list[str]:
    """The ids of the rules that the parts say they made."""
    changes = await world.store.changes.get_many([item.change_id or "" for item in await items_of(world, whole)])
    return sorted(change.edit.target.key or "" for change in changes.values() if change.state is State.APPLIED)


@pytest.mark.threat("B10")
async def test_of_two_alike_neither_is_taken_for_the_other_wherever_the_process_died(world: World) -> None:
    for step in count(1):
        first, second = await begun_anew(world)
        whole = await first.pipeline.proposer.submit(combine(CHANGES, [CREATION] * 2), idempotency_key="request")
        if not await dies(first, step):
            break
        await taken_over(world, second)

        assert await claimed(world, whole) == made(world)
        left = [item.outcome for item in await items_of(world, whole)]
        assert {*left} <= {Outcome.APPLIED, Outcome.UNSETTLED, Outcome.BUSY}
        assert left[0] is not Outcome.BUSY
    assert step > 10, "there were places to die at"


async def test_a_part_that_was_left_does_not_claim_the_rule_that_a_command_made_since(world: World) -> None:
    for step in count(1):
        first, second = await begun_anew(world)
        whole = await first.pipeline.proposer.submit(combine(CHANGES, [CREATION]), idempotency_key="request")
        if not await dies(first, step):
            break
        world.clock.moment += timedelta(seconds=1)
        try:
            single = await second.pipeline.proposer.submit(CREATION, idempotency_key="a command")
        except TargetBusy:  # while it is not known what became of the part
            await taken_over(world, second)
            single = await second.pipeline.proposer.submit(CREATION, idempotency_key="the command, later")
        await taken_over(world, second)

        assert single.state is State.APPLIED
        ours = await claimed(world, whole)
        assert single.edit.target.key not in ours
        assert {*ours, single.edit.target.key} <= {*made(world)}
        assert {item.outcome for item in await items_of(world, whole)} <= {
            Outcome.APPLIED,
            Outcome.UNKNOWN,
            Outcome.UNSETTLED,
        }
    assert step > 5, "there were places to die at"
