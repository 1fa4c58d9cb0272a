"""Evaluate conditions by their operator, in time linear in the length of the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from bot.rules.engines import DOES, Engine, Trait
from bot.rules.expressions import (
    SLASHED,
    BrokenExpression,
    CannotTell,
    Captures,
    compile_expression,
    require_little_work,
    require_short,
)

Caught = Mapping[Engine, Captures]
"""The engines in which a condition holds, each with its captures."""


class NeverHolds(CannotTell):
    """A condition that no URL can fulfil."""

    def __init__(self) -> None:
        super().__init__("its condition never holds")


Test = Callable[[str], Caught]
NOWHERE: Final[Caught] = {}
NOTHING_CAUGHT: Final[Caught] = dict.fromkeys(Engine, ())


@lru_cache(maxsize=8192)
def condition(operator: str | None, value: str | None) -> Test:
    """Return the test of a condition, which returns the engines in which it holds for a text; raises CannotTell."""
    if operator not in OPERATORS:
        raise NeverHolds
    return OPERATORS[operator](value or "")


def holds(operator: str | None, value: str | None, text: str | None) -> bool:
    """Whether a condition holds for *text* in any engine; False where that can't be judged, or where there is no text."""
    try:
        return text is not None and bool(condition(operator, value)(text))
    except CannotTell:
        return False


def _equals(value: str) -> Test:
    return lambda text: NOTHING_CAUGHT if text == value else NOWHERE


def _contains(value: str) -> Test:
    return lambda text: NOTHING_CAUGHT if value in text else NOWHERE


def is_bare(value: str) -> bool:
    """Whether an expression has no slashes around it."""
    return not value.startswith("/") and bool(value)


def _matches(value: str) -> Test:
    bare = is_bare(value)
    found = SLASHED.fullmatch(f"/{value}/" if bare else value)
    if found is None:
        raise NeverHolds
    catch = _compile_catch(found[1], ignore_case="i" in found[2])

    def test(text: str) -> Caught:
        if (caught := catch(text)) is None:
            return NOWHERE
        return {DOES[Trait.ADDS_SLASHES]: ()} if bare else dict.fromkeys(Engine, caught)

    return test


Catch = Callable[[str], Captures | None]
"""Returns the captures of one engine in a text; None where the condition does not hold."""


def _compile_catch(expression: str, *, ignore_case: bool = False) -> Catch:
    known = compile_expression(expression, ignore_case=ignore_case)

    def catch(text: str) -> Captures | None:
        require_little_work(known, text)
        match = known.search(text)
        return None if match is None else tuple(match.groups())

    return catch


def _wildcard(value: str) -> Test:
    require_short(value)
    ways = {True: _expression_catch(value), False: _bars_catch(value)}

    def test(text: str) -> Caught:
        caught = {engine: ways[engine.does(Trait.READS_WILDCARD)](text) for engine in Engine}
        return {engine: captures for engine, captures in caught.items() if captures is not None}

    return test


def _bars_catch(value: str) -> Catch:
    """Match a wildcard as the desktop app does: each part is searched for after the one before, in the text between two bars.

    So a bar in the URL may match as its start or end.
    """
    parts = f"|{value}|".split("*")

    def catch(text: str) -> Captures | None:
        text, start, caught = f"|{text}|", 0, []
        for part in parts:
            if (at := text.find(part, start)) < 0:
                return None
            caught.append(text[start:at])
            start = at + len(part)
        return tuple(caught[1:])

    return catch


def _expression_catch(value: str) -> Catch:
    """Match a wildcard as the extension does: as an expression with only ``?``, ``.`` and ``-`` escaped; never if invalid."""
    if IN_WILDCARD.search(value) is None:
        return _greedy_catch(value)
    try:
        return _compile_catch(wildcard_expression(value))
    except BrokenExpression:
        return lambda _: None


def wildcard_expression(value: str) -> str:
    """Return the expression that the extension makes of a wildcard."""
    escaped = ESCAPED_IN_WILDCARD.sub(r"\\\g<0>", value)
    return f"^{escaped.replace('*', '(.*)')}$"


def _greedy_catch(value: str) -> Catch:
    """Match a wildcard without an expression: one with hundreds of groups takes seconds for one URL, string searches don't."""
    first, *rest = value.split("*")

    def catch(text: str) -> Captures | None:
        if not rest:
            return () if text == value else None
        *inner, last = rest
        end = len(text) - len(last)
        if not (text.startswith(first) and text.endswith(last) and len(first) <= end):
            return None
        caught = []
        for part in reversed(inner):
            if (at := text.rfind(part, len(first), end)) < 0:
                return None
            caught.append(text[at + len(part) : end])
            end = at
        return (text[len(first) : end], *reversed(caught))

    return catch


IN_WILDCARD: Final = re.compile(r"[+()\[|\\$^]|\{[0-9]+(?:,[0-9]*)?\}")
"""Characters that are literal in the desktop app's wildcards, and special in the extension's."""
ESCAPED_IN_WILDCARD: Final = re.compile(r"[?.-]")

OPERATORS: Final[dict[str | None, Callable[[str], Test]]] = {
    "Equals": _equals,
    "Contains": _contains,
    "Matches": _matches,
    "Wildcard_Matches": _wildcard,
}
