"""What a channel, or a person for themselves, may set, as values."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Self

MOST_SEGMENTS: Final = 30
LONGEST_SEGMENT: Final = 75
"""Characters that a choice in one of Slack's menus has at most."""
DELIMITER: Final = ","
NOTICES: Final = ("approved", "denied", "expired", "failed", "reverted")
"""The kinds of direct messages about a person's own requests; each of them can turn them off."""
NOTICES_OFF: Final = "notices_off"


def wanted_notices(stored: Mapping[str, str]) -> tuple[str, ...]:
    """The kinds of direct messages that a person wants, by what is *stored* for them: all, unless they said otherwise."""
    off = stored.get(NOTICES_OFF, "").split(DELIMITER)
    return tuple(kind for kind in NOTICES if kind not in off)


def stored_notices(wanted: Collection[str]) -> dict[str, str]:
    """What is stored for a person who wants the *wanted* kinds alone: the others, so that kinds to come are on."""
    return {NOTICES_OFF: DELIMITER.join(kind for kind in NOTICES if kind not in wanted)}


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
