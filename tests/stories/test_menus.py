"""Everything by clicking: the menus of the three commands, and a command that was typed without what it is about."""

from __future__ import annotations

import pytest

from handlers.grammar.command import Command, Unclear
from handlers.grammar.fields import WHICH_RULE
from handlers.grammar.parser import ALL, parse
from handlers.members.commands import WHOSE, MembersEdit, MembersWhy
from handlers.rules.commands import RulesCopy, RulesEdit, RulesHistory
from sandbox.demo import Sandbox
from tests.harness.colleague import Colleague

ABOUT = {WHICH_RULE: ("rule", "old shop", "Redirect_x1old"), WHOSE: ("member", "anna", "anna.berg@example.com")}
"""By what a command may lack: the menu that finds it, what is typed there, and what is chosen."""


def lacks(kind: type[Command]) -> str:
    try:
        parse(kind.service, kind.verb)
    except Unclear as error:
        return error.lacks
    return ""


@pytest.mark.parametrize("kind", [kind for kind in ALL if lacks(kind) in ABOUT], ids=lambda kind: kind.__name__)
async def test_a_command_without_its_object_offers_to_find_it(alice: Colleague, kind: type[Command]) -> None:
    thing, typed, found = ABOUT[lacks(kind)]
    menu = f"v1.pick.{thing}.{kind.verb}"
    asked = await alice.says(f"/{kind.service} {kind.verb}")
    offered = await alice.offered(asked, menu, typed)

    await alice.chooses(asked, menu, next(iter(offered.values())))

    if kind in {RulesEdit, RulesCopy, MembersEdit}:
        await alice.sees_form(found)
    else:
        title = {RulesHistory: "No history", MembersWhy: "is a member"}.get(kind, found)
        await alice.sees(title)


async def test_a_url_is_checked_from_the_menu(workspace: Sandbox, alice: Colleague) -> None:
    await alice.clicks(await alice.says("/rules"), "Check a URL…", opens="URL")
    alice.fills(URL="not a url at all")
    assert "Write a URL" in (await alice.submits())["URL"]
    alice.fills(URL="https://shop.example.com/old")
    assert await alice.submits() == {}
    await alice.sees_form("redirects to")
