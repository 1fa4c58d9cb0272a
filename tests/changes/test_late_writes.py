"""A service may do what it was asked after its answer was lost: nothing is called failed while that may still come."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Final

import pytest

from bot.changes.execute import END_PASSED, HELD_FOR, MAX_LOOKS, TOO_OLD
from bot.changes.journal import LEASE
from bot.changes.model.edits import Kind, Target
from bot.changes.model.parts import Guard
from bot.changes.model.states import State
from bot.changes.proposals import Proposal
from bot.policy.model import Person, Why
from bot.store.db import TargetBusy
from sandbox.services.answers import Call
from sandbox.services.database import Record
from tests.changes.world import ALICE, EMAILS, RULE_IDS, SITE, Replica, World, proposal, replica, rule
from tests.harness.proposing import record_only, with_fields

A_LEASE_LATER: Final = LEASE + timedelta(seconds=1)
KINDS: Final = [Kind.RULE_CREATE, Kind.RULE_UPDATE, Kind.RULE_DELETE, Kind.MEMBER_GRANT]


def asked(world: World, kind: Kind) -> Proposal:
    """Something of that *kind* that can be done."""
    target = Target(service="rules", key=None if kind.creates else RULE_IDS[0])
    if kind is Kind.MEMBER_GRANT:
        target = Target(service="members", site=SITE, key=EMAILS[0])
    return proposal(world, kind, target, _wanted(kind, world.live(target)))


def _wanted(kind: Kind, before: Record | None) -> Record | None:
    match kind:
        case Kind.RULE_CREATE:
            return rule("Born late")
        case Kind.RULE_DELETE:
            return None
        case Kind.MEMBER_GRANT:
            return (before or {}) | {"allowedSegments": ["free", "vip"]}
        case _:
            return (before or {}) | {"name": "Done late"}


@pytest.mark.parametrize("kind", KINDS)
async def test_what_a_slow_service_does_after_the_first_look_ends_as_applied(
    world: World, mine: Replica, kind: Kind
) -> None:
    world.slow = 1
    change = await mine.pipeline.proposer.submit(asked(world, kind), idempotency_key="request")
    assert change.state is State.UNKNOWN
    assert world.calls_that_write() == 0

    world.clock.moment += A_LEASE_LATER
    assert await mine.recover_one()

    assert (await mine.pipeline.journal.get(change.id)).state is State.APPLIED
    assert world.calls_that_write() == 1


@pytest.mark.parametrize("waited", [timedelta(), HELD_FOR / 2])
@pytest.mark.parametrize(("kind", "end"), [(Kind.RULE_UPDATE, State.FAILED), (Kind.RULE_CREATE, State.UNSETTLED)])
async def test_what_never_arrived_is_looked_at_several_times_before_it_is_called_so(
    world: World, mine: Replica, kind: Kind, end: State, waited: timedelta
) -> None:
    """However long it *waited* before it was sent."""
    change = await record_only(mine.pipeline, asked(world, kind), idempotency_key="request")
    world.clock.moment += waited
    world.services.rules.stage.faults.add("cut_before", method="(?!GET).*", times=1)
    change = await mine.pipeline.executor.go_on(change)
    found = [change.state]
    while found[-1] is State.UNKNOWN:
        world.clock.moment += A_LEASE_LATER
        assert await mine.recover_one()
        found.append((await mine.pipeline.journal.get(change.id)).state)

    assert found == [State.UNKNOWN, State.UNKNOWN, end]


async def test_what_cannot_be_read_back_is_looked_at_so_often_and_then_given_up(world: World, mine: Replica) -> None:
    world.services.rules.stage.faults.add("cut_before", method="PUT", times=1)
    change = await mine.pipeline.proposer.submit(asked(world, Kind.RULE_UPDATE), idempotency_key="request")
    world.services.rules.stage.faults.add("500", method="GET", times=9_999)
    while change.state is State.UNKNOWN and change.run.attempt <= MAX_LOOKS:
        world.clock.moment += A_LEASE_LATER
        assert await mine.recover_one()
        change = await mine.pipeline.journal.get(change.id)

    assert (change.state, change.run.attempt) == (State.UNSETTLED, MAX_LOOKS)


@pytest.mark.threat("B10")
async def test_a_creation_whose_process_died_is_not_given_up_at_the_first_look(world: World, mine: Replica) -> None:
    """Its request may be on its way still, though nobody waits for the answer any more."""
    change = await record_only(mine.pipeline, asked(world, Kind.RULE_CREATE), idempotency_key="request")
    held = await mine.pipeline.journal.claim(change.id)
    assert held is not None
    await mine.pipeline.journal.remember([held], lambda held: with_fields(held, lookalikes=()))
    other = replica(world, "other", count(1))
    assert await other.pipeline.journal.claim(change.id) is None

    world.clock.moment += A_LEASE_LATER
    assert await other.recover_one()
    assert (await other.pipeline.journal.get(change.id)).state is State.UNKNOWN
    world.edit(("rules", "Redirect_late"), rule("Born late"))
    world.clock.moment += A_LEASE_LATER
    assert await other.recover_one()

    assert (await other.pipeline.journal.get(change.id)).state is State.APPLIED
    assert world.calls_that_write() == 0


async def test_a_creation_whose_process_died_before_its_look_was_never_sent(world: World, mine: Replica) -> None:
    change = await record_only(mine.pipeline, asked(world, Kind.RULE_CREATE), idempotency_key="request")
    assert await mine.pipeline.journal.claim(change.id) is not None
    other = replica(world, "other", count(1))

    world.clock.moment += A_LEASE_LATER
    assert await other.recover_one()

    assert (await other.pipeline.journal.get(change.id)).state is State.APPLIED
    assert world.calls_that_write() == 1


async def test_what_a_dead_process_may_have_sent_is_not_failed_where_the_service_refuses_it_from_the_next(
    world: World, mine: Replica
) -> None:
    """The first request may be on its way still."""
    change = await record_only(mine.pipeline, asked(world, Kind.RULE_UPDATE), idempotency_key="request")
    held = await mine.pipeline.journal.claim(change.id)
    assert held is not None
    await mine.pipeline.journal.remember([held], lambda held: with_fields(held, guard=Guard.CONFIRM))
    other = replica(world, "other", count(1))
    world.services.rules.stage.faults.add("429", method="PUT", times=1)

    world.clock.moment += A_LEASE_LATER
    assert await other.recover_one()
    left = await other.pipeline.journal.get(change.id)
    assert (left.state, left.run.resends) == (State.UNKNOWN, 1)
    world.edit((change.edit.target.service, change.edit.target.key or ""), change.edit.after)
    world.clock.moment += A_LEASE_LATER
    assert await other.recover_one()

    assert (await other.pipeline.journal.get(change.id)).state is State.APPLIED


async def test_a_creation_that_is_asked_for_again_while_the_first_may_still_come_makes_no_second_rule(
    world: World, mine: Replica
) -> None:
    world.slow = 1
    first = await mine.pipeline.proposer.submit(asked(world, Kind.RULE_CREATE), idempotency_key="request")

    with pytest.raises(TargetBusy) as busy:
        await mine.pipeline.proposer.submit(asked(world, Kind.RULE_CREATE), idempotency_key="again")
    world.clock.moment += A_LEASE_LATER
    await mine.recover_one()

    assert busy.value.change.id == first.id
    assert [record["name"] for record in world.services.rules.all()].count("Born late") == 1
    await mine.pipeline.proposer.submit(asked(world, Kind.RULE_CREATE), idempotency_key="once that is known")
    assert [record["name"] for record in world.services.rules.all()].count("Born late") == 2


async def settled(world: World, mine: Replica, change_id: str) -> State:
    """How a change ends that was of unknown outcome."""
    for _ in range(4):
        world.clock.moment += A_LEASE_LATER
        await mine.recover_one()
    return (await mine.pipeline.journal.get(change_id)).state


async def test_what_a_service_accepted_is_not_called_failed_though_it_never_shows_it(
    world: World, mine: Replica
) -> None:
    wanted = asked(world, Kind.RULE_UPDATE)

    def heard(call: Call, *_: object) -> None:
        if call.method == "PUT":
            world.services.rules.put(wanted.edit.before or {})

    world.services.rules.stage.heard = heard
    change = await mine.pipeline.proposer.submit(wanted, idempotency_key="request")

    assert (change.state, change.run.accepted) == (State.UNKNOWN, True)
    assert await settled(world, mine, change.id) is State.UNSETTLED


@pytest.mark.threat("B10")
async def test_a_creation_whose_answer_was_lost_is_not_done_by_the_rule_of_another(world: World, mine: Replica) -> None:
    more, less = rule("Two of a kind"), rule("Two of a kind")
    del less["fieldOfTheirs"]
    world.services.rules.stage.faults.add("cut_before", method="POST", times=1)
    wanted = [proposal(world, Kind.RULE_CREATE, Target(service="rules"), after) for after in (less, more)]
    lost = await mine.pipeline.proposer.submit(wanted[0], idempotency_key="less")
    done = await mine.pipeline.proposer.submit(wanted[1], idempotency_key="more")

    assert (lost.state, done.state) == (State.UNKNOWN, State.APPLIED)
    assert await settled(world, mine, lost.id) is State.UNSETTLED


@pytest.mark.parametrize("refusal", [TOO_OLD, END_PASSED, "a right was lost"])
async def test_what_may_have_been_sent_is_not_failed_because_it_may_not_be_done_any_more(
    world: World, mine: Replica, refusal: str
) -> None:
    """It is not sent again; but the first request may be on its way still."""
    wanted = asked(world, Kind.RULE_UPDATE)
    request = replace(wanted.request, reverts_at=world.clock() + LEASE if refusal == END_PASSED else None)
    change = await record_only(mine.pipeline, replace(wanted, request=request), idempotency_key="request")
    if refusal == TOO_OLD:
        world.clock.moment += HELD_FOR - LEASE / 2
    assert await mine.pipeline.journal.claim(change.id) is not None
    if refusal == "a right was lost":
        world.directory.people[ALICE] = Person(ALICE, barred=Why.DEACTIVATED)
    other = replica(world, "other", count(1))

    world.clock.moment += A_LEASE_LATER
    assert await other.recover_one()
    found = await other.pipeline.journal.get(change.id)
    assert found.state is State.UNKNOWN
    world.edit(("rules", RULE_IDS[0]), change.edit.after)

    assert await settled(world, other, change.id) is State.APPLIED
    assert world.calls_that_write() == 0
