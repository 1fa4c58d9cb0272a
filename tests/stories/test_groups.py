"""Groups: what is on may still be held back by its group, and a whole group is switched as one change."""

from __future__ import annotations

from sandbox.demo import Sandbox
from sandbox.services.seed import RULES
from tests.harness.colleague import Colleague

SALES = "Group_sales"


async def test_groups_are_listed_with_their_rules(workspace: Sandbox, alice: Colleague) -> None:
    rule = workspace.services.rules.get("Redirect_seas1")
    workspace.services.rules.put({**(rule or {}), "groupId": "Group_lost1"})

    text = alice.slack_text(await alice.says("/rules groups"))

    assert "1 rule, 0 of them on" in text
    assert "`Group_lost1` (1)" in text


async def test_a_group_that_is_called_so_is_listed_without_those_that_have_it_in_their_name(
    workspace: Sandbox, alice: Colleague
) -> None:
    workspace.services.rules.put_group({"id": "Group_more1", "name": "Sales campaigns 2", "status": "Active"})
    other = workspace.services.rules.get("Redirect_x1old") or {}
    workspace.services.rules.put({**other, "name": "Autumn", "groupId": "Group_more1"})

    assert "Autumn" in alice.slack_text(await alice.says("/rules list group:sales"))
    assert "Autumn" not in alice.slack_text(await alice.says('/rules list group:"sales  campaigns"'))


async def test_a_list_is_filtered_by_group_and_by_all_else(workspace: Sandbox, alice: Colleague) -> None:
    for group in ("sales", '"Sales campaigns"', SALES):
        assert "2 rules" in alice.slack_text(await alice.says(f"/rules list group:{group}"))

    assert "1 rule" in alice.slack_text(await alice.says("/rules list group:sales status:off"))
    assert "No rules ·" in alice.slack_text(await alice.says("/rules list group:sales type:cancel"))


async def test_what_fits_no_group_or_two_is_said(workspace: Sandbox, alice: Colleague) -> None:
    await alice.is_refused("/rules group off nothing")
    two = await alice.is_refused("/rules group off e")
    assert all(name in alice.slack_text(two) for name in ("Sales campaigns", "Experiments"))
    await alice.is_refused("/rules group on sales")
    assert workspace.services.rules.calls("PUT") == []


async def test_a_service_without_groups_is_no_error(workspace: Sandbox, alice: Colleague) -> None:
    workspace.services.switch(groups="off")

    assert f"{len(RULES)} rules" in alice.slack_text(await alice.says("/rules list"))
    shown = alice.slack_text(await alice.says("/rules show Redirect_seas1"))
    assert "On" in shown
    assert "couldn’t be read" in shown
    assert "couldn’t be read" in alice.slack_text(await alice.says("/rules which https://shop.example.com/summer"))
    assert "2 rules" in alice.slack_text(await alice.says(f"/rules list group:{SALES}"))
    by_name = alice.slack_text(await alice.says('/rules list group:"Sales campaigns"'))
    assert "only their ids were searched" in by_name
    await alice.is_refused("/rules groups")
    await alice.is_refused("/rules group off sales")


async def test_a_list_says_that_a_group_may_be_off_where_groups_cannot_be_read(
    workspace: Sandbox, alice: Colleague
) -> None:
    workspace.services.rules.stage.faults.add("500", path=".*groups.*", times=1_000)
    shown = alice.slack_text(await alice.says("/rules list chat"))
    assert "Which groups are off couldn’t be read" in shown

    assert "Which groups" not in alice.slack_text(await alice.says("/rules list old shop"))
