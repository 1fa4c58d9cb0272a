"""What a message may consist of, and where an app's home lets messages through."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from sandbox.gatehouse import BOT
from sandbox.slack.refusal import Refused
from sandbox.slack.running import LocalSlack
from sandbox.slack.story import Person
from tests.sandbox.slack.conftest import EVERY_SCOPE, App, app_of
from tests.sandbox.slack.desk import ALICE, OPS, scoped

DIRECT = "D0ALICE01"
SECTION = {"type": "section", "text": {"type": "mrkdwn", "text": "Hello"}}


def home(**tabs: bool) -> dict[str, Any]:
    scopes = ["chat:write", "im:write"]
    return {
        "display_information": {"name": "Desk"},
        "features": {"app_home": tabs, "slash_commands": [{"command": "/desk", "description": "Ask"}]},
        "oauth_config": {"scopes": {"bot": scopes}},
    }


@pytest.mark.parametrize(
    ("blocks", "attachments", "pointer"),
    [
        (
            [{**SECTION, "block_id": "b"}],
            [{"blocks": [SECTION, {**SECTION, "block_id": "b"}]}],
            "/attachments/0/blocks/1",
        ),
        ([], [{"blocks": [{**SECTION, "block_id": "b"}]}] * 2, "/attachments/1/blocks/0"),
    ],
)
async def test_an_id_is_taken_once_in_a_message_with_attachments(
    app: App, blocks: list[Any], attachments: list[Any], pointer: str
) -> None:
    answer = await app.json("chat.postMessage", channel=OPS, text="x", blocks=blocks, attachments=attachments)

    assert answer["error"] == "invalid_blocks"
    assert answer["errors"] == [f"`block_id` b already exists [json-pointer:{pointer}]"]


@pytest.fixture
async def without_messages() -> AsyncIterator[App]:
    async with app_of(home(messages_tab_enabled=False)) as found:
        yield found


@pytest.mark.parametrize("channel", [DIRECT, ALICE])
async def test_without_a_messages_tab_nobody_gets_a_direct_message(without_messages: App, channel: str) -> None:
    answer = await without_messages.json("chat.postMessage", channel=channel, text="Hello")

    assert answer["error"] == "messages_tab_disabled"
    assert await without_messages.post(OPS)


async def said(slack: LocalSlack, text: str, channel: str = DIRECT) -> Any:
    return (await slack.acting.say(ALICE, channel, text)).get("error")


async def test_where_messages_are_only_read_the_app_writes_and_nobody_answers() -> None:
    tabs = home(messages_tab_enabled=True, messages_tab_read_only_enabled=True)
    async with app_of(tabs) as app:
        slack = app.slack
        assert await app.post(DIRECT)
        assert [await said(slack, text) for text in ("Hello", "/desk")] == ["messages_tab_disabled"] * 2
        assert slack.state.messages[-1].text == "Sending messages to this app has been turned off."
        assert await said(slack, "Hello", OPS) is None
        with pytest.raises(Refused, match="messages_tab_disabled"):
            await Person(slack, ALICE, DIRECT).uploads("rules.json", b"[]")


async def test_a_home_that_says_nothing_of_messages_takes_them() -> None:
    async with app_of(home(home_tab_enabled=True)) as app:
        assert await app.post(DIRECT)
        assert await said(app.slack, "Hello") is None


async def test_the_app_is_called_what_its_manifest_says() -> None:
    made = {**scoped(EVERY_SCOPE), "features": {"bot_user": {"display_name": "Stand-up Bot!"}}}
    async with app_of(made) as app:
        user = (await app.get("users.info", user=BOT.id))["user"]

        assert (user["name"], user["real_name"]) == ("stand-up_bot_", "Stand-up Bot!")
        assert (await app.get("auth.test"))["user"] == "stand-up_bot_"
        assert (await app.json("chat.postMessage", channel="ops-traffic", text="x"))["message"]["bot_profile"][
            "name"
        ] == "Stand-up Bot!"


async def test_attachments_and_metadata_are_kept(able: App) -> None:
    button = {"type": "button", "text": {"type": "plain_text", "text": "Go"}}
    attachments = [{"color": "#f00", "text": "a & b"}, {"blocks": [{"type": "actions", "elements": [button]}]}]
    metadata = {"event_type": "task", "event_payload": {"id": 7}}
    kept = (await able.json("chat.postMessage", channel=OPS, attachments=attachments, metadata=metadata))["message"]

    assert [one["id"] for one in kept["attachments"]] == [1, 2]
    assert kept["metadata"] == metadata
    block = kept["attachments"][1]["blocks"][0]
    assert block["block_id"]
    assert block["elements"][0]["action_id"]

    edited = (await able.json("chat.update", channel=OPS, ts=kept["ts"], text="x & <y>"))["message"]
    assert (edited["text"], len(edited["attachments"])) == ("x &amp; &lt;y&gt;", 2)
    no = await able.json("chat.postMessage", channel=OPS, text="x", metadata={"event_type": 1})
    assert no["error"] == "invalid_metadata_schema"
