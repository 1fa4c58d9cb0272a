"""Names for things, counted, so that two runs with the same clock have the same."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Ids:
    """Gives out numbers and timestamps, each once. *clock*: seconds since 1970."""

    clock: Callable[[], float]
    _count: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _last_ts: int = 0

    def number(self) -> int:
        return next(self._count)

    def ts(self) -> str:
        """A message's name: the time in microseconds, and later than any given before."""
        self._last_ts = max(self._last_ts + 1, int(self.clock() * 1_000_000))
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"

    def named(self, letter: str) -> str:
        """A name such as V00000012."""
        return f"{letter}{self.number():08d}"
