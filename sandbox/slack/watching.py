"""Wait by event: everything that the app posts, edits or opens wakes the waiters."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from sandbox.slack.state import State

T = TypeVar("T")


class NothingHappened(AssertionError):
    """What was waited for did not come; the text says what did."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Waits for something without missing anything since it began. *patience*: in seconds; *story*: the events, for failures."""

    changed: asyncio.Queue[dict[str, Any]]
    patience: float
    story: Callable[[], str]

    async def until(self, look: Callable[[], T | None], what: str) -> T:
        """Return what *look* finds, once it finds something; raises NothingHappened after *patience*."""
        try:
            async with asyncio.timeout(self.patience):
                while (found := look()) is None:
                    await self.changed.get()
                return found
        except TimeoutError:
            raise NothingHappened(f"waited for {what!r}; what happened:\n{self.story()}") from None


@asynccontextmanager
async def watching(state: State, patience: float, story: Callable[[], str]) -> AsyncIterator[Watch]:
    queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    watcher: tuple[str | None, asyncio.Queue[dict[str, Any]]] = (None, queue)
    state.watchers.append(watcher)
    try:
        yield Watch(queue, patience, story)
    finally:
        state.watchers.remove(watcher)
