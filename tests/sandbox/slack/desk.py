"""An app of a few lines, for the other side of the local Slack."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import httpx
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sandbox.slack.running import TOKEN, LocalSlack

OPS = "C0OPS0001"
ALICE, BOB = "U0ALICE01", "U0BOB0001"
MANIFEST = {
    "features": {"slash_commands": [{"command": "/desk", "description": "Ask", "usage_hint": "[list | new]"}]},
    "oauth_config": {"scopes": {"bot": ["commands", "chat:write"]}},
}

Answer = Callable[[dict[str, Any]], Awaitable[Any]]


@dataclass
class Desk:
    """An app that answers as a test says, and remembers what it was sent."""

    slack: LocalSlack
    http: httpx.AsyncClient
    heard: list[dict[str, Any]] = field(default_factory=list)
    on: dict[str, Answer] = field(default_factory=dict)

    async def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        answer = await self.http.post(
            f"{self.slack.api_url}{method}", json=arguments, headers={"Authorization": f"Bearer {TOKEN}"}
        )
        assert answer.json()["ok"], answer.text
        return dict(answer.json())

    async def endpoint(self, request: Request) -> Response:
        sent = {name: texts[0] for name, texts in parse_qs((await request.body()).decode()).items()}
        payload = json.loads(sent["payload"]) if "payload" in sent else {**sent, "type": "command"}
        self.heard.append(payload)
        answer = await self.on[payload["type"]](payload) if payload["type"] in self.on else None
        return Response() if answer is None else JSONResponse(answer)

    def last(self, kind: str) -> dict[str, Any]:
        return next(payload for payload in reversed(self.heard) if payload["type"] == kind)


def words(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}
