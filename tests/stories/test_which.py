"""What on-call asks at three in the morning: which rule touches this address, and why not the others."""

from __future__ import annotations

import pytest

from sandbox.demo import Sandbox
from sandbox.slack.story import Person


async def test_an_address_is_explained(workspace: Sandbox, alice: Person) -> None:
    text = alice.slack_text(await alice.says("/rules which https://shop.example.com/old"))

    assert "Old shop to new shop" in text
    assert "→ `https://shop.example.com/new`" in text
    assert text.startswith("Leads to `https://shop.example.com/new`, by Old shop to new shop.")


async def test_what_only_just_misses_is_said_with_the_reason(workspace: Sandbox, alice: Person) -> None:
    near = alice.slack_text(await alice.says("/rules which https://shop.example.com/old/"))
    assert "Only just misses" in near
    assert "only the slash at the end differs" in near


async def test_a_rule_that_is_switched_off_no_longer_acts(workspace: Sandbox, alice: Person) -> None:
    await alice.says("/rules off Redirect_x1old")

    text = alice.slack_text(await alice.says("/rules which https://shop.example.com/old"))

    assert "the rule is Inactive" in text
    assert "https://shop.example.com/new" not in text


async def test_what_was_pasted_around_a_url_is_no_part_of_it(workspace: Sandbox, alice: Person) -> None:
    text = alice.slack_text(await alice.says("/rules which is (`https://shop.example.com/old`). down?"))

    assert text.startswith("Leads to `https://shop.example.com/new`, by Old shop to new shop.")
    assert "The rest of the text was left out" in text


async def test_of_several_urls_the_first_is_answered_and_the_others_are_a_click_away(
    workspace: Sandbox, alice: Person
) -> None:
    reply = await alice.says("/rules which https://shop.example.com/new, https://shop.example.com/old.")

    text = alice.slack_text(reply)
    assert "No rule acts on this address" in text
    assert "This is about the first of 2 URLs. The others: `https://shop.example.com/old`" in text
    await alice.clicks(reply, "URL 2")
    await alice.sees("Leads to `https://shop.example.com/new`")


async def test_a_rule_that_is_off_in_a_group_that_is_off_says_both(workspace: Sandbox, alice: Person) -> None:
    await alice.says("/rules group off Sales campaigns")
    await alice.says("/rules off Redirect_seas1")

    for text in ("which https://shop.example.com/summer", "show Redirect_seas1"):
        told = alice.slack_text(await alice.says(f"/rules {text}"))
        assert "Inactive, and its group Sales campaigns is switched off" in told, text


async def test_a_rule_that_acts_in_one_engine_says_so_first(workspace: Sandbox, alice: Person) -> None:
    rule = workspace.services.rules.get("Redirect_x1old") or {}
    pairs = [pair | {"source": pair["source"] | {"isActive": False}} for pair in rule["pairs"]]
    workspace.services.rules.put({**rule, "pairs": pairs})

    text = alice.slack_text(await alice.says("/rules which https://shop.example.com/old"))

    assert "by Old shop to new shop, in the desktop app only." in text
    assert "the extension does nothing here" in text


@pytest.mark.parametrize("text", ["javascript:alert(1)", "https://", "two words"])
async def test_what_is_no_address_is_said_so(workspace: Sandbox, alice: Person, text: str) -> None:
    assert "https://shop.example.com/old" in alice.slack_text(await alice.says(f"/rules which {text}"))
