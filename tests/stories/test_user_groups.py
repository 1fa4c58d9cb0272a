"""A user group that is gone in Slack gives nobody a role, and takes nothing from those who do not need it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Final

import pytest

from bot.changes.model.parts import LostRight
from bot.changes.model.states import State
from handlers.explain.table import is_problem
from sandbox.demo import Sandbox
from tests.conftest import OPS, SUPPORT, Clock
from tests.harness.colleague import Colleague, approved_by
from tests.harness.scraping import read_readiness

OLD = "Redirect_x1old"
ROLES = """
[roles.all]
channels = ["C0OPS0001"]
may = ["rule.*"]

[roles.leads]
groups = ["S0LEADS"]
may = ["*"]
"""


@pytest.mark.policy(ROLES)
@pytest.mark.parametrize("how", ["deleted", "disabled"])
async def test_nobody_is_in_a_group_that_is_gone_and_operators_are_told(
    workspace: Sandbox, alice: Colleague, cara: Colleague, how: str
) -> None:
    assert (await read_readiness(workspace.bot_url))[1].get("user groups") is None
    groups = workspace.slack.state.groups
    group = groups.pop("S0LEADS")
    if how == "disabled":
        groups["S0LEADS"] = replace(group, is_disabled=True)

    assert "Old shop" in alice.slack_text(await alice.says(f"/rules show {OLD}"))
    await alice.says(f"/rules off {OLD}")
    await alice.sees_change(of=OLD)
    await cara.is_refused("/members list")
    assert "read rules" in alice.slack_text(await alice.says("/gatehouse whoami"))

    status, parts = await read_readiness(workspace.bot_url)
    assert status == 200
    assert "S0LEADS" in parts["user groups"]
    assert "S0LEADS" in alice.slack_text(await alice.says("/gatehouse status"))


@pytest.mark.policy(ROLES)
async def test_status_asks_also_for_groups_that_nobody_needed_yet(workspace: Sandbox, alice: Colleague) -> None:
    workspace.slack.state.groups.pop("S0LEADS")

    assert "S0LEADS" in alice.slack_text(await alice.says("/gatehouse status"))


@pytest.mark.policy(ROLES)
async def test_an_outage_of_groups_stops_only_what_depends_on_one(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    workspace.slack.faults.add("internal_error", method="usergroups.users.list", times=99)

    await alice.says(f"/rules off {OLD}")
    await alice.sees_change(of=OLD)
    refused = await cara.says("/members list", channel=SUPPORT)
    who = await alice.says("/gatehouse whoami")

    assert is_problem(refused.blocks)
    assert "change rules" in alice.slack_text(who)
    assert "read members" in alice.slack_text(who)


SPENT: Final = """
[roles.all]
users = ["U0ALICE01", "U0BOB0001"]
may = ["*"]

[roles.oncall]
groups = ["S0ONCALL"]
may = ["rule.*"]

[[guards]]
operation = "rule.delete"
guard = "approve"
approvers = ["oncall"]
break_glass = ["oncall"]

[[guards]]
operation = "rule.update"
guard = "approve"
approvers = ["all", "oncall"]
approvals = 2
"""


async def approve(alice: Colleague, cara: Colleague, clock: Clock) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    leave_on_call(cara)
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await cara.sees_problem()


async def override(alice: Colleague, cara: Colleague, clock: Clock) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    leave_on_call(cara)
    await cara.clicks(card, "v1.decide.break_glass")
    await cara.sees_problem()


async def complete(alice: Colleague, cara: Colleague, clock: Clock) -> None:
    """Bob gives the last approval after Cara's, which was one of two."""
    card = await alice.says(f"/rules off {OLD}")
    await cara.clicks(card, "v1.decide.approve")
    await cara.sees_change(state=State.PROPOSED, where=approved_by)
    leave_on_call(cara)
    bob = Colleague(cara.workspace, "U0BOB0001", OPS)
    await bob.clicks(card, "v1.decide.approve")
    await cara.sees_change(state=State.PROPOSED, where=lambda change: len(approved_by(change)) == 2)


async def execute(alice: Colleague, cara: Colleague, clock: Clock) -> None:
    """The service comes back two minutes after the approval."""
    rules = cara.workspace.services.rules
    card = await alice.says(f"/rules delete {OLD}")
    rules.stage.faults.add("500", times=99)
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await cara.sees_change(state=State.APPROVED, where=lambda change: change.run.waits)
    leave_on_call(cara)
    rules.stage.faults.clear()
    clock.ahead += timedelta(minutes=2)
    failed = await cara.change_of(await cara.sees_change(state=State.FAILED))
    assert isinstance(failed.run.why_not, LostRight)
    assert failed.run.why_not.who == cara.id


def leave_on_call(cara: Colleague) -> None:
    groups = cara.slack.state.groups
    groups["S0ONCALL"] = replace(groups["S0ONCALL"], users=("U0ALICE01",))


@pytest.mark.policy(SPENT)
@pytest.mark.parametrize("spend", [approve, override, complete, execute])
async def test_who_was_taken_out_of_a_group_lets_nothing_through_from_that_moment(
    workspace: Sandbox, clock: Clock, alice: Colleague, cara: Colleague, spend: Callable[..., Awaitable[None]]
) -> None:
    await spend(alice, cara, clock)

    assert [call.method for call in workspace.services.rules.calls() if call.method != "GET"] == []
    asked = [one for one in workspace.slack.state.traffic if one["what"] == "usergroups.users.list"]
    assert len(asked) < 8
