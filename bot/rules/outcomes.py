"""The outcome of a rule for a URL (match, near miss, or undecidable)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from bot.rules.conditions import condition
from bot.rules.expressions import CannotTell, Captures
from bot.rules.model import Off, Pair, Rule, Source
from bot.rules.url import KEYS, Url


@dataclass(frozen=True, slots=True)
class PairMatch:
    """A pair whose condition holds, with its number in the rule and its captures."""

    number: int
    pair: Pair
    captures: Captures


def match_pair(number: int, pair: Pair, url: Url) -> PairMatch | None:
    """Return *pair* with its captures if its condition holds for *url*, else None; raises CannotTell."""
    source = pair.source
    if source is None:
        raise CannotTell("it has no condition")
    tested = url.subject(source.key)
    caught = None if tested is None else condition(source.operator, source.value)(tested)
    return None if caught is None or is_switched_off(source) else PairMatch(number, pair, caught)


def matches_all(source: Source) -> bool:
    """Whether *source* holds for every URL; only plain cases such as ``*`` or ``/.*/`` are recognised."""
    value = source.value or ""
    plain = {
        "Contains": not value,
        "Matches": value == "/.*/",
        "Wildcard_Matches": bool(value) and not value.strip("*"),
    }
    return source.key in KEYS and plain.get(source.operator or "", False) and not is_switched_off(source)


def is_switched_off(source: Source) -> bool:
    """Whether *source* is switched off (``isActive: false``)."""
    value: Any = (source.model_extra or {}).get("isActive")
    return value is not None and value in (False, "")


class NoteKind(StrEnum):
    """What else to say about a match: what it depends on, and why it changes nothing."""

    TO_ITSELF = "to itself"
    NOTHING_TO_REPLACE = "nothing to replace"
    GROUP = "group"
    FILTERS = "filters"
    UNTRIED_PAIR = "untried pair"


@dataclass(frozen=True, slots=True)
class Note:
    """A note on a match. *value*: the group, the filters or the reason that it is about."""

    kind: NoteKind
    value: str = ""
    pair: int = 0


@dataclass(frozen=True, slots=True)
class Match:
    """A rule that matches the URL. *result*: what the URL becomes; None where it stays or is blocked."""

    rule: Rule
    pair: int
    """The pair that decides; counted from 1."""
    captures: tuple[str | None, ...] = ()
    result: str | None = None
    blocks: bool = False
    idle: bool = False
    """Whether it matches but changes nothing."""
    off: tuple[Off, ...] = ()
    """Why it is not active; empty where it is."""
    notes: tuple[Note, ...] = ()
    also: tuple[int, ...] = ()
    """Further pairs that have an effect, for rule types in which all pairs that hold do."""

    @property
    def decides(self) -> bool:
        """Whether it blocks the URL, or makes another one of it."""
        return self.blocks or self.result is not None

    @property
    def depends(self) -> bool:
        """Whether it has an effect only under conditions that can't be judged by a URL."""
        return any(note.kind in {NoteKind.FILTERS, NoteKind.GROUP, NoteKind.UNTRIED_PAIR} for note in self.notes)


class NearKind(StrEnum):
    """The one difference that keeps a rule from matching."""

    KEY = "key"
    OPERATOR = "operator"
    CASE = "case"
    NO_SLASH = "no slash"
    SPELLING = "spelling"
    NOT_THE_WHOLE = "not the whole"
    SLASH = "slash"
    SCHEME = "scheme"
    WWW = "www"
    QUERY = "query"
    PORT = "port"


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A rule that would match but for one difference. *better*: the correct value, where it is known; *off*: why it is off."""

    rule: Rule
    pair: int
    kind: NearKind
    better: str = ""
    off: tuple[Off, ...] = ()


@dataclass(frozen=True, slots=True)
class Undecidable:
    """A rule that Gatehouse can't judge; *why* is the reason. *off*: why it is not active; empty where it is."""

    rule: Rule
    pair: int
    why: str
    off: tuple[Off, ...] = ()


Verdict = Match | NearMiss | Undecidable


@dataclass(frozen=True, slots=True)
class Explained:
    """The verdicts on a URL: rules that match, near misses, and rules that can't be judged."""

    url: Url
    acting: tuple[Match, ...]
    near: tuple[NearMiss, ...]
    undecidable: tuple[Undecidable, ...]

    @classmethod
    def of(cls, url: Url, verdicts: Sequence[Verdict | None]) -> Self:
        """Sort the verdicts on *url* by kind."""
        acting = tuple(each for each in verdicts if isinstance(each, Match))
        near = tuple(each for each in verdicts if isinstance(each, NearMiss))
        return cls(url, acting, near, tuple(each for each in verdicts if isinstance(each, Undecidable)))

    @property
    def active(self) -> tuple[Match, ...]:
        return tuple(each for each in self.acting if not each.off)

    @property
    def changing(self) -> tuple[Match, ...]:
        """Return the matches that are active and change something."""
        return tuple(each for each in self.active if not each.idle)
