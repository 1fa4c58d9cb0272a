"""Who goes ahead alone does so for what was asked and as things were, and for nothing else."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.changes.model.parts import Held
from bot.changes.model.states import State
from sandbox.demo import Sandbox
from sandbox.slack.message import Message
from tests.conftest import Clock
from tests.harness.colleague import Colleague
from tests.harness.looking import open_details
from tests.harness.policies import BREAK_GLASS

ANNA = "anna.berg@example.com"


async def granted_alone(alice: Colleague, command: str, state: State = State.APPLIED) -> Message:
    """The card of what Alice did alone."""
    card = await alice.says(command)
    await open_details(alice, card)
    await alice.overrides(card)
    return await alice.sees_change(state=state, where=lambda change: change.decision.glass_broken)


@pytest.mark.threat("B17")
@pytest.mark.policy(BREAK_GLASS)
async def test_what_was_overridden_for_a_time_is_decided_again_for_another(
    workspace: Sandbox, alice: Colleague, bob: Colleague, clock: Clock
) -> None:
    card = await granted_alone(alice, f"/members grant {ANNA} beta in 20h", State.PLANNED)

    await alice.decides(card, "v1.decide.replan", "When?", "in 2h")
    await alice.sees_change(state=State.PROPOSED, where=lambda change: not change.decision.glass_broken)


@pytest.mark.policy(BREAK_GLASS)
async def test_who_withdraws_what_was_overridden_for_a_time_is_not_who_overrode_it(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    card = await cara.says(f"/members grant {ANNA} beta in 20h")
    await open_details(alice, card)
    await alice.overrides(card)
    planned = await cara.sees_change(state=State.PLANNED, where=lambda change: change.decision.glass_broken)

    await cara.clicks(planned, "Withdraw")
    withdrawn = await cara.sees_change(state=State.CANCELLED)
    assert "Emergency override by" not in cara.slack_text(withdrawn)
    assert "emergency override by" not in cara.slack_text(withdrawn)


@pytest.mark.threat("B18")
@pytest.mark.policy(BREAK_GLASS)
async def test_an_override_is_none_of_a_freeze_that_came_after_it(
    workspace: Sandbox, alice: Colleague, cara: Colleague, clock: Clock
) -> None:
    await granted_alone(alice, f"/members grant {ANNA} beta in 1h", State.PLANNED)
    # A word about the override may come as the first answer to this.
    await cara.types("/gatehouse freeze everything for 2h because cutover")
    await cara.clicks(await cara.sees("It holds for you"), "Do it")
    await cara.sees("is frozen until")

    clock.ahead += timedelta(minutes=61)
    await alice.sees_change(state=State.PLANNED, where=lambda change: change.run.held is Held.FROZEN)
