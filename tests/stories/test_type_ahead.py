"""Menus that find rules and members while one types."""

from __future__ import annotations

from sandbox.demo import Sandbox
from tests.harness.colleague import Colleague

RULE_MENU, MEMBER_MENU = "v1.pick.rule.menu", "v1.pick.member.menu"


async def test_members_of_all_sites_are_found_whole(workspace: Sandbox, bob: Colleague) -> None:
    search = await bob.says("/members")
    offered = await bob.offered(search, MEMBER_MENU, "berg")
    label = next(iter(offered))
    assert "Anna Berg" in label
    assert "anna.berg@example.com" in label
    assert "blog" in label

    await bob.chooses(search, MEMBER_MENU, offered[label])

    await bob.sees("anna.berg@example.com")


async def test_a_service_that_is_away_is_said_so_in_the_menu(workspace: Sandbox, alice: Colleague) -> None:
    menu = await alice.says("/rules")
    workspace.services.rules.stage.faults.add("500", times=9)

    offered = await alice.offered(menu, RULE_MENU, "old shop")
    (label,) = offered
    assert "service" in label

    await alice.chooses(menu, RULE_MENU, offered[label])
    await alice.sees_problem()


async def test_a_rule_made_a_moment_ago_is_found(workspace: Sandbox, alice: Colleague) -> None:
    menu = await alice.says("/rules")
    await alice.offered(menu, RULE_MENU, "old")
    await alice.says("/rules set Redirect_x1old name=Quetzalcoatl")

    assert await alice.offered(menu, RULE_MENU, "quetzal")
