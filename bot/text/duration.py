"""Spans of time as people write them: ``2h``, ``1h30m``, ``2h30``, ``1.5h``, ``7d``, ``2w``, ``half an hour``."""

from __future__ import annotations

import re
from typing import Final

DURATION: Final = re.compile(
    r"(?:([0-9]{1,4})w(?:eeks?)?)?(?:([0-9]{1,4})d(?:ays?)?)?(?:([0-9]{1,4})h(?:(?:ou)?rs?)?)?(?:([0-9]{1,5})m(?:in(?:ute)?s?)?)?"
)
SECONDS: Final = (604_800, 86_400, 3_600, 60)
DAYS: Final = {"today": (0, 0), "yesterday": (1, 0), "last night": (1, 18)}
"""Times that have a name: days back, and the hour of the day, by the clock of the person who says so."""


NUMBERS: Final = {"a": "1", "an": "1"} | {
    word: str(number)
    for number, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), 1
    )
}
HALVES: Final = {"half1hour": "30m", "halfhour": "30m", "1hour1half": "90m", "halfday": "12h", "half1day": "12h"}
DECIMAL: Final = re.compile(r"([0-9]{1,3})\.5h(?:(?:ou)?rs?)?")
WITHOUT_UNIT: Final = re.compile(r"[0-9]{1,4}h[0-5][0-9]")
"""Hours, and minutes of which nobody says that they are."""


def seconds_of(text: str) -> int:
    """The span in seconds; 0 for a text that is none."""
    words = text.casefold().split()
    joined = "".join(NUMBERS.get(word, word) for word in words if word != "and")
    if match := DECIMAL.fullmatch(joined):
        joined = f"{match[1]}h30m"
    elif WITHOUT_UNIT.fullmatch(joined):
        joined += "m"
    match = DURATION.fullmatch(HALVES.get(joined, joined))
    if match is None or not any(match.groups()):
        return 0
    return sum(int(count or 0) * unit for count, unit in zip(match.groups(), SECONDS, strict=True))


def in_words(seconds: float) -> str:
    """The span in its two largest units, such as ``1 h 30 min``."""
    left = max(0, round(seconds / 60)) * 60
    parts = []
    for unit, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        count, left = divmod(left, unit)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts[:2]) or "less than a minute"
