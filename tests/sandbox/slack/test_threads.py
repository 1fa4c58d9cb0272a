"""Threads: where a reply goes, what its root is told of it, and which replies Slack refuses."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from sandbox.gatehouse import ALICE, BOB, BOT
from sandbox.slack.refusal import Refused
from sandbox.slack.running import LocalSlack
from tests.sandbox.slack.conftest import App

OPS, SUPPORT = "C0OPS0001", "C0SUPPORT"


def shown(slack: LocalSlack, ts: str) -> dict[str, Any]:
    message = slack.state.find(OPS, ts)
    assert message is not None
    return slack.state.message_data(message)


async def page(slack: LocalSlack, user: str, **more: str) -> list[str]:
    """What the page of *user* reads of the channel, or of a thread in it."""
    async with httpx.AsyncClient(base_url=slack.page_url, trust_env=False) as http:
        answer = await http.get("/_local/messages", params={"user": user, "channel": OPS, **more})
    return [one["text"] for one in answer.json()["messages"]]


async def test_a_message_knows_its_replies(app: App, slack: LocalSlack) -> None:
    root = await app.post()
    await slack.acting.say(BOB.id, OPS, "why?", root)
    last = await app.post(thread_ts=root, text="because")
    private = await app.json("chat.postEphemeral", channel=OPS, user=ALICE.id, thread_ts=root, text="psst")

    told = shown(slack, root)

    assert private["ok"] is True
    assert (told["reply_count"], told["reply_users"], told["latest_reply"]) == (2, [BOB.id, BOT.id], last)
    assert await page(slack, ALICE.id) == ["A card"]
    assert await page(slack, ALICE.id, thread_ts=root) == ["A card", "why?", "because", "psst"]
    assert await page(slack, BOB.id, thread_ts=root) == ["A card", "why?", "because"]


async def test_a_thread_that_is_not_there(app: App, slack: LocalSlack) -> None:
    root = await app.post()
    reply = await app.post(thread_ts=root)
    private = (await app.json("chat.postEphemeral", channel=OPS, user=ALICE.id, text="psst"))["message_ts"]

    async def refused(thread_ts: Any, channel: str = OPS) -> str:
        answer = await app.json("chat.postMessage", channel=channel, text="hi", thread_ts=thread_ts)
        return str(answer["error"])

    assert await refused("1.000001") == "thread_not_found"
    assert await refused(root, channel=SUPPORT) == "thread_not_found"
    assert await refused(private) == "thread_not_found"
    later = await app.json("chat.postMessage", channel=OPS, text="and", thread_ts=reply)
    assert later["message"]["thread_ts"] == root, "a reply to a reply is in its thread"
    assert await refused("0") == "invalid_thread_ts"
    assert await refused(float(root)) == "invalid_thread_ts"
    with pytest.raises(Refused, match="thread_not_found"):
        await slack.acting.say(ALICE.id, OPS, "hello?", "1.000001")
