"""What an app may look up and read, page by page, and how often."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.gatehouse import ALICE, BOB, BOT, SHOP
from sandbox.slack.ids import StandingClock
from sandbox.slack.methods import READS
from sandbox.slack.ratelimits import CALLS_PER_MINUTE, TIERS
from tests.sandbox.slack.conftest import App, app_of
from tests.sandbox.slack.desk import scoped

OPS, GENERAL, WAR_ROOM = "C0OPS0001", "C0GENERAL", "C0WARROOM"


async def all_pages(app: App, method: str, field: str, **arguments: Any) -> list[Any]:
    found, cursor = [], ""
    while True:
        answer = await app.get(method, cursor=cursor, **arguments)
        assert answer["ok"], answer
        assert len(answer[field]) <= arguments["limit"]
        found += answer[field]
        cursor = answer.get("response_metadata", {}).get("next_cursor", "")
        if not cursor:
            return found


@pytest.mark.parametrize(
    ("method", "field", "arguments"),
    [
        ("users.list", "members", {}),
        ("conversations.list", "channels", {"types": "public_channel,private_channel,im"}),
        ("conversations.history", "messages", {"channel": OPS}),
        ("conversations.members", "members", {"channel": OPS}),
    ],
)
async def test_pages_together_are_the_whole(able: App, method: str, field: str, arguments: dict[str, str]) -> None:
    for number in range(7):
        await able.post(text=f"Card {number}")
    whole = (await able.get(method, **arguments))[field]

    assert len(whole) > 2
    assert await all_pages(able, method, field, limit=2, **arguments) == whole


async def test_only_the_kinds_asked_for_are_listed(able: App) -> None:
    async def listed(**arguments: Any) -> set[str]:
        return {one["id"] for one in (await able.get("conversations.list", **arguments))["channels"]}

    public = await listed()
    assert {OPS, GENERAL} < public
    assert WAR_ROOM not in public
    assert await listed(types="private_channel") == {WAR_ROOM}
    assert all(one.startswith("D") for one in await listed(types="im"))


async def test_somebody_is_found_by_their_address(able: App) -> None:
    answer = await able.get("users.lookupByEmail", email="Alice@example.com")

    assert answer["user"]["id"] == ALICE.id
    assert answer["user"]["profile"]["email"] == "alice@example.com"


async def test_history_is_newest_first_without_replies_and_private_messages(able: App) -> None:
    first = await able.post(text="First")
    await able.post(text="In the thread", thread_ts=first)
    loud = await able.post(text="Loud", thread_ts=first, reply_broadcast=True)
    await able.json("chat.postEphemeral", channel=OPS, user=ALICE.id, text="Psst")
    last = await able.post(text="Last")

    found = (await able.get("conversations.history", channel=OPS))["messages"]

    assert [one["ts"] for one in found] == [last, loud, first]
    root = found[-1]
    assert (root["reply_count"], root["latest_reply"], root["reply_users"]) == (2, loud, [BOT.id])
    usual = {"type", "user", "team", "bot_id", "app_id", "bot_profile", "ts", "text", "blocks"}
    assert usual <= set(root)
    assert set(found[0]) == usual


async def test_history_between_two_times(able: App) -> None:
    first, second, third = [await able.post(text=str(number)) for number in range(3)]

    async def between(**arguments: Any) -> list[str]:
        found = await able.get("conversations.history", channel=OPS, **arguments)
        return [one["ts"] for one in found["messages"]]

    assert await between(oldest=first) == [third, second]
    assert await between(latest=third) == [second, first]
    assert await between(oldest=first, latest=third) == [second]
    assert await between(oldest=first, latest=third, inclusive="true") == [third, second, first]


async def test_a_thread_is_told_from_its_root(able: App) -> None:
    root = await able.post(text="Root")
    replies = [await able.post(text=f"Reply {number}", thread_ts=root) for number in range(2)]

    answer = await able.get("conversations.replies", channel=OPS, ts=root)

    assert [one["ts"] for one in answer["messages"]] == [root, *replies]
    assert {one["thread_ts"] for one in answer["messages"]} == {root}
    assert answer["has_more"] is False


async def test_an_edit_shows_when(able: App) -> None:
    ts = await able.post()
    await able.json("chat.update", channel=OPS, ts=ts, text="Another card")

    (found,) = (await able.get("conversations.history", channel=OPS))["messages"]

    assert found["edited"]["user"] == BOT.id
    assert found["edited"]["ts"] > ts


async def test_a_reaction_comes_and_goes(able: App) -> None:
    ts = await able.post()
    reaction = {"channel": OPS, "timestamp": ts, "name": "eyes"}

    async def shown() -> Any:
        return (await able.get("conversations.history", channel=OPS))["messages"][0].get("reactions")

    assert (await able.json("reactions.add", **reaction)) == {"ok": True}
    assert await shown() == [{"name": "eyes", "users": [BOT.id], "count": 1}]
    assert (await able.json("reactions.add", **reaction))["error"] == "already_reacted"
    assert (await able.json("reactions.remove", **reaction)) == {"ok": True}
    assert await shown() is None
    assert (await able.json("reactions.remove", **reaction))["error"] == "no_reaction"


async def test_the_bot_and_its_workspace(able: App) -> None:
    bot, team = await able.get("bots.info", bot=SHOP.bot_id), await able.get("team.info")

    assert (bot["bot"]["user_id"], bot["bot"]["app_id"]) == (BOT.id, "A0GATE001")
    assert (team["team"]["id"], team["team"]["domain"]) == ("T0GATE001", "example-shop")


@pytest.mark.parametrize(("scopes", "ok"), [(["chat:write"], False), (["chat:write", "chat:write.public"], True)])
async def test_posting_where_the_bot_is_not_needs_a_scope_of_its_own(scopes: list[str], ok: bool) -> None:
    async with app_of(scoped(scopes)) as app:
        answer = await app.json("chat.postMessage", channel=GENERAL, text="Hello")

    assert answer["ok"] is ok


@pytest.mark.parametrize("method", sorted(READS & {"users.lookupByEmail", "conversations.history", "bots.info"}))
async def test_what_is_read_takes_no_json(able: App, method: str) -> None:
    asked = {"email": ALICE.email, "channel": OPS, "bot": "B0OTHER"}

    by_json, by_form = await able.json(method, **asked), await able.form(method, **asked)

    assert by_json != by_form


async def test_a_channel_takes_one_message_a_second(able: App, standing_clock: StandingClock) -> None:
    able.slack.limits.is_on = True
    card = {"text": "A card"}

    first = await able.http.post("chat.postMessage", json={"channel": OPS, **card})
    second = await able.http.post("chat.postMessage", json={"channel": OPS, **card})
    elsewhere = await able.http.post("chat.postMessage", json={"channel": "C0SUPPORT", **card})
    standing_clock.now += 1
    later = await able.http.post("chat.postMessage", json={"channel": OPS, **card})

    assert [one.status_code for one in (first, second, elsewhere, later)] == [200, 429, 200, 200]
    assert (second.headers["Retry-After"], second.json()) == ("1", {"ok": False, "error": "ratelimited"})


@pytest.mark.slow
@pytest.mark.parametrize("method", ["users.list", "users.lookupByEmail", "users.info"])
async def test_a_tier_is_so_many_calls_a_minute(able: App, standing_clock: StandingClock, method: str) -> None:
    able.slack.limits.is_on = True
    asked = {"user": BOB.id, "email": BOB.email}
    most = CALLS_PER_MINUTE[TIERS[method]]

    answers = [await able.http.get(method, params=asked) for _ in range(most + 1)]
    standing_clock.now += 60
    later = await able.http.get(method, params=asked)

    assert {one.status_code for one in answers[:most]} == {200}
    assert (answers[most].status_code, answers[most].headers["Retry-After"]) == (429, "60")
    assert later.status_code == 200
