"""Spans and times as people say them: ``2h``, ``1h30m``, ``half an hour``; ``8am``, ``tomorrow 9:30``, ``Monday``, ``EOD``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

DURATION: Final = re.compile(
    r"(?:([0-9]{1,4})w(?:eeks?)?)?(?:([0-9]{1,4})d(?:ays?)?)?(?:([0-9]{1,4})h(?:(?:ou)?rs?)?)?(?:([0-9]{1,5})m(?:in(?:ute)?s?)?)?"
)
SECONDS: Final = (604_800, 86_400, 3_600, 60)
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


START_OF_DAY: Final = (9, 0)
"""The hour and minute of a day that was named without any: the start of the working day."""
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SHORT: Final = {name[:length]: name for name in WEEKDAYS for length in (3, 4, 5)}
NAMED: Final = {"noon": (12, 0), "midday": (12, 0), "midnight": (0, 0), "morning": START_OF_DAY, "evening": (18, 0)}
PHRASES: Final = {
    "the end of the day": "midnight",
    "end of the day": "midnight",
    "end of day": "midnight",
    "eod": "midnight",
    "next week": "monday",
}
DAYS: Final = {"today": (0, 0), "yesterday": (1, 0), "last night": (1, 18)}
"""Times that have a name: days back, and the hour of the day, by the clock of the person who says so."""
IDLE: Final = frozenset({"at", "on", "the", "in", "next", "this"})
TIME: Final = re.compile(r"(\d{1,2})(?:[:.]([0-5]\d))?(am|pm)?")
ISO: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class WallTime:
    """What clocks are to show: an hour and minute, of the next day on which they do, or of *day*.

    *day*: today, tomorrow, the name of a weekday, or a date such as 2026-11-23.
    """

    hour: int
    minute: int
    day: str = ""


def wall_time(text: str) -> WallTime | None:
    """The time that *text* says; None for a text that says none, and for a bare number."""
    phrase = " ".join(text.casefold().replace(",", " ").split())
    words = [word for word in PHRASES.get(phrase, phrase).split() if word not in IDLE]
    days = [word for word in words if _day(word)]
    time = "".join(word for word in words if not _day(word))
    if len(days) > 1 or not words:
        return None
    day = _day(days[0]) if days else ""
    if not time:
        return WallTime(*START_OF_DAY, day) if day and day != "today" else None
    if (clock := NAMED.get(time) or _clock(time)) is None:
        return None
    return WallTime(*clock, day)


def _day(word: str) -> str:
    if word in {"today", "tomorrow", *WEEKDAYS}:
        return word
    if ISO.fullmatch(word):
        try:
            return date.fromisoformat(word).isoformat()
        except ValueError:
            return ""
    return SHORT.get(word, "")


def _clock(text: str) -> tuple[int, int] | None:
    """``8am``, ``8:30pm`` or ``18:00``; None for ``8``, which may be the morning or the evening."""
    match = TIME.fullmatch(text)
    if match is None or not (match[2] or match[3]):
        return None
    hour, minute = int(match[1]), int(match[2] or 0)
    if match[3]:
        return (hour % 12 + (12 if match[3] == "pm" else 0), minute) if 1 <= hour <= 12 else None
    return (hour, minute) if hour < 24 else None


def next_time(wall: WallTime, zone: ZoneInfo, now: datetime) -> datetime | None:
    """The next time after *now* that clocks in *zone* show *wall*, in UTC; None where that is past for good.

    When clocks are set back they show it twice. When they are set forward past it, it is what they would have shown.
    """
    today = now.astimezone(zone)
    for day in _days(wall.day, today.date()):
        shown = datetime(day.year, day.month, day.day, wall.hour, wall.minute, tzinfo=zone)
        if found := next((each for each in _instants(shown) if each > now), None):
            return found
    return None


def _days(day: str, today: date) -> Iterator[date]:
    """The days that *day* may be; no day at all is today, or tomorrow where today's time is past."""
    if day in WEEKDAYS:
        yield today + timedelta(days=(WEEKDAYS.index(day) - today.weekday() - 1) % 7 + 1)
    elif ISO.fullmatch(day):
        yield date.fromisoformat(day)
    else:
        if day != "tomorrow":
            yield today
        if day != "today":
            yield today + timedelta(days=1)


def _instants(shown: datetime) -> tuple[datetime, datetime]:
    """When clocks show it, in UTC: the first time and the last, which are nearly always the same.

    They are compared in UTC: within a zone, Python compares what clocks show.
    """
    first, last = (shown.replace(fold=fold).astimezone(UTC) for fold in (0, 1))
    return first, max(first, last)
