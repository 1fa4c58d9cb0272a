"""What happens, as the Events API tells it: whoever did it, where the app is, and only what it asked for and may see."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from sandbox.gatehouse import BOT, DAN
from sandbox.slack.refusal import Refused
from tests.sandbox.slack.conftest import installed
from tests.sandbox.slack.desk import ALICE, BOB, OPS, Desk

GENERAL, SUPPORT = "C0GENERAL", "C0SUPPORT"
SCOPES = ("chat:write", "channels:history", "channels:read")
EVENTS = (
    *("app_mention", "message.channels"),
    *("member_joined_channel", "member_left_channel"),
)


def manifest(*, scopes: tuple[str, ...] = SCOPES, events: tuple[str, ...] = EVENTS) -> dict[str, Any]:
    return {
        "display_information": {"name": "Watcher"},
        "features": {"bot_user": {"display_name": "The Watcher"}},
        "oauth_config": {"scopes": {"bot": list(scopes)}},
        "settings": {"event_subscriptions": {"request_url": "https://desk.example.com", "bot_events": list(events)}},
    }


@pytest.fixture
async def watcher() -> AsyncIterator[Desk]:
    async with installed(manifest()) as found:
        yield found


async def said(desk: Desk, text: str = "Hello", channel: str = OPS) -> str:
    """The ts of what Alice says."""
    await desk.slack.acting.say(ALICE, channel, text)
    return desk.slack.state.visible_messages(ALICE, channel)[-1].ts


async def test_what_somebody_changes_and_deletes(watcher: Desk) -> None:
    acting, ts = watcher.slack.acting, await said(watcher)
    await acting.edit(ALICE, OPS, ts, "Hello @bob")
    await acting.delete(ALICE, OPS, ts)

    _, changed, deleted = await watcher.events()
    assert (changed["subtype"], changed["channel"], changed["channel_type"]) == ("message_changed", OPS, "channel")
    assert (changed["message"]["text"], changed["previous_message"]["text"]) == (f"Hello <@{BOB}>", "Hello")
    assert changed["message"]["ts"] == changed["previous_message"]["ts"] == deleted["deleted_ts"] == ts
    assert changed["message"]["edited"]["user"] == ALICE
    assert (deleted["subtype"], deleted["previous_message"]["text"]) == ("message_deleted", f"Hello <@{BOB}>")
    assert changed["hidden"] is deleted["hidden"] is True


async def test_what_the_app_itself_posts_and_changes(watcher: Desk) -> None:
    ts = (await watcher.call("chat.postMessage", channel=OPS, text="One"))["ts"]
    await watcher.call("chat.update", channel=OPS, ts=ts, text="Two")
    await watcher.call("chat.postEphemeral", channel=OPS, user=ALICE, text="Psst")

    posted, *others = await watcher.events()
    assert (posted["user"], posted["bot_id"], posted["bot_profile"]["name"]) == (BOT.id, "B0GATE001", "The Watcher")
    assert [one["subtype"] for one in others] == ["message_changed"]


async def test_nobody_touches_what_others_said(watcher: Desk) -> None:
    ts = await said(watcher)

    for touched in (watcher.slack.acting.edit(BOB, OPS, ts, "No"), watcher.slack.acting.delete(BOB, OPS, ts)):
        with pytest.raises(Refused, match="message_not_found"):
            await touched


@pytest.mark.parametrize("name", ["@the_watcher", "@The Watcher", "the watcher"])
async def test_who_comes_and_goes(watcher: Desk, name: str) -> None:
    acting = watcher.slack.acting
    await acting.say(ALICE, GENERAL, f"/invite {name}")
    await acting.say(ALICE, OPS, f"/invite @{DAN.name}")
    await acting.say(DAN.id, OPS, "/leave")

    told = [one for one in await watcher.events() if one["type"] != "message"]
    assert [(one["type"], one["user"], one["channel"], one.get("inviter")) for one in told] == [
        ("member_joined_channel", BOT.id, GENERAL, ALICE),
        ("member_joined_channel", DAN.id, OPS, ALICE),
        ("member_left_channel", DAN.id, OPS, None),
    ]
    assert {(one["channel_type"], one["team"]) for one in told} == {("C", "T0GATE001")}
    joined = [one["subtype"] for one in await watcher.events() if one["type"] == "message"]
    assert joined == ["channel_join", "channel_join", "channel_leave"]


@pytest.mark.parametrize(("name", "why"), [("Dan", "already_in_channel"), ("nobody", "user_not_found")])
async def test_an_invitation_that_leads_nowhere_is_answered_privately(watcher: Desk, name: str, why: str) -> None:
    answer = await watcher.slack.acting.say(ALICE, SUPPORT, f"/invite @{name}")

    assert answer["error"] == why
    assert await watcher.events() == []


async def everything(desk: Desk) -> list[str]:
    """The types of what is told when everything happens."""
    await said(desk, "Hello @the_watcher")
    await desk.slack.acting.say(ALICE, OPS, f"/invite @{DAN.name}")
    return [one["type"] for one in await desk.events()]


@pytest.mark.parametrize(
    ("scopes", "events", "told"),
    [
        (SCOPES, (), []),
        (SCOPES, EVENTS, ["message", "message", "member_joined_channel"]),
        (("chat:write",), EVENTS, []),
        (("app_mentions:read",), EVENTS, ["app_mention"]),
    ],
)
async def test_an_app_hears_what_it_subscribes_to_and_has_the_scope_for(
    scopes: tuple[str, ...], events: tuple[str, ...], told: list[str]
) -> None:
    async with installed(manifest(scopes=scopes, events=events)) as desk:
        assert await everything(desk) == told


async def test_where_the_app_is_not_it_hears_nothing(watcher: Desk) -> None:
    channels = watcher.slack.state.channels
    channels[OPS] = replace(channels[OPS], bot_is_member=False)

    assert await everything(watcher) == []
