"""Who goes ahead alone is reviewed by somebody else, whatever becomes of what they did."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.changes.model.parts import Held
from bot.changes.model.states import State
from sandbox.demo import Sandbox
from sandbox.slack.message import Message
from tests.conftest import Clock
from tests.harness.colleague import Colleague, ended, undone
from tests.harness.looking import open_details

ANNA = "anna.berg@example.com"
BREAK_GLASS = """
[roles.everyone]
channels = ["C0OPS0001"]
may = ["*"]

[roles.oncall]
groups = ["S0ONCALL"]

[[guards]]
operation = "member.grant"
guard = "approve"
break_glass = ["oncall"]
"""


async def granted_alone(alice: Colleague, command: str, state: State = State.APPLIED) -> Message:
    """The card of what Alice did alone."""
    card = await alice.says(command)
    await open_details(alice, card)
    await alice.overrides(card)
    return await alice.sees_change(state=state, where=lambda change: change.decision.glass_broken)


@pytest.mark.policy(BREAK_GLASS)
async def test_its_end_is_no_review(workspace: Sandbox, alice: Colleague, cara: Colleague, clock: Clock) -> None:
    await granted_alone(alice, f"/members grant {ANNA} beta for 5m")

    clock.ahead += timedelta(minutes=6)
    over = await alice.sees_change(where=lambda change: ended(change) and change.review_due)
    assert "Anna Berg" in alice.slack_text(await cara.says("/gatehouse pending"))
    clock.ahead += timedelta(hours=2)
    await alice.sees_note(over, "review")

    await alice.clicks(over, "v1.decide.sign")
    await alice.sees_problem()
    await cara.clicks(over, "v1.decide.sign")
    signed = await alice.sees_change(where=lambda change: change.decision.reviewed_by == cara.id)
    assert "v1.decide.sign" not in str(signed.blocks)


@pytest.mark.policy(BREAK_GLASS)
@pytest.mark.parametrize("undoing", ["U0ALICE01", "U0CARA001"])
async def test_an_undo_is_a_review_where_somebody_else_asked_for_it(
    workspace: Sandbox, alice: Colleague, undoing: str
) -> None:
    done = await granted_alone(alice, f"/members grant {ANNA} beta")

    await Colleague(workspace, undoing, alice.channel).clicks(done, "Undo")
    await alice.sees_change(where=undone)

    assert (await alice.change_of(done)).review_due is (undoing == alice.id)


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
    await cara.sees("is frozen until")

    clock.ahead += timedelta(minutes=61)
    await alice.sees_change(state=State.PLANNED, where=lambda change: change.run.held is Held.FROZEN)
