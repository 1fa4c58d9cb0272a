"""Each delivery with its fields: all that Slack always sends, and none that it never does (facts of its own samples)."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from starlette.responses import Response

from sandbox.gatehouse import BOT, SHOP
from sandbox.slack.refusal import Refused
from sandbox.slack.running import running_slack
from sandbox.slack.slackbot import Slackbot
from tests.sandbox.slack.desk import ALICE, BOB, MANIFEST, OPS, Desk, words

MAY = frozenset({"enterprise", "is_enterprise_install"})
"""What stands in most payloads, and in none must."""
VIEW = frozenset({"id", "team_id", "app_id", "bot_id", "hash", "root_view_id", "previous_view_id", "state"}) | {
    *("private_metadata", "callback_id", "external_id", "clear_on_close", "notify_on_close", "app_installed_team_id"),
    *("type", "title", "close", "submit", "blocks"),
}
SELECT = {"type": "external_select", "action_id": "who", "placeholder": words("Who?"), "min_query_length": 2}
BUTTON = {"type": "button", "action_id": "go", "text": words("Go"), "value": "1"}
CARD = [{"type": "actions", "block_id": "row", "elements": [BUTTON, SELECT]}]
QUESTION = {
    "type": "input",
    "block_id": "q",
    "label": words("Q"),
    "element": {"type": "plain_text_input", "action_id": "a"},
}
SAID = "type user team text ts blocks"
"""Of every message."""
MODAL = {
    "type": "modal",
    "callback_id": "asked",
    "title": words("Ask"),
    "submit": words("Send"),
    "close": words("No"),
    "notify_on_close": True,
    "blocks": [QUESTION, *CARD],
}


def fields(text: str) -> frozenset[str]:
    return frozenset(text.split())


def same(payload: dict[str, Any], must: str, may: frozenset[str] = MAY) -> None:
    """*payload* has every field of *must*, and of others only those that *may* be there."""
    found = frozenset(payload)
    assert found >= fields(must), f"missing: {fields(must) - found}"
    assert found <= fields(must) | may, f"invented: {found - fields(must) - may}"


async def card(desk: Desk, **more: Any) -> dict[str, str]:
    answer = await desk.call("chat.postMessage", channel=OPS, text="A card", blocks=CARD, **more)
    return {"channel": OPS, "ts": answer["ts"]}


async def opened(desk: Desk, view: dict[str, Any] = MODAL) -> dict[str, Any]:
    answer = await desk.call("views.open", trigger_id=desk.slack.state.new_trigger(ALICE), view=view)
    return dict(answer["view"])


async def test_a_command(desk: Desk) -> None:
    await desk.slack.acting.say(ALICE, OPS, "/desk list")

    sent = dict(desk.last("command"))
    assert sent.pop("type") == "command"  # the desk's own word
    same(
        sent,
        "token team_id team_domain channel_id channel_name user_id user_name command text response_url trigger_id",
        fields("api_app_id is_enterprise_install"),
    )
    assert sent["is_enterprise_install"] == "false"


async def test_a_click_on_a_message(desk: Desk) -> None:
    place = await card(desk)
    await desk.slack.acting.act(ALICE, place, "row", "go", {}, {})

    sent = desk.last("block_actions")
    same(
        sent,
        "type user team api_app_id token container trigger_id actions channel message response_url state",
    )
    same(sent["container"], "type message_ts channel_id is_ephemeral", frozenset())
    same(sent["actions"][0], "type action_id block_id action_ts value text", frozenset())
    same(sent["message"], f"{SAID} bot_id app_id bot_profile", frozenset())
    same(sent["user"], "id username name team_id", frozenset())


async def test_a_submission(desk: Desk) -> None:
    view = await opened(desk)
    await desk.slack.acting.submit(ALICE, view["id"], {"q": {"a": {"type": "plain_text_input", "value": "x"}}})

    sent = desk.last("view_submission")
    same(sent, "type team user api_app_id view token trigger_id response_urls")
    assert frozenset(sent["view"]) == VIEW
    assert sent["response_urls"] == []


async def test_a_command_that_is_answered_for_all_is_shown_as_it_was_typed_once(desk: Desk) -> None:
    async def answer(_: dict[str, Any]) -> dict[str, str]:
        return {"text": "All is well", "response_type": "in_channel"}

    desk.on["command"] = answer
    await desk.slack.acting.say(ALICE, OPS, "/desk list")
    await desk.http.post(desk.last("command")["response_url"], json={"text": "Still", "response_type": "in_channel"})

    seen = [(one.user, one.text) for one in desk.slack.state.visible_messages(BOB, OPS)]
    bot = desk.slack.state.workspace.bot.id
    assert seen == [(ALICE, "/desk list"), (bot, "All is well"), (bot, "Still")]


async def test_suggestions_of_a_message_and_of_a_view(desk: Desk) -> None:
    option = {"text": words("Bob"), "value": "bob"}

    async def offers(_: dict[str, Any]) -> dict[str, Any]:
        return {"options": [option]}

    desk.on["block_suggestion"] = offers
    places = await card(desk), {"view_id": (await opened(desk))["id"]}
    answers = [await desk.slack.acting.load_options(ALICE, place, "row", "who", "bo") for place in places]

    in_message, in_view = desk.all("block_suggestion")
    assert answers == [{"options": [option]}] * 2
    common = "type user team api_app_id token container action_id block_id value"
    same(in_message, f"{common} channel message")
    same(in_view, f"{common} view")


async def test_suggestions_wait_until_enough_is_typed(desk: Desk) -> None:
    place = await card(desk)

    assert await desk.slack.acting.load_options(ALICE, place, "row", "who", "b") == {"options": []}
    assert desk.all("block_suggestion") == []


async def test_suggestions_that_slack_would_not_take_are_none(desk: Desk) -> None:
    async def too_many(_: dict[str, Any]) -> dict[str, Any]:
        return {"options": [{"text": words(str(number)), "value": str(number)} for number in range(101)]}

    desk.on["block_suggestion"] = too_many

    assert await desk.slack.acting.load_options(ALICE, await card(desk), "row", "who", "bob") == {"options": []}
    assert len(desk.all("block_suggestion")) == 1


async def test_a_message_shortcut_on_what_somebody_said(desk: Desk) -> None:
    await desk.slack.acting.say(BOB, "C0SUPPORT", "Keep this")
    said = desk.slack.state.visible_messages(ALICE, "C0SUPPORT")[0]
    assert await desk.slack.acting.use_shortcut(ALICE, "keep", "C0SUPPORT", said.ts) == {"ok": True}

    sent = desk.last("message_action")
    same(sent, "type token action_ts team user callback_id trigger_id channel message message_ts response_url")
    same(sent["message"], f"{SAID} client_msg_id", frozenset())
    assert (sent["message_ts"], sent["message"]["user"], sent["message"]["text"]) == (said.ts, BOB, "Keep this")
    await desk.http.post(sent["response_url"], json={"text": "Kept"})
    assert desk.slack.state.visible_messages(ALICE, "C0SUPPORT")[-1].text == "Kept"


async def test_only_shortcuts_of_the_manifest_are_there(desk: Desk) -> None:
    with pytest.raises(Refused, match="no_such_shortcut"):
        await desk.slack.acting.use_shortcut(ALICE, "other", OPS, "1.000001")


async def test_a_shortcut_that_is_not_acknowledged_is_trouble(desk: Desk) -> None:
    async def fails(_: dict[str, Any]) -> Response:
        return Response(status_code=500)

    desk.on["message_action"] = fails
    await desk.slack.acting.say(BOB, "C0SUPPORT", "Keep this")
    said = desk.slack.state.visible_messages(ALICE, "C0SUPPORT")[0]
    answer = await desk.slack.acting.use_shortcut(ALICE, "keep", "C0SUPPORT", said.ts)

    assert (answer["ok"], answer["text"]) == (False, "We had some trouble connecting. Try again?")


EVENT = "token team_id api_app_id event event_id event_time authorizations event_context is_ext_shared_channel type"


@pytest.mark.parametrize(
    ("channel", "text", "kinds"),
    [
        (OPS, "@desk hello", ["app_mention", "message"]),
        (OPS, "hello", ["message"]),
        ("C0WARROOM", "hello", ["message"]),
        ("D0ALICE01", "hello @desk", ["message"]),
        ("C0GENERAL", "@desk hello", []),
    ],
)
async def test_what_is_said_is_an_event_where_the_app_asked_for_it(
    desk: Desk, channel: str, text: str, kinds: list[str]
) -> None:
    await desk.slack.acting.say(ALICE, channel, text)

    assert [one["event"]["type"] for one in desk.heard] == kinds
    for one in desk.heard:
        same(one, EVENT)
        kind = " channel_type" if one["event"]["type"] == "message" else ""
        same(one["event"], f"{SAID} client_msg_id channel event_ts{kind}", frozenset())
        assert one["authorizations"][0]["user_id"] == BOT.id


async def test_what_is_changed_and_deleted_is_an_event_too(desk: Desk) -> None:
    acting = desk.slack.acting
    await acting.say(ALICE, OPS, "Hello")
    ts = desk.slack.state.visible_messages(ALICE, OPS)[-1].ts
    await acting.edit(ALICE, OPS, ts, "Hello @bob")
    await acting.delete(ALICE, OPS, ts)

    _, changed, deleted = await desk.events()
    assert (changed["subtype"], changed["message"]["text"]) == ("message_changed", f"Hello <@{BOB}>")
    assert changed["message"]["edited"]["user"] == ALICE
    assert (deleted["subtype"], deleted["deleted_ts"]) == ("message_deleted", ts)


async def test_opening_the_home_tells_of_it_and_of_what_was_published(desk: Desk) -> None:
    await desk.slack.acting.open_home(ALICE, "home")
    await desk.call("views.publish", user_id=ALICE, view={"type": "home", "blocks": CARD})
    await desk.slack.acting.open_home(ALICE, "messages")

    first, second = (one["event"] for one in desk.heard)
    same(first, "type user channel tab event_ts", frozenset())
    same(second, "type user channel tab event_ts view", frozenset())
    assert (first["channel"], first["tab"], second["tab"]) == ("D0ALICE01", "home", "messages")


async def test_a_home_is_redrawn_only_by_who_knows_its_hash(desk: Desk) -> None:
    home = {"type": "home", "blocks": CARD}
    first = (await desk.call("views.publish", user_id=ALICE, view=home))["view"]
    second = (await desk.call("views.publish", user_id=ALICE, view=home, hash=first["hash"]))["view"]
    stale = await desk.refused("views.publish", user_id=ALICE, view=home, hash=first["hash"])

    assert second["id"] == first["id"]
    assert stale == "hash_conflict"


async def test_a_home_needs_its_tab() -> None:
    async with (
        running_slack({**MANIFEST, "features": {}}, SHOP) as slack,
        httpx.AsyncClient(trust_env=False) as http,
    ):
        answer = await Desk(slack, http).refused("views.publish", user_id=ALICE, view={"type": "home", "blocks": CARD})

    assert answer == "not_enabled"


async def test_an_event_that_is_not_taken_comes_three_times_more(desk: Desk) -> None:
    async def fails(_: dict[str, Any]) -> Response:
        return Response(status_code=500)

    desk.on["event_callback"] = fails
    desk.slack.delivery.retry_after = (0, 0, 0)
    await desk.slack.acting.say(ALICE, "D0ALICE01", "hello")
    await desk.slack.delivery.wait_for_retries()

    told = [(one.get("x-slack-retry-num"), one.get("x-slack-retry-reason")) for one in desk.headers]
    assert told == [(None, None), ("1", "http_error"), ("2", "http_error"), ("3", "http_error")]
    assert len({json.dumps(one) for one in desk.heard}) == 1


@pytest.mark.parametrize(("then", "headers", "times"), [(200, {}, 2), (500, {"X-Slack-No-Retry": "1"}, 1)])
async def test_an_event_is_not_tried_again_once_it_is_taken_or_the_app_wants_no_retry(
    desk: Desk, then: int, headers: dict[str, str], times: int
) -> None:
    async def fails_once(_: dict[str, Any]) -> Response:
        return Response(status_code=500 if len(desk.heard) == 1 else then, headers=headers)

    desk.on["event_callback"] = fails_once
    desk.slack.delivery.retry_after = (0, 0, 0)
    await desk.slack.acting.say(ALICE, "D0ALICE01", "hello")
    await desk.slack.delivery.wait_for_retries()

    assert len(desk.heard) == times


async def test_an_app_that_is_away_is_told_why_it_is_tried_again(desk: Desk) -> None:
    here, desk.slack.delivery.url = desk.slack.delivery.url, "http://127.0.0.1:9/"
    desk.slack.delivery.retry_after = (0.05,)
    await desk.slack.acting.say(ALICE, "D0ALICE01", "hello")
    desk.slack.delivery.url = here
    await desk.slack.delivery.wait_for_retries()

    assert desk.headers[0]["x-slack-retry-reason"] == "connection_failed"


@pytest.mark.parametrize("types", ["section data_table", "section alert"])
async def test_slackbot_shows_no_block_beside_one_that_it_does_not_know(desk: Desk, types: str) -> None:
    blocks = [{"type": one} for one in types.split()]

    async def answer(_: dict[str, Any]) -> dict[str, Any]:
        return {"result": {"content": [{"text": "Text"}], "_meta": {"slack": {"blocks": blocks}}}}

    desk.on["tools"], desk.slack.delivery.tools_url = answer, desk.slack.delivery.url
    told = await Slackbot(desk.slack.state, desk.slack.delivery).call({"user": ALICE, "tool": "t", "arguments": {}})
    assert (told["text"], told["blocks"]) == ("Text", [] if "alert" in types else blocks)
