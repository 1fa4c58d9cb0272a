"""An index of the conditions of thousands of rules, which finds those that may hold for a URL: a dict, and RE2's sets."""

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
"""Characters in one filter: RE2 builds it in one go, which blocks the event loop (some 20 ms)."""
LOOKUP_SOURCES: Final = 1_000
"""Conditions in one filter: a search returns all that may hold, even where a few are enough."""


class Way(Enum):
    """How the text of a condition is searched for in a URL."""

    WHOLE = auto()
    PART = auto()
    """Anywhere in the URL, by an expression that is the escaped text."""
    EXPRESSION = auto()


QUIET: Final = re2.Options()
QUIET.log_errors = False  # RE2 falls back to a slower algorithm where a long text needs much memory, and would log that


class Condition(NamedTuple):
    """The place of a condition in a rule, and the *text* to search for in a URL: a whole URL, or an expression."""

    place: Location
    way: Way
    text: str


class SourceLookup:
    """An index of some conditions, in the order of their rules, that finds those which a URL may fulfill.

    Each condition is in the smallest structure: most are whole URLs, in a dict; an expression takes 20 kB in the filter.
    """

    def __init__(self, conditions: Sequence[Condition]) -> None:
        """Build the index; raises re2.error where the text is too much for one filter."""
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
        """Return the conditions that may hold for *url*, in order: a superset of those that do."""
        found = list(self._whole.get(url.full, ()))
        for way, matcher in ((Way.PART, self._parts), (Way.EXPRESSION, self._filter)):
            if at := self._at[way]:
                found += [at[number] for number in matcher.Match(url.full) or ()]
        return [self._places[at] for at in sorted(found)]


def sources(rule: Rule) -> Iterator[tuple[int, Source]]:
    """Yield the conditions of *rule*, each with the number of its pair."""
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
    """Yield one lookup, or several where the texts have so little in common that one filter can't hold them."""
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
    """Return a text or an expression that is in every URL that fulfills *source*; None where no URL does, or it isn't known."""
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
    """Return an expression for a wildcard as either engine reads it; in the desktop app, a bar may match as start or end."""
    literal = rf"(?s:(?:^|\|){'.*'.join(map(re2.escape, value.split('*')))}(?:$|\|))"
    if IN_WILDCARD.search(value) is None:
        return literal
    try:
        return f"{literal}|{compile_expression(wildcard_expression(value)).pattern}"
    except CannotTell:
        return literal
