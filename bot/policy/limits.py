"""Rate limits of one person and one channel, so that one person's flood doesn't block others.

Decisions, undo and the end of a temporary change are never limited. A channel's limit never stops a person who was
quiet, so the person on call can act in a flooded channel, too. Rates are counted in the memory of each
process: with several replicas, each of them grants the whole rate.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

MAX_QUESTIONS_PER_REQUEST: Final = 20
MAX_KEYS: Final = 10_000
"""How many people and channels are remembered before the oldest are dropped."""


@dataclass(frozen=True, slots=True)
class OpenLimits:
    """How many requests may wait for a decision. A person who has none waiting may always make one."""

    per_person: int = 20
    per_channel: int = 60

    def is_exceeded(self, of_person: int, in_channel: int) -> bool:
        """Whether a new request exceeds the limits; both counts include it."""
        return of_person > self.per_person or (in_channel > self.per_channel and of_person > 1)


DEFAULT_LIMITS: Final = OpenLimits()


@dataclass(frozen=True, slots=True)
class Rate:
    """How many acts of a kind are allowed within *seconds*. *quiet*: how many a person may do even in a flooded channel."""

    what: str
    per_person: int
    per_channel: int
    seconds: int
    quiet: int


COMMAND_RATE: Final = Rate("commands", per_person=60, per_channel=300, seconds=60, quiet=10)
EXPORT_RATE: Final = Rate("exports", per_person=10, per_channel=30, seconds=3600, quiet=1)
IMPORT_RATE: Final = Rate("imports", per_person=60, per_channel=180, seconds=3600, quiet=1)
"""Counts how often a file is read: when it is handed over, whenever a column is chosen, and at the end."""
FILES_AT_ONCE: Final = 2
"""How many files a process works on at a time: one of 10 MB takes up to 100 MB of memory."""


@dataclass(eq=False)
class TooFast(Exception):
    """A person, or the *channel* as a whole, has used up *rate*; the next act is possible in *seconds*."""

    rate: Rate
    seconds: int
    channel: bool


@dataclass(eq=False)
class StillRunning(Exception):
    """This person's previous command is still running. *what*: the command."""

    what: str


@dataclass(slots=True)
class RateLimiter:
    """Counts the recent acts of people and channels."""

    now: Callable[[], datetime]
    _acts: dict[tuple[str, str], deque[float]] = field(default_factory=dict)
    _running: set[tuple[str, str]] = field(default_factory=set)
    _files: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(FILES_AT_ONCE))

    def take(self, rate: Rate, user: str, channel: str) -> None:
        """Count one act; raises TooFast where it exceeds *rate*, without counting it."""
        now = self.now().timestamp()
        if len(self._acts) > MAX_KEYS:  # before the two keys are looked up: this drops empty entries, too
            # No rate looks further back than an hour.
            self._acts = {known: acts for known, acts in self._acts.items() if acts and now - acts[-1] < 3600}
        mine, here = self._recent_acts(rate, user, now), self._recent_acts(rate, channel, now)
        for acts, most, spared in ((mine, rate.per_person, 0), (here, rate.per_channel, rate.quiet)):
            # A person who was quiet has some acts left, however much the channel does.
            if len(acts) >= most and len(mine) >= spared:
                raise TooFast(rate, max(1, round(acts[0] + rate.seconds - now)), channel=acts is here)
        mine.append(now)
        if here is not mine:
            here.append(now)

    def _recent_acts(self, rate: Rate, key: str, now: float) -> deque[float]:
        """Return the times of *key*'s acts within the span of *rate*; where the clock was set back, later times are dropped."""
        acts = self._acts.setdefault((rate.what, key), deque())
        while acts and not 0 <= now - acts[0] < rate.seconds:
            acts.popleft()
        return acts

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
    async def file_work(self, user: str, channel: str) -> AsyncIterator[None]:
        """Count work on a file, and hold it until the block ends; raises TooFast or StillRunning."""
        with self.one_at_a_time("import", user):
            self.take(IMPORT_RATE, user, channel)
            async with self._files:
                yield
