"""The app's side of Socket Mode, by hand: one websocket, its frames, and what is answered."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect

from sandbox.slack.running import APP_TOKEN, LocalSlack


@dataclass(frozen=True, slots=True)
class Link:
    """An open connection."""

    websocket: ClientConnection

    async def hears(self) -> dict[str, Any]:
        """The next frame."""
        return dict(json.loads(await self.websocket.recv()))

    async def answers(self, envelope: dict[str, Any], payload: Any = None) -> None:
        answer = {"envelope_id": envelope["envelope_id"]}
        await self.websocket.send(json.dumps(answer if payload is None else {**answer, "payload": payload}))


async def opened(slack: LocalSlack, token: str = APP_TOKEN) -> dict[str, Any]:
    """What apps.connections.open answers."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx.AsyncClient(trust_env=False) as http:
        answer = await http.post(f"{slack.api_url}apps.connections.open", headers=headers)
    return dict(answer.json())


@asynccontextmanager
async def linked(slack: LocalSlack) -> AsyncIterator[Link]:
    async with connect((await opened(slack))["url"], proxy=None) as websocket:
        yield Link(websocket)
