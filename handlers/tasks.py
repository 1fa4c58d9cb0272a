"""Work that outlives its request's acknowledgement: kept, so that it cannot be collected, and drained at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import structlog

log = structlog.get_logger(__name__)


class Tasks:
    """The tasks that are under way. Bolt would drop its references to them and not wait at shutdown."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run *work*, which answers for its own errors."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("task_died", error=type(error).__name__, exc_info=error)

    async def drain(self, seconds: float) -> None:
        """Wait for what runs, at most *seconds*; what is left is cancelled (and, if it was stored, done later)."""
        if self._running:
            _, late = await asyncio.wait(self._running, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
