"""A service that gives a part of its list only: nothing is concluded from what was not read, and nothing made of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from bot.changes.model.states import State
from sandbox.demo import Sandbox
from sandbox.services.answers import Call
from sandbox.services.seed import RULES
from tests.conftest import Clock, until
from tests.harness.colleague import Colleague

OLD = "Redirect_x1old"
UNREAD = "Redirect_more39"
MORE = 40
ALL = len(RULES) + MORE


def more_rules(workspace: Sandbox, many: int = MORE) -> None:
    """So many rules besides those of the seed, in pages."""
    old = workspace.services.rules.get(OLD) or {}
    for number in range(many):
        workspace.services.rules.put({**old, "id": f"Redirect_more{number}", "name": f"More {number}"})
    workspace.services.switch(paging="pages")


def _ends_early(page: dict[str, Any]) -> dict[str, Any]:
    return page | {"nextOffset": None}


async def test_nothing_is_said_of_rules_that_were_not_read(workspace: Sandbox, alice: Colleague) -> None:
    more_rules(workspace)
    workspace.services.rules.stage.alter_page = _ends_early

    async def said(text: str) -> str:
        return alice.slack_text(await alice.says(text))

    which = await said("/rules which https://nowhere.example/")
    assert f"30 of {ALL} " in which
    assert "No rule changes" not in which
    assert f"30 of {ALL} " in await said("/rules list")
    assert "among those that could be read" in await said('/rules list "More 39"')
    assert f"30 of {ALL} " in await said("/rules check")
    assert f"30 of {ALL} " in await said("/rules groups")
    for command in ('show "More 39"', "export", f"off {UNREAD}x"):
        text = await said(f"/rules {command}")
        assert f"30 of {ALL} " in text, command
        assert ("Nothing was changed" in text) == command.startswith("off"), command
    assert "Which one?" in await said('/rules off "Old shop to new shop"'), "others might have that name, too"
    assert f"30 of {ALL}" in await said("/gatehouse status")

    assert "More 39" in await said(f"/rules show {UNREAD}")
    await alice.says(f"/rules off {UNREAD}")
    await alice.sees_change(of=UNREAD)


async def test_nothing_is_made_beside_rules_that_were_not_read(workspace: Sandbox, alice: Colleague) -> None:
    more_rules(workspace)
    rules = workspace.services.rules
    rules.stage.alter_page = _ends_early

    await alice.opens("/rules new https://a.example/ to https://b.example/")
    alice.fills(Name="A to B")
    assert await alice.submits() == {}
    await alice.sees(f"30 of {ALL} ")
    await alice.types("/rules import")
    await alice.sees_form("Import rules")
    record = {**(rules.get(OLD) or {}), "name": "From a file"}
    alice.attaches("File", **{"rules.json": json.dumps([record]).encode()})
    assert await alice.submits() == {}
    await alice.sees_form(f"30 of {ALL} ")

    assert rules.calls("POST") == []


async def test_a_lost_answer_is_not_taken_for_nothing_while_the_list_has_a_gap(
    workspace: Sandbox, alice: Colleague, clock: Clock
) -> None:
    more_rules(workspace, 60)
    rules = workspace.services.rules
    rules.stage.alter_page = lambda page: _ends_early(page) if rules.calls("POST") else page
    rules.stage.faults.add("cut_after", method="POST")

    def lists_after_the_post() -> list[Call]:
        methods = [call.method for call in rules.calls()]
        return [call for call in rules.calls()[methods.index("POST") :] if call.path.endswith("/rules")][1:]

    await alice.opens("/rules new https://a.example/ to https://b.example/")
    alice.fills(Name="A to B")
    assert await alice.submits() == {}
    card = await alice.sees_change(of="A to B", state=State.UNKNOWN)
    await until(lambda: len(lists_after_the_post()) >= 3)
    assert (await alice.change_of(card)).state is State.UNKNOWN

    rules.stage.alter_page = dict
    clock.ahead += timedelta(minutes=2)
    await alice.sees_change(of="A to B")
    assert len(rules.calls("POST")) == 1


async def test_saving_a_rule_reads_the_list_for_its_checks_and_right_before_it_is_sent(
    workspace: Sandbox, alice: Colleague
) -> None:
    more_rules(workspace)
    rules = workspace.services.rules
    await alice.opens("/rules new https://a.example/ to https://b.example/")
    alice.fills(Name="A to B")
    assert await alice.submits() == {}
    await alice.sees_change(of="A to B")

    calls = [call for call in rules.calls() if not call.path.endswith("/groups")]
    before = calls[: next(number for number, call in enumerate(calls) if call.method == "POST")]
    assert [call.query for call in before] == ["", "offset=30&pageSize=75", "pageSize=75"]


async def test_a_member_whose_record_cannot_be_read_is_not_called_missing(
    workspace: Sandbox, alice: Colleague, bob: Colleague
) -> None:
    odd = {"name": "Odd", "email": "odd@example.com", "allowedSegments": {"vip": True}}
    workspace.services.members.put("site_1", odd)

    for command in ("why", "show", "remove"):
        text = bob.slack_text(await bob.says(f"/members {command} odd@example.com"))
        assert "20 of 21 " in text, command
        assert "Add on blog" not in text
        assert "is not a member of" not in text
    offboard = alice.slack_text(await alice.says("/members offboard odd@example.com"))
    assert "20 of 21 " in offboard
    assert "is a member of blog" in bob.slack_text(await bob.says("/members why anna.berg@example.com"))


def _eight(page: dict[str, Any]) -> dict[str, Any]:
    return {"members": page["members"], "total": page["total"]}


def _eight_and_a_flag(page: dict[str, Any]) -> dict[str, Any]:
    return {"members": page["members"], "isLastPage": False}


@pytest.mark.parametrize(("alter", "so_many"), [(_eight, "8 of 20 "), (_eight_and_a_flag, "“isLastPage”")])
async def test_nothing_is_said_of_members_who_were_not_read(
    workspace: Sandbox,
    alice: Colleague,
    bob: Colleague,
    alter: Callable[[dict[str, Any]], dict[str, Any]],
    so_many: str,
) -> None:
    members = workspace.services.members
    unread, nobody = members.all("site_1")[-1]["email"], "nobody@example.com"
    workspace.services.switch(member_list="pages")
    members.stage.alter_page = alter

    async def said(text: str) -> str:
        return bob.slack_text(await bob.says(text))

    why = await said(f"/members why {nobody}")
    assert so_many in why
    assert "not a member" not in why
    assert so_many in await said("/members list")
    assert "among the members that could be read" in await said("/members list nobody")
    assert so_many in await said("/members segments")
    for command in (f"show {unread}", f"grant {unread} vip", f"remove {unread}", "export"):
        text = await said(f"/members {command}")
        assert so_many in text, command
        assert "is not a member of" not in text
    offboard = alice.slack_text(await alice.says(f"/members offboard {unread}"))
    assert so_many in offboard

    await bob.opens(f"/members add {unread} named Twice")
    assert await bob.submits() == {}
    await bob.sees_form(so_many)
    await bob.types("/members import")
    await bob.sees_form("Import members")
    bob.attaches("File", **{"members.csv": b"email,name\nnew@example.com,New\n"})
    assert await bob.submits() == {}
    await bob.sees_form(so_many)
    assert {call.method for call in members.calls()} == {"GET"}

    await bob.says("/members grant anna.berg@example.com vip")
    await bob.sees_change(of="anna.berg@example.com")
