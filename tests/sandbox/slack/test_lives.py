"""How long things of Slack live and how often they may be used: triggers, response URLs, stacked modals, patience."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from sandbox.slack.ids import StandingClock
from sandbox.slack.message import Message
from tests.sandbox.slack.conftest import installed
from tests.sandbox.slack.desk import ALICE, MANIFEST, OPS, Desk, words

BUTTON: dict[str, Any] = {"type": "button", "action_id": "go", "text": words("Go")}
VIEW: dict[str, Any] = {
    "type": "modal",
    "title": words("Ask"),
    "blocks": [{"type": "actions", "block_id": "row", "elements": [BUTTON]}],
}


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock(1_800_000_000.0)


@pytest.fixture
async def desk(clock: StandingClock) -> AsyncIterator[Desk]:
    async with installed(MANIFEST, clock=clock) as found:
        yield found


async def command(desk: Desk) -> dict[str, Any]:
    """What the app is sent when Alice types its command."""
    await desk.slack.acting.say(ALICE, OPS, "/desk")
    return desk.last("command")


async def test_a_trigger_is_used_once_and_within_three_seconds(desk: Desk, clock: StandingClock) -> None:
    first, second = [(await command(desk))["trigger_id"] for _ in range(2)]
    clock.forward(3)
    await desk.call("views.open", view=VIEW, trigger_id=first)
    clock.forward(0.1)

    assert await desk.refused("views.open", view=VIEW, trigger_id=first) == "exchanged_trigger_id"
    assert await desk.refused("views.open", view=VIEW, trigger_id=second) == "expired_trigger_id"
    assert await desk.refused("views.open", view=VIEW, trigger_id="1.2.3") == "invalid_trigger_id"


async def acted(desk: Desk, view: dict[str, Any]) -> str:
    """The trigger of a click in *view*."""
    await desk.slack.acting.act(ALICE, {"view_id": view["id"]}, "row", "go", {}, {})
    return str(desk.last("block_actions")["trigger_id"])


async def test_three_modals_are_stacked_and_no_more(desk: Desk) -> None:
    first = VIEW | {"external_id": "one"}
    view = (await desk.call("views.open", view=first, trigger_id=(await command(desk))["trigger_id"]))["view"]
    for _ in range(2):
        view = (await desk.call("views.push", view=VIEW, trigger_id=await acted(desk, view)))["view"]

    assert await desk.refused("views.push", view=VIEW, trigger_id=await acted(desk, view)) == "push_limit_reached"
    assert len(desk.slack.state.stack(ALICE)) == 3


async def test_a_name_from_outside_is_taken_once_and_a_stale_hash_refused(desk: Desk) -> None:
    named = VIEW | {"external_id": "one"}
    opened = await desk.call("views.open", view=named, trigger_id=(await command(desk))["trigger_id"])
    await desk.call("views.update", view=named, external_id="one", hash=opened["view"]["hash"])

    again = await acted(desk, opened["view"])
    assert await desk.refused("views.push", view=named, trigger_id=again) == "duplicate_external_id"
    outside = (await command(desk))["trigger_id"]
    assert await desk.refused("views.push", view=VIEW, trigger_id=outside) == "invalid_trigger_id"
    stale = {"view": named, "external_id": "one", "hash": opened["view"]["hash"]}
    assert await desk.refused("views.update", **stale) == "hash_conflict"


async def test_a_response_url_is_good_five_times(desk: Desk) -> None:
    url = (await command(desk))["response_url"]
    answers = [(await desk.http.post(url, json={"text": f"answer {number}"})).text for number in range(5)]
    sixth = await desk.http.post(url, json={"text": "answer 5"})

    assert answers == ["ok"] * 5
    assert (sixth.status_code, sixth.json()["error"]) == (404, "used_url")


async def test_a_response_url_is_good_for_half_an_hour(desk: Desk, clock: StandingClock) -> None:
    url = (await command(desk))["response_url"]
    clock.forward(1800)
    assert (await desk.http.post(url, json={"text": "just in time"})).text == "ok"
    clock.forward(1)
    late = await desk.http.post(url, json={"text": "too late"})

    assert (late.status_code, late.json()["error"]) == (404, "expired_url")


async def test_an_app_that_is_slow_or_away_is_told_of_in_slacks_words(desk: Desk) -> None:
    over = asyncio.Event()

    async def slow(_: dict[str, Any]) -> None:
        await over.wait()

    desk.on["command"] = slow
    desk.slack.delivery.patience = 0.2
    answer = await desk.slack.acting.say(ALICE, OPS, "/desk")
    over.set()
    assert answer["text"] == '/desk failed with the error "operation_timeout"'

    desk.slack.delivery.url = "http://127.0.0.1:9/"
    answer = await desk.slack.acting.say(ALICE, OPS, "/desk")
    assert answer["text"] == '/desk failed with the error "dispatch_failed"'


async def test_an_app_touches_its_own_messages_alone(desk: Desk) -> None:
    state = desk.slack.state
    said = state.add(Message(state.new_ts(), OPS, ALICE, "Hello", []))
    place = {"channel": OPS, "ts": said.ts}

    assert await desk.refused("chat.update", **place, text="Other") == "cant_update_message"
    private = await desk.call("chat.postEphemeral", channel=OPS, user=ALICE, text="Psst")
    gone = {"channel": OPS, "ts": private["message_ts"]}
    assert await desk.refused("chat.update", **gone, text="Other") == "message_not_found"
    outside = {"channel": OPS, "user": "U0DAN0001", "text": "Psst"}
    assert await desk.refused("chat.postEphemeral", **outside) == "user_not_in_channel"


async def test_a_command_is_none_in_a_thread(desk: Desk) -> None:
    root = await desk.call("chat.postMessage", channel=OPS, text="A card")
    answer = await desk.slack.acting.say(ALICE, OPS, "/desk", thread_ts=root["ts"])

    assert answer["error"] == "not_in_threads"
    assert desk.all("command") == []
