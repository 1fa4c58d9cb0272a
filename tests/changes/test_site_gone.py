"""A site that no setting names any more: what was asked for there comes to an end, and holds nothing else up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.items import Outcome
from bot.changes.model.parts import ChangeRequest
from bot.changes.model.states import State
from bot.changes.proposals import Proposal, combine
from bot.server.services import Services
from tests.changes.world import ALICE, OPS, Died, Replica, World, dying_at
from tests.harness.proposing import CHANGES


def addition(email: str) -> Proposal:
    target = Target(service="members", site="gone", key=email)
    return Proposal.of(
        edit=Edit(
            kind=Kind.MEMBER_ADD, target=target, before=None, after={"name": "", "email": email, "allowedSegments": []}
        ),
        request=ChangeRequest(requester=ALICE, channel=OPS),
    )


async def a_set(mine: Replica) -> Change:
    wanted = [addition(f"person{number}@example.com") for number in range(3)]
    return await mine.pipeline.proposer.submit(combine(CHANGES, wanted), idempotency_key="request")


async def carried_out(world: World, mine: Replica, failpoint: Callable[[str], None] | None = None) -> None:
    """What the worker does, where the settings name rules alone."""
    world.clock.moment += timedelta(minutes=2)
    whole = await mine.sets.journal.claim_due(bulk=True)
    assert whole is not None
    executor = replace(
        mine.sets.executor, adapter=Services(world.rules, world.groups, {}).adapter, reconcile_after=(0.0,)
    )
    if failpoint is not None:
        executor = replace(mine.sets.executor, failpoint=failpoint)
    await replace(mine.sets, executor=executor).carry_out(whole)


async def test_parts_there_fail_with_why(world: World, mine: Replica) -> None:
    whole = await a_set(mine)

    await carried_out(world, mine)

    items = [item async for item in world.store.items.all(whole.id)]
    ended = await mine.pipeline.journal.get(whole.id)
    assert {(item.outcome, item.why) for item in items} == {(Outcome.FAILED, "no setting names the site gone any more")}
    assert ended.state is State.FAILED


async def test_a_set_that_was_left_there_half_done_ends(world: World, mine: Replica) -> None:
    whole = await a_set(mine)
    with pytest.raises(BaseExceptionGroup) as dead:
        await carried_out(world, mine, dying_at("look"))
    assert dead.group_contains(Died)

    await carried_out(world, mine)

    tally = await world.store.items.tally(whole.id)
    ended = await mine.pipeline.journal.get(whole.id)
    assert tally == {Outcome.UNKNOWN: 3}
    assert ended.state is State.APPLIED
