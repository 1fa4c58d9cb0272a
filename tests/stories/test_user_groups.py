"""A user group that is gone in Slack gives nobody a role, and takes nothing from those who do not need it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handlers.explain.table import is_problem
from sandbox.demo import Sandbox
from tests.conftest import SUPPORT
from tests.harness.colleague import Colleague
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
