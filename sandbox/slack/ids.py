"""Ids, tokens and the time of the local Slack: random and by the wall clock, or the same in every run."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Ids:
    """Gives each id out once. *seed*: of tokens and tickets; without it they can't be guessed."""

    seed: int | None = None
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._chance = random.SystemRandom() if self.seed is None else random.Random(self.seed)  # noqa: S311  asked for

    def number(self) -> int:
        """Return the next number, in every run from 1 on."""
        return next(self._numbers)

    def secret(self, size: int) -> str:
        """Return *size* random bytes as hexadecimal digits."""
        return self._chance.randbytes(size).hex()


@dataclass(slots=True)
class StandingClock:
    """A clock, in seconds since 1970, that moves only when somebody sets it forward."""

    now: float

    def __call__(self) -> float:
        return self.now

    def forward(self, seconds: float) -> None:
        """Set the clock forward; raises ValueError for a step back, after which older entries would be in the future."""
        if seconds < 0:
            raise ValueError("seconds must not be negative")
        self.now += seconds
