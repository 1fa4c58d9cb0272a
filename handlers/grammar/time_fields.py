"""The start and the end of a command as fields: each knows how it is read, written, and shown in help."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Final, Self

from bot.text.time_words import terms_of
from bot.text.times import MAX_WORDS, Kind, ParsedTime, parse_time
from bot.text.wall_times import WallTime
from handlers.grammar.command import Command, Part, Rank, Rest
from handlers.grammar.fields import REASON, takes

WORDS_BEFORE: Final = 3
"""Words of a reason that are quoted with the time after them."""
MAX_DURATION_SECONDS: Final = 366 * 86_400
"""The longest that a change may last, and the furthest that it may be planned ahead."""
LEADS: Final = {"for": "for", "until": "until", "till": "until", "til": "until"}
"""The words before an end or a duration, as typed and as written."""
INSTANT: Final = re.compile(r"\d{4}-\d{2}-\d{2}t\d{2}:\d{2}z")


@dataclass(frozen=True, slots=True)
class TypedTime:
    """A time of a change, as somebody typed it: after so many seconds, when clocks show a time, or at a moment (in UTC)."""

    as_typed: str
    seconds: int | None = None
    wall: WallTime | None = None
    at: datetime | None = None
    lead: ClassVar[str]
    """The word before a moment."""

    @classmethod
    def at_moment(cls, moment: datetime) -> Self:
        """Return the time at *moment*, the same whenever and by whom it is read."""
        return cls(f"{cls.lead} {moment:%Y-%m-%dT%H:%MZ}", at=moment)


@dataclass(frozen=True, slots=True)
class Expiry(TypedTime):
    """The end of a temporary change, or its duration."""

    lead = "until"

    @classmethod
    def of(cls, found: ParsedTime | None) -> Expiry | None:
        """Return the end that a time in a sentence is; None for one of another kind, and for more than a year."""
        if found is None or found.kind not in {Kind.LENGTH, Kind.END} or (found.seconds or 0) > MAX_DURATION_SECONDS:
            return None
        text = found.text.rstrip(",.;:!?")
        first, _, rest = text.partition(" ")
        if first.casefold() not in {"for", "until"}:
            lead = "for" if found.kind is Kind.LENGTH else "until"
            text = f"{lead} {rest if terms_of(first) in {'for', 'until'} else text}"
        return cls(text, seconds=found.seconds, wall=found.wall)


@dataclass(frozen=True, slots=True)
class Start(TypedTime):
    """The time at which a change is to begin.

    *end*: of a window, such as ``from 9:00 to 17:00``: the time after the start at which it ends.
    """

    lead = "at"
    end: Expiry | None = None

    @classmethod
    def of(cls, found: ParsedTime) -> Start | None:
        """Return the start that a time in a sentence is; None for one of another kind."""
        if found.kind not in {Kind.START, Kind.WINDOW}:
            return None
        text = found.text.strip(",;:!?")
        return cls(text, found.seconds, found.wall, end=Expiry(text, wall=found.end) if found.end else None)


def parse_expiry(text: str) -> Expiry | None:
    """Return what ``2h``, ``for 2 hours``, ``18:00`` or ``until tomorrow 9:30`` means; None for any other text."""
    lead, _, bare = text.strip().partition(" ")
    if lead.casefold() in {"for", "until"}:
        return expiry_in(lead.casefold(), bare) or expiry_in("until", bare)
    return expiry_in("for", text) or expiry_in("until", text)


def expiry_in(keyword: str, text: str) -> Expiry | None:
    """Return what *text* means after ``for`` or ``until``; None where it is nothing of the kind, or longer than a year."""
    words = text.split()
    found, count = first_expiry(keyword, words)
    return found if count == len(words) else None


def first_expiry(keyword: str, words: Sequence[str]) -> tuple[Expiry | None, int]:
    """Return what the first of *words* mean after ``for`` or ``until``, and how many they are."""
    if keyword == "until" and words and INSTANT.fullmatch(words[0].casefold()):
        return Expiry.at_moment(datetime.fromisoformat(words[0].upper())), 1
    found = parse_time([keyword, *words[:MAX_WORDS]], 0)
    return (ends, found.count - 1) if found and (ends := Expiry.of(found)) else (None, 0)


class ForOrUntil(Part):
    """``for 2h``, ``for the next 2 hours`` or ``until 24 December``, anywhere; before other words, “for” is an ordinary word."""

    rank, written = Rank.EXPIRY, 2

    def read(self, rest: Rest) -> Any:
        for index, word in enumerate(rest.words[:-1]):
            if (lead := LEADS.get(word.keyword)) is None:
                continue
            following = rest.words[index + 1 :]
            found, count = first_expiry(lead, ["" if each.quoted else each.text for each in following[:MAX_WORDS]])
            if found:
                del rest.words[index : index + 1 + count]
                return found
            if following[0].text[:1].isdigit():
                # Left as words, this would make a change permanent that was meant to be temporary.
                wanted = "for 2h, for 30m or for 7d" if lead == "for" else "until 18:00 or until tomorrow 9am"
                raise rest.unclear_error(f"“{word.text} {following[0].text[:20]}” isn’t a time. Write {wanted}.")
        return None

    def write(self, value: Expiry) -> str:
        return value.as_typed


EXPIRY: Final = ForOrUntil("for DUR")
UNTIL_WHEN: Final = ForOrUntil("for DUR", "until when")


def parse_start(text: str) -> Start | None:
    """Return what ``tomorrow 9:00``, ``on Friday``, ``in 2h`` or ``9:00`` means; None for any other text."""
    words = text.split()
    for lead in ([], ["at"], ["on"]):
        found, count = first_start([*lead, *words])
        if found is not None and count == len(lead) + len(words):
            return found
    return None


def first_start(words: Sequence[str]) -> tuple[Start | None, int]:
    """Return the start that the first of *words* mean, and how many they are; None and 0 where they mean none."""
    if len(words) > 1 and words[0].casefold() == "at" and INSTANT.fullmatch(words[1].casefold()):
        return Start.at_moment(datetime.fromisoformat(words[1].upper())), 2
    found = time_at(words[:MAX_WORDS], 0)
    start = Start.of(found) if found is not None else None
    return (start, found.count) if found is not None and start is not None else (None, 0)


def time_at(words: Sequence[str], at: int) -> ParsedTime | None:
    """Return the time that begins at ``words[at]``; of “tomorrow 9:00 until 18:00” the start alone: its end is the next one."""
    found = parse_time(words, at)
    if found is not None and found.kind is Kind.WINDOW:
        after = range(at + 1, at + found.count)
        until = next((each for each in after if terms_of(words[each]) == "until"), at)
        start = parse_time(words[:until], at)
        return start if start is not None and at + start.count == until else found
    return found


class OnOrAt(Part):
    """``tomorrow 9:00``, ``on Friday``, ``from 1 December``: at the end, or right before until when and why."""

    rank, written = Rank.START, 1

    def read(self, rest: Rest) -> Start | None:
        texts = ["" if word.quoted else word.text for word in rest.words]
        index = 0
        while index < len(texts):
            if terms_of(texts[index]) is None:
                index += 1
                continue
            found, count = first_start(texts[index:])
            following = rest.words[index + count :]
            if found is not None and (not following or following[0].keyword in {*LEADS, "because"}):
                del rest.words[index : index + count]
                return found
            time = parse_time(
                texts, index
            )  # of another kind, such as “until tomorrow 9:00”, which is passed as a whole
            index += count or (time.count if time is not None else 1)
        return None

    def write(self, value: Start) -> str:
        return value.as_typed


START: Final = OnOrAt("on DAY TIME")


class AskedAt(Part):
    """``at 02:10``, ``2h ago``, ``yesterday 18:00``: the moment that a question is about, its first or last words."""

    rank, written = Rank.START, 1

    def read(self, rest: Rest) -> str | None:
        taken = (rest.take(count, _is_asked) for count in range(MAX_WORDS, 0, -1))
        return (next(filter(None, taken), "") or "").rstrip("?!.,") or None

    def write(self, value: str) -> str:
        return value


def _is_asked(text: str) -> bool:
    words = text.split()
    found = parse_time(words, 0)  # “Friday” alone, as of “Black Friday”, is no time
    is_past = found is not None and found.kind is Kind.SINCE and found.count == len(words)
    return is_past or first_start(words)[1] == len(words)


ASKED_AT: Final = AskedAt("at TIME")


@dataclass(frozen=True, kw_only=True)
class Planned(Command):
    """A command whose change may have a reason, and begin later."""

    because: str | None = takes(REASON)
    start: Start | None = takes(START)


@dataclass(frozen=True, kw_only=True)
class Temporary(Planned):
    """A command whose change may also end automatically."""

    expiry: Expiry | None = takes(EXPIRY)


UNTIL_NUMBER: Final = re.compile(r"\b(?:until|till?|bis) \d{1,2}[.!]?$", re.IGNORECASE)
"""An end that may be an hour, of the morning or the evening."""


def wish_in_reason(command: Command) -> str:
    """Return the end of *command*'s reason, where it is a time or an exception, which may be meant for the command; else nothing.

    A reason in quotes is taken as a whole. And “at 2:50” without a day is often the time when something broke.
    """
    words = (command.because or "").split()
    if words[-1:] and words[-1].endswith('"'):
        return ""
    if exception := re.search(r"(?i)\b(?:but not|except|unless)\b.*", " ".join(words)):
        return exception[0]
    lacks_end = command.has("expiry") and command.expiry is None
    lacks_start = command.has("start") and command.start is None
    if lacks_end and UNTIL_NUMBER.search(" ".join(words)):
        return " ".join(words[-1 - WORDS_BEFORE :])
    kinds = {*((Kind.LENGTH, Kind.END) if lacks_end else ()), *((Kind.START, Kind.WINDOW) if lacks_start else ())}
    for at in range(max(0, len(words) - MAX_WORDS), len(words)):
        found = parse_time(words, at)
        if found is not None and at + found.count == len(words):
            is_meant = found.kind in kinds and not (found.kind is Kind.START and found.wall and not found.wall.day)
            return " ".join(words[max(0, at - WORDS_BEFORE) :]) if is_meant else ""
    return ""
