"""The outcome of a rule for a URL (match, near miss, or undecidable)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Self

from bot.rules.conditions import IN_WILDCARD, NOTHING_CAUGHT, Caught, condition, is_bare
from bot.rules.engines import DOES, Engine, Trait
from bot.rules.expressions import CannotTell, Captures
from bot.rules.model import Off, Pair, Rule, Source
from bot.rules.url import KEYS, Url

MayHold = Callable[[Url], Sequence[tuple[int, Pair]]]
"""Returns the pairs of a rule that may hold for a URL, each with its number, in order."""


@dataclass(frozen=True, slots=True)
class PairMatch:
    """A pair whose condition holds, with its number in the rule, and its captures in each engine in which it holds."""

    number: int
    pair: Pair
    caught: Caught

    @property
    def engines(self) -> frozenset[Engine]:
        return frozenset(self.caught)

    @property
    def captures(self) -> Captures:
        """Return the captures: those of the desktop app if the condition holds there, else the extension's."""
        return next(iter(self.caught.values()))


def match_pair(rule: Rule, number: int, pair: Pair, url: Url) -> PairMatch | None:
    """Return *pair* with its captures if its condition holds for *url* in any engine, else None; raises CannotTell."""
    source = pair.source
    if source is None:
        raise CannotTell("it has no condition")
    tested = url.subject(source.key)
    if is_skipped(rule.rule_type, source):
        contains = source.operator == "Contains" and tested is not None
        caught: Caught = NOTHING_CAUGHT if contains else {DOES[Trait.TAKES_EMPTY_SOURCE]: ()}
    else:
        caught = {} if tested is None else condition(source.operator, source.value)(tested)
    if caught:
        idle = {Trait.MINDS_SWITCH: is_switched_off(source), Trait.NEEDS_VERSION: lacks_version(rule, pair)}
        without = {DOES[trait] for trait, applies in idle.items() if applies}
        caught = {engine: captures for engine, captures in caught.items() if engine not in without}
    return PairMatch(number, pair, caught) if caught else None


def differing_trait(rule_type: str | None, source: Source) -> Trait | None:
    """Return the trait by which the engines read *source* differently; None where they don't, or where it never holds."""
    bare = source.operator == "Matches" and is_bare(source.value or "")
    if is_switched_off(source):
        return None if bare else Trait.MINDS_SWITCH
    if is_skipped(rule_type, source) and source.operator != "Contains":
        return Trait.TAKES_EMPTY_SOURCE
    if source.operator == "Wildcard_Matches" and IN_WILDCARD.search(source.value or ""):
        return Trait.READS_WILDCARD
    return Trait.ADDS_SLASHES if bare else None


def engines_matching_all(rule_type: str | None, source: Source) -> frozenset[Engine]:
    """Return the engines in which *source* holds for every URL; only plain cases such as ``*`` or ``/.*/`` are recognised."""
    open_to_all = {"Contains": not source.value, "Matches": source.value == "/.*/"}
    open_to_all["Wildcard_Matches"] = bool(source.value) and not (source.value or "").strip("*")
    plain = source.key in KEYS and open_to_all.get(source.operator or "", False)
    skipping = {DOES[Trait.TAKES_EMPTY_SOURCE]} if is_skipped(rule_type, source) else set()
    minding = {DOES[Trait.MINDS_SWITCH]} if is_switched_off(source) else set()
    return frozenset((set(Engine) if plain else skipping) - minding)


def lacks_version(rule: Rule, pair: Pair) -> bool:
    """Whether one engine reads *rule* in the oldest form of Headers, in which *pair* changes nothing."""
    is_old = (rule.model_extra or {}).get("version") in (None, "", 0, 1, "0", "1")
    modifications = (pair.model_extra or {}).get("modifications")
    return rule.rule_type == "Headers" and is_old and isinstance(modifications, Mapping)


EMPTY_IS_EVERY_URL: Final = frozenset({"Replace", "UserAgent"})
"""Rule types for which the desktop app skips a condition with an empty value, whatever the operator."""


def is_skipped(rule_type: str | None, source: Source) -> bool:
    """Whether the desktop app ignores *source*, so that it matches every URL."""
    return rule_type in EMPTY_IS_EVERY_URL and not source.value


def is_switched_off(source: Source) -> bool:
    """Whether *source* is switched off (``isActive: false``), which only one engine respects."""
    value: Any = (source.model_extra or {}).get("isActive")
    return value is not None and value in (False, "")


class NoteKind(StrEnum):
    """What else to say about a match: where the engines differ, and what it depends on."""

    OTHER_URL = "other URL"
    NOTHING = "nothing"
    ONE_PAIR = "one pair"
    SEVERAL_BLOCKS = "several blocks"
    PATH = "path"
    CHARACTER = "character"
    TO_ITSELF = "to itself"
    NOTHING_TO_REPLACE = "nothing to replace"
    GROUP = "group"
    FILTERS = "filters"
    UNTRIED_PAIR = "untried pair"


@dataclass(frozen=True, slots=True)
class Note:
    """A note on a match. *value*: the URL, the character, the group, the filters or the reason that it is about."""

    kind: NoteKind
    value: str = ""
    engine: Engine | None = None
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
    depends: bool = False
    """Whether it has an effect only under conditions that can't be judged by a URL: filters, or an unknown group."""
    also: tuple[int, ...] = ()
    """Further pairs that have an effect, for rule types in which all pairs that hold do."""
    ways: Mapping[Engine, str] = field(default_factory=dict)
    """What the URL becomes in each engine that changes it. *result* is the documented one."""
    only: Engine | None = None
    """The one engine in which the rule has an effect; None where it has one in both, or in neither."""

    @property
    def decides(self) -> bool:
        """Whether it blocks the URL, or makes another one of it."""
        return self.blocks or self.result is not None


class NearKind(StrEnum):
    """The one difference that keeps a rule from matching."""

    NO_PAIRS = "no pairs"
    KEY = "key"
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
    """A rule that would match but for one difference. *better*: the correct value; empty where it isn't known."""

    rule: Rule
    pair: int
    kind: NearKind
    better: str = ""


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
