"""How long a change is to last, as people write it: ``for 2h``, ``until 18:00``."""

from __future__ import annotations

import re
from typing import Final

from bot.domain.duration import seconds_of
from handlers.commands.command import Lasts

CLOCK: Final = re.compile(r"([01]?\d|2[0-3])[:.]([0-5]\d)")
LONGEST_DURATION: Final = 366 * 86_400


def parse_lasts(text: str) -> Lasts | None:
    """``2h``, ``for 2 hours``, ``18:00`` or ``until 18:00``; None for a text that is none of those."""
    words = text.casefold().split()
    if words[:1] in (["for"], ["until"]):
        words = words[1:]
    joined = "".join(words)
    return lasts_in("for", joined) or lasts_in("until", joined)


def lasts_in(keyword: str, text: str) -> Lasts | None:
    """What *text* means after ``for`` or ``until``; None where it is nothing of the kind, or longer than a year."""
    if keyword == "until":
        match = CLOCK.fullmatch(text)
        return Lasts(f"until {text}", until=(int(match[1]), int(match[2]))) if match else None
    seconds = seconds_of(text)
    return Lasts(f"for {text}", seconds=seconds) if 0 < seconds <= LONGEST_DURATION else None
