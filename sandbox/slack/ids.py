"""Ids and tokens of the local Slack, and a clock for tests that stands."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Ids:
    """Gives each id out once; tokens and tickets can't be guessed."""

    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def number(self) -> int:
        """Return the next number, in every run from 1 on."""
        return next(self._numbers)

    def secret(self, size: int) -> str:
        """Return *size* random bytes as hexadecimal digits."""
        return secrets.token_hex(size)


@dataclass(slots=True)
class StandingClock:
    """A clock, in seconds since 1970, that moves only when somebody sets it forward."""

    now: float

    def __call__(self) -> float:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += seconds
