"""The edge: whatever arrives unsigned, stale, huge or mangled ends before Bolt, never with a 500.

This is about HTTP by nature: over Socket Mode there is no such edge, so ``--transport`` changes nothing here.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Callable
from urllib.parse import urlencode

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.web import Refused, Verifier
from sandbox.demo import Sandbox, Transport
from sandbox.slack.running import SECRET


@pytest.fixture
def transport() -> Transport:
    return "http"


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


async def test_a_signed_command_is_acknowledged(workspace: Sandbox) -> None:
    assert await answered(workspace, BODY, signed(BODY)) == 200


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


@pytest.mark.parametrize("case", FORGED)
async def test_what_slack_did_not_sign_now_is_refused(workspace: Sandbox, case: str) -> None:
    assert await answered(workspace, BODY, FORGED[case]()) == 401
    assert workspace.slack.state.messages == []


@pytest.mark.parametrize("body", [b"\xff\xfe", b"payload=%7B", b"payload=[]", b"{", b"[]", b'"x"', b"", b"{" * 100_000])
async def test_a_signed_body_that_is_none_is_a_bad_request(workspace: Sandbox, body: bytes) -> None:
    assert await answered(workspace, body, signed(body)) == 400


async def test_a_huge_body_is_refused_before_it_is_read(workspace: Sandbox) -> None:
    body = b"x" * (1024 * 1024 + 1)

    assert await answered(workspace, body, signed(body)) == 413


async def test_non_ascii_headers_are_no_server_error(workspace: Sandbox) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        headers = [(b"x-slack-request-timestamp", "１２３".encode()), (b"x-slack-signature", b"v0=\xff\xfe")]
        response = await client.post(f"{workspace.bot_url}/slack/events", content=BODY, headers=headers)
    assert response.status_code == 401


async def test_unknown_kinds_of_signed_payloads_are_no_server_error(workspace: Sandbox) -> None:
    for payload in ({"type": "block_actions"}, {"type": "view_submission", "view": {}}, {"type": "nothing"}, {"a": 1}):
        body = urlencode({"payload": json.dumps(payload)}).encode()
        assert await answered(workspace, body, signed(body)) < 500


async def test_health_and_metrics_answer(workspace: Sandbox) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        health = await client.get(f"{workspace.bot_url}/healthz")
        ready = await client.get(f"{workspace.bot_url}/readyz")
        metrics = await client.get(f"{workspace.bot_url}/metrics")
    assert health.text == "ok"
    assert ready.json() == {"slack": "ok", "clock": "ok", "store": "ok"}
    assert "gatehouse_accepted_requests_total" in metrics.text


@settings(max_examples=2000, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(timestamp=st.binary(max_size=30), signature=st.binary(max_size=90), body=st.binary(max_size=60))
def test_no_forged_request_passes(timestamp: bytes, signature: bytes, body: bytes) -> None:
    with pytest.raises(Refused):
        Verifier(("secret",), lambda: NOW).check(timestamp, signature, body)


@pytest.mark.parametrize("secrets", [("old", "new"), ("new", "old")])
def test_two_secrets_hold_during_a_rotation(secrets: tuple[str, str]) -> None:
    for secret in secrets:
        headers = signed(BODY, at=NOW, secret=secret)
        check = Verifier(secrets, lambda: NOW).check
        check(headers["X-Slack-Request-Timestamp"].encode(), headers["X-Slack-Signature"].encode(), BODY)
