"""The gate in front of a service: pauses that it asked for, and priorities."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from bot.clients.errors import TOO_MANY, RateLimited
from bot.metrics import HELD_REQUESTS

MAX_WAIT_SECONDS: Final = 5.0
"""Seconds that a request waits for its turn at most; where it would be longer, it fails with RateLimited."""
PAUSE_SECONDS: Final = 1.0
"""Seconds of a pause where the service did not say how long."""
MAX_PAUSE_SECONDS: Final = 300.0
"""Seconds of the longest pause: where a service asks for more, it is tried again after these."""
YIELD_SECONDS: Final = 0.05
"""Seconds that other requests wait, each time, while people's changes are waiting."""


class Priority(IntEnum):
    """The priority of a request, the least urgent first."""

    READ = 0
    BULK = 1
    CHANGE = 2


Fence = Callable[[bool], Awaitable[None]]
"""The fencing check of work under a lease, awaited right before each write: if it raises, nothing is sent. Its argument says
whether to ask the database rather than the clock of this process."""


@dataclass(frozen=True, slots=True)
class CallContext:
    """The context of a client's requests: their priority, the start of their command, and their fence."""

    priority: Priority = Priority.READ
    began: float = float("inf")
    """When the command began (monotonic clock): it uses cached reads from then on. Infinite: it uses none."""
    fence: Fence | None = None

    async def pass_fence(self, *, ask: bool = False) -> None:
        """Return if a write may be sent now; raises what the `fence` raises. *ask*: whether to ask the database."""
        if self.fence is not None:
            await self.fence(ask)


class Gate:
    """The gate that all senders to one service in this process share. People's changes go before all other requests."""

    def __init__(
        self,
        service: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._service = service
        self._clock = clock
        self._sleep = sleep
        self._opens = float("-inf")
        self._status = TOO_MANY
        self._urgent_waiting = 0

    def close(self, seconds: float | None, status: int = TOO_MANY) -> None:
        """Let nothing through for *seconds*; None where the service did not say how many. *status*: that of its answer."""
        pause = PAUSE_SECONDS if seconds is None else min(seconds, MAX_PAUSE_SECONDS)
        self._opens, self._status = max(self._opens, self._clock() + pause), status

    async def turn(self, priority: Priority) -> None:
        """Wait until a request may be sent; raises RateLimited where that takes longer than MAX_WAIT_SECONDS."""
        waited = 0.0
        is_urgent = priority is Priority.CHANGE
        while True:
            wait = self._opens - self._clock()
            if wait <= 0 and (is_urgent or not self._urgent_waiting):
                break
            waited += max(wait, 0.0)
            if waited > MAX_WAIT_SECONDS:
                HELD_REQUESTS.labels(self._service, priority.name.lower(), "refused").inc()
                raise RateLimited(self._service, "", self._status, wait)
            self._urgent_waiting += is_urgent
            try:
                await self._sleep(max(wait, YIELD_SECONDS))
            finally:
                self._urgent_waiting -= is_urgent
        if waited:
            HELD_REQUESTS.labels(self._service, priority.name.lower(), "waited").inc()
