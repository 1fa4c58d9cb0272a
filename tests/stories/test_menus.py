"""Everything by clicking: each command is reached from a menu, filled in and sent; typed without its object, it asks the same."""

from __future__ import annotations

from typing import Any, Final

import pytest

from handlers.changes import command_form
from handlers.changes.command_form import LISTS, read_begun
from handlers.explain.table import is_problem
from handlers.files.import_form_view import RULES
from handlers.gatehouse.commands import (
    GatehouseHelp,
    GatehouseInspect,
    GatehouseToken,
    GatehouseUndo,
    GatehouseUnfreeze,
)
from handlers.grammar.command import Command, Unclear
from handlers.grammar.parser import ALL, parse
from handlers.members.commands import MembersMenu, MembersShow
from handlers.rules import rule_form_view
from handlers.rules.commands import RulesMake, RulesMenu, RulesShow
from handlers.slack.registry import COMMANDS
from handlers.slack.reply import Caller
from sandbox.demo import Sandbox
from sandbox.slack.message import Message
from sandbox.slack.state import View
from tests.conftest import OPS
from tests.harness.channels import buttons
from tests.harness.colleague import Colleague

FOUND: Final = {"rule": "old shop", "member": "anna", "segment": "free", "group": "sales", "scope": "everything"}
"""What is typed into the menu of each kind of thing."""
TYPED: Final = {
    "url": "https://shop.example.com/old",
    "fields": "description=For the sale",
    "new": "anna.new@example.com",
    "text": "e",
    "type": "redirect",
    "status": "on",
    "expiry": "2h",
    "because": "it loops",
    "since": "24h",
    "who": "me",
}
"""What is typed into the fields that nothing is found for; the others stay empty."""
OTHERWISE: Final = {
    ("RulesOn", "rule"): "black friday",
    ("MembersGrant", "segment"): "vip",
    **dict.fromkeys([("RulesExport", "group"), ("MembersExport", "segment")], ""),
}
"""The same where that would change nothing, or where nothing has all of it: that stays empty."""
ELSEWHERE: Final = {
    RulesMenu: "a menu",
    MembersMenu: "a menu",
    GatehouseHelp: "a menu",
    **dict.fromkeys((RulesShow, MembersShow), "what is found in the menu: test_type_ahead.py"),
    RulesMake: "the line for what two buttons of the menu ask in a form",
    GatehouseUndo: "shown before it is done: test_thirty_tasks.py",
    GatehouseToken: "only where agents are let in",
    GatehouseUnfreeze: "Lift, on its card and in the list: test_frozen.py",
    GatehouseInspect: "Details, on each card: test_full_view.py",
}


def lacks(kind: type[Command]) -> bool:
    try:
        parse(kind.service, kind.verb)
    except Unclear as error:
        return bool(error.lacks)
    return False


async def fill(person: Colleague, kind: type[Command]) -> set[str]:
    """Fill in each field of the form of *kind* that there is something for; return which."""
    filled = set()
    for block in (person.modal or {})["blocks"]:
        name, label, element = block.get("block_id"), block.get("label", {}).get("text"), block.get("element", {})
        if element.get("type", "").endswith("external_select"):
            thing = element["action_id"].split(".")[2]
            if not (typed := OTHERWISE.get((kind.__name__, thing), FOUND[thing])):
                continue
            await person.finds(label, typed)
        elif element.get("type") == "static_select":
            person.fills(**{label: element["options"][0]["text"]["text"]})
        elif name in TYPED:
            person.fills(**{label: TYPED[name]})
        else:
            continue
        filled.add(name)
    return filled


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Command]:
    """The commands that were run, in their order."""
    commands: list[Command] = []

    def noting(handler: Any) -> Any:
        async def handle(command: Command, caller: Caller, gatehouse: Any) -> Any:
            commands.append(command)
            return await handler(command, caller, gatehouse)

        return handle

    for kind, handler in COMMANDS.items():
        monkeypatch.setitem(COMMANDS, kind, noting(handler))
    return commands


@pytest.mark.parametrize("kind", [kind for kind in ALL if kind not in ELSEWHERE], ids=lambda kind: kind.__name__)
async def test_each_command_is_reached_from_a_menu_filled_in_and_sent(
    workspace: Sandbox, alice: Colleague, ran: list[Command], kind: type[Command]
) -> None:
    menu = await alice.says(f"/{kind.service}")
    text = f"{kind.service} {kind.verb}"
    offered = {one["action_id"]: one["value"] for one in buttons(menu.blocks) if one["value"].startswith(text)}
    assert offered, f"no button of the menu leads to {text}"
    ran.clear()
    if (asked := f"v1.ask.{kind.verb}") not in offered:
        await alice.clicks(menu, next(iter(offered)))
        await alice._waits(lambda: any(isinstance(each, kind) for each in ran), text)
        return

    await alice.clicks(menu, asked, opens=kind.title())
    filled = await fill(alice, kind)
    assert await alice.submits() == {}
    command = await alice._waits(lambda: next((each for each in ran if isinstance(each, kind)), None), text)
    assert all(getattr(command, name) for name in filled)
    answered = await alice._waits(
        lambda: alice.modal is None or alice.modal["callback_id"] != "v1.command", "an answer"
    )
    assert answered
    assert alice.modal is None or not is_problem(alice.modal["blocks"]), alice.form


async def menu_in(place: str, service: str, alice: Colleague) -> Message | View:
    """The menu of *service* as it is at *place*."""
    if place != "home":
        return await alice.says(f"/{service}", alice.dm if place == "direct" else None)
    name = {"rules": "Rules", "members": "Members"}.get(service, "Show more")
    await alice.clicks(await alice.opens_home("Do"), name, opens="[")
    return alice.modal or {}


@pytest.mark.slow
@pytest.mark.parametrize("place", ["channel", "direct", "home"])
@pytest.mark.parametrize("service", ["rules", "members", "gatehouse"])
async def test_each_item_of_a_menu_leads_on_wherever_it_is_clicked(alice: Colleague, service: str, place: str) -> None:
    there = [one["text"]["text"] for one in buttons((await alice.says(f"/{service}")).blocks)]
    for label in there:
        menu = await menu_in(place, service, alice)
        known, before = len(alice._bot_messages()), alice.modal

        def answer(known: int = known, before: View | None = before) -> list[dict[str, Any]] | None:
            if (view := alice._filled_modal()) is not None and view != before:
                return list(view["blocks"])
            return list(said[-1].blocks) if len(said := alice._bot_messages()) > known else None

        await alice.clicks(menu, label)
        seen = await alice._waits(answer, label)
        is_form = alice.modal is not None and "submit" in alice.modal
        assert is_form == label.endswith("…") or label.startswith("Undo"), (label, seen)
        assert not is_problem(seen) or label.startswith("Undo"), (label, seen)
        if alice.modal:
            alice.slack.acting.close(alice.id, alice.modal["id"], clear=True)


async def test_a_form_from_a_direct_message_says_where_its_change_is_announced(alice: Colleague) -> None:
    for form, typed in {
        "Create redirect…": {"Name": "Spring", "From": "https://a.example.com/b", "To": "https://c.example.com/"},
        "Add member…": {"Email": "new@example.com"},
        "Import rules…": {},
    }.items():
        menu = await alice.says("/members" if "member" in form else "/rules", alice.dm)
        await alice.clicks(menu, form, opens="Announce in")
        alice.fills(Announce_in=OPS, **typed)
        if not typed:
            alice.attaches("File", **{"sale.csv": b"from,to\nhttps://a.example.com/sale,https://c.example.com/\n"})
            assert await alice.submits() == {}
            await alice.sees_view(RULES)
            assert "Announce in" not in alice.form
        assert await alice.submits() == {}
        of = typed.get("Name") or typed.get("Email") or "sale.csv"
        assert (await alice.sees_change(of=of)).channel == OPS


@pytest.mark.parametrize("kind", [kind for kind in ALL if lacks(kind)], ids=lambda kind: kind.__name__)
async def test_a_command_without_its_object_asks_for_it(alice: Colleague, kind: type[Command]) -> None:
    text = f"{kind.service} {kind.verb}"
    if kind in LISTS:
        assert not is_problem((await alice.says(f"/{text}")).blocks)
        return
    form = await alice.opens(f"/{text}")
    assert form["callback_id"] == command_form.CALLBACK
    assert next(iter(read_begun(text).open_fields())) in str(form["blocks"])


async def test_what_was_typed_is_not_asked_again(workspace: Sandbox, alice: Colleague) -> None:
    await alice.opens("/members grant anna.berg@example.com for 7d")
    assert "Whose email" not in alice.form
    await alice.finds("Which segment?", "vip")
    assert await alice.submits() == {}
    card = await alice.sees_change()
    assert (await alice.change_of(card)).is_temporary


async def test_what_is_filled_in_wrongly_is_said_under_its_field(workspace: Sandbox, alice: Colleague) -> None:
    await alice.opens("/rules which")
    alice.fills(**{"Which URL?": "https://shop.example.com/old and more"})
    assert "Unexpected" in (await alice.submits())["Which URL?"]


@pytest.mark.parametrize(("verb", "asks"), [("block", "URL"), ("redirect", "To")])
async def test_a_block_or_a_redirect_of_no_url_opens_its_form(alice: Colleague, verb: str, asks: str) -> None:
    form = await alice.opens(f"/rules {verb}")
    assert form["callback_id"] == rule_form_view.CALLBACK
    assert asks in [block["label"]["text"] for block in form["blocks"] if "label" in block]
