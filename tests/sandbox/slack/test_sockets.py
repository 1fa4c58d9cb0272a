"""Socket Mode as an app meets it: addresses, greeting, envelopes, acknowledgements, refresh."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from sandbox.gatehouse import SHOP
from sandbox.slack.running import APP_TOKEN, TOKEN, LocalSlack, running_slack
from tests.sandbox.slack.desk import ALICE, MANIFEST, OPS, words
from tests.sandbox.slack.link import Link, linked, opened

SETTINGS = {"socket_mode_enabled": True, "event_subscriptions": {"bot_events": ["app_mention"]}}
MODAL = {
    "type": "modal",
    "title": words("Ask"),
    "submit": words("Send"),
    "blocks": [
        {
            "type": "input",
            "block_id": "q",
            "label": words("Q"),
            "element": {"type": "plain_text_input", "action_id": "a"},
        }
    ],
}


@pytest.fixture
async def slack() -> AsyncIterator[LocalSlack]:
    async with running_slack({**MANIFEST, "settings": SETTINGS}, SHOP) as running:
        running.delivery.retry_after = (0, 0, 0)
        yield running


@pytest.fixture
async def link(slack: LocalSlack) -> AsyncIterator[Link]:
    async with linked(slack) as one:
        assert (await one.hears())["type"] == "hello"
        yield one


def asked(slack: LocalSlack, text: str = "/desk") -> asyncio.Task[dict[str, Any]]:
    """Alice sends *text*; what she is told once the app has answered."""
    return asyncio.create_task(slack.acting.say(ALICE, OPS, text))


def seen(slack: LocalSlack) -> list[str]:
    return [one.text for one in slack.state.visible_messages(ALICE, OPS)]


async def test_hello_says_how_many_connections_there_are(slack: LocalSlack, link: Link) -> None:
    async with linked(slack) as second:
        hello = await second.hears()

    assert hello == {
        "type": "hello",
        "num_connections": 2,
        "debug_info": {"host": "applink-local", "build_number": 1, "approximate_connection_time": 18060},
        "connection_info": {"app_id": "A0GATE001"},
    }


@pytest.mark.parametrize(
    ("token", "refusal"), [(TOKEN, "not_allowed_token_type"), ("xapp-other", "invalid_auth"), ("", "not_authed")]
)
async def test_only_the_app_token_opens_a_connection(slack: LocalSlack, token: str, refusal: str) -> None:
    assert await opened(slack, token) == {"ok": False, "error": refusal}


async def test_the_app_token_needs_its_scope() -> None:
    async with running_slack(MANIFEST, SHOP, app_scopes=("authorizations:read",)) as slack:
        answer = await opened(slack)

    assert (answer["error"], answer["needed"]) == ("missing_scope", "connections:write")


async def test_a_connection_is_asked_for_by_post_and_the_app_token_opens_nothing_else(slack: LocalSlack) -> None:
    headers = {"Authorization": f"Bearer {APP_TOKEN}"}
    async with httpx.AsyncClient(base_url=slack.api_url, headers=headers, trust_env=False) as http:
        answers = [(await http.get(method)).json()["error"] for method in ("apps.connections.open", "auth.test")]

    assert answers == ["insecure_request", "not_allowed_token_type"]


async def test_an_address_is_good_for_one_connection(slack: LocalSlack) -> None:
    url = (await opened(slack))["url"]

    async with connect(url, proxy=None) as first:
        await first.recv()
        with pytest.raises(InvalidStatus):
            await connect(url, proxy=None)


async def test_a_command_comes_in_an_envelope_and_its_answer_goes_back(slack: LocalSlack, link: Link) -> None:
    saying = asked(slack, "/desk list")
    envelope = await link.hears()

    assert set(envelope) == {"envelope_id", "payload", "type", "accepts_response_payload"}
    assert (envelope["type"], envelope["accepts_response_payload"]) == ("slash_commands", True)
    assert (envelope["payload"]["command"], envelope["payload"]["text"]) == ("/desk", "list")
    await link.answers(envelope, {"text": "Two are open"})
    assert (await saying)["ok"]
    assert seen(slack) == ["Two are open"]


async def test_errors_of_a_form_go_back_in_the_acknowledgement(slack: LocalSlack, link: Link) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(base_url=slack.api_url, headers=headers, trust_env=False) as http:
        opening = {"trigger_id": slack.state.new_trigger(ALICE), "view": MODAL}
        view = (await http.post("views.open", json=opening)).json()["view"]

    sending = asyncio.create_task(slack.acting.submit(ALICE, view["id"], {}))
    envelope = await link.hears()
    await link.answers(envelope, {"response_action": "errors", "errors": {"q": "Say more"}})

    assert envelope["type"] == "interactive"
    assert (await sending) == {"ok": False, "errors": {"q": "Say more"}}


async def test_what_is_not_acknowledged_in_time_is_shown_as_failed(slack: LocalSlack, link: Link) -> None:
    slack.delivery.patience = 0.1

    answer = await slack.acting.say(ALICE, OPS, "/desk")

    assert answer["error"] == "dispatch_failed"
    assert seen(slack) == ['/desk failed with the error "dispatch_failed"']


async def test_without_a_connection_nothing_is_delivered(slack: LocalSlack) -> None:
    assert (await slack.acting.say(ALICE, OPS, "/desk"))["error"] == "dispatch_failed"


async def test_any_connection_may_get_an_envelope(slack: LocalSlack, link: Link) -> None:
    async with linked(slack) as other:
        await other.hears()
        got: list[str] = []

        async def answering(name: str, one: Link) -> None:
            for _ in range(3):
                envelope = await one.hears()
                got.append(name)
                await one.answers(envelope)

        async with asyncio.TaskGroup() as group:
            group.create_task(answering("first", link))
            group.create_task(answering("second", other))
            for _ in range(6):
                assert (await slack.acting.say(ALICE, OPS, "/desk"))["ok"]

    assert sorted(got) == ["first"] * 3 + ["second"] * 3


async def test_an_acknowledgement_may_come_through_another_connection(slack: LocalSlack, link: Link) -> None:
    async with linked(slack) as other:
        await other.hears()
        await slack.sockets.warn(slack.sockets.connections[1])
        saying = asked(slack)
        await other.answers(await link.hears())

        assert (await saying)["ok"]


async def test_the_eleventh_connection_is_one_too_many(slack: LocalSlack) -> None:
    async with AsyncExitStack() as stack:
        frames = [await (await stack.enter_async_context(linked(slack))).hears() for _ in range(11)]

    assert [frame["type"] for frame in frames] == ["hello"] * 10 + ["disconnect"]
    assert frames[-1]["reason"] == "too_many_websockets"


async def test_a_refresh_is_announced_and_ends_the_connection(slack: LocalSlack, link: Link) -> None:
    old = slack.sockets.connections[0]
    await slack.sockets.warn(old)
    async with linked(slack) as new:
        await new.hears()
        saying = asked(slack)
        await new.answers(await new.hears())
        await saying
        await slack.sockets.refresh(old)

    frames = [await link.hears(), await link.hears()]
    assert [(one["type"], one["reason"]) for one in frames] == [
        ("disconnect", "warning"),
        ("disconnect", "refresh_requested"),
    ]
    with pytest.raises(ConnectionClosed):
        await link.hears()


async def test_socket_mode_that_is_switched_off_says_so(slack: LocalSlack, link: Link) -> None:
    await slack.sockets.disable()

    assert (await link.hears())["reason"] == "link_disabled"
    async with linked(slack) as late:
        assert (await late.hears())["reason"] == "link_disabled"


async def test_an_event_whose_connection_breaks_off_comes_again(slack: LocalSlack, link: Link) -> None:
    slack.delivery.patience = 0.2
    slack.sockets.cuts = 1

    async with linked(slack) as other:
        await other.hears()
        slack.sockets._turn = 1  # the first connection is next, and the one that breaks
        saying = asked(slack, "@desk hello")
        lost = await link.hears()
        again = await other.hears()
        await other.answers(again)
        await saying
        await slack.delivery.wait_for_retries()

    assert (lost["retry_attempt"], lost["retry_reason"]) == (0, "")
    assert (again["retry_attempt"], again["retry_reason"]) == (1, "timeout")
    assert again["payload"] == lost["payload"]
    assert again["envelope_id"] != lost["envelope_id"]
    assert again["accepts_response_payload"] is False


async def test_a_command_whose_connection_breaks_off_is_not_sent_again(slack: LocalSlack, link: Link) -> None:
    slack.delivery.patience = 0.1
    slack.sockets.cuts = 1

    answer = await slack.acting.say(ALICE, OPS, "/desk")

    assert (await link.hears())["type"] == "slash_commands"
    assert answer["error"] == "dispatch_failed"
    with pytest.raises(ConnectionClosed):
        await link.hears()


async def test_an_acknowledgement_that_comes_late_counts_for_nothing(slack: LocalSlack, link: Link) -> None:
    slack.delivery.patience = 0.1
    failed = await slack.acting.say(ALICE, OPS, "/desk")
    await link.answers(await link.hears(), {"text": "Here I am"})

    slack.delivery.patience = 3
    saying = asked(slack)
    await link.answers(await link.hears())

    assert failed["error"] == "dispatch_failed"
    assert (await saying)["ok"]
    assert "Here I am" not in seen(slack)


@pytest.mark.parametrize("frame", ["", "no json", "[]", '{"envelope_id": 1}', "{}"])
async def test_a_frame_that_is_no_acknowledgement_is_passed_over(slack: LocalSlack, link: Link, frame: str) -> None:
    await link.websocket.send(frame)
    saying = asked(slack)
    await link.answers(await link.hears())

    assert (await saying)["ok"]
