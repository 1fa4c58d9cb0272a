"""What was not done is asked for again: one thing or many, on what there is now."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import pytest

from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.items import Item
from bot.changes.model.parts import ChangeRequest, Held
from bot.changes.model.states import State
from bot.changes.proposals import Proposal, combine
from bot.changes.refusals import AlreadyDecided
from bot.changes.rights import Decision
from tests.changes.world import ALICE, OPS, RULE_IDS, Replica, World, rename, renames
from tests.harness.proposing import CHANGES

RULES: Final = Target(service="rules")


async def asked_again(world: World, mine: Replica, change: Change) -> tuple[Change, Sequence[Item]]:
    again = await mine.pipeline.followups.request_again(change, by=ALICE, channel=OPS)
    return again, [item async for item in world.store.items.all(again.id)]


async def test_what_failed_of_a_planned_bulk_change_is_tried_at_once(world: World, mine: Replica) -> None:
    starts = world.clock() + timedelta(hours=1)
    whole = await mine.pipeline.proposer.submit(renames(world, "Ours", starts_at=starts), idempotency_key="request")
    world.clock.moment = starts
    while await mine.fire_one():
        pass
    theirs, as_it_was = world.truth()["rules", RULE_IDS[0]] | {"name": "Theirs"}, world.truth()["rules", RULE_IDS[1]]
    world.edit(("rules", RULE_IDS[0]), theirs)
    world.services.rules.stage.faults.add("refused_200", method="PUT", times=1)
    assert await mine.carry_out_a_set()
    world.clock.moment = starts

    again, items = await asked_again(world, mine, await mine.pipeline.journal.get(whole.id))

    assert (again.state, again.request.starts_at) == (State.PROPOSED, None)
    assert [(item.before, (item.after or {})["name"]) for item in items] == [(theirs, "Ours"), (as_it_was, "Ours")]


async def test_what_failed_is_found_under_the_id_that_it_came_back_with(world: World, mine: Replica) -> None:
    whole = await mine.pipeline.proposer.submit(renames(world, "Ours"), idempotency_key="request")
    rule = world.truth()["rules", RULE_IDS[0]]
    world.edit(("rules", RULE_IDS[0]), None)
    assert await mine.carry_out_a_set()
    world.edit(("rules", "Redirect_back"), rule)
    async with world.store.transaction() as tx:
        await world.store.former_ids.put(tx, RULE_IDS[0], "Redirect_back")

    _, items = await asked_again(world, mine, await mine.pipeline.journal.get(whole.id))

    assert [item.target.key for item in items] == ["Redirect_back"]


async def test_a_bulk_change_that_is_held_is_planned_again(world: World, mine: Replica) -> None:
    request = ChangeRequest(requester=ALICE, channel=OPS, starts_at=world.clock() + timedelta(hours=1))
    edits = [Edit(kind=Kind.RULE_CREATE, target=RULES, before=None, after={"name": name}) for name in ("A", "B")]
    wanted = combine(CHANGES, [Proposal.of(edit, request) for edit in edits])
    whole = await mine.pipeline.proposer.submit(wanted, idempotency_key="request")
    await mine.pipeline.journal.hold(whole, Held.RIGHT)

    again, items = await asked_again(world, mine, await mine.pipeline.journal.get(whole.id))

    assert (again.state, again.request.starts_at) == (State.PLANNED, request.starts_at)
    assert [item.edit for item in items] == edits
    assert (await mine.pipeline.journal.get(whole.id)).state is State.CANCELLED


async def test_what_its_service_refused_is_not_asked_for_again(world: World, mine: Replica) -> None:
    world.services.rules.stage.faults.add("refused_200", method="PUT", times=1)
    refused = await mine.pipeline.proposer.submit(rename(world), idempotency_key="request")
    with pytest.raises(AlreadyDecided):
        await asked_again(world, mine, refused)


@pytest.mark.parametrize("is_withdrawn", [False, True])
async def test_what_begins_as_planned_or_was_held_and_withdrawn_is_not_asked_for_again(
    world: World, mine: Replica, *, is_withdrawn: bool
) -> None:
    starts = world.clock() + timedelta(hours=1)
    planned = await mine.pipeline.proposer.submit(rename(world, starts_at=starts), idempotency_key="request")
    if is_withdrawn:
        await mine.pipeline.journal.hold(planned, Held.RIGHT)
        held = await mine.pipeline.journal.get(planned.id)
        planned = await mine.pipeline.decisions.decide(held, Decision.WITHDRAW, ALICE)

    with pytest.raises(AlreadyDecided):
        await asked_again(world, mine, planned)

    now = await mine.pipeline.journal.get(planned.id)
    assert now.state is (State.CANCELLED if is_withdrawn else State.PLANNED)
