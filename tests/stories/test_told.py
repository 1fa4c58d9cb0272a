"""People hear in a direct message what became of their requests; nobody hears of what they did themselves."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.changes.consequences import HELD_LONGEST
from bot.changes.model.states import State
from bot.store.tables import outbox
from sandbox.demo import Sandbox
from tests.conftest import OPS, QUICK, Clock, busy_sandbox
from tests.harness.colleague import Colleague, undone
from tests.harness.looking import approve_card

OLD = "Redirect_x1old"


async def notices(workspace: Sandbox) -> list[str]:
    """What direct messages were ever owed, delivered or not."""
    query = sa.select(outbox.c.purpose).where(outbox.c.purpose.startswith("notify-")).order_by(outbox.c.purpose)
    async with workspace.bot.gatehouse.store.session.reading() as connection:
        return list(await connection.scalars(query))


async def test_an_approval_is_told_to_its_requester_alone(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    card = await alice.says(f"/rules delete {OLD}")

    await approve_card(cara, card)

    told = await alice.is_notified("approved")
    assert f"@{cara.id}" in alice.slack_text(told)
    assert await alice.store.cards.link((await alice.change_of(card)).id) in str(told.blocks)
    assert cara.slack.state.find_direct(cara.id) is None or cara.dms == []
    assert await notices(workspace) == ["notify-approved"]


async def test_a_denial_is_told_with_its_reason(workspace: Sandbox, alice: Colleague, cara: Colleague) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    await cara.decides(card, "Deny…", "Reason", "It is still in use")

    told = alice.slack_text(await alice.is_notified("denied"))

    assert f"@{cara.id}" in told
    assert "It is still in use" in told
    assert await notices(workspace) == ["notify-denied"]


async def test_a_temporary_change_that_somebody_else_ends(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    card = await alice.says(f"/rules off {OLD} for 2h")
    await cara.clicks(card, "v1.decide.end")

    told = await alice.is_notified("reverted")

    assert f"@{cara.id}" in alice.slack_text(told)
    assert await notices(workspace) == ["notify-reverted"]


async def test_what_others_do_to_a_plan_is_told_to_whoever_planned_it(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    card = await alice.says(f"/rules off {OLD} in 2h")
    await cara.decides(card, "v1.decide.replan", "When?", "in 3h")
    assert f"@{alice.id}" in alice.slack_text(await alice.sees_note(card, "moved"))
    await cara.clicks(card, "Withdraw")

    assert f"Withdrawn by @{cara.id}" in alice.slack_text(await alice.is_notified("denied"))
    assert await notices(workspace) == ["notify-denied"]


async def test_nobody_is_blamed_where_a_plan_ended_as_nobody_said_when(alice: Colleague, clock: Clock) -> None:
    await alice.says(f"/rules off {OLD} in 2h")
    clock.ahead += timedelta(hours=3)
    await alice.sees_change(state=State.PLANNED, where=lambda change: change.run.held)
    clock.ahead += HELD_LONGEST + timedelta(seconds=1)

    told = alice.slack_text(await alice.is_notified("expired"))
    assert "approved" not in told
    assert "when it should start" in told


async def test_an_undo_by_somebody_else_is_on_the_card_and_nowhere_else(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    """Only what was to end later ends early."""
    card = await alice.says(f"/rules off {OLD}")
    await cara.clicks(card, "Undo")
    await alice.sees_change(where=undone)

    assert await notices(workspace) == []


async def test_nobody_hears_of_their_own_clicks(workspace: Sandbox, alice: Colleague) -> None:
    card = await alice.says(f"/rules off {OLD} for 2h")
    await alice.clicks(card, "v1.decide.end")
    await alice.sees_change(where=undone)
    card = await alice.says(f"/rules delete {OLD}")
    await alice.clicks(card, "Withdraw")
    await alice.sees_change(state=State.CANCELLED)
    card = await alice.says(f"/rules delete {OLD}")
    await alice.says(f"/rules off {OLD}")
    await alice.sees_change(state=State.STALE)

    assert await notices(workspace) == []


async def test_a_process_that_dies_before_it_tells_is_followed_by_one_that_does_once(
    tmp_path: Path, clock: Clock
) -> None:
    deaths = ["notify"]

    def failpoint(step: str) -> None:
        if step in deaths:
            deaths.remove(step)
            raise ConnectionAbortedError(step)

    async with busy_sandbox(tmp_path, timing=replace(QUICK, failpoint=failpoint), clock=clock) as workspace:
        alice, cara = Colleague(workspace, "U0ALICE01", OPS), Colleague(workspace, "U0CARA001", OPS)
        card = await alice.says(f"/rules delete {OLD}")
        await approve_card(cara, card)
        await alice.sees_change(of=OLD)
        clock.ahead += timedelta(minutes=1)

        await alice.is_notified("approved")
        await workspace.bot.gatehouse.store.outbox.retry_given_up()

        assert deaths == []
        assert len(alice.dms) == 1


async def test_those_who_can_approve_are_mentioned_and_reminded(
    workspace: Sandbox, alice: Colleague, clock: Clock
) -> None:
    users = workspace.slack.state.users
    users["U0CARA001"] = replace(users["U0CARA001"], is_deleted=True)

    card = await alice.says(f"/rules delete {OLD}")

    asked = alice.slack_text(card)
    assert asked.index("@U0ALICE01") < asked.index("@U0BOB0001")
    assert "U0CARA001" not in asked, "her account is deactivated"
    assert asked.count("@U0ALICE01") == 1, "as the one who asks, and not as one who can approve"
    clock.ahead += timedelta(minutes=20)
    reminder = alice.slack_text(await alice.sees_note(card, "remind"))
    assert reminder.index("@U0BOB0001") < reminder.index("@U0ALICE01")


@pytest.mark.policy(
    """
[roles.everyone]
channels = ["C0OPS0001"]
may = ["*"]

[roles.leads]
users = ["U0ALICE01", "U0CARA001"]
groups = ["S0LEADS"]

[[guards]]
operation = "rule.delete"
guard = "approve"
approvers = ["leads"]
"""
)
async def test_whom_the_policy_names_is_mentioned_but_the_requester(workspace: Sandbox, alice: Colleague) -> None:
    card = alice.slack_text(await alice.says(f"/rules delete {OLD}"))

    assert "@U0CARA001" in card
    assert "S0LEADS" in card
    assert card.count("@U0ALICE01") == 1, "as the one who asks, and not as one who can approve"
