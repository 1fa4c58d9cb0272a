"""Who may decide what, what is counted of it, and who hears of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from itertools import count
from types import NoneType
from typing import Any, Final, TypeAlias

import pytest
import structlog

from bot.changes.consequences import HELD_LONGEST, LATE_START
from bot.changes.execute import ASKED_AGAIN_AFTER, HELD_FOR
from bot.changes.freezing import Frozen
from bot.changes.model.change import Change
from bot.changes.model.edits import Kind
from bot.changes.model.items import Item, Outcome
from bot.changes.model.parts import Cause, CauseKind, Guard, Held, LostRight, Refused
from bot.changes.model.states import State
from bot.changes.propose import OWN_UNDO_WITHIN
from bot.changes.refusals import AlreadyDecided, ApprovalWaits, TimeIsPast
from bot.changes.rights import Decision, OfRequest
from bot.metrics import ENDED_CHANGES
from bot.policy.freezes import ChatFreeze, Freeze
from bot.policy.inquiry import DirectoryUnavailable
from bot.policy.model import GuardRule, Policy
from bot.store.outbox import Purpose
from tests.changes.test_rights_again import Loss, barred, gone, roleless
from tests.changes.world import (
    ALICE,
    BOB,
    BOB_TOO,
    CARA,
    DAN,
    OPS,
    POLICIES,
    RULE,
    RULE_IDS,
    Died,
    Replica,
    World,
    proposal,
    rename,
    renames,
    replica,
)
from tests.harness.proposing import with_fields

HOUR, MOMENT = timedelta(hours=1), timedelta(microseconds=1)
Vote: TypeAlias = Callable[[str, str], Awaitable[bool]]
"""Has somebody vote in a channel; whether that was enough."""


async def asked(
    world: World, policy: Policy, kind: Kind = Kind.RULE_UPDATE, *, fault: str = "", **request: Any
) -> tuple[Replica, Change]:
    """What Alice asks for under *policy*, once its card is shown. *fault*: what the service answers to its write."""
    await world.begin(policy)
    if fault:
        world.services.rules.stage.faults.add(fault, method="PUT")
    mine = replica(world, "mine", count(1))
    update = kind is Kind.RULE_UPDATE
    wanted = rename(world, **request) if update else proposal(world, kind, RULE, None, **request)
    change = await mine.pipeline.proposer.submit(wanted, idempotency_key="request")
    await deliver(mine)
    return mine, change


async def deliver(mine: Replica) -> None:
    while await mine.outbox.deliver_one():
        pass


def notices(world: World) -> list[str]:
    return sorted(purpose for _, purpose in world.told if purpose.startswith("notify-"))


async def approvals(world: World) -> Vote:
    """Approve a request that takes two; whether it is let through."""
    mine, change = await asked(world, POLICIES["two"])

    async def vote(by: str, _: str) -> bool:
        with suppress(ApprovalWaits):
            await mine.pipeline.decisions.decide(await mine.pipeline.journal.get(change.id), Decision.APPROVE, by)
        return (await mine.pipeline.journal.get(change.id)).state is State.APPLIED

    return vote


async def lifts(world: World) -> Vote:
    """Lift a freeze of Alice's; whether it is lifted."""
    mine = (await asked(world, POLICIES["two"]))[0]
    now = world.clock()
    until = now + timedelta(hours=5)
    freeze = ChatFreeze(id="f", title="Everything", by=ALICE, channel=OPS, starts=now, until=until, made=now)
    await mine.pipeline.freezes.make(freeze)

    async def vote(by: str, channel: str) -> bool:
        return (await mine.pipeline.freezes.lift("f", by, channel))[1]

    return vote


VOTES: Final = {"approvals": approvals, "lifts": lifts}
"""What is stored until enough people agree."""


@pytest.mark.threat("A7")
@pytest.mark.parametrize("stored", VOTES)
@pytest.mark.parametrize(
    ("loss", "second"),
    [(barred(BOB), CARA), (gone(BOB), CARA), (roleless(BOB), CARA), (lambda _: None, BOB_TOO)],
    ids=["deactivated", "out of the channel", "without the role", "the same person"],
)
async def test_a_vote_counts_at_the_last_one_only_of_another_person_who_still_may(
    world: World, stored: str, loss: Loss, second: str
) -> None:
    vote = await VOTES[stored](world)
    assert not await vote(BOB, OPS)
    loss(world)
    assert not await vote(second, OPS)
    assert await vote(DAN, OPS)


async def test_a_vote_counts_by_the_channel_that_it_was_given_in(world: World) -> None:
    vote = await lifts(world)
    assert not await vote(BOB, "C0ELSEWHERE")
    gone(BOB)(world)
    assert await vote(CARA, OPS)


async def test_an_approval_counts_though_slack_does_not_say_who_else_approved(world: World) -> None:
    mine, change = await asked(world, POLICIES["two"])
    await mine.pipeline.decisions.decide(change, Decision.APPROVE, BOB)
    world.directory.silent_about.add(BOB)

    with pytest.raises(DirectoryUnavailable):
        await mine.pipeline.decisions.decide(await mine.pipeline.journal.get(change.id), Decision.APPROVE, CARA)

    waits = await mine.pipeline.journal.get(change.id)
    assert (waits.state, [approval.by for approval in waits.decision.approvals]) == (State.PROPOSED, [BOB, CARA])


async def test_an_approval_completes_nothing_where_somebody_approved_since_its_look(world: World) -> None:
    mine, change = await asked(world, POLICIES["two"])
    await mine.pipeline.journal.count(change, BOB)

    counted = await mine.pipeline.journal.count(change, CARA, completes=True)

    assert counted is not None
    assert (counted.state, len(counted.decision.approvals)) == (State.PROPOSED, 2)


async def test_a_plan_is_held_once_and_only_from_the_start_that_it_has(world: World) -> None:
    start = world.clock() + timedelta(hours=1)
    mine, planned = await asked(world, POLICIES["free"], starts_at=start)
    moved = with_fields(planned, starts_at=start + timedelta(hours=1))

    held = []
    for change, why in ((moved, Held.LATE), (planned, Held.POLICY), (planned, Held.FROZEN)):
        await mine.pipeline.journal.hold(change, why)
        held.append((await mine.pipeline.journal.get(planned.id)).run.held)

    assert held == [Held.NOT, Held.POLICY, Held.POLICY]


@pytest.mark.parametrize("late", [timedelta(), MOMENT])
async def test_a_plan_begins_by_itself_for_some_minutes(world: World, late: timedelta) -> None:
    start = world.clock() + HOUR
    mine, planned = await asked(world, POLICIES["free"], starts_at=start)
    world.clock.moment = start + LATE_START + late
    assert await mine.fire_one()
    now = await mine.pipeline.journal.get(planned.id)
    assert (now.state, now.run.held) == ((State.PLANNED, Held.LATE) if late else (State.APPLIED, Held.NOT))
    world.clock.moment += HELD_LONGEST
    assert await mine.fire_one() is bool(late)
    assert (await mine.pipeline.journal.get(planned.id)).state is (State.EXPIRED if late else State.APPLIED)


async def test_what_is_planned_may_be_withdrawn_after_its_request_would_have_expired(world: World) -> None:
    mine, change = await asked(world, POLICIES["confirm"], starts_at=world.clock() + 3 * HOUR)
    planned = await mine.pipeline.decisions.decide(change, Decision.CONFIRM, ALICE)
    world.clock.moment += 2 * HOUR
    assert (await mine.pipeline.decisions.decide(planned, Decision.WITHDRAW, ALICE)).state is State.CANCELLED
    await deliver(mine)
    assert not any(purpose.startswith(Purpose.STARTED) for _, purpose in world.told)


async def test_nothing_is_let_through_into_a_freeze(world: World) -> None:
    mine, change = await asked(world, POLICIES["confirm"], starts_at=world.clock() + HOUR)
    times = {"starts": world.clock() + HOUR, "until": world.clock() + 2 * HOUR}
    world.policy = world.policy.model_copy(update={"freeze": (Freeze.model_validate(times),)})
    with pytest.raises(Frozen):
        await mine.pipeline.decisions.decide(change, Decision.CONFIRM, ALICE)


async def test_an_override_is_for_the_time_that_it_was_used_for(world: World) -> None:
    mine, change = await asked(world, POLICIES["leads"], starts_at=world.clock() + HOUR)
    planned = await mine.pipeline.decisions.decide(change, Decision.BREAK_GLASS, DAN)
    later = planned.created + 2 * HOUR
    freeze = Freeze.model_validate({"starts": planned.created, "until": later})
    assert await mine.pipeline.freezes.planned_changes_in(freeze) == []
    assert (
        await mine.pipeline.decisions.replan(planned, by=ALICE, request="", starts_at=later)
    ).state is State.PROPOSED


async def test_a_plan_that_was_overridden_begins_though_the_policy_requires_more_now(world: World) -> None:
    start = world.clock() + HOUR
    mine, change = await asked(world, POLICIES["two"], starts_at=start)
    await mine.pipeline.decisions.decide(change, Decision.BREAK_GLASS, DAN)
    await mine.pipeline.decisions.require(change, Decision.REPLAN, ALICE)
    await deliver(mine)
    three = GuardRule(operation="*", guard=Guard.APPROVE, approvals=3, break_glass=("oncall",))
    world.policy = world.policy.model_copy(update={"guards": (three,)})
    world.clock.moment = start
    assert await mine.fire_one()
    await deliver(mine)
    assert (await mine.pipeline.journal.get(change.id)).state is State.APPLIED
    assert world.told[change.id, "break_glass"] == 1


async def test_nothing_is_planned_for_now_or_moved_into_a_freeze(world: World) -> None:
    mine, planned = await asked(world, POLICIES["free"], starts_at=world.clock() + HOUR)
    times = {"starts": world.clock() + 2 * HOUR, "until": world.clock() + 3 * HOUR}
    world.policy = Policy(freeze=(Freeze.model_validate(times),))
    for starts, refusal in ((world.clock(), TimeIsPast), (times["starts"], Frozen)):
        with pytest.raises(refusal):
            await mine.pipeline.decisions.replan(planned, by=ALICE, request="click", starts_at=starts)
    with pytest.raises(TimeIsPast):
        await mine.pipeline.proposer.draft(rename(world, starts_at=world.clock()))
    end = with_fields(planned, cause=Cause(kind=CauseKind.END, requester=ALICE))
    assert await mine.pipeline.freezes.find_for_change(end, times["starts"]) is None


async def test_a_freeze_is_over_at_its_end(world: World) -> None:
    mine, _ = await asked(world, POLICIES["free"])
    times = {"starts": world.clock(), "until": world.clock() + HOUR}
    world.policy = Policy(freeze=(Freeze.model_validate(times),))
    chat = {"id": "f", "title": "Everything", "by": ALICE, "channel": OPS, "made": world.clock()}
    await mine.pipeline.freezes.make(ChatFreeze.model_validate(times | chat))
    there = []
    for _ in range(2):
        there.append((len(await mine.pipeline.freezes.all()), len(await mine.pipeline.freezes.chat_freezes())))
        world.clock.moment += HOUR
    assert there == [(2, 1), (0, 0)]


async def test_of_a_bulk_change_what_came_to_nothing_is_in_no_freeze(world: World, mine: Replica) -> None:
    world.services.rules.stage.faults.add("refused_200", method="PUT", path=f".*{RULE_IDS[0]}")
    wanted = renames(world, "Ours")
    items = [*wanted.items, Item(number=3, target=RULE, outcome=Outcome.SKIPPED)]
    whole = await mine.pipeline.proposer.submit(replace(wanted, items=items), idempotency_key="request")
    assert await mine.carry_out_a_set()
    assert [edit.target.key for edit in await mine.pipeline.freezes.edits_of(whole)] == [RULE_IDS[1]]


@pytest.mark.parametrize("is_begun", [False, True])
async def test_an_approved_bulk_change_is_shown_at_once_and_asks_again_for_rights(
    world: World, *, is_begun: bool
) -> None:
    await world.begin(POLICIES["approve"])
    mine = replica(world, "mine", count(1))
    whole = await mine.pipeline.proposer.submit(renames(world, "Ours"), idempotency_key="request")
    await deliver(mine)
    await mine.pipeline.decisions.decide(whole, Decision.APPROVE, BOB)
    assert await mine.outbox.deliver_one()
    assert world.cards[whole.id].state is State.APPROVED
    if is_begun:
        mine.fuse.left = 3
        with suppress(Died):
            await mine.carry_out_a_set()
    barred(ALICE)(world)
    world.directory.silent = not is_begun
    world.clock.moment += 2 * ASKED_AGAIN_AFTER
    mine.fuse.left = None
    assert await mine.carry_out_a_set()

    now = await mine.pipeline.journal.get(whole.id)
    waits_or_lost = (bool(now.run.waits), type(now.run.why_not))
    assert waits_or_lost == ((False, LostRight) if is_begun else (True, NoneType))


async def test_rights_are_asked_for_again_after_a_minute_and_nothing_is_believed_after_an_hour(world: World) -> None:
    mine, change = await asked(world, POLICIES["approve"])
    approved, decided = with_fields(change, decided_at=world.clock()), world.clock()
    barred(ALICE)(world)
    assert isinstance(await mine.pipeline.executor.refusal(with_fields(approved, waits="away")), LostRight)
    end = with_fields(approved, cause=Cause(kind=CauseKind.END, requester=ALICE), waits="away")
    assert await mine.pipeline.executor.refusal(end) is None

    found = []
    for waited in (ASKED_AGAIN_AFTER, ASKED_AGAIN_AFTER + MOMENT, HELD_FOR, HELD_FOR + MOMENT):
        world.clock.moment = decided + waited
        found.append(type(await mine.pipeline.executor.refusal(approved)))
    assert found == [NoneType, LostRight, LostRight, Refused]


@pytest.mark.parametrize(
    ("kind", "decision", "able"),
    [
        (Kind.RULE_DELETE, Decision.DENY, {CARA}),  # a lead approves it
        (Kind.RULE_UPDATE, Decision.DENY, {ALICE, BOB, CARA}),  # who asked confirms it
        (Kind.RULE_DELETE, Decision.LOOK, {ALICE, CARA}),
        (Kind.RULE_UPDATE, Decision.LOOK, {ALICE}),
    ],
)
async def test_who_may_deny_a_request_or_see_all_of_it(
    world: World, kind: Kind, decision: Decision, able: set[str]
) -> None:
    mine, change = await asked(world, POLICIES["leads"], kind)

    rights = mine.pipeline.decisions.rights
    assert {each for each in (ALICE, BOB, CARA) if await rights.is_allowed(change, decision, each)} == able


async def test_of_two_decisions_about_one_request_the_first_is_taken_and_counted(world: World) -> None:
    mine, change = await asked(world, POLICIES["confirm"])
    ended = ENDED_CHANGES.labels(State.DENIED, Kind.RULE_UPDATE)._value
    before = ended.get()
    await mine.pipeline.decisions.decide(change, Decision.DENY, BOB)
    with pytest.raises(AlreadyDecided) as too_late:
        await mine.pipeline.decisions.decide(change, Decision.CONFIRM, ALICE)
    assert too_late.value.change.state is State.DENIED
    assert await mine.pipeline.journal.count(change, CARA) is None
    assert ended.get() == before + 1


@pytest.mark.parametrize(
    ("policy", "decision", "by"), [("approve", Decision.APPROVE, BOB), ("confirm", Decision.CONFIRM, ALICE)]
)
async def test_a_change_is_logged_once_at_its_end(world: World, policy: str, decision: OfRequest, by: str) -> None:
    mine, change = await asked(world, POLICIES[policy])

    with structlog.testing.capture_logs() as logs:
        await mine.pipeline.decisions.decide(change, decision, by)

    assert [line["what"] for line in logs if line["event"] == "audit"][-1:] == ["applied"]


async def test_who_approved_their_own_request_reads_on_its_card_what_became_of_it(world: World) -> None:
    own = GuardRule(operation="*", guard=Guard.APPROVE, self_approval=True)
    mine, change = await asked(world, Policy(guards=(own,)), fault="refused_200")

    await mine.pipeline.decisions.decide(change, Decision.APPROVE, ALICE)
    await deliver(mine)

    assert world.cards[change.id].state is State.FAILED
    assert notices(world) == []


@pytest.mark.parametrize("is_clicked", [True, False])
async def test_what_its_requester_did_not_confirm_in_time_is_on_its_card_alone(
    world: World, *, is_clicked: bool
) -> None:
    mine, change = await asked(world, POLICIES["confirm"])
    assert change.decision.expires is not None
    world.clock.moment = change.decision.expires

    if is_clicked:
        with pytest.raises(AlreadyDecided):
            await mine.pipeline.decisions.decide(change, Decision.CONFIRM, ALICE)
    else:
        assert await mine.fire_one()
    await deliver(mine)

    assert world.cards[change.id].state is State.EXPIRED
    assert notices(world) == []


@pytest.mark.parametrize("is_stopped", [True, False])
async def test_the_end_of_several_is_tried_again_unless_a_person_stopped_it(
    world: World, mine: Replica, *, is_stopped: bool
) -> None:
    """Also where it waited so long that it was stopped for that."""
    whole = await mine.pipeline.proposer.submit(renames(world, "For now", revert_after=7200), idempotency_key="request")
    assert await mine.carry_out_a_set()
    world.clock.moment += timedelta(hours=2)
    while await mine.fire_one():
        pass
    revert = await mine.pipeline.followups.last_revert(whole)
    assert revert is not None
    if is_stopped:
        await mine.pipeline.decisions.stop(revert, by=BOB, request="click")
    else:
        world.clock.moment += 2 * HELD_FOR
    assert await mine.carry_out_a_set()

    for _ in range(3):
        world.clock.moment += timedelta(minutes=11)
        while await mine.fire_one() or await mine.carry_out_a_set():
            pass

    names = {world.truth()["rules", key]["name"] for key in RULE_IDS}
    last = await mine.pipeline.followups.last_revert(whole)
    assert last is not None
    failed = bool((await mine.pipeline.journal.get(whole.id)).run.revert_failure)
    assert (names, last.id == revert.id, failed) == ({"For now" if is_stopped else "As it was"}, is_stopped, is_stopped)


LONG_AGO: Final = OWN_UNDO_WITHIN + timedelta(seconds=1)


@pytest.mark.threat("A14")
@pytest.mark.parametrize(
    ("fields", "ago", "is_own"),
    [
        ({}, timedelta(), True),
        ({}, OWN_UNDO_WITHIN, True),
        ({}, LONG_AGO, False),
        ({"guard": Guard.CONFIRM}, timedelta(), True),
        ({"guard": Guard.APPROVE}, timedelta(), False),
        ({"glass_broken": True}, timedelta(), False),
        ({"decided_by": BOB}, timedelta(), False),
        ({"requester": BOB}, timedelta(), False),
        ({"requester": BOB, "decided_by": BOB}, timedelta(), False),
    ],
)
async def test_ones_own_act_is_what_nobody_else_had_a_hand_in_and_just_now(
    world: World, fields: dict[str, Any], ago: timedelta, is_own: bool
) -> None:
    mine, done = await asked(world, POLICIES["free"])
    assert done.run.finished_at is not None
    world.clock.moment = done.run.finished_at + ago

    assert mine.pipeline.followups._is_own_act(with_fields(done, **fields), ALICE) is is_own
    assert not mine.pipeline.followups._is_own_act(with_fields(done, **fields, finished_at=None), ALICE)
