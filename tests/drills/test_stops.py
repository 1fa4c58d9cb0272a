"""SIGTERM just before each step: what it catches is done once, and said once, by this process or by the next one."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from bot.changes.model.parts import Guard
from bot.changes.model.states import State
from sandbox.gatehouse import ALICE
from sandbox.slack.message import Message
from sandbox.slack.story import Person
from tests.drills.fleet import OPS, PATIENCE, Fleet, in_turn, running_fleet
from tests.drills.test_crash_points import OLD, STORIES

SLOW_SECONDS: Final = 0.7
"""How long the service takes for the write, so that the stop has begun before the change has come to its end."""
SWITCH: Final = f"/rules off {OLD}"
STEPS: Final = {
    SWITCH: [step for step in STORIES["create a rule"].steps if step != "edit:1"],
    f"/rules delete {OLD}": [step for step in STORIES["delete a rule"].steps if step.endswith(":1")][:7],
}
"""Each step on the way from a command to its card: of one that is done at once, and of one that waits for an approval."""
CASES: Final = [(text, step) for text, steps in STEPS.items() for step in steps]


@pytest.mark.threat("B1")
@pytest.mark.drill
@pytest.mark.parametrize(("database_url", "case"), in_turn(CASES), indirect=["database_url"])
async def test_what_a_stop_catches_is_done_once_and_said_once(
    case: tuple[str, str], database_url: str, tmp_path: Path
) -> None:
    text, step = case
    async with running_fleet(database_url, tmp_path) as fleet:
        fleet.services.rules.stage.faults.add("delay", method="PUT", value=SLOW_SECONDS)
        (only,) = fleet.replicas
        only.start(DRILL_END_AT=step)
        await only.ready()
        fleet.deliver_to(only)
        answer = await Person(fleet.slack, ALICE.id, OPS, patience=PATIENCE).types(text)
        await only.dead()
        at_exit = len(said(fleet))
        only.start()
        await fleet.settled()

        assert not answer.get("error"), "it was acknowledged"
        (change,) = await fleet.all_changes()
        assert change.state is (State.APPLIED if change.decision.guard is Guard.NONE else State.PROPOSED)
        assert len(fleet.services.rules.calls("PUT")) == (change.state is State.APPLIED)
        assert (at_exit, len(said(fleet))) == (1, 1), "at its exit, and after the next start"


def said(fleet: Fleet) -> list[Message]:
    """What was posted for all to see."""
    bots = (one for one in fleet.slack.state.messages if one.channel == OPS and one.visible_to is None)
    return [one for one in bots if one.blocks]
