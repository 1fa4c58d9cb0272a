"""Channels that apps make and join, messages that they schedule, and profiles."""

from __future__ import annotations

import httpx

from sandbox.gatehouse import ALICE, BOB, BOT, DAN
from sandbox.slack.ids import StandingClock
from sandbox.slack.story import Person
from tests.sandbox.slack.conftest import EVERY_SCOPE, NOW, App, app_of
from tests.sandbox.slack.desk import OPS, scoped

GENERAL = "C0GENERAL"


async def test_a_channel_is_made_filled_renamed_and_left(able: App) -> None:
    made = (await able.json("conversations.create", name="incident-7"))["channel"]
    await able.json("conversations.invite", channel=made["id"], users=f"{ALICE.id},{BOB.id}")
    await able.form("conversations.rename", channel=made["id"], name="incident-7-done")

    found = (await able.get("conversations.info", channel=made["id"]))["channel"]
    assert (found["name"], found["is_member"], found["is_private"]) == ("incident-7-done", True, False)
    members = (await able.get("conversations.members", channel=made["id"]))["members"]
    assert members == [ALICE.id, BOB.id, BOT.id]
    assert (await able.json("conversations.leave", channel=made["id"])) == {"ok": True}
    assert (await able.json("conversations.leave", channel=made["id"])) == {"ok": True, "not_in_channel": True}
    assert (await able.json("chat.postMessage", channel="incident-7-done", text="x"))["error"] == "not_in_channel"


async def test_a_public_channel_is_joined_once(able: App) -> None:
    first, second = [await able.json("conversations.join", channel=GENERAL) for _ in range(2)]

    assert first["channel"]["is_member"] is True
    assert "warning" not in first
    assert (second["warning"], second["response_metadata"]) == (
        "already_in_channel",
        {"warnings": ["already_in_channel"]},
    )


async def forward(app: App, seconds: float) -> None:
    async with httpx.AsyncClient(trust_env=False, headers={"x-local-slack-page": "1"}) as http:
        await http.post(f"{app.slack.page_url}/_local/clock", json={"seconds": seconds})


async def test_a_message_is_posted_when_its_time_comes(able: App) -> None:
    late, soon = [
        (await able.form("chat.scheduleMessage", channel="#ops-traffic", text=f"in {wait} & on", post_at=NOW + wait))
        for wait in (600, 120)
    ]
    assert (late["channel"], late["post_at"], late["message"]["type"]) == (OPS, NOW + 600, "delayed_message")
    listed = (await able.json("chat.scheduledMessages.list", channel=OPS))["scheduled_messages"]
    assert [one["id"] for one in listed] == [soon["scheduled_message_id"], late["scheduled_message_id"]]

    await forward(able, 119)
    assert able.slack.state.messages == []
    await forward(able, 1)
    assert [one.text for one in able.slack.state.visible_messages("", OPS)] == ["in 120 &amp; on"]

    gone = {"channel": OPS, "scheduled_message_id": late["scheduled_message_id"]}
    assert (await able.json("chat.deleteScheduledMessage", **gone))["ok"]
    await forward(able, 1000)
    assert len(able.slack.state.messages) == 1
    assert (await able.get("chat.scheduledMessages.list"))["scheduled_messages"] == []


async def test_what_is_due_within_a_minute_can_not_be_taken_back(able: App) -> None:
    planned = await able.json("chat.scheduleMessage", channel=OPS, text="x", post_at=NOW + 59)
    gone = {"channel": OPS, "scheduled_message_id": planned["scheduled_message_id"]}

    assert (await able.json("chat.deleteScheduledMessage", **gone))["error"] == "invalid_scheduled_message_id"


async def test_nobody_has_to_look_whether_a_time_has_come(able: App, standing_clock: StandingClock) -> None:
    standing_clock.now = NOW + 0.99
    await able.json("chat.scheduleMessage", channel=OPS, text="Good morning", post_at=NOW + 1)
    standing_clock.now = NOW + 1.0

    assert (await Person(able.slack, ALICE.id, OPS).sees("Good morning")).channel == OPS


async def test_a_profile_and_the_conversations_of_a_person(able: App) -> None:
    profile = (await able.get("users.profile.get", user=ALICE.id))["profile"]
    assert (profile["email"], profile["display_name"], profile["first_name"]) == (ALICE.email, "alice", "Alice")
    assert profile.keys() >= {"avatar_hash", *(f"image_{size}" for size in (24, 32, 48, 72, 192, 512))}

    kinds = "public_channel,private_channel"
    mine, dans = [
        [one["name"] for one in (await able.get("users.conversations", types=kinds, limit=1000, **who))["channels"]]
        for who in ({}, {"user": DAN.id})
    ]
    assert mine == ["ops-traffic", "support", "partners", "war-room", "alice-notes"]
    assert dans == ["support", "general", "partners"]


async def test_the_app_is_called_what_its_manifest_says() -> None:
    made = {**scoped(EVERY_SCOPE), "features": {"bot_user": {"display_name": "Stand-up Bot!"}}}
    async with app_of(made) as app:
        user = (await app.get("users.info", user=BOT.id))["user"]

        assert (user["name"], user["real_name"]) == ("stand-up_bot_", "Stand-up Bot!")
        assert (await app.get("auth.test"))["user"] == "stand-up_bot_"
        assert (await app.get("bots.info"))["bot"]["name"] == "Stand-up Bot!"
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
    (plain,) = (await able.get("conversations.history", channel=OPS))["messages"]
    (whole,) = (await able.get("conversations.history", channel=OPS, include_all_metadata="true"))["messages"]
    assert ("metadata" in plain, whole["metadata"]) == (False, metadata)
    block = plain["attachments"][1]["blocks"][0]
    assert block["block_id"]
    assert block["elements"][0]["action_id"]

    await able.json("chat.update", channel=OPS, ts=plain["ts"], text="x & <y>")
    (plain,) = (await able.get("conversations.history", channel=OPS))["messages"]
    assert (plain["text"], len(plain["attachments"])) == ("x &amp; &lt;y&gt;", 2)
    no = await able.json("chat.postMessage", channel=OPS, text="x", metadata={"event_type": 1})
    assert no["error"] == "invalid_metadata_schema"


async def test_who_reacted_with_what(able: App) -> None:
    ts = await able.post()
    await able.json("reactions.add", channel=OPS, timestamp=ts, name="eyes")

    found = await able.get("reactions.get", channel=OPS, timestamp=ts)
    assert (found["type"], found["channel"]) == ("message", OPS)
    assert found["message"]["reactions"] == [{"name": "eyes", "users": [BOT.id], "count": 1}]


async def test_a_channel_gets_a_topic_and_a_purpose_and_is_archived(able: App) -> None:
    made = (await able.json("conversations.create", name="incident-8"))["channel"]["id"]
    await able.json("conversations.invite", channel=made, users=ALICE.id)

    topic = await able.json("conversations.setTopic", channel=made, topic="Checkout is down & slow")
    purpose = await able.form("conversations.setPurpose", channel=made, purpose="One incident")

    assert topic["channel"]["topic"]["value"] == "Checkout is down &amp; slow"
    assert purpose["channel"]["purpose"]["value"] == "One incident"
    too_long = await able.json("conversations.setTopic", channel=made, topic="x" * 251)
    assert too_long["error"] == "too_long"
    assert await able.json("conversations.archive", channel=made) == {"ok": True}
    assert (await able.json("conversations.archive", channel=made))["error"] == "already_archived"
    assert (await able.json("chat.postMessage", channel=made, text="x"))["error"] == "is_archived"
    said = [one.subtype for one in able.slack.state.messages if one.channel == made]
    assert said == ["channel_join", "channel_join", "channel_topic", "channel_purpose", "channel_archive"]


async def test_somebody_is_taken_out_of_a_channel(able: App) -> None:
    assert await able.json("conversations.kick", channel=OPS, user=ALICE.id) == {"ok": True}

    assert ALICE.id not in (await able.get("conversations.members", channel=OPS))["members"]
    for user, error in ((ALICE.id, "not_in_channel"), (BOT.id, "cant_kick_self"), ("U0NOBODY1", "user_not_found")):
        assert (await able.json("conversations.kick", channel=OPS, user=user))["error"] == error


async def test_a_message_is_pinned_once_and_listed(able: App) -> None:
    ts = await able.post()

    assert await able.json("pins.add", channel=OPS, timestamp=ts) == {"ok": True}

    assert (await able.json("pins.add", channel=OPS, timestamp=ts))["error"] == "already_pinned"
    (item,) = (await able.get("pins.list", channel=OPS))["items"]
    assert (item["type"], item["created"], item["created_by"]) == ("message", NOW, BOT.id)
    assert (item["message"]["ts"], item["message"]["pinned_to"]) == (ts, [OPS])
    assert await able.form("pins.remove", channel=OPS, timestamp=ts) == {"ok": True}
    assert (await able.form("pins.remove", channel=OPS, timestamp=ts))["error"] == "no_pin"
    assert (await able.get("pins.list", channel=OPS))["items"] == []


async def test_a_channel_keeps_bookmarks(able: App) -> None:
    link = {"channel_id": OPS, "title": "Runbook", "type": "link", "link": "https://runbook.example.com/"}

    made = (await able.json("bookmarks.add", **link))["bookmark"]

    assert (made["title"], made["link"], made["date_created"]) == ("Runbook", link["link"], NOW)
    assert (await able.json("bookmarks.list", channel_id=OPS))["bookmarks"] == [made]
    assert (await able.json("bookmarks.add", **{**link, "type": "file"}))["error"] == "invalid_bookmark_type"
    assert (await able.json("bookmarks.add", **{**link, "link": "javascript:x"}))["error"] == "invalid_link"
    assert (await able.get("emoji.list"))["emoji"] == {}
