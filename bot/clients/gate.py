"""The rate limiter in front of a service: pauses that it asked for, a limit per minute, and priorities."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
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
MINUTE_SECONDS: Final = 60.0
SHARES: Final = 6
"""A sixth of the limit is reserved for each priority; people's changes may use the whole limit."""


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


class RequestLimit:
    """A sliding-window limit of *per_minute* requests of this process in any minute, with a share reserved for each priority."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._sent: deque[tuple[float, Priority]] = deque()
        self._counts: Counter[Priority] = Counter()

    def take(self, priority: Priority, now: float) -> float:
        """Count a request and return 0 if it may be sent *now* (in seconds); otherwise return the seconds until it may."""
        while self._sent and self._sent[0][0] + MINUTE_SECONDS <= now:
            self._counts[self._sent.popleft()[1]] -= 1
        counts, free = self._counts.copy(), now
        for sent, oldest in self._sent:
            if self._has_room(priority, counts):
                break
            counts[oldest] -= 1
            free = sent + MINUTE_SECONDS
        if free > now:
            return free - now
        self._sent.append((now, priority))
        self._counts[priority] += 1
        return 0.0

    def _has_room(self, priority: Priority, counts: Counter[Priority]) -> bool:
        others = [] if priority is Priority.CHANGE else [each for each in Priority if each is not priority]
        kept = sum(max(0, self._per_minute // SHARES - counts[other]) for other in others)
        return counts.total() + kept < self._per_minute


class Gate:
    """The rate limiter that all senders to one service in this process share. People's changes go before all other requests.

    *per_minute*: the requests that it lets through in any minute; None for no limit.
    """

    def __init__(
        self,
        service: str,
        per_minute: int | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._service = service
        self._limit = None if per_minute is None else RequestLimit(per_minute)
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
            is_ours = False
            if wait <= 0 and (is_urgent or not self._urgent_waiting):
                wait = 0.0 if self._limit is None else self._limit.take(priority, self._clock())
                if wait <= 0:
                    break
                is_ours = True
            waited += max(wait, 0.0)
            if waited > MAX_WAIT_SECONDS:
                HELD_REQUESTS.labels(self._service, priority.name.lower(), "refused").inc()
                raise RateLimited(self._service, "", self._status, wait, is_ours=is_ours)
            self._urgent_waiting += is_urgent
            try:
                await self._sleep(max(wait, YIELD_SECONDS))
            finally:
                self._urgent_waiting -= is_urgent
        if waited:
            HELD_REQUESTS.labels(self._service, priority.name.lower(), "waited").inc()
