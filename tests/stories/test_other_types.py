"""Rules of the types that the specification does not describe: read, made and edited without losing anything."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sandbox.demo import Sandbox
from sandbox.slack.story import Person

CORS = "Headers_cors1"
JSON = "Pairs, as JSON"


def pairs(workspace: Sandbox, rule_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (workspace.services.rules.get(rule_id) or {})["pairs"]
    return found


async def test_pairs_are_edited_as_json_and_all_else_is_kept(workspace: Sandbox, alice: Person) -> None:
    before = pairs(workspace, CORS)
    before[0]["mood"] = "sunny"
    workspace.services.rules.put({**(workspace.services.rules.get(CORS) or {}), "pairs": before})
    await alice.opens(f"/rules edit {CORS}")
    wanted = json.loads(json.dumps(before))
    wanted[0]["modifications"]["Response"][0]["value"] = "*"

    alice.fills(**{JSON: json.dumps(wanted)})
    assert await alice.submits() == {}
    card = await alice.sees("“Open CORS for the app”: response header 1 value changed")

    assert pairs(workspace, CORS) == wanted
    assert "response header 1 value" in alice.slack_text(card)
    assert "`https://app.example.com` → `*`" in alice.slack_text(card)
    assert (workspace.services.rules.get(CORS) or {})["version"] == 2


async def test_what_is_no_json_is_said_under_the_field_with_its_place(workspace: Sandbox, alice: Person) -> None:
    await alice.opens(f"/rules edit {CORS}")

    alice.fills(**{JSON: '[\n {"source": 1}\n {"a": 2}\n]'})
    assert "Line 3, column 2" in (await alice.submits())[JSON]
    alice.fills(**{JSON: "[{“source”: 1}]"})
    assert "typographic quote" in (await alice.submits())[JSON]

    assert workspace.services.rules.calls("PUT") == []


async def test_what_the_service_refuses_stands_above_the_field_with_all_that_was_typed(
    workspace: Sandbox, alice: Person
) -> None:
    await alice.opens(f"/rules edit {CORS}")
    alice.fills(Name="Renamed", **{JSON: '[{"source": {"key": "Url"}, "mood": "typed"}]'})

    assert await alice.submits() == {}
    await alice.sees_form("Not saved yet")
    assert alice.form.count("Not saved yet") == 1
    assert await alice.submits() == {}
    told = await alice.sees("Rule pairs are invalid")
    await alice.clicks(told, "Open the form again…", opens="Rule pairs are invalid")

    assert "Renamed" in alice.form
    assert "typed" in alice.form
    assert alice.form.index("Rule pairs are invalid") < alice.form.index(JSON)
    assert (workspace.services.rules.get(CORS) or {})["name"] == "Open CORS for the app"


async def test_pairs_that_no_form_holds_are_kept_and_the_rest_is_offered(workspace: Sandbox, alice: Person) -> None:
    long = pairs(workspace, "Script_chat1")
    long[0]["scripts"][0]["value"] = "x" * 9000
    workspace.services.rules.put({**(workspace.services.rules.get("Script_chat1") or {}), "pairs": long})

    assert "(9,000 characters)" in alice.slack_text(await alice.says("/rules show Script_chat1"))
    view = await alice.opens("/rules edit Script_chat1")
    assert "the limit is 3,000" in alice.form
    assert JSON not in alice.form
    await alice.clicks(view, "More options", opens="Description")
    alice.fills(Description="Long")
    assert await alice.submits() == {}
    await alice.sees("“Chat widget”: description changed")

    assert pairs(workspace, "Script_chat1") == long


@pytest.mark.slow
@pytest.mark.parametrize("rule_type", ["Headers", "QueryParam", "UserAgent", "Request", "Response", "Delay", "Script"])
async def test_a_rule_of_each_type_is_made_from_a_skeleton(workspace: Sandbox, alice: Person, rule_type: str) -> None:
    await alice.opens(f"/rules new {rule_type.lower()} https://shop.example.com/x")
    alice.fills(Name="Mine")

    assert await alice.submits() == {}
    await alice.sees("“Mine” created")

    made = next(rule for rule in workspace.services.rules.all() if rule["name"] == "Mine")
    assert made["ruleType"] == rule_type
    assert made["pairs"][0]["source"]["value"] == "https://shop.example.com/x"
    assert "destinationType" not in made["pairs"][0]
    assert made.get("version") == (2 if rule_type == "Headers" else None)


async def test_another_type_brings_its_skeleton_and_keeps_the_source(workspace: Sandbox, alice: Person) -> None:
    await alice.opens("/rules new")
    alice.fills(Name="Mine", From="https://shop.example.com/x", To="https://shop.example.com/y")

    await alice.picks("Type", "Headers")
    await alice.sees_form("X-Debug")
    assert "https://shop.example.com/x" in alice.form
    await alice.picks("Type", "Delay")
    await alice.sees_form('"delay"')
    assert "X-Debug" not in alice.form
    assert "https://shop.example.com/x" in alice.form
    await alice.picks("Type", "Redirect")
    await alice.sees_form("To:")
    assert "https://shop.example.com/y" not in alice.form
    alice.fills(To="https://shop.example.com/z")
    assert await alice.submits() == {}
    await alice.sees("“Mine” created")

    made = next(rule for rule in workspace.services.rules.all() if rule["name"] == "Mine")
    assert made["pairs"] == [
        {
            "source": {"key": "Url", "operator": "Equals", "value": "https://shop.example.com/x"},
            "destinationType": "url",
            "destination": "https://shop.example.com/z",
        }
    ]


@pytest.mark.parametrize("text", ["[{", '[{"source": 1}]', "[]", '[{"source": {"value": "https://a.example/"}}]'])
async def test_whatever_was_typed_as_json_another_type_can_be_chosen(
    workspace: Sandbox, alice: Person, text: str
) -> None:
    await alice.opens("/rules new headers")
    alice.fills(Name="Mine", **{JSON: text})

    await alice.picks("Type", "Redirect")
    await alice.sees_form("To:")
    await alice.picks("Type", "Script")
    await alice.sees_form("console.log")

    assert "Mine" in alice.form


async def test_a_delay_of_every_address_is_asked_about(workspace: Sandbox, alice: Person) -> None:
    await alice.opens("/rules new delay")
    empty = [{"source": {"key": "Url", "operator": "Contains", "value": ""}, "delay": "10"}]
    alice.fills(Name="All", **{JSON: json.dumps(empty)})

    assert "would match every URL" in (await alice.submits())[JSON]
