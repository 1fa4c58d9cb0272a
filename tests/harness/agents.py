"""Agents for tests: they call tools at ``/mcp``, signed as Slackbot's requests are, or with a token."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from sandbox.demo import Sandbox
from sandbox.gatehouse import ALICE, SHOP
from sandbox.slack.running import SECRET

PLAIN: Final = {"content-type": "application/json", "accept": "application/json"}


def signed(body: bytes, *, secret: str = SECRET, age: int = 0) -> dict[str, str]:
    """The headers with which Slack sends *body*, *age* seconds ago."""
    stamp = str(int(time.time()) - age)
    found = hmac.new(secret.encode(), f"v0:{stamp}:".encode() + body, hashlib.sha256).hexdigest()
    return {**PLAIN, "x-slack-request-timestamp": stamp, "x-slack-signature": f"v0={found}"}


def call_of(tool: str, arguments: Mapping[str, Any], who: Any) -> bytes:
    """The body of a call, of which Slack says *who* asks."""
    params = {"name": tool, "arguments": arguments, "_meta": {"slack": who}}
    return json.dumps({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}).encode()


@dataclass(frozen=True, slots=True)
class Told:
    """What an agent was told."""

    text: str
    data: dict[str, Any]
    blocks: list[dict[str, Any]]
    is_error: bool


@dataclass(slots=True)
class Agent:
    """Slackbot for the person *user*; with a *token*, another agent."""

    sandbox: Sandbox
    user: str = ALICE.id
    token: str = ""
    told: list[Told] = field(default_factory=list)

    async def post(self, body: bytes, headers: Mapping[str, str] | None = None) -> httpx.Response:
        """Send *body*, by default as this agent does."""
        own = {**PLAIN, "authorization": f"Bearer {self.token}"} if self.token else signed(body)
        async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
            sent = own if headers is None else headers
            return await client.post(f"{self.sandbox.bot_url}/mcp", content=body, headers=sent)

    async def calls(self, tool: str, **arguments: Any) -> Told:
        """Call *tool*; what it is told."""
        answer = await self.post(call_of(tool, arguments, {"user_id": self.user, "team_id": SHOP.id}))
        assert answer.status_code == 200, answer.text
        found = answer.json()["result"]
        blocks = ((found.get("_meta") or {}).get("slack") or {}).get("blocks", [])
        text = "\n".join(part["text"] for part in found["content"])
        self.told.append(Told(text, found.get("structuredContent") or {}, blocks, found["isError"]))
        return self.told[-1]


@asynccontextmanager
async def sdk_client(sandbox: Sandbox, mode: str) -> AsyncIterator[Any]:
    """The official SDK's own client, signed as Slackbot's requests are."""
    import httpx2  # noqa: PLC0415  only where the extra is installed
    from mcp import Client  # noqa: PLC0415
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    async def sign(request: Any) -> None:
        request.headers.update(signed(await request.aread()))

    hooks = {"request": [sign]}
    async with (
        httpx2.AsyncClient(event_hooks=hooks, timeout=30) as http,
        Client(streamable_http_client(f"{sandbox.bot_url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client
