"""Channels that apps make and join, messages that they schedule, and profiles: each method with Slack's refusals."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from sandbox.gatehouse import ALICE, BOB, BOT, DAN, FRANK, WORKSPACES
from sandbox.slack.ids import StandingClock
from sandbox.slack.running import running_slack
from sandbox.slack.story import Person
from tests.sandbox.slack.conftest import App, client
from tests.sandbox.slack.desk import OPS, scoped

GENERAL, QUIET, WAR_ROOM = "C0GENERAL", "C0QUIET01", "C0WARROOM"
NOW = 1_800_000_000
SCOPES = (
    *("chat:write", "channels:manage", "channels:join", "channels:read", "groups:write", "groups:read", "im:read"),
    *("users:read", "users:read.email", "users.profile:read", "channels:history", "reactions:read", "reactions:write"),
    *("pins:read", "pins:write", "bookmarks:read", "bookmarks:write", "emoji:read"),
)


@pytest.fixture
async def maker() -> AsyncIterator[App]:
    """An app with all scopes that there are for this, in a Slack whose clock stands."""
    async with (
        running_slack(scoped(SCOPES), WORKSPACES, clock=StandingClock(NOW)) as slack,
        client(slack) as http,
    ):
        yield App(slack, http)


async def test_a_channel_is_made_filled_renamed_and_left(maker: App) -> None:
    made = (await maker.json("conversations.create", name="incident-7"))["channel"]
    await maker.json("conversations.invite", channel=made["id"], users=f"{ALICE.id},{BOB.id}")
    await maker.form("conversations.rename", channel=made["id"], name="incident-7-done")

    found = (await maker.get("conversations.info", channel=made["id"]))["channel"]
    assert (found["name"], found["is_member"], found["is_private"]) == ("incident-7-done", True, False)
    members = (await maker.get("conversations.members", channel=made["id"]))["members"]
    assert members == [ALICE.id, BOB.id, BOT.id]
    assert (await maker.json("conversations.leave", channel=made["id"])) == {"ok": True}
    assert (await maker.json("conversations.leave", channel=made["id"])) == {"ok": True, "not_in_channel": True}
    assert (await maker.json("chat.postMessage", channel="incident-7-done", text="x"))["error"] == "not_in_channel"


async def test_a_public_channel_is_joined_once(maker: App) -> None:
    first, second = [await maker.json("conversations.join", channel=GENERAL) for _ in range(2)]

    assert first["channel"]["is_member"] is True
    assert "warning" not in first
    assert (second["warning"], second["response_metadata"]) == (
        "already_in_channel",
        {"warnings": ["already_in_channel"]},
    )


@pytest.mark.first(8)
@pytest.mark.parametrize(
    ("method", "arguments", "error"),
    [
        ("conversations.create", {"name": ""}, "invalid_name_required"),
        ("conversations.create", {"name": "x" * 81}, "invalid_name_maxlength"),
        ("conversations.create", {"name": "Incident 7"}, "invalid_name_specials"),
        ("conversations.create", {"name": "-_-"}, "invalid_name_punctuation"),
        ("conversations.create", {"name": "ops-traffic"}, "name_taken"),
        ("conversations.join", {"channel": WAR_ROOM}, "method_not_supported_for_channel_type"),
        ("conversations.join", {"channel": "C0NOWHERE"}, "channel_not_found"),
        ("conversations.invite", {"channel": OPS}, "no_user"),
        ("conversations.invite", {"channel": OPS, "users": BOT.id}, "cant_invite_self"),
        ("conversations.invite", {"channel": OPS, "users": f"{DAN.id},U0NOBODY"}, "user_not_found"),
        ("conversations.invite", {"channel": OPS, "users": ALICE.id}, "already_in_channel"),
        ("conversations.invite", {"channel": OPS, "users": FRANK.id}, "cant_invite"),
        ("conversations.invite", {"channel": GENERAL, "users": FRANK.id}, "not_in_channel"),
        ("conversations.invite", {"channel": "D0ALICE01", "users": BOB.id}, "method_not_supported_for_channel_type"),
        ("conversations.leave", {"channel": GENERAL}, "cant_leave_general"),
        ("conversations.rename", {"channel": GENERAL, "name": "all"}, "not_in_channel"),
        ("users.profile.get", {"user": "U0NOBODY"}, "user_not_found"),
        ("users.conversations", {"user": "U0NOBODY"}, "user_not_found"),
        ("chat.scheduleMessage", {"channel": OPS, "text": "x", "post_at": NOW}, "time_in_past"),
        ("chat.scheduleMessage", {"channel": OPS, "text": "x", "post_at": NOW + 121 * 86_400}, "time_too_far"),
        ("chat.scheduleMessage", {"channel": OPS, "text": "x", "post_at": "soon"}, "invalid_time"),
        ("chat.scheduleMessage", {"channel": OPS, "post_at": NOW + 60}, "no_text"),
        ("chat.deleteScheduledMessage", {"channel": OPS, "scheduled_message_id": "Q1"}, "invalid_scheduled_message_id"),
        ("chat.scheduledMessages.list", {"channel": "C0NOWHERE"}, "invalid_channel"),
        ("reactions.get", {"channel": OPS}, "no_item_specified"),
    ],
)
async def test_slack_says_no(maker: App, method: str, arguments: dict[str, Any], error: str) -> None:
    assert (await maker.form(method, **arguments))["error"] == error


@pytest.mark.parametrize(
    ("method", "arguments", "needed"),
    [
        ("conversations.create", {"name": "x", "is_private": "true"}, "groups:write"),
        ("conversations.join", {"channel": GENERAL}, "channels:join"),
        ("conversations.invite", {"channel": WAR_ROOM, "users": BOB.id}, "groups:write"),
        ("users.profile.get", {"user": ALICE.id}, "users.profile:read"),
        ("chat.scheduleMessage", {"channel": OPS, "text": "x", "post_at": 1}, "chat:write"),
    ],
)
async def test_scopes_are_demanded(method: str, arguments: dict[str, Any], needed: str) -> None:
    async with running_slack(scoped(["channels:manage"]), WORKSPACES) as slack, client(slack) as http:
        answer = await App(slack, http).form(method, **arguments)

    assert (answer["error"], answer["needed"]) == ("missing_scope", needed)


async def forward(app: App, seconds: float) -> None:
    async with httpx.AsyncClient(trust_env=False, headers={"x-local-slack-page": "1"}) as http:
        await http.post(f"{app.slack.page_url}/_local/clock", json={"seconds": seconds})


async def test_a_message_is_posted_when_its_time_comes(maker: App) -> None:
    late, soon = [
        (await maker.form("chat.scheduleMessage", channel="#ops-traffic", text=f"in {wait} & on", post_at=NOW + wait))
        for wait in (600, 120)
    ]
    assert (late["channel"], late["post_at"], late["message"]["type"]) == (OPS, NOW + 600, "delayed_message")
    listed = (await maker.json("chat.scheduledMessages.list", channel=OPS))["scheduled_messages"]
    assert [one["id"] for one in listed] == [soon["scheduled_message_id"], late["scheduled_message_id"]]

    await forward(maker, 119)
    assert maker.slack.state.messages == []
    await forward(maker, 1)
    assert [one.text for one in maker.slack.state.visible_messages("", OPS)] == ["in 120 &amp; on"]

    gone = {"channel": OPS, "scheduled_message_id": late["scheduled_message_id"]}
    assert (await maker.json("chat.deleteScheduledMessage", **gone))["ok"]
    await forward(maker, 1000)
    assert len(maker.slack.state.messages) == 1
    assert (await maker.get("chat.scheduledMessages.list"))["scheduled_messages"] == []


async def test_what_is_due_within_a_minute_can_not_be_taken_back(maker: App) -> None:
    planned = await maker.json("chat.scheduleMessage", channel=OPS, text="x", post_at=NOW + 59)
    gone = {"channel": OPS, "scheduled_message_id": planned["scheduled_message_id"]}

    assert (await maker.json("chat.deleteScheduledMessage", **gone))["error"] == "invalid_scheduled_message_id"


async def test_nobody_has_to_look_whether_a_time_has_come() -> None:
    clock = StandingClock(NOW + 0.99)
    async with running_slack(scoped(SCOPES), WORKSPACES, clock=clock) as slack, client(slack) as http:
        await App(slack, http).json("chat.scheduleMessage", channel=OPS, text="Good morning", post_at=NOW + 1)
        clock.now = NOW + 1.0

        assert (await Person(slack, ALICE.id, OPS).sees("Good morning")).channel == OPS


async def test_a_profile_and_the_conversations_of_a_person(maker: App) -> None:
    profile = (await maker.get("users.profile.get", user=ALICE.id))["profile"]
    assert (profile["email"], profile["display_name"], profile["first_name"]) == (ALICE.email, "alice", "Alice")
    assert profile.keys() >= {"avatar_hash", *(f"image_{size}" for size in (24, 32, 48, 72, 192, 512))}

    kinds = "public_channel,private_channel"
    mine, dans = [
        [one["name"] for one in (await maker.get("users.conversations", types=kinds, limit=1000, **who))["channels"]]
        for who in ({}, {"user": DAN.id})
    ]
    assert mine == ["ops-traffic", "support", "partners", "war-room", "alice-notes"]
    assert dans == ["support", "general", "partners"]


async def test_the_app_is_called_what_its_manifest_says() -> None:
    made = {**scoped(SCOPES), "features": {"bot_user": {"display_name": "Stand-up Bot!"}}}
    async with running_slack(made, WORKSPACES) as slack, client(slack) as http:
        app = App(slack, http)
        user = (await app.get("users.info", user=BOT.id))["user"]

        assert (user["name"], user["real_name"]) == ("stand-up_bot_", "Stand-up Bot!")
        assert (await app.get("auth.test"))["user"] == "stand-up_bot_"
        assert (await app.get("bots.info"))["bot"]["name"] == "Stand-up Bot!"
        assert (await app.json("chat.postMessage", channel="ops-traffic", text="x"))["message"]["bot_profile"][
            "name"
        ] == "Stand-up Bot!"


async def test_attachments_and_metadata_are_kept(maker: App) -> None:
    button = {"type": "button", "text": {"type": "plain_text", "text": "Go"}}
    attachments = [{"color": "#f00", "text": "a & b"}, {"blocks": [{"type": "actions", "elements": [button]}]}]
    metadata = {"event_type": "task", "event_payload": {"id": 7}}
    kept = (await maker.json("chat.postMessage", channel=OPS, attachments=attachments, metadata=metadata))["message"]

    assert [one["id"] for one in kept["attachments"]] == [1, 2]
    assert kept["metadata"] == metadata
    (plain,) = (await maker.get("conversations.history", channel=OPS))["messages"]
    (whole,) = (await maker.get("conversations.history", channel=OPS, include_all_metadata="true"))["messages"]
    assert ("metadata" in plain, whole["metadata"]) == (False, metadata)
    block = plain["attachments"][1]["blocks"][0]
    assert block["block_id"]
    assert block["elements"][0]["action_id"]

    await maker.json("chat.update", channel=OPS, ts=plain["ts"], text="x & <y>")
    (plain,) = (await maker.get("conversations.history", channel=OPS))["messages"]
    assert (plain["text"], len(plain["attachments"])) == ("x &amp; &lt;y&gt;", 2)
    no = await maker.json("chat.postMessage", channel=OPS, text="x", metadata={"event_type": 1})
    assert no["error"] == "invalid_metadata_schema"


async def test_who_reacted_with_what(maker: App) -> None:
    ts = await maker.post()
    await maker.json("reactions.add", channel=OPS, timestamp=ts, name="eyes")

    found = await maker.get("reactions.get", channel=OPS, timestamp=ts)
    assert (found["type"], found["channel"]) == ("message", OPS)
    assert found["message"]["reactions"] == [{"name": "eyes", "users": [BOT.id], "count": 1}]


async def test_a_channel_gets_a_topic_and_a_purpose_and_is_archived(maker: App) -> None:
    made = (await maker.json("conversations.create", name="incident-8"))["channel"]["id"]
    await maker.json("conversations.invite", channel=made, users=ALICE.id)

    topic = await maker.json("conversations.setTopic", channel=made, topic="Checkout is down & slow")
    purpose = await maker.form("conversations.setPurpose", channel=made, purpose="One incident")

    assert topic["channel"]["topic"]["value"] == "Checkout is down &amp; slow"
    assert purpose["channel"]["purpose"]["value"] == "One incident"
    too_long = await maker.json("conversations.setTopic", channel=made, topic="x" * 251)
    assert too_long["error"] == "too_long"
    assert await maker.json("conversations.archive", channel=made) == {"ok": True}
    assert (await maker.json("conversations.archive", channel=made))["error"] == "already_archived"
    assert (await maker.json("chat.postMessage", channel=made, text="x"))["error"] == "is_archived"
    said = [one.subtype for one in maker.slack.state.messages if one.channel == made]
    assert said == ["channel_join", "channel_join", "channel_topic", "channel_purpose", "channel_archive"]


async def test_somebody_is_taken_out_of_a_channel(maker: App) -> None:
    assert await maker.json("conversations.kick", channel=OPS, user=ALICE.id) == {"ok": True}

    assert ALICE.id not in (await maker.get("conversations.members", channel=OPS))["members"]
    for user, error in ((ALICE.id, "not_in_channel"), (BOT.id, "cant_kick_self"), ("U0NOBODY1", "user_not_found")):
        assert (await maker.json("conversations.kick", channel=OPS, user=user))["error"] == error


async def test_a_message_is_pinned_once_and_listed(maker: App) -> None:
    ts = await maker.post()

    assert await maker.json("pins.add", channel=OPS, timestamp=ts) == {"ok": True}

    assert (await maker.json("pins.add", channel=OPS, timestamp=ts))["error"] == "already_pinned"
    (item,) = (await maker.get("pins.list", channel=OPS))["items"]
    assert (item["type"], item["created"], item["created_by"]) == ("message", NOW, BOT.id)
    assert (item["message"]["ts"], item["message"]["pinned_to"]) == (ts, [OPS])
    assert await maker.form("pins.remove", channel=OPS, timestamp=ts) == {"ok": True}
    assert (await maker.form("pins.remove", channel=OPS, timestamp=ts))["error"] == "no_pin"
    assert (await maker.get("pins.list", channel=OPS))["items"] == []


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({}, "no_item_specified"),
        ({"timestamp": "now"}, "bad_timestamp"),
        ({"timestamp": "1.000000"}, "message_not_found"),
        ({"channel": "C0NOWHERE", "timestamp": "1.000000"}, "channel_not_found"),
    ],
)
async def test_what_is_not_there_is_not_pinned(maker: App, more: dict[str, str], error: str) -> None:
    assert (await maker.json("pins.add", **{"channel": OPS, **more}))["error"] == error


async def test_a_channel_keeps_bookmarks(maker: App) -> None:
    link = {"channel_id": OPS, "title": "Runbook", "type": "link", "link": "https://runbook.example.com/"}

    made = (await maker.json("bookmarks.add", **link))["bookmark"]

    assert (made["title"], made["link"], made["date_created"]) == ("Runbook", link["link"], NOW)
    assert (await maker.json("bookmarks.list", channel_id=OPS))["bookmarks"] == [made]
    assert (await maker.json("bookmarks.add", **{**link, "type": "file"}))["error"] == "invalid_bookmark_type"
    assert (await maker.json("bookmarks.add", **{**link, "link": "javascript:x"}))["error"] == "invalid_link"
    assert (await maker.get("emoji.list"))["emoji"] == {}
