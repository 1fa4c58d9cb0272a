"""Waiting by event: whatever the app posts, edits or opens wakes whoever waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from sandbox.slack.state import State

T = TypeVar("T")


class NothingHappened(AssertionError):
    """What was waited for did not come; the text tells what did."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Misses nothing from when it begins. *patience* in seconds; *story*: what happened, for whoever reads a failure."""

    changed: asyncio.Queue[dict[str, Any]]
    patience: float
    story: Callable[[], str]

    async def until(self, look: Callable[[], T | None], what: str) -> T:
        """What *look* finds, once it finds something; raises NothingHappened."""
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
