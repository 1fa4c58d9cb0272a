"""Bad input: a clear answer, and nothing touched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bot.changes.model.states import State
from handlers.explain.table import is_problem
from handlers.grammar.fields import Filter
from handlers.members.commands import MembersExport, MembersList
from handlers.rules.commands import RulesExport, RulesList
from sandbox.demo import Sandbox
from tests.conftest import OPS
from tests.harness.channels import MESSAGES, loud_messages
from tests.harness.colleague import Colleague
from tests.harness.payloads import Forger

ODD_RULES = [
    "/rules frobnicate",
    "/rules show " + "x" * 2500,
    "/rules " + "x" * 3900,
    "/rules show a/b",
    "/rules delete ..",
    "/rules delete ../groups",
    "/rules delete %2e%2e",
    "/rules delete Redirect_x1old?x=1",
    "/rules off 😀 party",
    "/rules set Redirect_x1old destination=",
    "/rules delete #7",
    "/rules off Redirect_x1old for 2 fortnights",
    "/rules set Redirect_x1old destination=https://a.example/ for a while",
    "/members grant anna.berg@example.com vip for ever",
    "/rules delete Redirect_x1old, Redirect_none1",
    "/rules delte Redirect_x1old",
    "/rules show `<!channel>`",
    "/rules check nothing-like-it",
]
ODD_MEMBERS = [
    "/members remove nobody",
    "/members remove a@b@c",
    "/members remove ../x@example.com",
    "/members show anna.berg@münchen.example.com",
    '/members show "anna berg"@example.com',
    "/members show anna+none@example.com",
    "/members offboard anna.berg@nowhere.example.com",
    "/members list site:nowhere",
]


NARROWED = {
    f"/{kind.service} {kind.verb}": [part.name for part in kind.parts().values() if isinstance(part, Filter)]
    for kind in (RulesList, RulesExport, MembersList, MembersExport)
}
"""Each command that narrows what it shows or sends, and its filters."""
OPEN = {"url", "page"}
"""Filters that may rightly find nothing."""


@pytest.mark.parametrize("text", NARROWED)
async def test_a_filter_that_means_nothing_is_told(alice: Colleague, text: str) -> None:
    for name in set(NARROWED[text]) - OPEN:
        answer = await alice.is_refused(f"{text} {name}:salez")
        assert "salez" in alice.slack_text(answer), name
    for name in NARROWED[text]:
        answer = await alice.is_refused(f"{text} {name}:1 {name}:2")
        assert f"Only one {name}:" in alice.slack_text(answer)


async def test_a_filter_finds_nothing_where_that_is_true(alice: Colleague) -> None:
    for text in ("/rules list type:delay status:on", "/rules list url:salez", "/members list nobody segment:vip"):
        assert "No " in alice.slack_text(await alice.says(text)), text
    assert "redirects" in alice.slack_text(await alice.says("/rules list type:redirects"))


@pytest.mark.first(8)
@pytest.mark.parametrize("text", ODD_RULES + ODD_MEMBERS, ids=lambda text: text[:40])
async def test_a_clear_private_answer_and_nothing_touched(
    workspace: Sandbox, alice: Colleague, bob: Colleague, text: str
) -> None:
    person = bob if text.startswith("/members") else alice

    reply = await person.says(text)

    shown = person.slack_text(reply)
    assert reply.visible_to == person.id
    offered = any(button in shown for button in ("[Do it]", "[Request it]"))
    assert is_problem(reply.blocks) or offered or "I don’t understand" in shown or "I’m not sure" in shown
    assert "went wrong in Gatehouse" not in shown
    assert [call for call in workspace.services.rules.calls() if call.method != "GET"] == []
    assert [call for call in workspace.services.members.calls() if call.method != "GET"] == []


def _marked_up(value: Any) -> Iterator[str]:
    """Every text in which Slack would look for mentions and links."""
    if isinstance(value, dict):
        if value.get("type") == "mrkdwn":
            yield value["text"]
        for inner in value.values():
            yield from _marked_up(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _marked_up(inner)


HOSTILE = [
    "<!channel> & <@U0DAN0001>",
    "*bold* _it_ ~no~ `code` ```fence```",
    "&lt;script&gt;",
    "a\u202eb\u200bc\nd",
    ":warning: x",
    "x" * 5000,
    "<https://evil.example|bank>",
]


@pytest.mark.first(2)
@pytest.mark.threat("C6")
@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: name[:12])
async def test_a_hostile_name_is_shown_as_text_and_survives(workspace: Sandbox, alice: Colleague, name: str) -> None:
    rule = {
        "id": "Redirect_evil1",
        "name": name,
        "description": name,
        "ruleType": "Redirect",
        "status": "Active",
        "pairs": [{"source": {"key": "Url", "operator": "Equals", "value": name}, "destination": name}],
    }
    workspace.services.rules.put(rule)

    for text in (
        "/rules list Redirect_evil",
        "/rules show Redirect_evil1",
        "/rules off Redirect_evil1",
        "/rules delete Redirect_evil1",
    ):
        reply = await alice.says(text)
        raw = reply.text + "".join(_marked_up(reply.blocks))
        assert "<!channel>" not in raw
        assert "<@U0DAN0001>" not in raw
        assert "<https://evil" not in raw

    after = workspace.services.rules.get("Redirect_evil1")
    assert after is not None
    assert {field: after[field] for field in ("name", "description", "pairs")} == {
        field: rule[field] for field in ("name", "description", "pairs")
    }


@pytest.mark.threat("C5")
async def test_three_hundred_segments_are_shown_and_kept(workspace: Sandbox, bob: Colleague) -> None:
    names = [f"segment-{number:03d}" for number in range(300)]
    member = {"email": "many@example.com", "name": "Many", "allowedSegments": names}
    for name in names:
        workspace.services.database.add_segment("site_1", name)
    workspace.services.members.put("site_1", member)

    shown = await bob.says("/members show many@example.com")
    assert "and 270 more" in bob.slack_text(shown)
    await bob.says("/members grant many@example.com vip")

    after = workspace.services.members.get("site_1", "many@example.com")
    assert after is not None
    assert after["allowedSegments"] == [*names, "vip"]

    await bob.opens("/members edit many@example.com")
    assert "201 more segments" in bob.form
    bob.fills(Name="Still many")
    assert await bob.submits() == {}
    await bob.sees_change(of="Still many")

    after = workspace.services.members.get("site_1", "many@example.com")
    assert after is not None
    assert set(after["allowedSegments"]) == {*names, "vip"}


UNKNOWN_BUTTONS = [
    ("v0.decide.approve", "", "older version"),
    ("v2.decide.approve", "", "older version"),
    ("approve", "", "older version"),
    ("v1.approve", "", "older version"),
    ("v1.run.1", "rules frobnicate Redirect_x1old", "I don’t understand"),
    ("v1.run.1", '{"operation": "delete", "rule": "Redirect_x1old"}', "Gatehouse answers to"),
]
"""What the buttons of other releases may have: an action id, a value (none: that of today), and the answer to it."""


@pytest.mark.slow
@pytest.mark.threat("A11")
@pytest.mark.parametrize(("action_id", "value", "words"), UNKNOWN_BUTTONS)
async def test_a_button_of_another_release_changes_nothing(
    workspace: Sandbox, alice: Colleague, cara: Colleague, action_id: str, value: str, words: str
) -> None:
    card = await alice.says("/rules delete Redirect_x1old")
    _, approve = cara._button(card, "v1.decide.approve")
    forger = Forger(workspace, cara.id, OPS)

    await forger.clicks(card, action_id, value or approve["value"])

    await forger.hears(words)
    assert "went wrong in Gatehouse" not in forger.told[-1]
    assert [call for call in workspace.services.rules.calls() if call.method != "GET"] == []
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await alice.sees_change(of="Redirect_x1old")


@pytest.mark.threat("A11")
async def test_a_form_of_another_release_saves_nothing(workspace: Sandbox, bob: Colleague) -> None:
    view = await bob.opens("/members add")
    bob.fills(Email="new.person@example.com", Name="New Person", Segments=["vip"])
    view["callback_id"] = "v0.member.form"

    assert await bob.submits() == {}

    await bob.sees_form("older version")
    assert [call for call in workspace.services.members.calls() if call.method != "GET"] == []


@pytest.mark.threat("C6")
async def test_slack_looks_up_nobody_and_fetches_nothing_that_a_message_names(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    reason = "see https://evil.example/?secret, @alice and #ops-traffic say so"
    listed = await alice.says("/rules list checkout")
    await alice.clicks(listed, "Share in channel")
    await alice.sees_new_card(0)
    workspace.slack.troubles.apply("urls", {"choice": "expired"})
    await alice.says("/rules list checkout")
    card = await alice.says(f"/rules delete Redirect_x1old because {reason}")
    await cara.clicks(card, "Deny…", opens="Deny")
    cara.fills(Reason=reason)
    assert await cara.submits() == {}
    await alice.sees_change(state=State.DENIED)

    traffic = workspace.slack.state.traffic
    assert {one["what"] for one in traffic} >= MESSAGES
    assert loud_messages(traffic) == []


async def test_what_a_service_did_not_give_is_asked_for_again_by_a_button(workspace: Sandbox, alice: Colleague) -> None:
    faults = workspace.services.rules.stage.faults
    faults.add("cut_before", times=1_000)
    failed = await alice.is_refused("/rules show Old shop")
    unchanged = await alice.is_refused("/rules off Old shop")
    unread = alice.slack_text(await alice.says("/rules turn old shop off"))
    assert unread.startswith("The names of rules couldn’t be read just now")
    assert "[Check status]" in unread

    faults.clear()
    await alice.clicks(failed, "Try again")
    await alice.sees("“Old shop to new shop” · On")
    await alice.clicks(unchanged, "Try again")
    await alice.sees_change(of="Redirect_x1old")


async def test_a_new_rule_is_called_by_its_urls_or_as_somebody_types(alice: Colleague) -> None:
    await alice.opens("/rules new")
    assert (await alice.submits()).keys() == {"From", "To", "Name"}

    await alice.opens("/rules new https://shop.example.com/a to https://shop.example.com/b/")
    assert "Name: <shop.example.com/a to shop.example.com/b>" in alice.form
