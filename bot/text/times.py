"""Parse times as people write them: ``2h``, ``half an hour``, ``8am``, ``tomorrow 9:30``, ``bis Montag 9 Uhr``, ``EOD``.

A text of any language and spelling is first translated to the terms of `time_words`; then the terms are parsed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Final
from zoneinfo import ZoneInfo

from bot.text.time_words import AFTER_LENGTH, AROUND, DIGITS, PARTS, WEEKDAYS, canonical_text, terms_of

MAX_WORDS: Final = 12
"""Words of one time."""
ENDING: Final = (";", "!", "?", "…")
FULL_WORD: Final = 5
"""Letters of a word from which on a full stop after it ends the sentence: “Mon.” and “24.” go on."""
UNITS: Final = {"year": "y", "month": "mo", "week": "w", "day": "d", "hour": "h", "minute": "m"}
DURATION: Final = re.compile(
    r"(?:([0-9]{1,2})y)?(?:([0-9]{1,3})mo)?(?:([0-9]{1,4})w)?(?:([0-9]{1,4})d)?(?:([0-9]{1,4})h)?(?:([0-9]{1,5})m)?"
)
SECONDS: Final = {"y": 31_536_000, "mo": 2_592_000, "w": 604_800, "d": 86_400, "h": 3_600, "m": 60}
HALF: Final = re.compile(r"([0-9]{0,3})half([wdh])|([0-9]{1,3})[.,]5([wdh])|([0-9]{1,3})([wdh])half")
WITHOUT_UNIT: Final = re.compile(r"[0-9]{1,4}h[0-5][0-9]")
"""Hours, and minutes of which nobody says that they are."""


def seconds_of(text: str) -> int:
    """Return the duration in seconds; 0 for a text that is not one. A month is 30 days, and a year is 365."""
    return _seconds(_terms_of_text(text))


def _terms_of_text(text: str) -> str:
    """Return the terms of the whole *text*; empty where one of its words is in no time."""
    words = text.split()
    terms = [meant for word in words[:MAX_WORDS] if (meant := terms_of(word)) is not None]
    return canonical_text(terms) if len(terms) == len(words) else ""


def _seconds(text: str) -> int:
    compact = "".join(UNITS.get(term, term) for term in text.split() if term != "and")
    compact = compact.replace("half1", "half").replace("1half", "half")
    if match := HALF.fullmatch(compact):
        count, unit = next(pair for pair in zip(match.groups()[::2], match.groups()[1::2], strict=True) if pair[1])
        return int(count or 0) * SECONDS[unit] + SECONDS[unit] // 2
    match = DURATION.fullmatch(f"{compact}m" if WITHOUT_UNIT.fullmatch(compact) else compact)
    if match is None:
        return 0
    return sum(int(count or 0) * unit for count, unit in zip(match.groups(), SECONDS.values(), strict=True))


def duration_words(seconds: float) -> str:
    """Return a duration in its two largest units, such as ``1 h 30 min``."""
    left = max(0, round(seconds / 60)) * 60
    parts = []
    for unit, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        count, left = divmod(left, unit)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts[:2]) or "less than a minute"


START_OF_DAY: Final = (9, 0)
"""The hour and minute of a day that was named without any: the start of the working day."""
MIDNIGHT: Final = (0, 0)
"""The same for a day as the start of a search."""
DAYS: Final = frozenset({"today", "yesterday", "last night"})
"""Times that mean the start of a search even without ``since``."""
AROUND_TODAY: Final = {"ereyesterday": -2, "yesterday": -1, "today": 0, "tomorrow": 1, "overmorrow": 2}
INNER: Final = frozenset({"at", "on", "in", "the", "of"})
"""Terms within a time that have no meaning."""
DATES: Final = (
    (re.compile(r"(?<!\S)(20\d\d)-(\d\d)-(\d\d)(?!\S)"), "ymd"),
    (re.compile(r"(?<!\S)(\d{1,2})\.(0?[1-9]|1[0-2])\.(20\d\d)?(?!\S)"), "dmy"),
    (re.compile(r"(?<!\S)(2[4-9]|3[01])\.(0?[1-9]|1[0-2])(?!\S)"), "dm"),
    (re.compile(r"(?<!\S)(\d{1,2})/(\d{1,2})(?:/(20\d\d))?(?!\S)"), "dmy"),
    (re.compile(r"(?<!\S)(\d{1,2}) (?:of )?month(\d\d)(?: (20\d\d))?(?!\S)"), "dmy"),
    (re.compile(r"(?<!\S)month(\d\d) (\d{1,2})(?: (20\d\d))?(?!\S)"), "mdy"),
)
NEXT_WEEK: Final = re.compile(r"(?<!\S)next week(?!\S)")
END_OF: Final = re.compile(r"(?<!\S)end (?:day|week|next week|month|year)(?!\S)")
ENDS: Final = {
    "end day": "",
    "end week": "friday",
    "end next week": "friday next week",
    "end month": "end of month",
    "end year": "12-31",
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
    ``2026-11-23``; ``12-24``, of this year or the next; ``thursday 12-24``, where that is one.
    *zone*: the name of the time zone, if the text has one.
    """

    hour: int
    minute: int
    day: str = ""
    zone: str = ""


class _Left:
    """The rest of a text while its parts are parsed and removed."""

    def __init__(self, text: str) -> None:
        self.text = text

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        if match := pattern.search(self.text):
            self.text = f"{self.text[: match.start()]} {self.text[match.end() :]}"
        return match


def _parse_wall(
    text: str, untimed: tuple[int, int] | None, *, looks_back: bool = False, bare: bool = False
) -> WallTime | None:
    """Return the wall time that terms mean, in any order; None where they don't mean one.

    *untimed*: the hour and minute for a day without a time; None: a day alone is not a time. *looks_back*: whether it is in
    the past. *bare*: whether a number alone is an hour.
    """
    left = _Left(text)
    ends, zone, day = left.take(END_OF), left.take(ZONE), _day(left, "next" if looks_back else "last")
    part, clock = left.take(PART), left.take(CLOCK)
    if day is None or not set(left.text.split()) <= INNER:
        return None
    if ends:
        if part or clock or zone or (day and ends[0] != "end day"):
            return None
        return WallTime(24, 0, day or ENDS[ends[0]])
    if part or clock:
        says_at = "at" in left.text.split()
        shown = _clock_time(
            clock, part[0] if part else "", has_day=bare or bool(day), looks_back=looks_back, says_at=says_at
        )
    else:
        shown = untimed if day and not zone and (looks_back or day != "today") else None
        day = f"{'last' if looks_back else 'next'} {day}" if day in WEEKDAYS else day
    return WallTime(*shown, day, zone[1] if zone else "") if shown else None


def _day(left: _Left, wrong: str) -> str | None:
    """Return the day in *left*, as in a WallTime; empty where it has none, None where the day is invalid.

    *wrong*: ``next`` or ``last``, whichever can't be meant.
    """
    number, week, name = _date(left), left.take(NEXT_WEEK), left.take(DAY)
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


def _date(left: _Left) -> str | None:
    """Return the date in *left*, with its year if it has one; empty where there is none, None where the date is invalid."""
    for pattern, order in DATES:
        if match := left.take(pattern):
            said_of = dict(zip(order, match.groups(), strict=True))
            year = said_of.get("y")
            try:
                found = date(int(year or LEAP_YEAR), int(said_of["m"]), int(said_of["d"]))
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
    is_sure = part or (has_day and (says_at or not _may_be_length(clock, hour)))
    if not is_sure and not _is_clear(clock, hour, minute):
        return None
    hours = [hour]
    if marker in {"am", "pm"}:
        hours = [hour % 12 + (12 if marker == "pm" else 0)] if 1 <= hour <= 12 else []
    elif part:
        hours = [hour, hour + 12]
    possible = PARTS[part][2] if part else range(25)
    return next(((hour, minute) for hour in hours if hour in possible and (hour, minute) <= (24, 0)), None)


def _may_be_length(clock: re.Match[str], hour: int) -> bool:
    """Whether *clock* may be a length, even beside a day: ``2h``, ``2h30``."""
    return clock[4] == "h" and hour < SMALLEST_HOUR


def _is_clear(clock: re.Match[str], hour: int, minute: int) -> bool:
    """Whether *clock* is a time by itself: not ``8``, nor ``10.12``, which may be a day in December."""
    separator, marker = clock[2], clock[4]
    if marker == "h":
        return not _may_be_length(clock, hour)
    return marker is not None or separator == ":" or (separator == "." and not 1 <= minute <= 12)


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
    zone = ZoneInfo(wall.zone) if wall.zone else zone
    for day in _days(wall.day, now.astimezone(zone).date(), step):
        shown = datetime.combine(day, time()) + timedelta(hours=wall.hour, minutes=wall.minute)
        yield _instants(shown.replace(tzinfo=zone))


def _days(day: str, today: date, step: int) -> Iterator[date]:
    """Yield the dates that *day* may mean, the nearest first; *step*: 1 for the future, -1 for the past."""
    which, _, rest = day.partition(" ")
    if not day:
        yield from (today, today + timedelta(days=step))
    elif day in AROUND_TODAY:
        yield today + timedelta(days=AROUND_TODAY[day])
    elif day == "end of month":
        yield (today.replace(day=1) + timedelta(days=31)).replace(day=1) - timedelta(days=1)
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


def _instants(shown: datetime) -> tuple[datetime, datetime]:
    """Return the first and the last moment, in UTC, at which clocks show *shown*; they differ only when clocks are set back.

    They are compared in UTC, since Python compares times within a zone by what clocks show.
    """
    first, last = (shown.replace(fold=fold).astimezone(UTC) for fold in (0, 1))
    return first, max(first, last)


class Kind(StrEnum):
    """The meaning of a time in a sentence."""

    LENGTH = "length"
    END = "end"
    START = "start"
    WINDOW = "window"
    SINCE = "since"
    VAGUE = "vague"
    """Words about time without a definite time: *soon*, *for a while*, *over the weekend*."""


@dataclass(frozen=True, slots=True)
class Said:
    """A time in a sentence: its kind, and the number of its words."""

    kind: Kind
    count: int = 0
    text: str = ""
    """The text as typed."""
    seconds: int | None = None
    """The seconds of a LENGTH, until a START, or back to a SINCE."""
    wall: WallTime | None = None
    """Of an END, a START or a SINCE; the start of a WINDOW."""
    end: WallTime | None = None
    """Of a WINDOW: its `end_time`."""


TRAILING: Final = INNER | {"", "and", "for", "from", "between", "to", "until", "since", "next", "this", "last"}
"""Terms that can't be the last one of a time."""
VAGUE: Final = re.compile(
    r"(?:(?:for|in|over|on|at|until|since|after|from) )?(?:(?:next|last|this) )?weekend"
    r"|(?:for|in|over|since|after|until) (?:(?:next|last) )?(?:1 )?(?:while|few (?:of )?(?:minute|hour|day|week|month))"
    r"|(?:(?:until|for) )?(?:soon|later)|later today|for now|until further notice"
)


def parse_time(words: Sequence[str], at: int) -> Said | None:
    """Return the longest time that begins at ``words[at]``; None where none does.

    A weekday or a date alone is not a time, since “Black Friday page” is a name; with an hour or a leading word it is.
    """
    terms: list[str] = []
    for word in words[at : at + MAX_WORDS]:
        if (meant := terms_of(word)) is None:
            break
        terms.append(meant)
        if _ends_sentence(word):
            break
    for count in range(len(terms), 0, -1):
        if terms[count - 1] in TRAILING:
            continue
        text = canonical_text(terms[:count])
        if not (found := _parse(text)):
            continue
        if found.kind is Kind.LENGTH and text[:1] in DIGITS and not _is_bare_length(words, at, at + count):
            continue
        return replace(found, count=count, text=" ".join(words[at : at + count]))
    return None


def moment_since(said: Said, zone: ZoneInfo, now: datetime) -> datetime | None:
    """Return the moment, in UTC, that a SINCE means, said at *now* in *zone*; None where it is in the future."""
    if said.wall:
        return last_time(said.wall, zone, now)
    return None if said.seconds is None else now.astimezone(UTC) - timedelta(seconds=said.seconds)


def parse_since(text: str) -> Said | None:
    """Parse *text* as a SINCE, with or without the word: ``since monday``, ``monday``, ``24h``, ``last night``."""
    words = text.split()
    for each in (["since", *words], words):
        if (found := parse_time(each, 0)) and found.kind is Kind.SINCE and found.count == len(each):
            return found
    return None


def _ends_sentence(word: str) -> bool:
    word = word.rstrip("\"'”’)]*_")
    if word.endswith("."):
        return len(word) > FULL_WORD and word[:-1].isalpha()
    return word.endswith(ENDING)


def _is_bare_length(words: Sequence[str], at: int, after: int) -> bool:
    """Whether the words from *at* to *after* are a length by themselves: “24h because …”, but not “24h shop” or “a day”."""
    if words[at].lstrip(AROUND)[:1] not in DIGITS:
        return False
    if after >= len(words) or words[after - 1][-1:] in {".", *AROUND}:
        return True
    return words[after].strip(AROUND + ".").casefold() in AFTER_LENGTH


def _parse(text: str) -> Said | None:
    """Return the time that all of the terms together mean; None where they don't mean one."""
    if VAGUE.fullmatch(text):
        return Said(Kind.VAGUE)
    return _parse_window(text) or _parse_led(text) or _parse_unled(text)


def _parse_led(text: str) -> Said | None:
    """Return the time after a word that says what it is for, such as ``until``."""
    lead, _, rest = text.partition(" ")
    if lead in {"for", "in", "over"} and rest.startswith(PAST):
        return _parse_after_since(rest)
    match lead:
        case "for":
            return _parse_after_for(rest)
        case "next" if seconds := _count_seconds(rest, ONE_OF_NEXT):
            return Said(Kind.LENGTH, seconds=seconds)
        case "until":
            return _make_said(Kind.END, _parse_wall(rest, START_OF_DAY))
        case "since":
            return _parse_after_since(rest)
        case "on" | "from":
            return _parse_start(rest, START_OF_DAY)
        case "at":
            return _parse_start(rest, None)
        case "in" if rest in PARTS:
            return _parse_start(rest, None)
        case "in" if seconds := _seconds(rest):
            return Said(Kind.START, seconds=seconds)
    return None


PAST: Final = ("last ", "yesterday", "ereyesterday")
ONE_OF_NEXT: Final = frozenset({"hour", "day"})
"""Units that mean one of them in “the next …”; the next week, in contrast, begins on Monday."""


def _parse_unled(text: str) -> Said | None:
    """Return a time without a leading word."""
    if text.startswith((*PAST, "vor ", "today morning")) or text.endswith(" ago") or text in {"today", "this week"}:
        return _parse_after_since(text)
    first, second, *_ = [*text.split(), "", ""]
    if first.isdigit() and not second.startswith("month") and second not in {"am", "pm", "oclock", "h"}:
        seconds = _seconds(text)
        return Said(Kind.LENGTH, seconds=seconds) if seconds else None
    if text[:1] in DIGITS and (seconds := _seconds(text)):
        return Said(Kind.LENGTH, seconds=seconds)
    if first in {*INNER, "end"}:
        return None
    sure = text.startswith(("tomorrow", "overmorrow", "next ", "this "))
    found = _parse_start(text, START_OF_DAY if sure else None)
    return found if found and found.wall and found.wall.day else None


def _make_said(kind: Kind, wall: WallTime | None) -> Said | None:
    return Said(kind, wall=wall) if wall else None


def _parse_start(text: str, untimed: tuple[int, int] | None) -> Said | None:
    wall = _parse_wall(text, untimed)
    return None if wall and AROUND_TODAY.get(wall.day, 0) < 0 else _make_said(Kind.START, wall)


def _count_seconds(text: str, one_of: Collection[str]) -> int:
    """Return the seconds of a length; a unit alone counts as one if it is in *one_of*."""
    return _seconds(f"1 {text}" if text in one_of else text)


def _parse_after_for(text: str) -> Said | None:
    """``2h``, ``the next hour``; ``today`` and ``the rest of the week`` are until their ends."""
    if text == "today" or END_OF.fullmatch(text):
        return _make_said(Kind.END, _parse_wall("end day today" if text == "today" else text, None))
    after = text.removeprefix("next ")
    seconds = _count_seconds(after, ONE_OF_NEXT if after != text else ())
    return Said(Kind.LENGTH, seconds=seconds) if seconds else None


def _parse_after_since(text: str) -> Said | None:
    after = text.removeprefix("last ").removeprefix("vor ").removesuffix(" ago")
    if seconds := _count_seconds(after, UNITS if text.startswith("last ") else ()):
        return Said(Kind.SINCE, seconds=seconds)
    return _make_said(
        Kind.SINCE, _parse_wall("monday 0:00" if text == "this week" else text, MIDNIGHT, looks_back=True)
    )


MONTH: Final = re.compile(r"month\d\d")


def _parse_window(text: str) -> Said | None:
    """``from 9 to 17:00``, ``tomorrow between 8 and 9``, ``on friday 9:00 until 10:00``."""
    for separator in ("until", "to", "and"):
        head, found, tail = text.partition(f" {separator} ")
        terms = head.split()
        is_led = bool({"from", "between"} & set(terms))
        if not found or (separator == "and" and "between" not in terms):
            continue
        begin = None if is_led else _parse_led(head) or _parse_unled(head)
        if is_led or (begin and begin.kind is Kind.START and begin.wall):
            return _parse_bounds(" ".join(term for term in terms if term not in {"from", "between"}), tail)
    return None


def _parse_bounds(head: str, tail: str) -> Said | None:
    start, end = _parse_wall(head, START_OF_DAY), _parse_wall(tail, START_OF_DAY)
    is_timed = _parse_wall(tail, None) is not None
    if end and not start:
        start = _complete_start(head, tail, end, is_timed=is_timed)
    elif start and not end and not {"am", "pm"} & set(head.split()):
        end = _parse_wall(tail, None, bare=True)
        if end and (end.hour, end.minute) <= (start.hour, start.minute):
            return None  # “from 9:00 to 5” may be the afternoon
    if not start or not end:
        return None
    if end.day and not start.day and is_timed and tail[:1] in DIGITS:  # “from 9 to 17:00 on friday”
        start, end = replace(start, day=end.day), replace(end, day="")
    zone = start.zone or end.zone
    return Said(Kind.WINDOW, wall=replace(start, zone=zone), end=replace(end, zone=zone))


def _complete_start(head: str, tail: str, end: WallTime, *, is_timed: bool) -> WallTime | None:
    """Return the start given as a number only: an hour in the same half of the day as *end*, or a day of its month."""
    if not is_timed:
        return _parse_wall(f"{head} {month[0]}", START_OF_DAY) if (month := MONTH.search(tail)) else None
    start = _parse_wall(head, None, bare=True)
    if start and "pm" in tail.split() and start.hour + 12 < end.hour:
        return replace(start, hour=start.hour + 12)
    return start
