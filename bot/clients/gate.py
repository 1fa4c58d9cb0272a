"""When a request may leave for a service: pauses that it asked for, a limit a minute, and who goes first."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from bot.clients.errors import TOO_MANY, RateLimited
from bot.metrics import HELD_REQUESTS

MAX_WAIT_SECONDS: Final = 5.0
"""Seconds that a request waits for its turn; where it would be longer, the caller gets an error."""
PAUSE_SECONDS: Final = 1.0
"""Seconds of a pause that a service asked for without saying how long."""
MAX_PAUSE_SECONDS: Final = 300.0
"""Seconds for which a service is believed that it wants to be left alone; then it is tried."""
YIELD_SECONDS: Final = 0.05
"""Seconds for which the others let the changes go first that waited with them."""
MINUTE_SECONDS: Final = 60.0
SHARES: Final = 6
"""A sixth of a limit is kept for each priority; people's changes may use the others' as well."""


class Priority(IntEnum):
    """What requests are sent for, the least urgent first."""

    READ = 0
    BULK = 1
    CHANGE = 2


Fence = Callable[[bool], Awaitable[None]]
"""Awaited right before each write by work under a lease; what it raises keeps the request from leaving. It is given whether to
ask the database, rather than the clock of this process."""


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a client sends requests for."""

    priority: Priority = Priority.READ
    began: float = float("inf")
    """When the command began that asks, by the monotonic clock: it shares what was read since then. Infinite: nothing."""
    fence: Fence | None = None

    async def pass_fence(self, *, ask: bool = False) -> None:
        """Return where a write may be sent now; raises what the `fence` raises."""
        if self.fence is not None:
            await self.fence(ask)


class RequestLimit:
    """At most *per_minute* requests of this process in any minute, some of them kept for each priority."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._sent: deque[tuple[float, Priority]] = deque()
        self._counts: Counter[Priority] = Counter()

    def take(self, priority: Priority, now: float) -> float:
        """Count a request and return 0 if it may be sent *now*, in seconds; otherwise return the seconds until then."""
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
    """Shared by all who send to one service from this process. People's changes go before all others that wait.

    *per_minute*: how many requests it lets through in any minute; None for no limit.
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
        """Let nothing through for so many seconds; None where the service did not say how many. *status*: what it answered."""
        pause = PAUSE_SECONDS if seconds is None else min(seconds, MAX_PAUSE_SECONDS)
        self._opens, self._status = max(self._opens, self._clock() + pause), status

    async def turn(self, priority: Priority) -> None:
        """Return when something may be sent; raises RateLimited where that is too far away."""
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
            with self._counting(urgent=is_urgent):
                await self._sleep(max(wait, YIELD_SECONDS))
        if waited:
            HELD_REQUESTS.labels(self._service, priority.name.lower(), "waited").inc()

    @contextmanager
    def _counting(self, *, urgent: bool) -> Iterator[None]:
        self._urgent_waiting += urgent
        try:
            yield
        finally:
            self._urgent_waiting -= urgent
