"""One of many writes gets no answer, as from a slow service: it is sent again once it is sure not to have happened."""

from __future__ import annotations

from datetime import timedelta
from itertools import count, product
from typing import Any, Final

from bot.changes.execute import MAX_SENDS
from bot.changes.model.change import Change
from bot.changes.model.edits import Kind, Target
from bot.changes.model.items import Outcome
from bot.changes.model.states import State
from bot.changes.proposals import combine
from sandbox.services.answers import Call
from tests.changes.world import EMAILS, POLICIES, RULE, SITE, Replica, World, proposal, replica, rule
from tests.harness.proposing import CHANGES

ANN, BEN = (Target(service="members", site=SITE, key=email) for email in EMAILS)
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


async def carried_out(world: World, kind: Kind) -> tuple[Replica, Change]:
    """A process that carried out a set with one part, which does *kind*, and the change of that part."""
    mine, (target, after) = replica(world, "mine", count(1)), WRITES[kind]
    wanted = proposal(world, kind, target, after)
    whole = await mine.pipeline.proposer.submit(combine(CHANGES, [wanted]), idempotency_key="request")
    await mine.carry_out_a_set()
    (item,) = [item async for item in world.store.items.all(whole.id)]
    return mine, await mine.pipeline.journal.get(item.change_id or "")


def lose(world: World, kind: Kind, times: int, *, reads: int = 0) -> None:
    """Let the next writes get no answer, and not happen, nor the *reads* right after each of them."""
    stage = world.services.members.stage if kind.startswith("member.") else world.services.rules.stage
    stage.faults.add("cut_before", method="POST|PUT|DELETE", times=times)

    def heard(call: Call, status: object, *_: object) -> None:
        if call.method != "GET" and status == "cut":
            stage.faults.add("cut_before", method="GET", times=reads)

    stage.heard = heard


async def test_a_write_that_got_no_answer_and_did_not_happen_is_sent_again(world: World) -> None:
    for kind, reads in product(SENT_AGAIN, (0, 1)):
        await world.begin(POLICIES["free"])
        lose(world, kind, times=2, reads=reads)

        _, change = await carried_out(world, kind)

        assert change.state is State.APPLIED, (kind, reads)
        assert (world.sent[change.id].times, world.sent[change.id].effects) == (3, 1)


async def test_a_write_that_never_gets_an_answer_is_not_sent_for_ever(world: World) -> None:
    for kind in (Kind.MEMBER_ADD, Kind.RULE_UPDATE):
        await world.begin(POLICIES["free"])
        lose(world, kind, times=99)

        mine, change = await carried_out(world, kind)
        assert change.state is State.UNKNOWN
        for _ in range(3):
            world.clock.moment += timedelta(seconds=61)
            await mine.recover_one()

        change = await mine.pipeline.journal.get(change.id)
        assert (change.state, world.sent[change.id].times) == (State.FAILED, MAX_SENDS), kind


async def test_a_rule_that_may_have_been_created_is_not_created_again_but_looked_for(world: World) -> None:
    lose(world, Kind.RULE_CREATE, times=1)

    mine, change = await carried_out(world, Kind.RULE_CREATE)
    assert change.state is State.UNKNOWN
    while await mine.outbox.deliver_one():
        pass
    world.edit(("rules", "Redirect_late1"), rule("New"))
    for _ in range(2):
        world.clock.moment += timedelta(seconds=61)
        await mine.recover_one()
    assert await mine.outbox.deliver_one()
    assert (await mine.pipeline.journal.get(change.id)).state is State.APPLIED
    assert world.tallies[change.set_id or ""] == {Outcome.APPLIED: 1}
    assert world.sent[change.id].times == 1
