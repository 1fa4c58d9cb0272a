"""What a message may consist of, and where an app's home lets messages through."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from sandbox.gatehouse import BOT
from tests.sandbox.slack.conftest import EVERY_SCOPE, App, app_of
from tests.sandbox.slack.desk import ALICE, OPS, scoped

DIRECT = "D0ALICE01"


def home(**tabs: bool) -> dict[str, Any]:
    scopes = ["chat:write", "im:write"]
    return {
        "display_information": {"name": "Desk"},
        "features": {"app_home": tabs, "slash_commands": [{"command": "/desk", "description": "Ask"}]},
        "oauth_config": {"scopes": {"bot": scopes}},
    }


@pytest.fixture
async def without_messages() -> AsyncIterator[App]:
    async with app_of(home(messages_tab_enabled=False)) as found:
        yield found


@pytest.mark.parametrize("channel", [DIRECT, ALICE])
async def test_without_a_messages_tab_nobody_gets_a_direct_message(without_messages: App, channel: str) -> None:
    answer = await without_messages.json("chat.postMessage", channel=channel, text="Hello")

    assert answer["error"] == "messages_tab_disabled"
    assert await without_messages.post(OPS)


async def test_the_app_is_called_what_its_manifest_says() -> None:
    made = {**scoped(EVERY_SCOPE), "features": {"bot_user": {"display_name": "Stand-up Bot!"}}}
    async with app_of(made) as app:
        user = (await app.get("users.info", user=BOT.id))["user"]

        assert (user["name"], user["real_name"]) == ("stand-up_bot_", "Stand-up Bot!")
        assert (await app.get("auth.test"))["user"] == "stand-up_bot_"
        assert (await app.json("chat.postMessage", channel="ops-traffic", text="x"))["message"]["bot_profile"][
            "name"
        ] == "Stand-up Bot!"
