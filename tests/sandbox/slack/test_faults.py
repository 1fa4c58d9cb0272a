"""Faults on request: what a call meets, and whether it was carried out."""

from __future__ import annotations

import httpx
import pytest

from tests.sandbox.slack.conftest import App

POST = "chat.postMessage"
CARD = {"channel": "C0OPS0001", "text": "A card"}


@pytest.mark.parametrize(
    ("kind", "status", "content", "posted"),
    [
        ("is_archived", 200, '"error":"is_archived"', 0),
        ("429", 429, '"error":"ratelimited"', 0),
        ("500", 500, "Internal Server Error", 0),
        ("500_after", 500, "Internal Server Error", 1),
        ("html", 503, "<!doctype html>", 0),
        ("text", 200, "upstream connect error", 0),
        ("wrong_type", 200, '["ok"]', 0),
    ],
)
async def test_so_many_calls_of_one_method_are_answered_so(
    app: App, kind: str, status: int, content: str, posted: int
) -> None:
    app.slack.faults.add(kind, method=POST, times=2, seconds=7)

    assert (await app.get("auth.test"))["ok"] is True
    for _ in range(2):
        answer = await app.http.post(POST, json=CARD)
        assert (answer.status_code, answer.headers.get("Retry-After")) == (status, "7" if kind == "429" else None)
        assert content in answer.text
    assert len(app.slack.state.messages) == 2 * posted
    assert posted or app.slack.state.traffic[-1]["status"] == f"fault: {kind}"
    assert (await app.json(POST, **CARD))["ok"] is True


@pytest.mark.parametrize(("kind", "posted"), [("cut_before", 0), ("cut_after", 1), ("never", 0)])
async def test_the_answer_is_lost(app: App, kind: str, posted: int) -> None:
    app.slack.faults.add(kind, method=POST)

    with pytest.raises(httpx.ReadTimeout if kind == "never" else httpx.RemoteProtocolError):
        await app.http.post(POST, json=CARD, timeout=0.2 if kind == "never" else 5)
    assert len(app.slack.state.messages) == posted


def test_a_fault_that_is_none_is_not_taken(app: App) -> None:
    with pytest.raises(ValueError, match="is no fault"):
        app.slack.faults.add("503")
