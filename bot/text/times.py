"""Parse times as people write them: ``2h``, ``half an hour``, ``8am``, ``tomorrow 9:30``, ``EOD``.

A text of any language and spelling is first translated to the terms of `time_words`; then the terms are parsed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final
from zoneinfo import ZoneInfo

from bot.text.time_words import AFTER_LENGTH, AROUND, DIGITS, PARTS, canonical_text, terms_of
from bot.text.wall_times import AROUND_TODAY, END_OF, INNER, MIDNIGHT, START_OF_DAY, WallTime, last_time, parse_wall

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
MONTH: Final = re.compile(r"month\d\d")
DATE: Final = re.compile(r"month\d\d \d+|\d+ (?:th )?(?:of )?month\d\d")
TWO_NUMBERS: Final = re.compile(r"[0-9] [0-9]")
WITHOUT_UNIT: Final = re.compile(r"[0-9]{1,4}h[0-5][0-9]")
"""Hours, and minutes of which nobody says that they are."""


def seconds_of(text: str) -> int:
    """Return the duration in seconds; 0 for a text that is not one. A month is 30 days, and a year is 365."""
    words = text.split()
    terms = [meant for word in words[:MAX_WORDS] if (meant := terms_of(word)) is not None]
    return _seconds(canonical_text(terms)) if len(terms) == len(words) else 0


def _seconds(text: str) -> int:
    compact = "".join(UNITS.get(term, term) for term in text.split() if term != "and")
    compact = "" if TWO_NUMBERS.search(text) else compact.replace("half1", "half").replace("1half", "half")
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
class ParsedTime:
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


DAYS: Final = frozenset({"today", "yesterday", "last night"})
"""Times that mean the start of a search even without ``since``."""
TRAILING: Final = INNER | {"", "and", "for", "from", "to", "until", "since", "next", "this", "last"}
"""Terms that can't be the last one of a time."""
VAGUE: Final = re.compile(
    r"(?:(?:for|in|over|on|at|until|since|after|from) )?(?:(?:next|last|this) )?weekend"
    r"|(?:for|in|over|since|after|until) (?:(?:next|last) )?(?:1 )?(?:while|few (?:of )?(?:minute|hour|day|week|month))"
    r"|(?:(?:until|for) )?(?:soon|later)|later today|for now|until further notice"
)


def parse_time(words: Sequence[str], at: int) -> ParsedTime | None:
    """Return the longest time that begins at ``words[at]``; None where none does.

    A weekday alone is not a time, since “Black Friday page” is a name; with an hour or a leading word it is.
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
        is_bare = found.kind is Kind.LENGTH and text[:1] in DIGITS
        is_end = at > 0 and terms_of(words[at - 1]) == "to"  # “13 to 17h”
        if is_bare and (is_end or words[at].lstrip(AROUND)[:1] not in DIGITS):  # “a day”
            continue
        if (is_bare or text.endswith(" th") or DATE.fullmatch(text)) and not _stands_alone(words, at + count):
            continue
        return replace(found, count=count, text=" ".join(words[at : at + count]))
    return None


def moment_since(since: ParsedTime, zone: ZoneInfo, now: datetime) -> datetime | None:
    """Return the moment, in UTC, that a SINCE means, said at *now* in *zone*; None where it is in the future."""
    if since.wall:
        return last_time(since.wall, zone, now)
    return None if since.seconds is None else now.astimezone(UTC) - timedelta(seconds=since.seconds)


def parse_since(text: str) -> ParsedTime | None:
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


def _stands_alone(words: Sequence[str], after: int) -> bool:
    """Whether no name goes on at *after*: “24h because …”, but not “24h shop” or “the 3rd floor”."""
    if after >= len(words) or words[after - 1][-1:] in {".", *AROUND}:
        return True
    return words[after].strip(AROUND + ".").casefold() in AFTER_LENGTH


def _parse(text: str) -> ParsedTime | None:
    """Return the time that all of the terms together mean; None where they don't mean one."""
    if VAGUE.fullmatch(text):
        return ParsedTime(Kind.VAGUE)
    return _parse_window(text) or _parse_led(text) or _parse_unled(text)


def _parse_led(text: str) -> ParsedTime | None:
    """Return the time after a word that says what it is for, such as ``until``."""
    lead, _, rest = text.partition(" ")
    if (lead in {"for", "in", "over"} and rest.startswith(PAST)) or (lead == "in" and MONTH.fullmatch(rest)):
        return _parse_after_since(rest)
    match lead:
        case "for":
            return _parse_after_for(rest)
        case "next" if seconds := _count_seconds(rest, ONE_OF_NEXT):
            return ParsedTime(Kind.LENGTH, seconds=seconds)
        case "until":
            return _make_time(Kind.END, parse_wall(rest, START_OF_DAY))
        case "since":
            return _parse_after_since(rest)
        case "on" | "from":
            return _parse_start(rest, START_OF_DAY)
        case "at":
            return _parse_start(rest, None)
        case "in" if rest in PARTS:
            return _parse_start(rest, None)
        case "in" if seconds := _seconds(rest):
            return ParsedTime(Kind.START, seconds=seconds)
    return None


PAST: Final = ("last ", "yesterday", "ereyesterday")
ONE_OF_NEXT: Final = frozenset({"hour", "day"})
"""Units that mean one of them in “the next …”; the next week, in contrast, begins on Monday."""


def _parse_unled(text: str) -> ParsedTime | None:
    """Return a time without a leading word."""
    if (
        text.startswith((*PAST, "today morning"))
        or text.endswith(" ago")
        or text in {"today", "this week", "this month"}
    ):
        return _parse_after_since(text)
    first, second, *_ = [*text.split(), "", ""]
    if first.isdigit() and not second.startswith("month") and second not in {"am", "pm", "oclock", "h"}:
        seconds = _seconds(text)
        return ParsedTime(Kind.LENGTH, seconds=seconds) if seconds else None
    if text[:1] in DIGITS and (seconds := _seconds(text)):
        return ParsedTime(Kind.LENGTH, seconds=seconds)
    if first in {*INNER, "end"}:
        return None
    sure = text.startswith(("tomorrow", "overmorrow", "next ", "this ")) or DATE.match(text)
    found = _parse_start(text, START_OF_DAY if sure else None)
    return found if found and found.wall and found.wall.day else None


def _make_time(kind: Kind, wall: WallTime | None) -> ParsedTime | None:
    return ParsedTime(kind, wall=wall) if wall else None


def _parse_start(text: str, untimed: tuple[int, int] | None) -> ParsedTime | None:
    wall = parse_wall(text, untimed)
    return None if wall and AROUND_TODAY.get(wall.day, 0) < 0 else _make_time(Kind.START, wall)


def _count_seconds(text: str, one_of: Collection[str]) -> int:
    """Return the seconds of a length; a unit alone counts as one if it is in *one_of*."""
    return _seconds(f"1 {text}" if text in one_of else text)


def _parse_after_for(text: str) -> ParsedTime | None:
    """Return what comes after ``for``: ``2h``, ``the next hour``; ``today`` and ``the rest of the week`` are until their ends."""
    if text == "today" or END_OF.fullmatch(text):
        return _make_time(Kind.END, parse_wall("end day today" if text == "today" else text, None))
    after = text.removeprefix("next ")
    seconds = _count_seconds(after, ONE_OF_NEXT if after != text else ())
    return ParsedTime(Kind.LENGTH, seconds=seconds) if seconds else None


def _parse_after_since(text: str) -> ParsedTime | None:
    after = text.removeprefix("last ").removesuffix(" ago")
    if seconds := _count_seconds(after, UNITS if text.startswith("last ") else ()):
        return ParsedTime(Kind.SINCE, seconds=seconds)
    first = {"this week": "monday 0:00", "this month": "the 1 th"}.get(
        text, f"1 {text}" if MONTH.fullmatch(text) else text
    )
    return _make_time(Kind.SINCE, parse_wall(first, MIDNIGHT, looks_back=True))


def _parse_window(text: str) -> ParsedTime | None:
    """Return a window such as ``from 9 to 17:00``, ``tomorrow 8am to 9am`` or ``on friday 9:00 until 10:00``."""
    for separator in ("until", "to"):
        head, found, tail = text.partition(f" {separator} ")
        if not found:
            continue
        terms = head.split()
        is_led = "from" in terms
        begin = None if is_led else _parse_led(head) or _parse_unled(head)
        if is_led or (begin and begin.kind is Kind.START and begin.wall):
            return _parse_bounds(" ".join(term for term in terms if term != "from"), tail)
    return None


def _parse_bounds(head: str, tail: str) -> ParsedTime | None:
    start, end = parse_wall(head, START_OF_DAY), parse_wall(tail, START_OF_DAY)
    is_timed = parse_wall(tail, None) is not None
    if end and not start and is_timed:
        start = _complete_start(head, tail, end)
    if not start or not end:
        return None
    if end.day and not start.day and is_timed and tail[:1] in DIGITS:  # “from 9 to 17:00 on friday”
        start, end = replace(start, day=end.day), replace(end, day="")
    zone = start.zone or end.zone
    return ParsedTime(Kind.WINDOW, wall=replace(start, zone=zone), end=replace(end, zone=zone))


def _complete_start(head: str, tail: str, end: WallTime) -> WallTime | None:
    """Return the start given as a number only: an hour in the same half of the day as *end*."""
    start = parse_wall(head, None, bare=True)
    if start and not {"pm", "afternoon", "evening", "night"}.isdisjoint(tail.split()) and start.hour + 12 < end.hour:
        return replace(start, hour=start.hour + 12)
    return start
