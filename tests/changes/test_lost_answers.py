"""One of many writes gets no answer, as from a slow service: it is sent again once it is sure not to have happened."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import count, product
from typing import Any, Final

import pytest

from bot.changes.applying import MOST_SENDS
from bot.changes.proposals import Proposal
from bot.changes.set_proposals import set_of
from bot.domain.change import Change, Kind, State, Target
from bot.domain.change_set import OUTCOMES
from sandbox.services.answers import Call
from tests.changes.world import ALICE, EMAILS, OPS, POLICIES, RULE_IDS, SITE, World, a_world, replica, rule

ANN, BEN = (Target(service="members", site=SITE, key=email) for email in EMAILS)
RULE: Final = Target(service="rules", key=RULE_IDS[0])
NEW: Final = {"name": "Ben", "email": EMAILS[1], "allowedSegments": ["vip"]}
WRITES: Final[dict[Kind, tuple[Target, dict[str, Any] | None]]] = {
    Kind.MEMBER_ADD: (BEN, NEW),
    Kind.MEMBER_GRANT: (ANN, {"name": "Ann", "email": EMAILS[0], "allowedSegments": ["free", "vip"]}),
    Kind.MEMBER_REVOKE: (ANN, {"name": "Ann", "email": EMAILS[0], "allowedSegments": []}),
    Kind.MEMBER_REMOVE: (ANN, None),
    Kind.RULE_UPDATE: (RULE, rule("As it was") | {"name": "Renamed"}),
    Kind.RULE_DELETE: (RULE, None),
    Kind.RULE_CREATE: (Target(service="rules"), rule("New")),
}
SENT_AGAIN: Final = [kind for kind in WRITES if kind is not Kind.RULE_CREATE]


@pytest.fixture
async def world(database_url: str) -> AsyncIterator[World]:
    async with a_world(database_url) as world:
        yield world


async def done(world: World, kind: Kind) -> Change:
    """What became of the part that does *kind*, once a process carried its set out and looked again at what it left."""
    mine, (target, after) = replica(world, "mine", count(1)), WRITES[kind]
    wanted = Proposal(kind=kind, target=target, before=world.live(target), after=after, requester=ALICE, channel=OPS)
    whole = await mine.pipeline.submit_set(set_of("Import 1 row", [wanted]), origin="origin")
    await mine.carry_out_a_set()
    world.clock.moment += timedelta(seconds=61)
    while await mine.pipeline.recover_one():
        world.clock.moment += timedelta(seconds=61)
    (part,) = [part async for part in world.store.parts.all(whole.id)]
    change = await world.store.changes.get(part.change_id or "")
    assert change is not None
    assert OUTCOMES[change.state] is part.outcome
    return change


def lose(world: World, kind: Kind, times: int, *, reads: int = 0) -> None:
    """Let the next writes get no answer, and not happen, nor the *reads* that come after each of them."""
    stage = world.services.members.stage if kind.startswith("member.") else world.services.rules.stage
    stage.faults.add("cut_before", method="POST|PUT|DELETE", times=times)

    def heard(call: Call, *_: object) -> None:
        if call.method != "GET":
            stage.faults.add("cut_before", method="GET", times=reads)

    stage.heard = heard


async def test_a_write_that_got_no_answer_and_did_not_happen_is_sent_again(world: World) -> None:
    for kind, reads in product(SENT_AGAIN, (0, 1)):
        await world.begin(POLICIES["free"])
        lose(world, kind, times=2, reads=reads)

        change = await done(world, kind)

        assert change.state is State.APPLIED, (kind, reads)
        assert (world.sent[change.id].times, world.sent[change.id].effects) == (3, 1)


async def test_a_write_that_never_gets_an_answer_is_not_sent_for_ever(world: World) -> None:
    for kind in SENT_AGAIN:
        await world.begin(POLICIES["free"])
        lose(world, kind, times=99)

        change = await done(world, kind)

        assert (change.state, world.sent[change.id].times) == (State.FAILED, MOST_SENDS), kind


async def test_a_rule_that_may_have_been_created_is_not_created_again(world: World) -> None:
    await world.begin(POLICIES["free"])
    lose(world, Kind.RULE_CREATE, times=1)

    change = await done(world, Kind.RULE_CREATE)

    assert (change.state, world.sent[change.id].times) == (State.UNSETTLED, 1)
