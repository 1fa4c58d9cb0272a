"""The edge: whatever arrives unsigned, stale, huge or mangled ends before Bolt, never with a 500.

This is about HTTP by nature: over Socket Mode there is no such edge, so ``--transport`` changes nothing here.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from starlette.responses import PlainTextResponse, Response
from structlog.testing import capture_logs

from bot import __version__
from bot.health import Health
from bot.server.edge import OtherSignatures, SlackHandler, Verifier, slack_endpoint, web_app
from bot.server.process import web_server
from sandbox.demo import Sandbox, Transport
from sandbox.slack.running import SECRET
from sandbox.slack.serving import bind_socket


@pytest.fixture
def transport() -> Transport:
    return "http"


Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]

NOW = 1_800_000_000.0
BODY = urlencode({"command": "/rules", "text": "list", "user_id": "U0ALICE01", "channel_id": "C0OPS0001"}).encode()


def signed(body: bytes, *, at: float | None = None, secret: str = SECRET) -> dict[str, str]:
    timestamp = str(int(time.time() if at is None else at))
    digest = hmac.new(secret.encode(), b"v0:" + timestamp.encode() + b":" + body, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": f"v0={digest}"}


async def answered(workspace: Sandbox, body: bytes, headers: dict[str, str]) -> int:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    async with httpx.AsyncClient(trust_env=False) as client:
        response = await client.post(f"{workspace.bot_url}/slack/events", content=body, headers=form | headers)
    return response.status_code


@pytest.mark.parametrize("transport", ["http", "socket"])
async def test_that_slack_withholds_events_is_acknowledged_and_logged(workspace: Sandbox) -> None:
    names = {"type": "app_rate_limited", "team_id": "T0GATE001", "api_app_id": "A0GATE001"}

    with capture_logs() as logged:
        ack = await workspace.slack.delivery.send_event({"token": "t", **names, "minute_rate_limited": 1_518_467_820})

    assert not ack.failed
    assert [(one["log_level"], one.get("minute")) for one in logged if "minute" in one] == [("warning", 1_518_467_820)]


async def test_that_another_secret_signs_is_logged(workspace: Sandbox) -> None:
    with capture_logs() as logged:
        assert await answered(workspace, BODY, signed(BODY, secret="of another app")) == 401

    assert [one["requests"] for one in logged if one["event"] == "signature_does_not_match"] == [1]


def test_that_another_secret_signs_is_logged_once_a_minute() -> None:
    now = [NOW]
    others = OtherSignatures(lambda: now[0])

    with capture_logs() as logged:
        for seconds in (0, 1, 58, 2, 70):
            now[0] += seconds
            others.note()

    assert [one["requests"] for one in logged] == [1, 3, 1]


FORGED: dict[str, Callable[[], dict[str, str]]] = {
    "no headers": dict,
    "no timestamp": lambda: {"X-Slack-Signature": "v0=" + "0" * 64},
    "another secret": lambda: signed(BODY, secret="another"),
    "stale": lambda: signed(BODY, at=time.time() - 301),
    "from the future": lambda: signed(BODY, at=time.time() + 320),
    "another body": lambda: signed(BODY + b"x"),
    "timestamp of letters": lambda: signed(BODY) | {"X-Slack-Request-Timestamp": "abc"},
    "empty timestamp": lambda: signed(BODY) | {"X-Slack-Request-Timestamp": ""},
    "endless timestamp": lambda: signed(BODY) | {"X-Slack-Request-Timestamp": "9" * 5000},
    "negative timestamp": lambda: signed(BODY) | {"X-Slack-Request-Timestamp": "-1"},
    "signature of letters": lambda: signed(BODY) | {"X-Slack-Signature": "v0=" + "G" * 64},
    "another version": lambda: signed(BODY) | {"X-Slack-Signature": "v1=" + "0" * 64},
    "empty signature": lambda: signed(BODY) | {"X-Slack-Signature": ""},
}


@pytest.mark.first(5)
@pytest.mark.threat("A1")
@pytest.mark.parametrize("case", FORGED)
async def test_what_slack_did_not_sign_now_is_refused(workspace: Sandbox, case: str) -> None:
    assert await answered(workspace, BODY, FORGED[case]()) == 401
    assert workspace.slack.state.messages == []


@pytest.mark.first(4)
@pytest.mark.threat("A2")
@pytest.mark.parametrize(
    "body", [b"\xff\xfe", b"payload=%7B", b"payload=[1]", b"payload={}", b"{", b"[]", b'"x"', b"", b"{" * 100_000]
)
async def test_a_signed_body_that_is_none_is_a_bad_request(workspace: Sandbox, body: bytes) -> None:
    assert await answered(workspace, body, signed(body)) == 400


@pytest.mark.threat("A2")
async def test_a_huge_body_that_does_not_say_how_long_it_is_is_cut_off(workspace: Sandbox) -> None:
    body = b"x" * (1024 * 1024 + 1)

    async def chunks() -> AsyncIterator[bytes]:
        yield body

    async with httpx.AsyncClient(trust_env=False) as client:
        response = await client.post(f"{workspace.bot_url}/slack/events", content=chunks(), headers=signed(body))
    assert response.status_code == 413


@pytest.mark.threat("A2")
async def test_non_ascii_headers_are_no_server_error(workspace: Sandbox) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        headers = [(b"x-slack-request-timestamp", "１２３".encode()), (b"x-slack-signature", b"v0=\xff\xfe")]
        response = await client.post(f"{workspace.bot_url}/slack/events", content=BODY, headers=headers)
    assert response.status_code == 401


async def test_unknown_kinds_of_signed_payloads_are_no_server_error(workspace: Sandbox) -> None:
    for payload in ({"type": "block_actions"}, {"type": "view_submission", "view": {}}, {"type": "nothing"}, {"a": 1}):
        body = urlencode({"payload": json.dumps(payload)}).encode()
        assert await answered(workspace, body, signed(body)) < 500


@pytest.mark.first(2)
@pytest.mark.threat("A2", "A10")
@pytest.mark.parametrize(
    "payload",
    [
        {"type": "block_actions", "actions": []},
        {"type": "block_actions", "actions": ["v1.decide.approve"]},
        {"type": "block_actions", "actions": {"action_id": "v1.decide.approve"}},
        {"type": "view_submission", "view": None},
        {"type": "view_closed", "view": "V0"},
        {"type": "event_callback", "event": "type"},
        {"type": "interactive_message", "callback_id": "v1.decide"},
        {"type": "interactive_message", "actions": [], "callback_id": "v1.decide"},
        {"type": "workflow_step_edit", "callback_id": "v1.decide"},
        {"type": "view_submission", "view": {"type": "workflow_step", "callback_id": "v1.decide"}},
    ],
)
async def test_signed_payloads_of_a_wrong_shape_end_before_bolt_trips_over_them(
    workspace: Sandbox, payload: dict[str, object], capfd: pytest.CaptureFixture[str]
) -> None:
    body = urlencode({"payload": json.dumps(payload)}).encode()

    assert await answered(workspace, body, signed(body)) == 400

    said = capfd.readouterr()
    assert "Traceback" not in said.out + said.err


async def test_health_and_metrics_answer(workspace: Sandbox) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        health = await client.get(f"{workspace.bot_url}/healthz")
        ready = await client.get(f"{workspace.bot_url}/readyz")
        metrics = await client.get(f"{workspace.bot_url}/metrics")
    assert health.text == "ok"
    assert ready.json() == {"slack": "ok", "clock": "ok", "store": "ok"}
    assert "gatehouse_accepted_requests_total" in metrics.text
    assert f'gatehouse_info{{version="{__version__}"}} 1.0' in metrics.text


async def ready() -> dict[str, Health]:
    return {}


async def measured() -> None: ...


async def test_without_events_over_http_there_is_no_place_for_them() -> None:
    served = httpx.ASGITransport(web_app(None, ready, measured))
    async with httpx.AsyncClient(transport=served, base_url="http://bot") as client:
        assert (await client.post("/slack/events")).status_code == 404


@asynccontextmanager
async def served(
    handler: SlackHandler, secrets: Sequence[str] = (SECRET,)
) -> AsyncIterator[Callable[[], Awaitable[Connection]]]:
    """The edge in the server that runs in production, with *handler* where Bolt would be; gives what connects to it."""

    events = slack_endpoint(Verifier(secrets, time.time), handler)
    server = web_server(web_app(events, ready, measured), host="127.0.0.1", port=0)
    listener = bind_socket(0)
    listener.listen()
    running = asyncio.create_task(server.serve([listener]))
    try:
        async with AsyncExitStack() as stack:

            async def connect() -> Connection:
                reader, writer = await asyncio.open_connection(*listener.getsockname())
                stack.callback(writer.close)
                return reader, writer

            yield connect
    finally:
        server.stop()
        await running


async def accepted(_: Mapping[str, str], __: dict[str, Any]) -> Response:
    return PlainTextResponse("accepted")


async def never(_: Mapping[str, str], __: dict[str, Any]) -> Response:
    raise AssertionError("strangers reach no handler")


def head(length: int | str, headers: dict[str, str]) -> bytes:
    lines = {"Host": "bot", "Content-Length": str(length)} | headers
    return "\r\n".join(
        ["POST /slack/events HTTP/1.1", *(f"{name}: {value}" for name, value in lines.items()), "", ""]
    ).encode()


async def status(connection: Connection) -> int:
    """The status of the next answer, whose connection may stay open; 0 where it was closed without one."""
    try:
        line = await connection[0].readline()
    except ConnectionError:
        return 0
    return int(line.split()[1]) if line else 0


def plausible() -> dict[str, str]:
    """Headers that have the right shape and time, as anybody can write them: for five minutes, so at no import."""
    return signed(b"another body")


HIDDEN = b"0\r\n\r\nGET /metrics HTTP/1.1\r\nHost: bot\r\n\r\n"
"""A body that is over at once as chunks, and by its length has no end before a request of its own."""


@pytest.mark.threat("A2")
@pytest.mark.parametrize(
    ("length", "headers", "expected"),
    [
        (100, dict, 401),
        (100, lambda: signed(BODY, at=1_000_000_000), 401),
        (1024 * 1024 + 1, plausible, 413),
        ("9" * 400, plausible, 400),
    ],
    ids=["no signature", "stale", "large", "endless"],
)
async def test_headers_are_refused_without_waiting_for_a_body(
    length: int | str, headers: Callable[[], dict[str, str]], expected: int
) -> None:
    async with served(never) as connect:
        connection = await connect()
        connection[1].write(head(length, headers()))

        assert await status(connection) == expected


@pytest.mark.threat("A2")
@pytest.mark.parametrize("headers", [plausible, lambda: signed(HIDDEN)], ids=["unsigned", "signed"])
@pytest.mark.parametrize("place", ["POST /slack/events", "GET /healthz", "POST /nowhere"])
async def test_what_ends_at_two_places_is_refused_and_its_connection_closed(
    place: str, headers: Callable[[], dict[str, str]]
) -> None:
    async with served(never) as connect:
        reader, writer = await connect()
        both = head(len(HIDDEN), headers() | {"Transfer-Encoding": "chunked"})
        writer.write(both.replace(b"POST /slack/events", place.encode()) + HIDDEN)

        answers = await reader.read()

    assert answers.count(b"HTTP/1.1") == 1, "what one of both lengths hides is no request"
    assert answers.startswith(b"HTTP/1.1 400")


@pytest.mark.threat("A2")
@pytest.mark.parametrize("path", ["/healthz/", "/readyz/", "/metrics/", "/slack/events/"])
async def test_no_answer_leads_to_another_host(workspace: Sandbox, path: str) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        assert (await client.get(workspace.bot_url + path, headers={"Host": "evil.example"})).status_code == 404


@pytest.mark.threat("A1")
@pytest.mark.parametrize("headers", [{}, plausible()], ids=["unsigned", "plausible"])
async def test_no_log_has_a_refused_body(headers: dict[str, str], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    caplog.set_level("DEBUG", logger="uvicorn.error")
    canary = b"text=CANARY-in-a-body"
    async with served(never) as connect:
        whole, broken = await connect(), await connect()
        whole[1].write(head(len(canary), headers) + canary)
        assert await status(whole) == 401
        broken[1].write(head(len(canary) + 1, headers) + canary)
        broken[1].write_eof()
        broken[1].close()
        await broken[1].wait_closed()

    assert "CANARY" not in caplog.text
    assert "Traceback" not in caplog.text


@pytest.mark.threat("E6")
@pytest.mark.parametrize("secrets", [("old", "new"), ("new", "old")])
async def test_two_secrets_hold_during_a_rotation(secrets: tuple[str, str]) -> None:
    async with served(accepted, secrets) as connect:
        for secret in secrets:
            connection = await connect()
            connection[1].write(head(len(BODY), signed(BODY, secret=secret)) + BODY)
            assert await status(connection) == 200
