"""What on-call asks at three in the morning: which rule touches this address, and why not the others."""

from __future__ import annotations

import pytest

from sandbox.demo import Sandbox
from tests.harness.colleague import Colleague

OLD = "https://shop.example.com/old"
NEW = "https://shop.example.com/new"
REDIRECTED = f"`{OLD}` redirects to `{NEW}`"


async def test_a_url_is_explained(workspace: Sandbox, alice: Colleague) -> None:
    reply = await alice.says(f"/rules which {OLD}")

    text = alice.slack_text(reply)
    assert text.startswith(REDIRECTED)
    assert "Old shop to new shop" in text
    await alice.clicks(reply, "Switch off…", opens="How long?")
    assert "Old shop to new shop" in alice.form
    alice.fills(**{"How long?": "Until I switch it on", "Why": "it loops"})
    assert await alice.submits() == {}
    await alice.sees_change(of="Redirect_x1old")
    assert (workspace.services.rules.get("Redirect_x1old") or {})["status"] == "Inactive"


def put_back(workspace: Sandbox, source: str, destination: str, **fields: object) -> None:
    """A second rule in the service, which takes *source* to *destination*."""
    rule = workspace.services.rules.get("Redirect_x1old") or {}
    pair = rule["pairs"][0] | {"source": rule["pairs"][0]["source"] | {"value": source}, "destination": destination}
    named = {"id": "Redirect_x2back", "name": "Back to the old shop", "pairs": [pair]}
    workspace.services.rules.put({**rule, **named, **fields})


async def test_a_url_that_loops_never_arrives(workspace: Sandbox, alice: Colleague) -> None:
    put_back(workspace, NEW, OLD)

    text = alice.slack_text(await alice.says(f"/rules which {OLD}"))

    assert text.startswith(f"`{OLD}` never arrives: it loops\n`{OLD}` → `{NEW}` → `{OLD}`")
    assert text.count("[Switch off…]") == 2


async def test_a_url_is_followed_to_its_end(workspace: Sandbox, alice: Colleague) -> None:
    put_back(workspace, NEW, "https://shop.example.com/newest")
    text = alice.slack_text(await alice.says(f"/rules which {OLD}"))
    assert text.startswith(f"`{OLD}` redirects to `https://shop.example.com/newest`")
    assert f"`{OLD}` → `{NEW}` → `https://shop.example.com/newest`" in text

    put_back(workspace, NEW, "", id="Cancel_x2", ruleType="Cancel", name="No new shop")
    workspace.services.rules.put((workspace.services.rules.get("Redirect_x2back") or {}) | {"status": "Inactive"})
    blocked = alice.slack_text(await alice.says(f"/rules which {OLD}"))
    assert blocked.startswith(f"`{OLD}` is blocked after 1 redirect")


async def test_one_rule_says_why_it_does_not_match(workspace: Sandbox, alice: Colleague) -> None:
    text = alice.slack_text(await alice.says(f'/rules which {OLD}/ "Old shop to new shop"'))
    assert "“Old shop to new shop” doesn’t match" in text
    assert "Differs only in the trailing slash." in text

    assert "“Old shop to new shop” matches" in alice.slack_text(await alice.says(f"/rules which {OLD} Redirect_x1old"))
    unknown = alice.slack_text(await alice.says(f"/rules which {OLD} nothing like it"))
    assert unknown.startswith(REDIRECTED)
    assert "is not the name of one rule" in unknown


async def test_near_misses_are_said_with_the_reason(workspace: Sandbox, alice: Colleague) -> None:
    near = alice.slack_text(await alice.says(f"/rules which {OLD}/"))
    assert "Near misses:" in near
    assert "differs only in the trailing slash" in near


async def test_a_rule_that_is_off_for_a_while_is_told_with_its_end(workspace: Sandbox, alice: Colleague) -> None:
    card = alice.slack_text(await alice.says("/rules off Redirect_x1old for 2h"))
    ends = card.partition(" is off until ")[2].partition("\n")[0]

    asked = alice.slack_text(await alice.says("/rules which https://shop.example.com/old"))
    assert f"isn’t redirected: “Old shop to new shop” is off until {ends}" in asked


async def test_a_rule_that_is_switched_off_no_longer_acts(workspace: Sandbox, alice: Colleague) -> None:
    await alice.says("/rules off Redirect_x1old")

    asked = await alice.says("/rules which https://shop.example.com/old")

    assert "isn’t redirected" in alice.slack_text(asked)
    await alice.clicks(asked, "Switch on")
    await alice.sees_change(where=lambda change: (change.edit.after or {})["status"] == "Active")
    assert (workspace.services.rules.get("Redirect_x1old") or {})["status"] == "Active"


async def test_what_was_pasted_around_a_url_is_no_part_of_it(workspace: Sandbox, alice: Colleague) -> None:
    text = alice.slack_text(await alice.says("/rules which is (`https://shop.example.com/old`). down?"))

    assert text.startswith(REDIRECTED)
    assert "Only the URL was read" in text


async def test_of_several_urls_the_first_is_answered_and_the_others_are_a_click_away(alice: Colleague) -> None:
    reply = await alice.says("/rules which https://shop.example.com/new, https://shop.example.com/old.")

    text = alice.slack_text(reply)
    assert "No rule changes `https://shop.example.com/new`" in text
    assert "This is about the first of 2 URLs. The others: `https://shop.example.com/old`" in text
    await alice.clicks(reply, "Check URL 2")
    await alice.sees(REDIRECTED)


async def test_a_rule_that_is_off_in_a_group_that_is_off_says_both(workspace: Sandbox, alice: Colleague) -> None:
    await alice.says("/rules group off Sales campaigns")
    await alice.says("/rules off Redirect_seas1")

    for text in ("which https://shop.example.com/summer", "show Redirect_seas1"):
        told = alice.slack_text(await alice.says(f"/rules {text}"))
        assert "its group “Sales campaigns” is off" in told, text


async def test_a_rule_that_acts_in_one_engine_says_so_first(workspace: Sandbox, alice: Colleague) -> None:
    rule = workspace.services.rules.get("Redirect_x1old") or {}
    pairs = [pair | {"source": pair["source"] | {"isActive": False}} for pair in rule["pairs"]]
    workspace.services.rules.put({**rule, "pairs": pairs})

    text = alice.slack_text(await alice.says("/rules which https://shop.example.com/old"))

    assert f"{REDIRECTED}, in the desktop app only" in text
    assert "the extension does nothing here" in text


@pytest.mark.parametrize("text", ["javascript:alert(1)", "https://", "two words"])
async def test_what_is_no_address_is_said_so(workspace: Sandbox, alice: Colleague, text: str) -> None:
    assert "https://shop.example.com/old" in alice.slack_text(await alice.says(f"/rules which {text}"))
