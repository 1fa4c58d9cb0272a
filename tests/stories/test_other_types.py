"""Rules of the types that the specification does not describe: made and edited by fields or as JSON, losing nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.rules.pair_fields import REST
from sandbox.demo import Sandbox
from sandbox.slack.state import View
from tests.harness.colleague import Colleague

CORS = "Headers_cors1"
JSON = "Pair, as JSON"
X = "https://shop.example.com/x"


def pairs(workspace: Sandbox, rule_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (workspace.services.rules.get(rule_id) or {})["pairs"]
    return found


def has_pairs(workspace: Sandbox, rule_id: str, *new: dict[str, Any]) -> None:
    workspace.services.rules.put({**(workspace.services.rules.get(rule_id) or {}), "pairs": [*new]})


async def opens_as_json(person: Colleague, rule_id: str, *, containing: str = JSON) -> None:
    await person.opens(f"/rules edit {rule_id}")
    await shows_json(person, containing)


async def shows_json(person: Colleague, containing: str = JSON) -> None:
    if "[More options]" in person.form:
        await person.clicks(shown(person), "More options", opens="Edit as JSON")
    await person.clicks(shown(person), "Edit as JSON", opens=containing)


def shown(person: Colleague) -> View:
    assert person.modal is not None
    return person.modal


async def test_a_header_is_changed_as_json_and_its_card_says_so(workspace: Sandbox, alice: Colleague) -> None:
    (before,) = pairs(workspace, CORS)
    changed = json.loads(json.dumps({name: value for name, value in before.items() if name != "source"}))
    changed["modifications"]["Response"][0]["value"] = "*"
    changed["modifications"]["Response"].append({"header": "Server", "type": "Remove", "value": ""})
    await alice.opens(f"/rules edit {CORS}")
    assert "Types: Add, Modify, Remove" in alice.form

    alice.fills(**{REST.label: json.dumps(changed)})
    assert await alice.submits() == {}
    card = await alice.sees_change(of=CORS)

    assert pairs(workspace, CORS) == [{"source": before["source"]} | changed]
    assert "`https://app.example.com` → `*`" in alice.slack_text(card)
    assert "removes `Server`" in alice.slack_text(card)


async def test_what_was_typed_into_fields_stands_in_the_json(workspace: Sandbox, alice: Colleague) -> None:
    view = await alice.opens(f"/rules edit {CORS}")
    await alice.clicks(view, "Add pair", opens="Pair 2")
    alice.fills(**{REST.label: "Nonsense"})
    await shows_json(alice, "not JSON")
    assert "Nonsense" in alice.form

    alice.fills(**{REST.label: '{"modifications": {"Request": []}, "mood": "typed"}'})
    await shows_json(alice, "Pair 2, as JSON")

    assert '"mood": "typed"' in alice.form
    assert await alice.submits() == {}
    await alice.sees_form("Not saved yet")
    assert await alice.submits() == {}
    await alice.sees_change(of=CORS)
    assert pairs(workspace, CORS)[0]["mood"] == "typed"


@pytest.mark.parametrize("size", [2_800, 9_000])
async def test_a_script_of_any_length_is_kept_and_the_rest_is_edited(
    workspace: Sandbox, alice: Colleague, size: int
) -> None:
    (long,) = pairs(workspace, "Script_chat1")
    long["scripts"][0] |= {"value": "x" * size, "type": "code"}
    has_pairs(workspace, "Script_chat1", long)

    assert f"({size:,} characters)" in alice.slack_text(await alice.says("/rules show Script_chat1"))
    await alice.opens("/rules edit Script_chat1")
    assert ("is too long for a form" in alice.form) == (size > 3_000)
    alice.fills(URL=X)
    assert await alice.submits() == {}
    await alice.sees_change(of="Script_chat1")

    long["source"]["value"] = X
    assert pairs(workspace, "Script_chat1") == [long]


async def test_a_script_is_edited_as_json_and_its_source_by_field(workspace: Sandbox, alice: Colleague) -> None:
    (before,) = pairs(workspace, "Script_chat1")
    rest = {name: value for name, value in before.items() if name != "source"}
    rest["scripts"][0]["value"] = "console.log(2)"
    await alice.opens("/rules edit Script_chat1")

    alice.fills(**{REST.label: json.dumps(rest | {"source": {}})})
    assert "inputs of its own" in str(await alice.submits())
    alice.fills(URL=X, **{REST.label: json.dumps(rest)})
    assert await alice.submits() == {}
    card = await alice.sees_change(of="Script_chat1")

    assert "script 1 code" in alice.slack_text(card)
    assert pairs(workspace, "Script_chat1") == [rest | {"source": before["source"] | {"value": X}}]


async def test_a_pair_that_is_too_long_as_json_keeps_its_fields(workspace: Sandbox, alice: Colleague) -> None:
    (long,) = pairs(workspace, "Script_chat1")
    long["scripts"] = [long["scripts"][0] | {"value": letter * 2_000} for letter in "ab"]
    has_pairs(workspace, "Script_chat1", long)

    await opens_as_json(alice, "Script_chat1", containing="Too long to be edited as JSON")
    alice.fills(URL=X)
    assert await alice.submits() == {}
    await alice.sees_change(of="Script_chat1")

    long["source"]["value"] = X
    assert pairs(workspace, "Script_chat1") == [long]


async def test_another_type_is_chosen_before_a_pair_is_written_as_json(alice: Colleague) -> None:
    await alice.opens(f"/rules new useragent {X}")
    alice.fills(Name="Mine")
    await alice.picks("Type", "Script")
    await alice.sees_form('"scripts"')
    assert X in alice.form
    assert "Mine" in alice.form

    await shows_json(alice)
    assert "Type:" not in alice.form
    assert X in alice.form
