"""What was to last until a moment: from that moment on it is not made any more, whatever kept it until then."""

from __future__ import annotations

from datetime import timedelta
from itertools import count
from typing import Final

import pytest

from bot.changes.execute import END_PASSED
from bot.changes.model import ChangeRequest, Edit, Kind, State, Target
from bot.changes.proposals import Proposal
from bot.changes.refusals import EndIsPast
from bot.changes.rights import Decision
from tests.changes.world import ALICE, OPS, POLICIES, RULE_IDS, World, a_world, renames, replica

SPAN: Final = timedelta(minutes=20)


def renamed(world: World) -> Proposal:
    target = Target(service="rules", key=RULE_IDS[0])
    live = world.live(target)
    assert live is not None
    return Proposal(
        edit=Edit(kind=Kind.RULE_UPDATE, target=target, before=live, after=live | {"name": "For now"}),
        request=ChangeRequest(requester=ALICE, channel=OPS, reverts_at=world.clock() + SPAN),
    )


@pytest.mark.parametrize("several", [False, True])
async def test_nothing_is_sent_after_the_end(database_url: str, *, several: bool) -> None:
    """One change waits for its service, which is away; a bulk change for a process that carries it out."""
    async with a_world(database_url) as world:
        await world.begin(POLICIES["confirm"])
        mine = replica(world, "mine", count(1))
        wanted = renames(world, "For now", reverts_at=world.clock() + SPAN) if several else renamed(world)
        change = await mine.pipeline.proposer.submit(wanted, idempotency_key="request")
        world.services.rules.stage.faults.add("500", method="GET", times=9)
        change = await mine.pipeline.decisions.decide(change, Decision.CONFIRM, ALICE)
        assert change.state is State.APPROVED
        world.services.rules.stage.faults.clear()

        world.clock.moment += SPAN
        assert await (mine.carry_out_a_set() if several else mine.pipeline.recover_one())

        change = await mine.pipeline.journal.get(change.id)
        assert world.services.rules.calls("PUT") == []
        assert (change.state, change.run.refusal) == (State.FAILED, END_PASSED)
        with pytest.raises(EndIsPast):
            await mine.pipeline.proposer.submit(wanted, idempotency_key="again")
