"""Whether a part of Gatehouse works: for readiness, metrics, and people who ask."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Level(StrEnum):
    """How well a part works."""

    WORKS = "ok"
    NEEDS_ATTENTION = "warning"
    """It works, but not for everything or everybody."""
    FAILS = "fails"


@dataclass(frozen=True, slots=True)
class Health:
    """How well a part works, and in a few words what to know about it, or what is wrong."""

    level: Level
    detail: str = ""

    @property
    def is_ready(self) -> bool:
        """Whether it works, be it in part."""
        return self.level is not Level.FAILS

    def __str__(self) -> str:
        match self.level:
            case Level.WORKS:
                return f"ok, {self.detail}" if self.detail else "ok"
            case Level.NEEDS_ATTENTION:
                return f"warning: {self.detail}"
            case Level.FAILS:
                return self.detail


WORKS: Final = Health(Level.WORKS)


def health_of(trouble: str | None) -> Health:
    """Return the health of a part that fails for *trouble*, or works where there is none."""
    return Health(Level.FAILS, trouble) if trouble else WORKS
