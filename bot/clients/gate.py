"""When a service may be sent something: after it said that it has too much to do, nobody sends before its time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from typing import Final

from bot.clients.errors import RateLimited

MAX_WAIT_SECONDS: Final = 5.0
"""Seconds that a request waits for its turn; where it would be longer, whoever asked is told."""
PAUSE_SECONDS: Final = 1.0
"""Seconds of a pause that a service asked for without saying how long."""
MAX_PAUSE_SECONDS: Final = 300.0
"""Seconds for which a service is believed that it wants to be left alone; then it is tried."""
MAX_NAMED_SECONDS: Final = 86_400.0
YIELD_SECONDS: Final = 0.05
"""Seconds for which a read lets the writes go first that waited with it."""


class Gate:
    """Shared by all who send to one service. When it opens again, writes go first: reads wait for people, too."""

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
        self._writes_waiting = 0

    def close(self, seconds: float | None) -> None:
        """Let nothing through for so many seconds; None where the service did not say how many."""
        pause = PAUSE_SECONDS if seconds is None else min(seconds, MAX_PAUSE_SECONDS)
        self._opens = max(self._opens, self._clock() + pause)

    async def turn(self, *, write: bool) -> None:
        """Return when something may be sent; raises RateLimited where that is too far away."""
        while (wait := self._opens - self._clock()) > 0 or (self._writes_waiting and not write):
            if wait > MAX_WAIT_SECONDS:
                raise RateLimited(self._service, "", 429, wait)
            with self._counted(write):
                await self._sleep(max(wait, YIELD_SECONDS))

    @contextmanager
    def _counted(self, write: bool) -> Iterator[None]:
        self._writes_waiting += write
        try:
            yield
        finally:
            self._writes_waiting -= write


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, also where the service names a time: by its own clock, if it tells that."""
    value = headers.get("retry-after", "")
    if value.isascii() and value.isdigit():
        return min(float(value), MAX_NAMED_SECONDS)
    try:
        until, now = parsedate_to_datetime(value), parsedate_to_datetime(headers["date"])
    except (KeyError, TypeError, ValueError):
        return None
    if not until.tzinfo or not now.tzinfo:
        return None
    return min(max(0.0, (until - now).total_seconds()), MAX_NAMED_SECONDS)
