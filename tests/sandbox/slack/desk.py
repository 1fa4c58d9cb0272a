"""An app of a few lines, for the other side of the local Slack."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import httpx
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sandbox.slack.running import TOKEN, LocalSlack

OPS = "C0OPS0001"
ALICE, BOB = "U0ALICE01", "U0BOB0001"
MANIFEST: dict[str, Any] = {
    "display_information": {"name": "Desk"},
    "features": {
        "app_home": {"home_tab_enabled": True},
        "slash_commands": [{"command": "/desk", "description": "Ask", "usage_hint": "[list | new]"}],
        "shortcuts": [
            {"name": "Keep", "type": "message", "callback_id": "keep", "description": "Keep this message"},
        ],
    },
    "oauth_config": {
        "scopes": {
            "bot": [
                "commands",
                "chat:write",
                "app_mentions:read",
                "channels:history",
                "groups:history",
                "im:history",
            ]
        }
    },
    "settings": {
        "event_subscriptions": {
            "request_url": "https://desk.example.com/slack/events",
            "bot_events": ["app_home_opened", "app_mention", "message.im", "message.channels", "message.groups"],
        }
    },
}


def scoped(scopes: Iterable[str]) -> dict[str, Any]:
    """The least manifest of an app with these scopes."""
    return {"display_information": {"name": "Desk"}, "oauth_config": {"scopes": {"bot": list(scopes)}}}


Answer = Callable[[dict[str, Any]], Awaitable[Any]]


@dataclass
class Desk:
    """An app that answers as a test says, and remembers what it was sent."""

    slack: LocalSlack
    http: httpx.AsyncClient
    heard: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    """Of each request that was heard."""
    on: dict[str, Answer] = field(default_factory=dict)

    async def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        answer = await self._called(method, arguments)
        assert answer["ok"], answer
        return answer

    async def refused(self, method: str, **arguments: Any) -> str:
        """Slack's word for why it does not do it."""
        answer = await self._called(method, arguments)
        assert not answer["ok"], answer
        return str(answer["error"])

    async def _called(self, method: str, arguments: dict[str, Any]) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        return dict((await self.http.post(f"{self.slack.api_url}{method}", json=arguments, headers=headers)).json())

    async def endpoint(self, request: Request) -> Response:
        payload = _payload(await request.body(), request.headers.get("content-type", ""))
        self.heard.append(payload)
        self.headers.append(dict(request.headers))
        answer = await self.on[payload["type"]](payload) if payload["type"] in self.on else None
        if isinstance(answer, Response):
            return answer
        return Response() if answer is None else JSONResponse(answer)

    def all(self, kind: str) -> list[dict[str, Any]]:
        return [payload for payload in self.heard if payload["type"] == kind]

    async def events(self) -> list[dict[str, Any]]:
        """What happened, as the Events API told it so far."""
        await self.slack.acting.events.wait_for_deliveries()
        return [one["event"] for one in self.all("event_callback")]

    def last(self, kind: str) -> dict[str, Any]:
        return next(payload for payload in reversed(self.heard) if payload["type"] == kind)


def _payload(body: bytes, kind: str) -> dict[str, Any]:
    if kind == "application/json":
        return {"type": "tools", **json.loads(body)}  # what Slackbot sends has none
    sent = {name: texts[0] for name, texts in parse_qs(body.decode(), keep_blank_values=True).items()}
    return dict(json.loads(sent["payload"])) if "payload" in sent else {**sent, "type": "command"}


def words(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}
