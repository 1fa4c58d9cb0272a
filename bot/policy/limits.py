"""Rate limits of one person, so that one person's flood doesn't block others.

Decisions, undo and the end of a temporary change are never limited. Rates are counted in the memory of each process: with
several replicas, each of them grants the whole rate.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

MAX_WAITING_REQUESTS: Final = 20
"""How many requests of one person may wait for a decision."""
MAX_KEYS: Final = 10_000
"""How many rates of people are remembered before the oldest are dropped."""


@dataclass(frozen=True, slots=True)
class Rate:
    """How many acts of a kind a person may do within *seconds*."""

    what: str
    per_person: int
    seconds: int


COMMAND_RATE: Final = Rate("commands", per_person=60, seconds=60)
EXPORT_RATE: Final = Rate("exports", per_person=10, seconds=3600)
IMPORT_RATE: Final = Rate("imports", per_person=60, seconds=3600)
"""Counts how often a file is read: when it is handed over, and when its preview is sent."""
FILES_AT_ONCE: Final = 2
"""How many files a process works on at a time: one of 10 MB takes up to 100 MB of memory."""


@dataclass(eq=False)
class TooFast(Exception):
    """A person has used up *rate*; the next act is possible in *seconds*."""

    rate: Rate
    seconds: int


@dataclass(eq=False)
class StillRunning(Exception):
    """This person's previous command is still running. *what*: the command."""

    what: str


@dataclass(slots=True)
class RateLimiter:
    """Counts the recent acts of people."""

    now: Callable[[], datetime]
    _acts: dict[tuple[str, str], deque[float]] = field(default_factory=dict)
    _running: set[tuple[str, str]] = field(default_factory=set)
    _files: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(FILES_AT_ONCE))

    def take(self, rate: Rate, user: str) -> None:
        """Count one act; raises TooFast where it exceeds *rate*, without counting it."""
        now = self.now().timestamp()
        if len(self._acts) > MAX_KEYS:  # before the key is looked up, which adds an empty entry
            # No rate looks further back than an hour.
            self._acts = {known: acts for known, acts in self._acts.items() if now - acts[-1] < 3600}
        acts = self._acts.setdefault((rate.what, user), deque())
        # Where the clock was set back, later times are dropped.
        while acts and not 0 <= now - acts[0] < rate.seconds:
            acts.popleft()
        if len(acts) >= rate.per_person:
            raise TooFast(rate, max(1, round(acts[0] + rate.seconds - now)))
        acts.append(now)

    @contextmanager
    def one_at_a_time(self, what: str, user: str) -> Iterator[None]:
        """Hold *what* for *user* until the block ends; raises StillRunning where it is held."""
        if (what, user) in self._running:
            raise StillRunning(what)
        self._running.add((what, user))
        try:
            yield
        finally:
            self._running.discard((what, user))

    @asynccontextmanager
    async def file_work(self, user: str) -> AsyncIterator[None]:
        """Count work on a file, and hold it until the block ends; raises TooFast or StillRunning."""
        with self.one_at_a_time("import", user):
            self.take(IMPORT_RATE, user)
            async with self._files:
                yield
