"""What was to last until a moment: from that moment on it is not made any more, whatever kept it until then."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import pytest

from bot.changes.execute import END_PASSED
from bot.changes.model.edits import Target
from bot.changes.model.items import Outcome
from bot.changes.model.states import State
from bot.changes.proposals import combine
from bot.changes.refusals import TimeIsPast
from bot.changes.rights import Decision
from sandbox.services.answers import Call
from tests.changes.world import ALICE, EMAILS, GROUP_IDS, POLICIES, RULE, SITE, Replica, World, rename, renames
from tests.harness.proposing import CHANGES

SPAN: Final = timedelta(minutes=20)


@pytest.mark.parametrize("several", [False, True])
async def test_nothing_is_sent_after_the_end(world: World, mine: Replica, *, several: bool) -> None:
    """One change waits for its service, which is away; a bulk change for a process that carries it out."""
    await world.begin(POLICIES["confirm"])
    wanted = (renames if several else rename)(world, "For now", reverts_at=world.clock() + SPAN)
    change = await mine.pipeline.proposer.submit(wanted, idempotency_key="request")
    world.services.rules.stage.faults.add("500", method="GET", times=9)
    change = await mine.pipeline.decisions.decide(change, Decision.CONFIRM, ALICE)
    assert change.state is State.APPROVED
    world.services.rules.stage.faults.clear()

    world.clock.moment += SPAN
    assert await (mine.carry_out_a_set() if several else mine.recover_one())

    change = await mine.pipeline.journal.get(change.id)
    assert world.services.rules.calls("PUT") == []
    assert (change.state, change.run.refusal.code) == (State.FAILED, END_PASSED)
    with pytest.raises(TimeIsPast):
        await mine.pipeline.proposer.submit(wanted, idempotency_key="again")


async def test_what_is_left_of_a_bulk_change_is_stopped_at_its_end(world: World, mine: Replica) -> None:
    """Two of its places are written to at a time; the end comes while they are, and the third one is left alone."""
    ends = world.clock() + SPAN
    whole = await mine.pipeline.proposer.submit(
        combine(CHANGES, [rename(world, "For now", place, reverts_at=ends) for place in PLACES]),
        idempotency_key="request",
    )

    def heard(call: Call, *_: object) -> None:
        if call.method != "GET":
            world.clock.moment = max(world.clock.moment, ends)

    for stage in (world.services.rules.stage, world.services.members.stage):
        stage.heard = heard
    assert await mine.carry_out_a_set()

    items = await world.store.items.find(whole.id, tuple(Outcome), 9)
    assert [item.outcome for item in items] == [Outcome.APPLIED, Outcome.APPLIED, Outcome.STOPPED]
    assert (world.live(PLACES[2]) or {})["name"] == "As it was"


PLACES: Final = (
    RULE,
    Target(service="members", site=SITE, key=EMAILS[0]),
    Target(service="groups", key=GROUP_IDS[0]),
)
