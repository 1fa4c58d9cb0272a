"""Find the conditions that may hold for a URL, among those of thousands of rules, by the filter of the expression engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import re2

from bot.rules.conditions import IN_WILDCARD, is_bare, wildcard_expression
from bot.rules.expressions import SLASHED, CannotTell, compiled, tryable
from bot.rules.lint.findings import Location
from bot.rules.lint.single_rule import literal
from bot.rules.model import Rule, Source
from bot.rules.url import Url

LOOKUP_CHARACTERS: Final = 50_000
"""Characters of expressions in one filter: the engine builds it in one go, in which nothing else runs (some 20 ms)."""
LOOKUP_SOURCES: Final = 1_000
"""Conditions in one filter: it tells all that hold, also where a few are enough."""


QUIET: Final = re2.Options()
QUIET.log_errors = False  # it takes a slower way where a long text needs much memory, and would log that

Condition = tuple[Location, str]
"""Where a condition is, and the expression for it."""


class SourceLookup:
    """Some conditions, in the order of their rules, and the filter that tells which of them a URL may fulfill."""

    def __init__(self, conditions: Sequence[Condition]) -> None:
        """Raises re2.error where it is too much text for one filter."""
        self._places = [place for place, _ in conditions]
        self._filter: Any = re2.Filter()
        for _, expression in conditions:
            self._filter.Add(expression, QUIET)
        self._filter.Compile()

    def find(self, url: Url) -> list[Location]:
        """The conditions that may hold for *url*, in their order: all that do are among them."""
        return [self._places[at] for at in self._filter.Match(url.full) or ()]


def sources(rule: Rule) -> Iterator[tuple[int, Source]]:
    """The conditions of *rule*, each with the number of its pair."""
    for number, pair in enumerate(rule.pairs or (), start=1):
        if pair.source is not None:
            yield number, pair.source


def build_lookups(rules: Iterable[Rule]) -> Iterator[SourceLookup]:
    """Build the filters for the conditions of *rules*, one by one."""
    conditions: list[Condition] = []
    length = 0
    for rule in rules:
        for number, source in sources(rule):
            if (expression := expression_of(source)) is None:
                continue
            conditions.append((Location(rule, number), expression))
            length += len(expression)
            if length >= LOOKUP_CHARACTERS or len(conditions) == LOOKUP_SOURCES:
                yield from _build(conditions)
                conditions, length = [], 0
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


def expression_of(source: Source) -> str | None:
    """What the engine finds in every URL that fulfills *source*; None where none does, or where that can't be told."""
    value = source.value or ""
    try:
        tryable(value)
        if source.key != "Url" or not value:
            return str(re2.escape(literal(source)))  # a host and a path are a part of the URL
        return _expression(source, value)
    except (CannotTell, UnicodeError):
        return None


def _expression(source: Source, value: str) -> str | None:
    if source.operator == "Contains":
        return str(re2.escape(value))
    if source.operator == "Equals":
        return f"^{re2.escape(value)}$"
    if source.operator == "Wildcard_Matches":
        return _wildcard(value)
    if source.operator != "Matches" or not (found := SLASHED.fullmatch(f"/{value}/" if is_bare(value) else value)):
        return None
    expression = str(compiled(found[1]).pattern)
    return f"(?i){expression}" if "i" in found[2] else expression


def _wildcard(value: str) -> str:
    """As one engine or the other reads it; in the desktop app, a bar in the URL may be taken for its start or end."""
    literal = rf"(?s:(?:^|\|){'.*'.join(map(re2.escape, value.split('*')))}(?:$|\|))"
    if IN_WILDCARD.search(value) is None:
        return literal
    try:
        return f"{literal}|{compiled(wildcard_expression(value)).pattern}"
    except CannotTell:
        return literal
