"""What a channel may set for itself, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

MOST_SEGMENTS: Final = 30
LONGEST_SEGMENT: Final = 75
"""Characters that a choice in one of Slack's menus has at most."""
DELIMITER: Final = ","


@dataclass(frozen=True, slots=True)
class Preferences:
    """*site*: the name of the site that is meant where none is named; *segments*: names that exist though nobody has them."""

    site: str = ""
    segments: tuple[str, ...] = ()

    @classmethod
    def of(cls, stored: Mapping[str, str]) -> Self:
        """What was stored; a setting that this release does not know is left alone."""
        return cls(stored.get("site", ""), tuple(filter(None, stored.get("segments", "").split(DELIMITER))))

    def stored(self) -> dict[str, str]:
        return {"site": self.site, "segments": DELIMITER.join(self.segments)}
