"""Resolve a text to the things that it names: one ranking of matches, of which each caller chooses the accepted ones."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, Generic, TypeVar

from bot.members.model import Member
from bot.rules.model import Group, Rule

T = TypeVar("T")

WORD: Final = re.compile(r"\w+")
MIN_PART: Final = 3
"""Letters that a part of a name needs to select a thing for a change."""


class Fit(IntEnum):
    """How well a text matches the names of a thing, the best first."""

    ID = 0
    """Its exact id."""
    WHOLE = 1
    """A whole name, its id in another case of letters, or a whole URL that names it."""
    PHRASE = 2
    """A part of a name, whose words begin with those of the text."""
    PART = 3
    """A part of a name, from within a word."""
    ID_PART = 4
    WORDS = 5
    """Its words are prefixes of words of a name, in another order or with others between them."""


REFERENCE: Final = ((Fit.ID,), (Fit.WHOLE,), (Fit.PHRASE, Fit.PART), (Fit.ID_PART,))
"""For a reference to one rule: fits in one tuple are equally good, and better than those in the next."""
GROUP_REFERENCE: Final = REFERENCE[:3]
NARROWED: Final = (*REFERENCE[:2], tuple(Fit)[2:])
"""For everything that may be meant, unless something has exactly this name."""
MENTION: Final = frozenset({Fit.ID, Fit.WHOLE, Fit.PHRASE, Fit.WORDS})
"""For a name within a sentence, where a few letters would be part of too many words."""


def fold_name(text: str) -> str:
    """Return *text* in the form for comparing names: case-folded, with single spaces, and with composed accents (NFC)."""
    line = " ".join(text.split()).casefold()
    line = line if line.isascii() else unicodedata.normalize("NFC", line)
    return text if line == text else line  # avoids copies of many emails


def is_bare_number(text: str) -> bool:
    """Whether *text* has only numbers, which nobody uses as a part of a name."""
    return bool(parts := text.split()) and all(part.isdecimal() for part in parts)


@dataclass(frozen=True, slots=True)
class Named(Generic[T]):
    """A thing with all of its names, folded.

    A part of one of *names* may match; *wholes* and *urls* match only as a whole.
    """

    thing: T
    id: str
    names: tuple[str, ...]
    wholes: tuple[str, ...]
    urls: tuple[str, ...] = ()


class Wanted:
    """A text, prepared for comparing it with names."""

    def __init__(self, text: str) -> None:
        self._id, self._line = text.strip(), fold_name(text)
        self._typed, self._words = self._line.split(), WORD.findall(self._line)
        self._is_number = is_bare_number(text)

    def fit(self, named: Named[Any]) -> Fit | None:
        """Return how well the text fits *named*; None where it doesn't, or is empty."""
        line = self._line
        if not line or self._id == named.id:
            return Fit.ID if line else None
        if line in (*named.names, *named.wholes, *named.urls):
            return Fit.WHOLE
        begins = any(map(self._matches_words, named.names))
        if not self._is_number and any(line in name for name in named.names):
            return Fit.PHRASE if begins else Fit.PART
        if not self._is_number and line in named.id.casefold():
            return Fit.ID_PART
        return Fit.WORDS if begins else None

    def _matches_words(self, name: str) -> bool:
        """Whether *name* has all characters of the text, and each word of the text is a prefix of a word in it."""
        if not all(word in name for word in self._typed):
            return False
        words = " " + " ".join(WORD.findall(name))
        return all(f" {word}" in words for word in self._words)


@dataclass(frozen=True, slots=True)
class Meant(Generic[T]):
    """The *things* that *text* fits best, and how well; empty where it fits none."""

    text: str
    things: Sequence[T] = ()
    fit: Fit | None = None

    @property
    def is_sure(self) -> bool:
        """Whether it is one thing, by a whole name or by a part that is long enough to change it without asking."""
        whole = self.fit is not None and self.fit <= Fit.WHOLE
        return len(self.things) == 1 and (whole or len(self.text.strip()) >= MIN_PART)


def resolve_name(text: str, among: Iterable[Named[T]], ways: Sequence[Sequence[Fit]] = REFERENCE) -> Meant[T]:
    """Return the things *among* those given that *text* fits in the first of *ways* in which it fits any."""
    wanted = Wanted(text)
    fits = [(fit, named.thing) for named in among if (fit := wanted.fit(named)) is not None]
    for way in ways:
        if found := [thing for fit, thing in fits if fit in way]:
            return Meant(text, found, way[0])
    return Meant(text)


def named_rule(rule: Rule) -> Named[Rule]:
    """Return *rule* with its names: its name, its id, the end of the id if it can't be a word, and the URLs of its sources."""
    sources = [pair.source.value for pair in rule.pairs or () if pair.source is not None]
    end = rule.id.partition("_")[2]
    ends = [end] if any(map(str.isdigit, end)) and any(map(str.isalpha, end)) else []
    return Named(rule, rule.id, _fold_all(rule.name), _fold_all(rule.id, *ends), _fold_all(*sources))


def named_group(group: Group) -> Named[Group]:
    """Return *group* with its name and its id."""
    return Named(group, group.id, _fold_all(group.title), _fold_all(group.id))


def named_member(member: Member) -> Named[Member]:
    """Return *member* with name and email, and what stands before its ``@``, if that can't be a word."""
    local = member.email.partition("@")[0]
    return Named(member, member.email, _fold_all(member.name, member.email), _fold_all(local) if "." in local else ())


def _fold_all(*texts: str | None) -> tuple[str, ...]:
    return tuple(line for text in texts if text and (line := fold_name(text)))
