"""How long requests that come one after the other wait for a service that is away or wants to be left alone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from bot.clients.errors import ClientError, RateLimited

LONGEST: Final = 120.0
"""Seconds of trouble, since anything last went well, after which it is given up."""
FIRST, MOST = 0.5, 15.0
"""Seconds of the first pause, and of the longest that the service did not ask for."""


class Patience:
    """Shared by all who send to one service: when one of them is told to wait, they all do."""

    def __init__(
        self,
        longest: float = LONGEST,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._longest = longest
        self._clock = clock
        self._sleep = sleep
        self._next = 0.0
        self._pause = FIRST
        self._waited = 0.0

    async def turn(self) -> None:
        """Return when something may be sent."""
        if (wait := self._next - self._clock()) > 0:
            await self._sleep(wait)

    def try_on(self, error: ClientError) -> None:
        """Note that a request was not taken; raises *error* where there was trouble for too long."""
        asked = error.retry_after if isinstance(error, RateLimited) else None
        now = self._clock()
        if self._next > now:
            return  # the others were told the same
        pause = asked or self._pause  # "after 0 seconds" would be at once, for ever
        if self._waited + pause > self._longest:
            raise error
        self._waited += pause
        self._pause = min(self._pause * 2, MOST)
        self._next = now + pause

    def went_well(self) -> None:
        self._pause, self._waited = FIRST, 0.0
