"""Find the conditions that may hold for a URL, among those of thousands of rules: a table, and what the expression engine has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum, auto
from typing import Any, Final, NamedTuple

import re2

from bot.rules.conditions import IN_WILDCARD, is_bare, wildcard_expression
from bot.rules.expressions import SLASHED, CannotTell, compile_expression, require_short
from bot.rules.lint.findings import Location
from bot.rules.lint.single_rule import literal
from bot.rules.model import Rule, Source
from bot.rules.url import Url

LOOKUP_CHARACTERS: Final = 50_000
"""Characters in one filter: the engine builds it in one go, in which nothing else runs (some 20 ms)."""
LOOKUP_SOURCES: Final = 1_000
"""Conditions in one filter: it tells all that hold, also where a few are enough."""


class Way(Enum):
    """How a condition looks for its text in a URL."""

    WHOLE = auto()
    PART = auto()
    """Any place in the URL, by an expression that is that text alone."""
    EXPRESSION = auto()


QUIET: Final = re2.Options()
QUIET.log_errors = False  # it takes a slower way where a long text needs much memory, and would log that


class Condition(NamedTuple):
    """Where a condition is, and the *text* that it looks for in a URL: a whole URL, or an expression."""

    place: Location
    way: Way
    text: str


class SourceLookup:
    """Some conditions, in the order of their rules, and what tells which of them a URL may fulfill.

    Each in the smallest way: most are for a whole URL, and of the filter each expression takes twenty kilobytes.
    """

    def __init__(self, conditions: Sequence[Condition]) -> None:
        """Raises re2.error where it is too much text for one filter."""
        self._places = [condition.place for condition in conditions]
        self._whole: dict[str, list[int]] = {}
        self._at: dict[Way, list[int]] = {Way.PART: [], Way.EXPRESSION: []}
        self._parts: Any = re2.Set.SearchSet(QUIET)
        self._filter: Any = re2.Filter()
        for at, condition in enumerate(conditions):
            if condition.way is Way.WHOLE:
                self._whole.setdefault(condition.text, []).append(at)
                continue
            self._at[condition.way].append(at)
            if condition.way is Way.PART:
                self._parts.Add(condition.text)
            else:
                self._filter.Add(condition.text, QUIET)
        if self._at[Way.PART]:
            self._parts.Compile()
        if self._at[Way.EXPRESSION]:
            self._filter.Compile()

    def find(self, url: Url) -> list[Location]:
        """The conditions that may hold for *url*, in their order: all that do are among them."""
        found = list(self._whole.get(url.full, ()))
        for way, matcher in ((Way.PART, self._parts), (Way.EXPRESSION, self._filter)):
            if at := self._at[way]:
                found += [at[number] for number in matcher.Match(url.full) or ()]
        return [self._places[at] for at in sorted(found)]


def sources(rule: Rule) -> Iterator[tuple[int, Source]]:
    """The conditions of *rule*, each with the number of its pair."""
    for number, pair in enumerate(rule.pairs or (), start=1):
        if pair.source is not None:
            yield number, pair.source


def build_lookups(rules: Iterable[Rule]) -> Iterator[SourceLookup]:
    """Build the lookups for the conditions of *rules*, one by one."""
    conditions: list[Condition] = []
    length = count = 0
    for rule in rules:
        for number, source in sources(rule):
            if (found := _find_way(source)) is None:
                continue
            way, text = found
            conditions.append(Condition(Location(rule, number), way, text))
            if way is not Way.WHOLE:
                length, count = length + len(text), count + 1
            if length >= LOOKUP_CHARACTERS or count == LOOKUP_SOURCES:
                yield from _build(conditions)
                conditions, length, count = [], 0, 0
    yield from _build(conditions)


def _build(conditions: Sequence[Condition]) -> Iterator[SourceLookup]:
    """One filter, or more where the texts have so little in common that one doesn't hold them."""
    if not conditions:
        return
    try:
        yield SourceLookup(conditions)
    except re2.error:
        half = len(conditions) // 2
        if half:
            yield from _build(conditions[:half])
            yield from _build(conditions[half:])


def _find_way(source: Source) -> tuple[Way, str] | None:
    """What is in every URL that fulfills *source*; None where none does, or where that can't be told."""
    value = source.value or ""
    try:
        require_short(value)
        if source.key != "Url" or not value:
            return Way.PART, str(re2.escape(literal(source)))  # a host and a path are a part of the URL
        if source.operator == "Equals":
            return Way.WHOLE, value
        if source.operator == "Contains":
            return Way.PART, str(re2.escape(value))
        return None if (found := _expression(source, value)) is None else (Way.EXPRESSION, found)
    except (CannotTell, UnicodeError):
        return None


def _expression(source: Source, value: str) -> str | None:
    if source.operator == "Wildcard_Matches":
        return _wildcard(value)
    if source.operator != "Matches" or not (found := SLASHED.fullmatch(f"/{value}/" if is_bare(value) else value)):
        return None
    expression = str(compile_expression(found[1]).pattern)
    return f"(?i){expression}" if "i" in found[2] else expression


def _wildcard(value: str) -> str:
    """As one engine or the other reads it; in the desktop app, a bar in the URL may be taken for its start or end."""
    literal = rf"(?s:(?:^|\|){'.*'.join(map(re2.escape, value.split('*')))}(?:$|\|))"
    if IN_WILDCARD.search(value) is None:
        return literal
    try:
        return f"{literal}|{compile_expression(wildcard_expression(value)).pattern}"
    except CannotTell:
        return literal
