"""A rule that is stored with a flaw is edited in the form like any other: the flaw stays, and keeps nobody from the rest."""

from __future__ import annotations

from typing import Any

import pytest

from bot.rules.pair_fields import REST
from sandbox.demo import Sandbox
from tests.harness.colleague import Colleague
from tests.harness.truth import all_changes

Document = dict[str, Any]
SOURCE: Document = {"key": "Url", "operator": "Equals", "value": "https://shop.example.com/flawed"}
FLAWED: list[Document] = [
    {"ruleType": "Delay", "pairs": [{"source": SOURCE, "delay": "30000"}]},
    {"ruleType": "Response", "pairs": [{"source": SOURCE, "response": {"type": "static", "statusCode": "0"}}]},
    {"ruleType": "Redirect", "pairs": [{"source": SOURCE, "destination": "/relative"}]},
    {"ruleType": "Replace", "pairs": [{"source": SOURCE, "from": "", "to": "x"}]},
]


@pytest.mark.parametrize("flawed", FLAWED, ids=lambda rule: f"{rule['ruleType']} {rule['pairs'][0]}"[:80])
async def test_another_name_changes_nothing_else(workspace: Sandbox, alice: Colleague, flawed: Document) -> None:
    rules = workspace.services.rules
    rules.put({"id": "Flawed_1", "name": "Old name", "description": "", "status": "Inactive"} | flawed)
    before = rules.get("Flawed_1") or {}
    await alice.opens("/rules edit Flawed_1")
    alice.fills(Name="New name")

    assert await alice.submits() == {}
    if alice.modal is not None:
        await alice.sees_form("Not saved yet")
        assert await alice.submits() == {}
    await alice.sees_change(of="New name")

    after = rules.get("Flawed_1") or {}
    assert after == before | {"name": "New name", "modificationDate": after["modificationDate"]}


async def test_what_is_typed_wrong_is_refused_in_a_form_that_was_drawn_again(
    workspace: Sandbox, alice: Colleague
) -> None:
    workspace.services.rules.put(
        {"id": "Flawed_1", "name": "Slow", "description": "", "status": "Inactive"} | FLAWED[0]
    )
    view = await alice.opens("/rules edit Flawed_1")
    alice.fills(**{REST.label: "40000"})
    await alice.clicks(view, "Edit as JSON", opens="Enter a JSON object")
    alice.typed.clear()

    assert await alice.submits() == {}

    await alice.sees_form("Enter a JSON object")
    assert await all_changes(workspace.bot.gatehouse.store) == []


async def test_a_rule_without_a_status_is_off_in_its_form_too_until_somebody_switches_it_on(
    workspace: Sandbox, alice: Colleague
) -> None:
    rules = workspace.services.rules
    pairs = [{"source": SOURCE, "destination": "https://shop.example.com/"}]
    rules.put({"id": "Flawed_1", "name": "Old name", "ruleType": "Redirect", "pairs": pairs, "status": None})
    await alice.opens("/rules edit Flawed_1")
    assert "Status: <Off>" in alice.form
    alice.fills(Status="On", Description="Not empty")

    await alice.submits()
    await alice.sees_change(of="Old name")

    assert (rules.get("Flawed_1") or {})["status"] == "Active"
