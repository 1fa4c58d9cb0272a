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


@pytest.mark.parametrize("text", ["javascript:alert(1)", "https://", "two words"])
async def test_what_is_no_address_is_said_so(workspace: Sandbox, alice: Person, text: str) -> None:
    assert "Write it like" in alice.slack_text(await alice.says(f"/rules which {text}"))
