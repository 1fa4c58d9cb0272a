"""Faults on request: what a call meets, and whether it was carried out."""

from __future__ import annotations

import httpx
import pytest

from tests.sandbox.slack.conftest import App

POST = "chat.postMessage"
CARD = {"channel": "C0OPS0001", "text": "A card"}


@pytest.mark.parametrize("code", ["is_archived", "not_in_channel", "token_revoked"])
async def test_so_many_calls_of_one_method_are_refused(app: App, code: str) -> None:
    app.slack.faults.add(code, method=POST, times=2)

    assert (await app.get("auth.test"))["ok"] is True
    refused = [(await app.json(POST, **CARD))["error"] for _ in range(2)]

    assert refused == [code, code]
    assert app.slack.state.messages == []
    assert (await app.json(POST, **CARD))["ok"] is True


@pytest.mark.parametrize("kind", ["ratelimited", "429"])
async def test_too_many_calls_say_when_to_come_back(app: App, kind: str) -> None:
    app.slack.faults.add(kind, seconds=7)

    answer = await app.http.post(POST, json=CARD)

    assert (answer.status_code, answer.headers["Retry-After"], answer.json()["error"]) == (429, "7", "ratelimited")


@pytest.mark.parametrize(("kind", "posted"), [("500", 0), ("500_after", 1)])
async def test_an_error_of_slack_before_and_after(app: App, kind: str, posted: int) -> None:
    app.slack.faults.add(kind, method=POST)

    assert (await app.http.post(POST, json=CARD)).status_code == 500
    assert len(app.slack.state.messages) == posted


@pytest.mark.parametrize(
    ("kind", "status", "content"),
    [("html", 503, "text/html"), ("text", 200, "text/plain"), ("wrong_type", 200, "application/json")],
)
async def test_an_answer_that_is_none_of_slacks(app: App, kind: str, status: int, content: str) -> None:
    app.slack.faults.add(kind, method=POST)

    answer = await app.http.post(POST, json=CARD)

    assert (answer.status_code, answer.headers["Content-Type"].partition(";")[0]) == (status, content)
    assert '"ok":true' not in answer.text
    assert app.slack.state.messages == []


@pytest.mark.parametrize(("kind", "posted"), [("cut_before", 0), ("cut_after", 1)])
async def test_the_answer_is_lost(app: App, kind: str, posted: int) -> None:
    app.slack.faults.add(kind, method=POST)

    with pytest.raises(httpx.RemoteProtocolError):
        await app.http.post(POST, json=CARD)
    assert len(app.slack.state.messages) == posted
    assert (await app.json(POST, **CARD))["ok"] is True


async def test_no_answer_at_all(app: App) -> None:
    app.slack.faults.add("never", method=POST)

    with pytest.raises(httpx.ReadTimeout):
        await app.http.post(POST, json=CARD, timeout=0.2)
    assert app.slack.state.messages == []


async def test_a_fault_is_seen_in_the_traffic(app: App) -> None:
    app.slack.faults.add("token_revoked")

    await app.json(POST, **CARD)

    assert [(one["what"], one["status"]) for one in app.slack.state.traffic] == [(POST, "fault: token_revoked")]


def test_a_fault_that_is_none_is_not_taken(app: App) -> None:
    with pytest.raises(ValueError, match="is no fault"):
        app.slack.faults.add("503")
