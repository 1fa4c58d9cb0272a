"""A service that answers when a test lets it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response

from sandbox.services.faults import Faults


@dataclass(slots=True)
class Held(Faults):
    """A service that takes until it is *free* to answer."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    free: asyncio.Event = field(default_factory=asyncio.Event)
    only_writes: bool = False

    async def respond(self, request: Request, body: bytes, answer: Callable[[bytes], Awaitable[Response]]) -> Response:
        if self.only_writes and request.method == "GET":
            return await answer(body)
        self.asked.set()
        await self.free.wait()
        return await answer(body)
