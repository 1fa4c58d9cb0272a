"""When a request may leave for a service: pauses that it asked for, its budget a minute, and who goes first."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import IntEnum
from typing import Final

from bot.clients.errors import RateLimited
from bot.metrics import HELD_REQUESTS
from bot.store.budgets import Budget

MAX_WAIT_SECONDS: Final = 5.0
"""Seconds that a request waits for its turn; where it would be longer, the caller gets an error."""
PAUSE_SECONDS: Final = 1.0
"""Seconds of a pause that a service asked for without saying how long."""
MAX_PAUSE_SECONDS: Final = 300.0
"""Seconds for which a service is believed that it wants to be left alone; then it is tried."""
YIELD_SECONDS: Final = 0.05
"""Seconds for which a read lets the writes go first that waited with it."""
RESERVES: Final = 6
"""A sixth of a budget is left to the changes of people alone, and another sixth to those and bulk changes."""


class Priority(IntEnum):
    """What requests are sent for, the least urgent first."""

    READ = 0
    BULK = 1
    CHANGE = 2


_priority: Final[ContextVar[Priority]] = ContextVar("priority", default=Priority.READ)


def current_priority() -> Priority:
    """Return what this task sends requests for."""
    return _priority.get()


@contextmanager
def sending_for(priority: Priority) -> Iterator[None]:
    """Let all that the block sends, and the tasks that it starts, go with *priority*: also what a change has to read."""
    token = _priority.set(priority)
    try:
        yield
    finally:
        _priority.reset(token)


class Gate:
    """Shared by all who send to one service. When it opens again, writes go first: reads wait for people, too.

    With a *budget*, requests also wait for that, and reads leave a part of it to changes.
    """

    def __init__(
        self,
        service: str,
        budget: Budget | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._service = service
        self._budget = budget
        self._clock = clock
        self._sleep = sleep
        self._opens = float("-inf")
        self._urgent_waiting = 0

    async def close(self, seconds: float | None) -> None:
        """Let nothing through for so many seconds; None where the service did not say how many.

        With a budget, the other replicas do the same.
        """
        pause = PAUSE_SECONDS if seconds is None else min(seconds, MAX_PAUSE_SECONDS)
        self._opens = max(self._opens, self._clock() + pause)
        if self._budget is not None:
            await self._budget.pause(pause)

    async def turn(self, *, write: bool) -> None:
        """Return when something may be sent; raises RateLimited where that is too far away."""
        priority, waited = current_priority(), 0.0
        urgent = write or priority > Priority.READ
        while True:
            wait = self._opens - self._clock()
            is_ours = False
            if wait <= 0 and (urgent or not self._urgent_waiting):
                wait = await self._take(priority)
                if wait <= 0:
                    break
                is_ours = True
            waited += max(wait, 0.0)
            if waited > MAX_WAIT_SECONDS:
                HELD_REQUESTS.labels(self._service, priority.name.lower(), "refused").inc()
                raise RateLimited(self._service, "", 429, wait, is_ours=is_ours)
            with self._counted(urgent):
                await self._sleep(max(wait, YIELD_SECONDS))
        if waited:
            HELD_REQUESTS.labels(self._service, priority.name.lower(), "waited").inc()

    async def _take(self, priority: Priority) -> float:
        """Take a request out of the budget, or return the seconds until there may be one for *priority*."""
        if self._budget is None:
            return 0.0
        reserves = Priority.CHANGE - priority
        return await self._budget.take(spare=self._budget.per_minute * reserves // RESERVES)

    @contextmanager
    def _counted(self, urgent: bool) -> Iterator[None]:
        self._urgent_waiting += urgent
        try:
            yield
        finally:
            self._urgent_waiting -= urgent
