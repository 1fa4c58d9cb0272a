"""A process that was stopped between its look and its writes does not write over what others did meanwhile."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.changes.model.items import Outcome
from tests.changes.world import RULE_IDS, Replica, World, renames, rule


@pytest.mark.parametrize("step", ["begin", "look"])
@pytest.mark.parametrize("away", [False, True], ids=["the service answers", "the service is away"])
async def test_the_look_is_taken_anew(world: World, mine: Replica, step: str, away: bool) -> None:
    whole = await mine.pipeline.proposer.submit(renames(world, "Ours"), idempotency_key="request")

    def failpoint(name: str) -> None:
        if name == step:
            world.clock.moment += timedelta(minutes=30)
            world.edit(("rules", RULE_IDS[0]), rule("Theirs"))
            if away:
                world.services.rules.stage.faults.add("500", times=99)

    world.clock.moment += timedelta(milliseconds=1)
    await replace(mine.sets, executor=replace(mine.sets.executor, failpoint=failpoint)).carry_out(
        await mine.sets.journal.claim_due(bulk=True) or whole
    )

    tally = await world.store.items.tally(whole.id)
    names = [world.truth()["rules", key]["name"] for key in RULE_IDS]
    expected = {Outcome.FAILED: 2} if away else {Outcome.STALE: 1, Outcome.APPLIED: 1}
    assert tally == expected
    assert names == ["Theirs", "As it was" if away else "Ours"]
