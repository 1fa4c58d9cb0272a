"""Times by clock and calendar, such as ``tomorrow 9:30`` or ``end of month``: parse them, and find the moments they mean."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from bot.text.time_words import PARTS, WEEKDAYS

START_OF_DAY: Final = (9, 0)
"""The hour and minute of a day that was named without any: the start of the working day."""
MIDNIGHT: Final = (0, 0)
"""The same for a day as the start of a search."""
AROUND_TODAY: Final = {"ereyesterday": -2, "yesterday": -1, "today": 0, "tomorrow": 1, "overmorrow": 2}
INNER: Final = frozenset({"at", "on", "in", "the", "of"})
"""Terms within a time that have no meaning."""
DATES: Final = (
    (re.compile(r"(?<!\S)(20\d\d)-(\d\d)-(\d\d)(?!\S)"), "ymd"),
    (re.compile(r"(?<!\S)(\d{1,2})\.(0?[1-9]|1[0-2])\.(20\d\d)?(?!\S)"), "dmy"),
    (re.compile(r"(?<!\S)(2[4-9]|3[01])\.(0?[1-9]|1[0-2])(?!\S)"), "dm"),
    (re.compile(r"(?<!\S)(\d{1,2})/(\d{1,2})(?:/(20\d\d))?(?!\S)"), "dmy"),
    (re.compile(r"(?<!\S)(\d{1,2})(?: th)? (?:of )?month(\d\d)(?: (20\d\d))?(?!\S)"), "dmy"),
    (re.compile(r"(?<!\S)month(\d\d) (?:the )?(\d{1,2})(?: th)?(?: (20\d\d))?(?!\S)"), "mdy"),
    (re.compile(r"(?<!\S)(0?[1-9]|[12]\d|3[01]) th(?!\S)"), "d"),
)
NEXT_WEEK: Final = re.compile(r"(?<!\S)next week(?!\S)")
END_OF: Final = re.compile(r"(?<!\S)end (?:day|week|next week|month(?:\d\d)?|year)(?!\S)")
ENDS: Final = {
    "end day": "",
    "end week": "friday",
    "end next week": "friday next week",
    "end month": "end of month",
    "end year": "12-31",
    **{f"end month{month:02}": f"{month:02}-{monthrange(2026, month)[1]}" for month in range(1, 13)},
}
"""The days at whose ends they are."""
DAY: Final = re.compile(
    r"(?<!\S)(?:(next|last|this) )?((?:mon|tues|wednes|thurs|fri|satur|sun)day|today|(?:over|to)morrow|(?:ere)?yesterday)(?!\S)"
)
PART: Final = re.compile(r"(?<!\S)(?:(?:after)?noon|morning|evening|(?:mid)?night)(?!\S)")
CLOCK: Final = re.compile(r"(?<!\S)(\d{1,2})(?:([:.])([0-5]\d)\.?)?(?: (am|pm|oclock|h)(?: ([0-5]\d))?)?(?!\S)")
ZONE: Final = re.compile(r"(?<!\S)@(\S+)")


@dataclass(frozen=True, slots=True)
class WallTime:
    """A time by the clock: an hour and minute of *day*, or of the next day that has it. 24:00 is the end of a day.

    *day*: ``today`` or another of AROUND_TODAY; a weekday, which is today where the time is still to come;
    ``next friday``, ``last friday``: never today; ``friday next week``; ``end of month``: its last day;
    ``2026-11-23``; ``12-24``, of this year or the next; ``day 24``, of any month; ``thursday 12-24``, where that is one.
    *zone*: the name of the time zone, if the text has one.
    """

    hour: int
    minute: int
    day: str = ""
    zone: str = ""


class _Remainder:
    """What is left of a text while its parts are parsed and removed."""

    def __init__(self, text: str) -> None:
        self.text = text

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        if match := pattern.search(self.text):
            self.text = f"{self.text[: match.start()]} {self.text[match.end() :]}"
        return match


def parse_wall(
    text: str, untimed: tuple[int, int] | None, *, looks_back: bool = False, bare: bool = False
) -> WallTime | None:
    """Return the wall time that terms mean, in any order; None where they don't mean one.

    *untimed*: the hour and minute for a day without a time; None: a day alone is not a time. *looks_back*: whether it is in
    the past. *bare*: whether a number alone is an hour.
    """
    rest = _Remainder(text)
    ends, zone, day = rest.take(END_OF), rest.take(ZONE), _day(rest, "next" if looks_back else "last")
    part, clock = rest.take(PART), rest.take(CLOCK)
    if day is None or not set(rest.text.split()) <= INNER:
        return None
    if ends:
        if part or clock or zone or (day and ends[0] != "end day"):
            return None
        return WallTime(24, 0, day or ENDS[ends[0]])
    if part or clock:
        says_at = "at" in rest.text.split()
        shown = _clock_time(
            clock, part[0] if part else "", has_day=bare or bool(day), looks_back=looks_back, says_at=says_at
        )
    else:
        shown = untimed if day and not zone and (looks_back or day != "today") else None
        day = f"{'last' if looks_back else 'next'} {day}" if day in WEEKDAYS else day
    return WallTime(*shown, day, zone[1] if zone else "") if shown else None


def _day(rest: _Remainder, wrong: str) -> str | None:
    """Return the day in *rest*, as in a WallTime; empty where it has none, None where the day is invalid.

    *wrong*: ``next`` or ``last``, whichever can't be meant.
    """
    number, week, name = _date(rest), rest.take(NEXT_WEEK), rest.take(DAY)
    if number is None or (number and week):
        return None
    if name is None:
        return "next monday" if week else number
    which, day = name[1] or "", name[2]
    if (which and day not in WEEKDAYS) or which == wrong:
        return None
    if week or number:
        return f"{day} {number or 'next week'}" if day in WEEKDAYS and not which else None
    return f"{which} {day}" if which in {"next", "last"} else day


def _date(rest: _Remainder) -> str | None:
    """Return the date in *rest*, with its year if it has one; empty where there is none, None where the date is invalid."""
    for pattern, order in DATES:
        if match := rest.take(pattern):
            if order == "d":
                return f"day {int(match[1]):02}"
            numbers = dict(zip(order, match.groups(), strict=True))
            year = numbers.get("y")
            try:
                found = date(int(year or LEAP_YEAR), int(numbers["m"]), int(numbers["d"]))
            except ValueError:
                return None
            return found.isoformat() if year else f"{found:%m-%d}"
    return ""


LEAP_YEAR: Final = 2000
SMALLEST_HOUR: Final = 6
"""The hour from which on ``until 6h`` is one: ``until 2h`` may be meant to be a length."""


def _clock_time(
    clock: re.Match[str] | None, part: str, *, has_day: bool, looks_back: bool, says_at: bool
) -> tuple[int, int] | None:
    """Return the hour and minute; None where they are invalid or ambiguous, such as ``8``, which may be morning or evening."""
    if clock is None:
        usual, begins, _ = PARTS[part]
        return (begins if looks_back else usual), 0
    hour, minute, marker = int(clock[1]), int(clock[3] or clock[5] or 0), clock[4]
    is_sure = part or (has_day and (says_at or not _may_be_length(clock)))
    if not is_sure and not _is_clear(clock):
        return None
    hours = [hour]
    if marker in {"am", "pm"}:
        hours = [hour % 12 + (12 if marker == "pm" else 0)] if 1 <= hour <= 12 else []
    elif part:
        hours = [hour, hour + 12]
    possible = PARTS[part][2] if part else range(25)
    return next(((hour, minute) for hour in hours if hour in possible and (hour, minute) <= (24, 0)), None)


def _may_be_length(clock: re.Match[str]) -> bool:
    """Whether *clock* may be a length, even beside a day: ``2h``, ``2h30``."""
    return clock[4] == "h" and int(clock[1]) < SMALLEST_HOUR


def _is_clear(clock: re.Match[str]) -> bool:
    """Whether *clock* alone is a time: not ``8``, nor ``10.12``, which may be a day in December."""
    separator, marker = clock[2], clock[4]
    if marker == "h":
        return not _may_be_length(clock)
    return marker is not None or separator == ":" or (separator == "." and not 1 <= int(clock[3]) <= 12)


def next_time(wall: WallTime, zone: ZoneInfo, now: datetime) -> datetime | None:
    """Return the next moment after *now*, in UTC, at which clocks in *zone* show *wall*; None where all are past.

    When clocks are set back, both moments count. When they are set forward past it, the time that they would have shown counts.
    """
    moments = (moment for pair in _moments(wall, zone, now, 1) for moment in pair)
    return next((moment for moment in moments if moment > now), None)


def is_skipped(wall: WallTime, zone: ZoneInfo, moment: datetime) -> bool:
    """Whether clocks skip *wall*, for which *moment* is used, since they were set forward past it."""
    there = moment.astimezone(ZoneInfo(wall.zone) if wall.zone else zone)
    return (there.hour, there.minute) != (wall.hour % 24, wall.minute)


def end_time(wall: WallTime, zone: ZoneInfo, now: datetime, starts: datetime) -> datetime | None:
    """Return the moment, in UTC, that *wall*, said at *now*, means as the end of what begins at *starts*; None where it is past.

    Today, tomorrow and next week are counted from *now*, and may be over before the start; an hour, a weekday and a
    date are the next ones after it.
    """
    counts_from_now = wall.day in AROUND_TODAY or wall.day.endswith("next week")
    return next_time(wall, zone, now if counts_from_now else starts)


def last_time(wall: WallTime, zone: ZoneInfo, now: datetime) -> datetime | None:
    """Return the last moment until *now*, in UTC, at which clocks in *zone* showed *wall* (the first of two); None where none."""
    return next((first for first, _ in _moments(wall, zone, now, -1) if first <= now), None)


def _moments(wall: WallTime, zone: ZoneInfo, now: datetime, step: int) -> Iterator[tuple[datetime, datetime]]:
    """Yield the first and the last moment, in UTC, at which clocks show *wall* on each day that it may mean.

    They differ only when clocks are set back. They are compared in UTC, since Python compares times within a zone by what
    clocks show.
    """
    zone = ZoneInfo(wall.zone) if wall.zone else zone
    for day in _days(wall.day, now.astimezone(zone).date(), step):
        shown = datetime.combine(day, time(), zone) + timedelta(hours=wall.hour, minutes=wall.minute)
        first, last = (shown.replace(fold=fold).astimezone(UTC) for fold in (0, 1))
        yield first, max(first, last)


def _days(day: str, today: date, step: int) -> Iterator[date]:
    """Yield the dates that *day* may mean, the nearest first; *step*: 1 for the future, -1 for the past."""
    which, _, rest = day.partition(" ")
    if not day:
        yield from (today, today + timedelta(days=step))
    elif day in AROUND_TODAY:
        yield today + timedelta(days=AROUND_TODAY[day])
    elif day == "end of month":
        yield (today.replace(day=1) + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    elif which == "day":
        days = (today + timedelta(days=step * count) for count in range(63))  # even a 31st
        yield from (each for each in days if each.day == int(rest))
    elif rest == "next week":
        yield today + timedelta(days=7 - today.weekday() + WEEKDAYS.index(which))
    elif rest and which in WEEKDAYS:
        yield from (each for each in _days(rest, today, step) if each.weekday() == WEEKDAYS.index(which))
    elif (name := rest or which) in WEEKDAYS:
        days = (today + timedelta(days=step * count) for count in range(1 if rest else 0, 8))
        yield from (each for each in days if each.weekday() == WEEKDAYS.index(name))
    elif len(day) > len("12-24"):
        yield date.fromisoformat(day)
    else:
        for year in (today.year, today.year + step):
            with suppress(ValueError):  # 29 February
                yield date.fromisoformat(f"{year}-{day}")
