"""What waited since it was decided is done only while all who asked for it and decided about it still may."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from itertools import count
from types import NoneType
from typing import Final, TypeAlias

import pytest

from bot.changes.execute import MAX_SENDS
from bot.changes.model.change import Change
from bot.changes.model.items import Outcome
from bot.changes.model.parts import Frozen, LostRight
from bot.changes.model.states import State
from bot.changes.rights import Decision
from bot.policy.freezes import ChatFreeze
from bot.policy.model import Channel, Person, Why
from tests.changes.world import (
    ALICE,
    BOB,
    CARA,
    DAN,
    OPS,
    POLICIES,
    RULE_IDS,
    Died,
    Replica,
    World,
    dying_at,
    rename,
    renames,
    replica,
)
from tests.harness.proposing import record_only

A_WHILE: Final = timedelta(minutes=2)
HELD: Final = timedelta(minutes=70)
Loss: TypeAlias = Callable[[World], None]


def barred(user: str) -> Loss:
    def loss(world: World) -> None:
        world.directory.people[user] = Person(user, barred=Why.DEACTIVATED)

    return loss


def gone(user: str) -> Loss:
    def loss(world: World) -> None:
        world.directory.members[OPS] = [each for each in world.directory.members[OPS] if each != user]

    return loss


def place(**facts: bool) -> Loss:
    def loss(world: World) -> None:
        world.directory.places[OPS] = Channel(OPS, **facts)

    return loss


def roleless(user: str) -> Loss:
    def loss(world: World) -> None:
        others = {
            name: role.model_copy(update={"users": tuple(each for each in role.users if each != user)})
            for name, role in POLICIES["two"].roles.items()
        }
        world.policy = world.policy.model_copy(update={"roles": others})

    return loss


LOSSES: Final = [
    (barred(ALICE), ALICE, Why.DEACTIVATED),
    (barred(BOB), BOB, Why.DEACTIVATED),
    (gone(BOB), BOB, Why.NOT_HERE),
    (place(shared=True), ALICE, Why.SHARED_CHANNEL),
    (place(bot_in=False), ALICE, Why.NOT_ADDED),
    (roleless(ALICE), ALICE, Why.NO_ROLE),
]


def names(world: World) -> list[str]:
    return [world.truth()["rules", key]["name"] for key in RULE_IDS]


async def started(world: World, policy: str) -> Replica:
    await world.begin(POLICIES[policy])
    return replica(world, "mine", count(1))


async def waiting(world: World, mine: Replica) -> Change:
    """A change that was approved by Bob while the service was away."""
    change = await mine.pipeline.proposer.submit(rename(world), idempotency_key="request")
    world.services.rules.stage.faults.add("500", times=99)
    waits = await mine.pipeline.decisions.decide(change, Decision.APPROVE, BOB)
    world.services.rules.stage.faults.clear()
    assert (waits.state, bool(waits.run.waits)) == (State.APPROVED, True)
    return waits


async def settled(world: World, mine: Replica, change: Change) -> Change:
    while await mine.recover_one():
        pass
    return await mine.pipeline.journal.get(change.id)


async def clear(world: World, mine: Replica, change: Change) -> Change:
    """*change* once nothing that a dead process sent can still come true."""
    for _ in range(4):
        change = await settled(world, mine, change)
        world.clock.moment += A_WHILE
    return change


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(("loss", "who", "why"), LOSSES, ids=[f"{who} {why}" for _, who, why in LOSSES])
async def test_what_waited_is_not_done_by_those_who_may_not_any_more(
    world: World, loss: Loss, who: str, why: Why, *, several: bool
) -> None:
    mine = await started(world, "approve")
    change = await (approved_set if several else waiting)(world, mine)
    loss(world)
    world.clock.moment += A_WHILE

    assert several is await mine.carry_out_a_set()
    ended = await settled(world, mine, change)

    assert (ended.state, ended.run.why_not) == (State.FAILED, LostRight(who=who, why=why))
    assert await world.store.items.tally(change.id) == ({Outcome.STOPPED: 2} if several else {})
    assert world.calls_that_write() == 0


async def test_who_went_ahead_alone_must_still_be_one_who_may(world: World) -> None:
    mine = await started(world, "two")
    change = await mine.pipeline.proposer.submit(rename(world), idempotency_key="request")
    world.services.rules.stage.faults.add("500", times=99)
    await mine.pipeline.decisions.decide(change, Decision.BREAK_GLASS, DAN, reason="It loops and everybody sleeps")
    world.services.rules.stage.faults.clear()
    barred(DAN)(world)
    world.clock.moment += A_WHILE

    ended = await settled(world, mine, change)

    assert isinstance(lost := ended.run.why_not, LostRight)
    assert (ended.state, lost.who) == (State.FAILED, DAN)
    assert world.calls_that_write() == 0


@pytest.mark.parametrize("step", range(1, 10))
async def test_what_a_process_left_is_not_done_by_somebody_who_may_not_any_more(world: World, step: int) -> None:
    """Whether it died before its first look, or just before it sent."""
    mine = await started(world, "free")
    mine.fuse.left = step
    change = None
    try:
        change = await mine.pipeline.proposer.submit(rename(world), idempotency_key="request")
    except Died:
        change = await world.store.changes.find_by_key("request")
    if change is None:
        return
    before = world.calls_that_write()
    barred(ALICE)(world)
    world.clock.moment += A_WHILE

    found = await settled(world, mine, change)
    assert found.state in ({State.APPLIED} if before else {State.FAILED, State.UNKNOWN})
    ended = await clear(world, mine, change)

    assert (ended.state, type(ended.run.why_not)) == (
        (State.APPLIED, NoneType) if before else (State.FAILED, LostRight)
    )
    assert world.calls_that_write() == before


async def froze(world: World, mine: Replica) -> None:
    now = world.clock()
    until = now + timedelta(hours=5)
    freeze = ChatFreeze(id="f", title="Everything", by=CARA, channel=OPS, starts=now, until=until, made=now)
    await mine.pipeline.freezes.make(freeze)


async def begin_only(mine: Replica) -> None:
    mine.fuse.left = 3
    with suppress(Died):
        await mine.carry_out_a_set()
    mine.fuse.left = None


WAITS: Final = pytest.mark.parametrize(("several", "is_begun"), [(False, False), (True, False), (True, True)])


@pytest.mark.threat("B18")
@WAITS
async def test_what_waited_is_not_begun_in_a_freeze_but_gone_on_with(
    world: World, *, several: bool, is_begun: bool
) -> None:
    mine = await started(world, "approve")
    whole = await (approved_set if several else waiting)(world, mine)
    if is_begun:
        await begin_only(mine)
    await froze(world, mine)
    world.clock.moment += A_WHILE

    assert several is await mine.carry_out_a_set()
    ended = await clear(world, mine, whole)
    assert (ended.state, type(ended.run.why_not)) == ((State.APPLIED, NoneType) if is_begun else (State.FAILED, Frozen))


@WAITS
async def test_where_slack_does_not_say_it_waits_and_is_done_once_slack_does(
    world: World, *, several: bool, is_begun: bool
) -> None:
    mine = await started(world, "approve")
    change = await (approved_set if several else waiting)(world, mine)
    if is_begun:
        await begin_only(mine)
    world.directory.silent = True
    world.clock.moment += A_WHILE

    assert several is await mine.carry_out_a_set()
    waits = await settled(world, mine, change)
    assert waits.state is (State.APPLYING if is_begun else State.APPROVED)
    assert is_begun is ("Slack does not say" not in waits.run.waits)
    assert world.calls_that_write() == 0

    world.directory.silent = False
    world.clock.moment += A_WHILE
    assert several is await mine.carry_out_a_set()
    assert (await settled(world, mine, change)).state is State.APPLIED


async def test_who_only_waits_for_slack_uses_up_none_of_the_times_that_a_change_may_be_sent(world: World) -> None:
    mine = await started(world, "free")
    approved = await record_only(mine.pipeline, rename(world), idempotency_key="request")

    with pytest.raises(Died):
        await replace(mine.pipeline.executor, failpoint=dying_at("write")).go_on(approved)
    world.directory.silent = True
    for _ in range(MAX_SENDS + 1):
        world.clock.moment += A_WHILE
        assert await mine.recover_one()
    assert world.calls_that_write() == 0

    world.directory.silent = False
    world.clock.moment += A_WHILE
    assert (await settled(world, mine, approved)).state is State.APPLIED
    assert world.calls_that_write() == 1


@pytest.mark.parametrize("accident", [None, *range(1, 8)])
async def test_what_is_temporary_ends_though_its_requester_left(world: World, accident: int | None) -> None:
    """Also where the process that ends it dies, and another one goes on minutes later."""
    mine = await started(world, "free")
    change = await mine.pipeline.proposer.submit(rename(world, revert_after=600), idempotency_key="request")
    assert names(world)[0] == "Ours"
    barred(ALICE)(world)
    world.clock.moment += timedelta(minutes=11)

    mine.fuse.left = accident
    for _ in range(3):
        with suppress(Died):
            await mine.fire_one()
        world.clock.moment += A_WHILE
        while await mine.recover_one():
            pass

    ends = [
        each
        for each in await world.store.changes.list_by_targets([str(change.edit.target)])
        if each.request.undoes == change.id
    ]
    assert [each.state for each in ends] == [State.APPLIED]
    assert names(world)[0] == "As it was"


# Change sets


async def approved_set(world: World, mine: Replica) -> Change:
    whole = await mine.pipeline.proposer.submit(renames(world, "Ours"), idempotency_key="request")
    return await mine.pipeline.decisions.decide(whole, Decision.APPROVE, BOB)


@pytest.mark.slow
@pytest.mark.parametrize("step", range(1, 25))
async def test_a_set_that_a_process_left_is_not_gone_on_with(world: World, step: int) -> None:
    """Nothing more is sent, and what was sent is told as it came out."""
    mine = await started(world, "approve")
    whole = await approved_set(world, mine)
    mine.fuse.left = step
    with suppress(Died):
        await mine.carry_out_a_set()
    mine.fuse.left = None
    before = world.calls_that_write()
    barred(BOB)(world)
    world.clock.moment += A_WHILE

    for _ in range(3):
        await mine.carry_out_a_set()
        world.clock.moment += A_WHILE
    found = await world.store.items.tally(whole.id)

    ended = await clear(world, mine, whole)
    counts = await world.store.items.tally(whole.id)
    assert not counts.get(Outcome.UNKNOWN)
    assert world.calls_that_write() == before
    assert counts.get(Outcome.APPLIED, 0) == names(world).count("Ours")
    may_be_done = counts.get(Outcome.APPLIED, 0) + found.get(Outcome.UNKNOWN, 0)
    assert ended.state is (State.APPLIED if may_be_done else State.FAILED)
    assert before == len(RULE_IDS) or isinstance(ended.run.why_not, LostRight)
