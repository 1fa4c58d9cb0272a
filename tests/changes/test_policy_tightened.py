"""A request that is open while the policy changes is decided under the stricter of the two."""

from __future__ import annotations

from itertools import count
from typing import Any, Final

import pytest

from bot.changes.model.change import Change
from bot.changes.model.parts import Guard
from bot.changes.model.states import State
from bot.changes.refusals import NotYours, PolicyTightened
from bot.changes.rights import Decision, OfRequest
from bot.policy.inquiry import NotAllowed
from bot.policy.model import GuardRule, Policy, Role, Why
from tests.changes.test_rights_again import names, settled
from tests.changes.world import ALICE, BOB, CARA, DAN, ROLES, Replica, World, rename, renames, replica

CHIEFS: Final = Role(users=(DAN,), may=("read",))


def policy(guard: Guard, **more: Any) -> Policy:
    rules = (GuardRule.model_validate({"operation": "*", "guard": guard} | more),)
    return Policy(roles={**ROLES, "chiefs": CHIEFS}, guards=rules)


async def asked(world: World, then: Policy, now: Policy, *, many: bool = False) -> tuple[Replica, Change]:
    """A request of Alice's under *then*, from when on the policy is *now*."""
    world.policy = then
    mine = replica(world, "mine", count(1))
    if many:
        change = await mine.pipeline.proposer.submit(renames(world, "Ours"), idempotency_key="request")
    else:
        change = await mine.pipeline.proposer.submit(rename(world), idempotency_key="request")
    assert change.state is State.PROPOSED
    world.policy = now
    return mine, change


async def why_not(mine: Replica, change: Change, decision: OfRequest, by: str) -> Why | type[Exception] | None:
    try:
        await mine.pipeline.decisions.decide(change, decision, by, reason="It loops and everybody sleeps")
    except NotAllowed as error:
        return error.why
    except (PolicyTightened, NotYours) as error:
        return type(error)
    return None


@pytest.mark.parametrize("many", [False, True], ids=["one", "a set"])
async def test_more_approvals_are_needed_by_now(world: World, many: bool) -> None:
    mine, change = await asked(world, policy(Guard.APPROVE), policy(Guard.APPROVE, approvals=2), many=many)

    once = await mine.pipeline.decisions.decide(change, Decision.APPROVE, BOB)
    assert (once.state, once.decision.approvals_needed) == (State.PROPOSED, 2)
    assert world.calls_that_write() == 0

    twice = await mine.pipeline.decisions.decide(change, Decision.APPROVE, CARA)
    assert twice.state is (State.APPROVED if many else State.APPLIED)


@pytest.mark.parametrize(
    ("then", "now", "decision", "by", "why"),
    [
        ({"break_glass": ["oncall"]}, {}, Decision.BREAK_GLASS, DAN, Why.NO_ROLE),
        ({"break_glass": ["oncall"]}, {"break_glass": ["leads"]}, Decision.BREAK_GLASS, DAN, Why.NO_ROLE),
        ({}, {"break_glass": ["oncall"]}, Decision.BREAK_GLASS, DAN, Why.NO_ROLE),
        ({}, {"approvers": ["leads"]}, Decision.APPROVE, BOB, Why.NO_ROLE),
        ({}, {"approvers": ["leads"]}, Decision.APPROVE, CARA, None),
        ({"approvers": ["leads"]}, {}, Decision.APPROVE, BOB, Why.NO_ROLE),
        ({"approvers": ["leads", "chiefs"]}, {"approvers": ["chiefs"]}, Decision.APPROVE, CARA, Why.NO_ROLE),
        ({"approvers": ["leads", "chiefs"]}, {"approvers": ["chiefs"]}, Decision.APPROVE, DAN, None),
        ({"approvers": ["leads"]}, {"approvers": ["chiefs"]}, Decision.APPROVE, CARA, PolicyTightened),
        ({"approvers": ["leads"]}, {"approvers": ["chiefs"]}, Decision.WITHDRAW, ALICE, None),
        ({"approvers": ["leads"]}, {"approvers": ["chiefs"]}, Decision.DENY, CARA, None),
        ({"self_approval": True}, {}, Decision.APPROVE, ALICE, Why.OWN_REQUEST),
        ({"self_approval": True}, {"self_approval": True}, Decision.APPROVE, ALICE, None),
        ({"guard": Guard.CONFIRM}, {}, Decision.CONFIRM, ALICE, PolicyTightened),
        ({"guard": Guard.CONFIRM}, {"guard": Guard.APPROVE_OR_CONFIRM}, Decision.CONFIRM, ALICE, PolicyTightened),
        ({"guard": Guard.CONFIRM}, {"approvals": 5}, Decision.CONFIRM, ALICE, PolicyTightened),
        ({"guard": Guard.CONFIRM}, {"guard": Guard.NONE}, Decision.CONFIRM, ALICE, None),
        ({"guard": Guard.CONFIRM, "break_glass": ["oncall"]}, {"guard": Guard.CONFIRM}, Decision.CONFIRM, ALICE, None),
        ({}, {"guard": Guard.CONFIRM}, Decision.CONFIRM, ALICE, NotYours),
        ({}, {"guard": Guard.NONE}, Decision.APPROVE, BOB, None),
    ],
)
async def test_what_the_policy_forbids_by_now_is_forbidden(
    world: World, then: dict[str, Any], now: dict[str, Any], decision: OfRequest, by: str, why: object
) -> None:
    plain = {"guard": Guard.APPROVE}
    mine, change = await asked(world, policy(**(plain | then)), policy(**(plain | now)))

    assert await why_not(mine, change, decision, by) == why

    assert world.calls_that_write() == (1 if why is None and decision not in {Decision.WITHDRAW, Decision.DENY} else 0)


async def test_what_asks_for_an_approval_by_now_can_be_approved_and_its_card_says_so(world: World) -> None:
    mine, change = await asked(
        world, policy(Guard.CONFIRM, notify=["oncall"]), policy(Guard.APPROVE, approvers=["leads"])
    )
    assert await why_not(mine, change, Decision.CONFIRM, ALICE) is PolicyTightened
    while await mine.outbox.deliver_one():
        pass
    found = world.cards[change.id].decision
    assert (found.guard, found.summoned, found.approvers_summoned) == (Guard.APPROVE, ROLES["leads"].users, True)

    await mine.pipeline.decisions.decide(await mine.pipeline.journal.get(change.id), Decision.APPROVE, CARA)

    await settled(world, mine, change)
    assert names(world)[0] == "Ours"
