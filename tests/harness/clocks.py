"""A clock that goes on only when a test sets it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

EPOCH: Final = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)


@dataclass(slots=True)
class StandingClock:
    moment: datetime = EPOCH

    def __call__(self) -> datetime:
        return self.moment
