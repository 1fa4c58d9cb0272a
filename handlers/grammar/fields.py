"""The kinds of field that commands have: each knows how it is read, written, and shown in help."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from datetime import datetime
from typing import Any, Final

from bot.rules.model import USUAL_RULE_ID
from bot.text.time_words import terms_of
from bot.text.times import MAX_WORDS, Kind, Said, WallTime, said
from handlers.grammar.command import PART, Command, Part, Rank, Rest
from handlers.grammar.tokens import Word, quoted


def takes(part: Part, default: Any = None) -> Any:
    """Declare a field of a command that is said as *part*; *default*: its value where it is left out."""
    return field(default=MISSING if part.missing else default, metadata={PART: part})


PLAIN: Final = re.compile(r"[A-Za-z0-9#][\w@.+#/-]*")
KEYWORDS: Final = frozenset({"because", "for", "until", "named", "to", "from", "help", "here", "anyway"})


def one_word(text: str) -> str:
    """*text* such that it is read as one word and as nothing else, such as a time; raises ValueError as `quoted` does."""
    return quoted(text) if terms_of(text) is not None else marked_word(text)


def marked_word(text: str) -> str:
    """The same behind a mark that says what it is, where it can be no time."""
    return text if PLAIN.fullmatch(text) and text.casefold() not in KEYWORDS else quoted(text)


def as_written(word: Word) -> str:
    """With its quotes, if it had any."""
    return f'"{word.text}"' if word.quoted else word.text


@dataclass(frozen=True)
class Filter(Part):
    """``name:value``, anywhere. *titled*: what the title of a list calls it; nothing where it doesn't narrow the list."""

    rank = Rank.FILTER
    titled: str | None = None

    @property
    def name(self) -> str:
        return self.shown.partition(":")[0]

    def read(self, rest: Rest) -> Any:
        """All filters are taken at once: the value of one may look like another."""
        siblings = (part.name for part in rest.kind.parts().values() if isinstance(part, Filter))
        return rest.take_filters(*siblings).get(self.name)

    def write(self, value: Any) -> str:
        word = marked_word(str(value))
        return f"{self.name}: {word}" if word.startswith("'") else f"{self.name}:{word}"


class Page(Filter):
    def read(self, rest: Rest) -> int | None:
        if (text := super().read(rest)) is None:
            return None
        if not (text.isascii() and text.isdigit() and int(text[:9]) > 0 and len(text) < 7):
            raise rest.unclear(f"“{text[:20]}” is not a page number. Write page:2.")
        return int(text)


SITE: Final = Filter("site:blog", titled="")
PAGE: Final = Page("page:N", titled="")


def filters_of(command: Command) -> dict[str, str]:
    """What the title of a list says of the filters that *command* has, by their names there."""
    narrowing = {name: part for name, part in command.parts().items() if isinstance(part, Filter)}
    titles = {name: part.name if part.titled is None else part.titled for name, part in narrowing.items()}
    return {title: value for name, title in titles.items() if title and (value := getattr(command, name))}


class Reason(Part):
    """Everything after ``because``."""

    rank, written = Rank.REASON, 3

    def read(self, rest: Rest) -> str | None:
        at = next((index for index, word in enumerate(rest.words) if word.keyword == "because"), None)
        if at is None:
            return None
        reason = reason_in(rest.words[at:])
        del rest.words[at:]
        if not reason:
            raise rest.unclear("“because” needs a reason.")
        return reason

    def write(self, value: str) -> str:
        return f"because {value}"


REASON: Final = Reason("because TEXT")


def reason_in(words: Sequence[Word]) -> str:
    """Return the reason that *words* say, which begin with “because”; that stays before “of”, which says little alone."""
    return " ".join(map(as_written, words if words[1:2] and words[1].keyword == "of" else words[1:]))


def time_in_reason(command: Command) -> str:
    """Return the end of *command*'s reason, where it is a time that may be meant for the command; else nothing.

    A reason in quotes is one as a whole, and “at 2:50” without a day says in many a reason when something broke.
    """
    words = (getattr(command, "because", None) or "").split()
    if words[-1:] and words[-1].endswith('"'):
        return ""
    lacks_end = getattr(command, "expiry", "") is None
    lacks_start = getattr(command, "start", "") is None
    kinds = {*((Kind.LENGTH, Kind.END) if lacks_end else ()), *((Kind.START, Kind.WINDOW) if lacks_start else ())}
    for at in range(max(0, len(words) - MAX_WORDS), len(words)):
        found = said(words, at)
        if found is not None and at + found.count == len(words):
            is_meant = found.kind in kinds and not (found.kind is Kind.START and found.wall and not found.wall.day)
            return " ".join(words[max(0, at - WORDS_BEFORE) :]) if is_meant else ""
    return ""


WORDS_BEFORE: Final = 3
"""Words of a reason that are told with the time after them."""
LONGEST_DURATION: Final = 366 * 86_400
INSTANT: Final = re.compile(r"\d{4}-\d{2}-\d{2}t\d{2}:\d{2}z")


@dataclass(frozen=True, slots=True)
class Expiry:
    """How long a change is to last: for so many seconds, until clocks show a time, or until a moment (in UTC)."""

    as_typed: str
    seconds: int | None = None
    until: WallTime | None = None
    at: datetime | None = None

    @classmethod
    def until_moment(cls, moment: datetime) -> Expiry:
        """Until *moment*, whenever that is read and by whom."""
        return cls(f"until {moment:%Y-%m-%dT%H:%MZ}", at=moment)


def parse_expiry(text: str) -> Expiry | None:
    """``2h``, ``for 2 hours``, ``18:00`` or ``until tomorrow 9:30``; None for a text that is none of those."""
    words = text.split()
    if words and words[0].casefold() in {"for", "until"}:
        words = words[1:]
    bare = " ".join(words)
    return expiry_in("for", bare) or expiry_in("until", bare)


def expiry_in(keyword: str, text: str) -> Expiry | None:
    """What *text* means after ``for`` or ``until``; None where it is nothing of the kind, or longer than a year."""
    words = text.split()
    found, count = first_expiry(keyword, words)
    return found if count == len(words) else None


def first_expiry(keyword: str, words: Sequence[str]) -> tuple[Expiry | None, int]:
    """What the first of *words* mean after ``for`` or ``until``, and how many they are."""
    if keyword == "until" and words and INSTANT.fullmatch(words[0].casefold()):
        return Expiry(f"until {words[0].upper()}", at=datetime.fromisoformat(words[0].upper())), 1
    found = said([keyword, *words[:MAX_WORDS]], 0)
    if found is None or found.kind not in {Kind.LENGTH, Kind.END} or (found.seconds or 0) > LONGEST_DURATION:
        return None, 0
    return Expiry(found.text.rstrip(",;:!?"), seconds=found.seconds, until=found.wall), found.count - 1


class ForOrUntil(Part):
    """``for 2h``, ``for the next 2 hours`` or ``until 24 December``, wherever it stands; before other words, “for” is a word."""

    rank, written = Rank.EXPIRY, 2

    def read(self, rest: Rest) -> Any:
        for index, word in enumerate(rest.words[:-1]):
            if word.keyword not in {"for", "until"}:
                continue
            following = rest.words[index + 1 :]
            found, count = first_expiry(
                word.keyword, ["" if each.quoted else each.text for each in following[:MAX_WORDS]]
            )
            if found:
                del rest.words[index : index + 1 + count]
                return found
            if following[0].text[:1].isdigit():
                # Left as words, this would make for good what was meant for a while.
                wanted = "for 2h, for 30m or for 7d" if word.keyword == "for" else "until 18:00 or until tomorrow 9am"
                raise rest.unclear(f"“{word.text} {following[0].text[:20]}” isn’t a time. Write {wanted}.")
        return self.needed(None, rest)

    def write(self, value: Expiry) -> str:
        return value.as_typed


EXPIRY: Final = ForOrUntil("for DUR")
UNTIL_WHEN: Final = ForOrUntil("for DUR", "until when")


@dataclass(frozen=True, slots=True)
class Start:
    """When a change is to begin: when clocks show a time, after so many seconds, or at a moment (in UTC).

    *end*: of a window, such as ``from 9:00 to 17:00``: the time after the start at which it ends.
    """

    as_typed: str
    wall: WallTime | None = None
    seconds: int | None = None
    at: datetime | None = None
    end: WallTime | None = None

    @classmethod
    def of(cls, found: Said) -> Start | None:
        """The start that a time in a sentence is; None for one of another kind."""
        if found.kind not in {Kind.START, Kind.WINDOW}:
            return None
        return cls(found.text.strip(",;:!?"), wall=found.wall, seconds=found.seconds, end=found.end)

    @classmethod
    def at_moment(cls, moment: datetime) -> Start:
        """At *moment*, whenever that is read and by whom."""
        return cls(f"at {moment:%Y-%m-%dT%H:%MZ}", at=moment)


def parse_start(text: str) -> Start | None:
    """``tomorrow 9:00``, ``on Friday``, ``in 2h`` or ``9:00``; None for a text that is none of those."""
    words = text.split()
    for lead in ([], ["at"], ["on"]):
        found, count = first_start([*lead, *words])
        if found is not None and count == len(lead) + len(words):
            return found
    return None


def first_start(words: Sequence[str]) -> tuple[Start | None, int]:
    """The start that the first of *words* say, and how many they are."""
    if len(words) > 1 and words[0].casefold() == "at" and INSTANT.fullmatch(words[1].casefold()):
        return Start(f"at {words[1].upper()}", at=datetime.fromisoformat(words[1].upper())), 2
    found = time_at(words[:MAX_WORDS], 0)
    start = Start.of(found) if found is not None else None
    return start, found.count if found is not None and start is not None else 0


def time_at(words: Sequence[str], at: int) -> Said | None:
    """The time that begins at ``words[at]``; of “tomorrow 9:00 until 18:00” the start alone, and its end is the next one."""
    found = said(words, at)
    if found is not None and found.kind is Kind.WINDOW:
        after = range(at + 1, at + found.count)
        until = next((each for each in after if terms_of(words[each]) == "until"), at)
        start = said(words[:until], at)
        return start if start is not None and at + start.count == until else found
    return found


def _length_of_time(words: Sequence[str], index: int) -> int:
    """How many of *words* from *index* on are one time of any kind, such as ``until tomorrow 9:00``; 1 where none begins."""
    found = said(words, index)
    return found.count if found is not None else 1


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
            if found is not None and (not following or following[0].keyword in {"for", "until", "because"}):
                del rest.words[index : index + count]
                return found
            index += count or _length_of_time(texts, index)
        return None

    def write(self, value: Start) -> str:
        return value.as_typed


START: Final = OnOrAt("on DAY TIME")


class Led(Part):
    """The word after a keyword."""

    rank = Rank.KEYWORD

    @property
    def keyword(self) -> str:
        return self.shown.partition(" ")[0]

    def read(self, rest: Rest) -> str | None:
        at = next((index for index, word in enumerate(rest.words) if word.keyword == self.keyword), None)
        if at is None:
            return None
        if at + 1 == len(rest.words):
            raise rest.unclear(f"“{self.keyword}” needs a value.")
        found = rest.words[at + 1].text
        del rest.words[at : at + 2]
        return found or None

    def write(self, value: str) -> str:
        return f"{self.keyword} {one_word(value)}"


class Flag(Part):
    """A word at the end, which is there or not."""

    rank = Rank.KEYWORD

    def read(self, rest: Rest) -> bool:
        found = bool(rest.words) and rest.words[-1].keyword == self.shown
        if found:
            rest.words.pop()
        return found

    def write(self, value: bool) -> str:
        return self.shown if value else ""


class Text(Part):
    """All words that are left, as one text."""

    def read(self, rest: Rest) -> Any:
        text = rest.take_all()
        return self.needed(text.strip() if self.missing else text, rest)

    def write(self, value: str) -> str:
        return one_word(value)


class First(Text):
    """The first word that is left."""

    def read(self, rest: Rest) -> Any:
        return self.needed(rest.words.pop(0).text.strip() if rest.words else "", rest)


@dataclass(frozen=True)
class Choice(Text):
    """The first word, if it is one of *choices*: each word with what it means, the usual one first."""

    choices: Mapping[str, str] = field(default_factory=dict)

    def read(self, rest: Rest) -> Any:
        found = self.choices.get(rest.words[0].keyword) if rest.words else None
        if found is not None:
            rest.words.pop(0)
        return self.needed(found, rest)

    def write(self, value: str) -> str:
        return next((word for word, meant in self.choices.items() if meant == value), value)


NUMBER: Final = re.compile(r"#\d{1,6}")
URL: Final = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)


def is_reference(word: Word) -> bool:
    """Whether the word is an id, ``#n`` or a URL, and so names a rule on its own."""
    return bool(USUAL_RULE_ID.fullmatch(word.text) or NUMBER.fullmatch(word.text) or URL.fullmatch(word.text))


class Refs(Part):
    """Several rules, if each word is an id, ``#n`` or in quotes; else the words are the name of one."""

    def read(self, rest: Rest) -> tuple[str, ...]:
        typed, rest.words = rest.words, []
        words = [part for word in typed for part in _parts(word)]
        if not any(word.text.strip() for word in words):
            raise rest.missing(self.missing)
        named = [word for word in words if word.keyword not in {"and", "&"}]
        if named and all(word.quoted or is_reference(word) for word in named):
            return tuple(dict.fromkeys(word.text for word in named if word.text))
        return (" ".join(word.text for word in typed),)

    def write(self, value: Sequence[str]) -> str:
        several = len(value) > 1
        return " ".join(quoted(ref) if several and not USUAL_RULE_ID.fullmatch(ref) else one_word(ref) for ref in value)


REFS: Final = Refs("REF…", "which rule")


def _parts(word: Word) -> list[Word]:
    """A bare ``a,b`` is two words and ``#1-3`` are three; commas in quotes or in a URL are just commas."""
    if word.quoted or URL.match(word.text):
        return [word]
    parts = [row for part in word.text.split(",") if part for row in rows_in(part)]
    return [Word(part, quoted=False, start=word.start) for part in parts]


ROWS: Final = re.compile(r"#(\d{1,4})-#?(\d{1,4})")
MAX_ROWS: Final = 100


def rows_in(text: str) -> list[str]:
    """``#1-3`` as ``#1``, ``#2``, ``#3``; any other text, and a range of too many, as it is."""
    match = ROWS.fullmatch(text)
    if match is None or not 0 <= int(match[2]) - int(match[1]) < MAX_ROWS:
        return [text]
    return [f"#{row}" for row in range(int(match[1]), int(match[2]) + 1)]


class Urls(Part):
    """Each word that is left."""

    def read(self, rest: Rest) -> tuple[str, ...]:
        words, rest.words = rest.words, []
        return tuple(word.text for word in words if word.text.strip())

    def write(self, value: Sequence[str]) -> str:
        return " ".join(map(one_word, value))
