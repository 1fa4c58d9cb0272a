"""What an app may look up and read, page by page, and how often."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from sandbox.gatehouse import ALICE, BOB, BOT, ERIN, FRANK, SHOP, WORKSPACES
from sandbox.slack.ids import StandingClock
from sandbox.slack.methods import READS, SCOPES
from sandbox.slack.ratelimits import CALLS_PER_MINUTE, TIERS
from sandbox.slack.running import running_slack
from tests.sandbox.slack.conftest import App, client
from tests.sandbox.slack.desk import scoped

OPS, GENERAL, WAR_ROOM = "C0OPS0001", "C0GENERAL", "C0WARROOM"
EVERY_SCOPE = sorted({scope for scopes in SCOPES.values() for scope in scopes} | {"users:read.email"})


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock(1_800_000_000.0)


@pytest.fixture
async def reader(clock: StandingClock) -> AsyncIterator[App]:
    """An app with every scope there is a method for."""
    manifest = scoped(EVERY_SCOPE)
    async with running_slack(manifest, WORKSPACES, clock=clock) as slack, client(slack) as http:
        yield App(slack, http)


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
async def test_pages_together_are_the_whole(reader: App, method: str, field: str, arguments: dict[str, str]) -> None:
    for number in range(7):
        await reader.post(text=f"Card {number}")
    whole = (await reader.get(method, **arguments))[field]

    assert len(whole) > 2
    assert await all_pages(reader, method, field, limit=2, **arguments) == whole


async def test_only_the_kinds_asked_for_are_listed(reader: App) -> None:
    async def listed(**arguments: Any) -> set[str]:
        return {one["id"] for one in (await reader.get("conversations.list", **arguments))["channels"]}

    public = await listed()
    assert {OPS, GENERAL} < public
    assert WAR_ROOM not in public
    assert await listed(types="private_channel") == {WAR_ROOM}
    assert all(one.startswith("D") for one in await listed(types="im"))


async def test_somebody_is_found_by_their_address(reader: App) -> None:
    answer = await reader.get("users.lookupByEmail", email="Alice@example.com")

    assert answer["user"]["id"] == ALICE.id
    assert answer["user"]["profile"]["email"] == "alice@example.com"


async def test_history_is_newest_first_without_replies_and_private_messages(reader: App) -> None:
    first = await reader.post(text="First")
    await reader.post(text="In the thread", thread_ts=first)
    loud = await reader.post(text="Loud", thread_ts=first, reply_broadcast=True)
    await reader.json("chat.postEphemeral", channel=OPS, user=ALICE.id, text="Psst")
    last = await reader.post(text="Last")

    found = (await reader.get("conversations.history", channel=OPS))["messages"]

    assert [one["ts"] for one in found] == [last, loud, first]
    root = found[-1]
    assert (root["reply_count"], root["latest_reply"], root["reply_users"]) == (2, loud, [BOT.id])
    usual = {"type", "user", "team", "bot_id", "app_id", "bot_profile", "ts", "text", "blocks"}
    assert usual <= set(root)
    assert set(found[0]) == usual


async def test_history_between_two_times(reader: App) -> None:
    first, second, third = [await reader.post(text=str(number)) for number in range(3)]

    async def between(**arguments: Any) -> list[str]:
        found = await reader.get("conversations.history", channel=OPS, **arguments)
        return [one["ts"] for one in found["messages"]]

    assert await between(oldest=first) == [third, second]
    assert await between(latest=third) == [second, first]
    assert await between(oldest=first, latest=third) == [second]
    assert await between(oldest=first, latest=third, inclusive="true") == [third, second, first]


async def test_a_thread_is_told_from_its_root(reader: App) -> None:
    root = await reader.post(text="Root")
    replies = [await reader.post(text=f"Reply {number}", thread_ts=root) for number in range(2)]

    answer = await reader.get("conversations.replies", channel=OPS, ts=root)

    assert [one["ts"] for one in answer["messages"]] == [root, *replies]
    assert {one["thread_ts"] for one in answer["messages"]} == {root}
    assert answer["has_more"] is False


async def test_an_edit_shows_when(reader: App) -> None:
    ts = await reader.post()
    await reader.json("chat.update", channel=OPS, ts=ts, text="Another card")

    (found,) = (await reader.get("conversations.history", channel=OPS))["messages"]

    assert found["edited"]["user"] == BOT.id
    assert found["edited"]["ts"] > ts


async def test_a_reaction_comes_and_goes(reader: App) -> None:
    ts = await reader.post()
    reaction = {"channel": OPS, "timestamp": ts, "name": "eyes"}

    async def shown() -> Any:
        return (await reader.get("conversations.history", channel=OPS))["messages"][0].get("reactions")

    assert (await reader.json("reactions.add", **reaction)) == {"ok": True}
    assert await shown() == [{"name": "eyes", "users": [BOT.id], "count": 1}]
    assert (await reader.json("reactions.add", **reaction))["error"] == "already_reacted"
    assert (await reader.json("reactions.remove", **reaction)) == {"ok": True}
    assert await shown() is None
    assert (await reader.json("reactions.remove", **reaction))["error"] == "no_reaction"


async def test_the_bot_and_its_workspace(reader: App) -> None:
    bot, team = await reader.get("bots.info", bot=SHOP.bot_id), await reader.get("team.info")

    assert (bot["bot"]["user_id"], bot["bot"]["app_id"]) == (BOT.id, "A0GATE001")
    assert (team["team"]["id"], team["team"]["domain"]) == ("T0GATE001", "example-shop")


REFUSED = [
    ("users.list", {"limit": 2000}, "invalid_limit"),
    ("users.list", {"cursor": "x"}, "invalid_cursor"),
    ("users.lookupByEmail", {}, "invalid_arguments"),
    ("users.lookupByEmail", {"email": ERIN.email}, "users_not_found"),
    ("users.lookupByEmail", {"email": FRANK.email}, "users_not_found"),
    ("users.lookupByEmail", {"email": BOT.email}, "users_not_found"),
    ("conversations.list", {"types": "secret"}, "invalid_types"),
    ("conversations.list", {"limit": 1001}, "invalid_limit"),
    ("conversations.history", {"channel": GENERAL}, "not_in_channel"),
    ("conversations.history", {"channel": "C0NOWHERE"}, "channel_not_found"),
    ("conversations.history", {"channel": OPS, "oldest": "yesterday"}, "invalid_ts_oldest"),
    ("conversations.history", {"channel": OPS, "latest": "today"}, "invalid_ts_latest"),
    ("conversations.history", {}, "invalid_arguments"),
    ("conversations.replies", {"channel": OPS, "ts": "1.000001"}, "thread_not_found"),
    ("conversations.replies", {"channel": OPS}, "invalid_arguments"),
    ("reactions.add", {"name": "eyes"}, "no_item_specified"),
    ("reactions.add", {"channel": OPS, "timestamp": "1.000001"}, "invalid_arguments"),
    ("reactions.add", {"channel": OPS, "timestamp": "1.000001", "name": "No Emoji"}, "invalid_name"),
    ("reactions.add", {"channel": OPS, "timestamp": "soon", "name": "eyes"}, "bad_timestamp"),
    ("reactions.add", {"channel": OPS, "timestamp": "1.000001", "name": "eyes"}, "message_not_found"),
    ("reactions.add", {"channel": GENERAL, "timestamp": "1.000001", "name": "eyes"}, "not_in_channel"),
    ("bots.info", {"bot": "B0OTHER"}, "bot_not_found"),
    ("team.info", {"team": "T0OTHER01"}, "team_not_found"),
    ("api.test", {"error": "my_error"}, "my_error"),
    ("chat.postMessages", {}, "unknown_method"),
]


@pytest.mark.first(8)
@pytest.mark.parametrize(("method", "arguments", "code"), REFUSED)
async def test_slack_says_no(reader: App, method: str, arguments: dict[str, str], code: str) -> None:
    answer = await reader.form(method, **arguments)

    assert (answer["ok"], answer["error"]) == (False, code)


@pytest.mark.first(8)
@pytest.mark.parametrize("method", sorted(SCOPES))
async def test_without_its_scope_no_method_answers(method: str) -> None:
    """Whatever the arguments: the token is looked at first, but for what depends on the kind of channel."""
    async with running_slack(scoped(["commands"]), WORKSPACES) as slack, client(slack) as http:
        answer = (await http.post(method, data={"channel": OPS, "ts": "1.000001"})).json()

    assert (answer["error"], answer["provided"]) == ("missing_scope", "commands")
    assert set(answer["needed"].split(",")) <= set(SCOPES[method])


@pytest.mark.parametrize(
    ("method", "arguments", "scopes", "needed"),
    [
        ("conversations.history", {"channel": WAR_ROOM}, ["channels:history"], "groups:history"),
        ("conversations.replies", {"channel": OPS, "ts": "1.0"}, ["im:history"], "channels:history"),
        ("conversations.list", {"types": "public_channel,im"}, ["channels:read"], "im:read"),
    ],
)
async def test_each_kind_of_channel_has_its_scope(
    method: str, arguments: dict[str, str], scopes: list[str], needed: str
) -> None:
    async with running_slack(scoped(scopes), WORKSPACES) as slack, client(slack) as http:
        answer = (await http.get(method, params=arguments)).json()

    assert (answer["error"], answer["needed"]) == ("missing_scope", needed)


@pytest.mark.parametrize(("scopes", "ok"), [(["chat:write"], False), (["chat:write", "chat:write.public"], True)])
async def test_posting_where_the_bot_is_not_needs_a_scope_of_its_own(scopes: list[str], ok: bool) -> None:
    async with running_slack(scoped(scopes), WORKSPACES) as slack, client(slack) as http:
        answer = (await http.post("chat.postMessage", json={"channel": GENERAL, "text": "Hello"})).json()

    assert answer["ok"] is ok


@pytest.mark.parametrize("method", sorted(READS & {"users.lookupByEmail", "conversations.history", "bots.info"}))
async def test_what_is_read_takes_no_json(reader: App, method: str) -> None:
    asked = {"email": ALICE.email, "channel": OPS, "bot": "B0OTHER"}

    by_json, by_form = await reader.json(method, **asked), await reader.form(method, **asked)

    assert by_json != by_form


async def test_a_channel_takes_one_message_a_second(reader: App, clock: StandingClock) -> None:
    reader.slack.limits.is_on = True
    card = {"text": "A card"}

    first = await reader.http.post("chat.postMessage", json={"channel": OPS, **card})
    second = await reader.http.post("chat.postMessage", json={"channel": OPS, **card})
    elsewhere = await reader.http.post("chat.postMessage", json={"channel": "C0SUPPORT", **card})
    clock.now += 1
    later = await reader.http.post("chat.postMessage", json={"channel": OPS, **card})

    assert [one.status_code for one in (first, second, elsewhere, later)] == [200, 429, 200, 200]
    assert (second.headers["Retry-After"], second.json()) == ("1", {"ok": False, "error": "ratelimited"})


@pytest.mark.slow
@pytest.mark.parametrize("method", ["users.list", "users.lookupByEmail", "users.info"])
async def test_a_tier_is_so_many_calls_a_minute(reader: App, clock: StandingClock, method: str) -> None:
    reader.slack.limits.is_on = True
    asked = {"user": BOB.id, "email": BOB.email}
    most = CALLS_PER_MINUTE[TIERS[method]]

    answers = [await reader.http.get(method, params=asked) for _ in range(most + 1)]
    clock.now += 60
    later = await reader.http.get(method, params=asked)

    assert {one.status_code for one in answers[:most]} == {200}
    assert (answers[most].status_code, answers[most].headers["Retry-After"]) == (429, "60")
    assert later.status_code == 200
