"""Addresses of a channel, and what a change would do to them."""

from __future__ import annotations

import pytest

from handlers.explain.table import says_unchanged
from sandbox.demo import Sandbox
from tests.conftest import GENERAL, OPS
from tests.harness.colleague import Colleague

SHOP = "https://shop.example.com"


async def test_a_channel_keeps_addresses(workspace: Sandbox, alice: Colleague, bob: Colleague) -> None:
    added = alice.slack_text(
        await alice.says("/rules samples add https://shop.example.com/old https://SHOP.example.com")
    )
    assert "2 test URLs in this channel" in added
    assert f"{SHOP}/`" in added

    assert "No test URLs" in bob.slack_text(await bob.says("/rules samples", channel=bob.dm))
    assert "1 test URL in" in alice.slack_text(await alice.says("/rules samples remove https://shop.example.com"))
    assert f"{SHOP}/old" in alice.slack_text(await alice.says("/rules samples"))


@pytest.mark.first(3)
@pytest.mark.parametrize("channel", ["D0ALICE01", "C0PARTNER", GENERAL, OPS])
@pytest.mark.parametrize("action", ["add", "remove"])
@pytest.mark.policy("""
[roles.readers]
users = ["U0ALICE01"]
may = ["read"]
""")
async def test_changing_them_is_changing_what_a_channel_has_set(
    workspace: Sandbox, alice: Colleague, channel: str, action: str
) -> None:
    """Not in a direct message, not where others see it, not without Gatehouse, and not without the right."""
    await workspace.bot.gatehouse.store.test_urls.add(channel, [f"{SHOP}/kept"])

    assert says_unchanged((await alice.says(f"/rules samples {action} {SHOP}/kept", channel=channel)).blocks)
    shown = await alice.says("/rules samples", channel=channel)

    assert f"{SHOP}/kept" in alice.slack_text(shown)
    assert await workspace.bot.gatehouse.store.test_urls.get(channel) == [f"{SHOP}/kept"]


@pytest.mark.parametrize("stray", ["javascript:alert(1)", "on friday"])
async def test_what_is_no_address_is_not_kept(workspace: Sandbox, alice: Colleague, stray: str) -> None:
    await alice.says(f"/rules samples add https://a.example {stray}")

    assert "https://a.example" not in alice.slack_text(await alice.says("/rules samples"))


async def test_a_card_says_where_the_urls_could_not_be_tried(workspace: Sandbox, alice: Colleague) -> None:
    await alice.says(f"/rules samples add {SHOP}/old")
    workspace.services.rules.put({"id": "Redirect_odd", "ruleType": "Redirect", "pairs": "none"})
    assert "weren’t tried" not in alice.slack_text(await alice.says("/rules off Redirect_x1old"))

    workspace.services.switch(paging="pages")
    for number in range(40):
        workspace.services.rules.put(
            {**(workspace.services.rules.get("Redirect_x1old") or {}), "id": f"Redirect_m{number}"}
        )
    workspace.services.rules.stage.alter_page = lambda page: page | {"nextOffset": None}
    card = await alice.says("/rules delete Redirect_x1old")

    assert "weren’t tried" in alice.slack_text(card)
