"""Rules, from the first look to the deletion, as people do it."""

from __future__ import annotations

import pytest

from sandbox.demo import Sandbox
from tests.harness.colleague import Colleague

OLD = "Redirect_x1old"


@pytest.mark.threat("C5")
async def test_pages_turn_in_place(workspace: Sandbox, alice: Colleague) -> None:
    reply = await alice.says("/rules list")

    await alice.clicks(reply, "Next ›")
    turned = await alice.sees("[‹ Previous]")

    assert turned.ts == reply.ts


async def test_a_field_of_another_type_and_an_unknown_operator_never_leave(
    workspace: Sandbox, alice: Colleague
) -> None:
    for text, named in {
        "set Cancel_track1 to=https://shop.example.com/x": "“to”",
        f"set {OLD} destinaton=https://shop.example.com/x": "destination",
        f"set {OLD} destination=nonsense": "nonsense",
        f"set {OLD} operator=Regex": "Matches",
        "new cancel https://shop.example.com/x to https://shop.example.com/y": "“destination”",
    }.items():
        assert named in alice.slack_text(await alice.is_refused(f"/rules {text}")), text
    assert [call for call in workspace.services.rules.calls() if call.method != "GET"] == []


async def test_what_is_stored_wrongly_is_shown_and_edited_and_comes_into_no_copy(
    workspace: Sandbox, alice: Colleague
) -> None:
    rule = workspace.services.rules.get(OLD) or {}
    odd = [pair | {"to": "x", "source": pair["source"] | {"operator": "Regex"}} for pair in rule["pairs"]]
    workspace.services.rules.put({**rule, "pairs": odd, "status": "Bananas"})

    assert "Bananas" in alice.slack_text(await alice.says(f"/rules show {OLD}"))
    await alice.says(f"/rules set {OLD} description=Kept")
    await alice.opens(f"/rules edit {OLD}")
    alice.fills(Name="Oldest shop")
    assert await alice.submits() == {}
    await alice.sees_change(of="Oldest shop")
    kept = workspace.services.rules.get(OLD) or {}
    assert (kept["pairs"], kept["status"], kept["description"]) == (odd, "Bananas", "Kept")

    await alice.opens(f"/rules copy {OLD}")
    assert "Use Equals, Contains, Matches or" in str(await alice.submits())
    alice.fills(How="is exactly")
    assert await alice.submits() == {}
    await alice.sees_change(of="Oldest shop (copy)")
    copy = next(one for one in workspace.services.rules.all() if one["name"] == "Oldest shop (copy)")
    assert "to" not in copy["pairs"][0]


async def test_a_rule_is_found_by_each_url_that_it_makes_or_loads(alice: Colleague) -> None:
    for url, name in (
        ("https://shop.example.com/new", "Old shop"),
        ("assets-eu.example.com", "Assets to the EU host"),
        ("https://chat.example.com/widget.js", "Chat widget"),
    ):
        assert name in alice.slack_text(await alice.says(f"/rules list url:{url}")), url


async def test_who_comes_second_hears_who_was_first(alice: Colleague, cara: Colleague) -> None:
    await cara.says(f"/rules off {OLD}")
    shown = await alice.says(f"/rules show {OLD}")
    await cara.says(f"/rules on {OLD}")
    await alice.clicks(shown, "Switch on")

    assert f"Last changed by @{cara.id}" in alice.slack_text(await alice.sees_problem("already on"))
