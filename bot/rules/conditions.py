"""Evaluate conditions by their operator as the browser extension does, in time linear in the length of the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from bot.rules.expressions import (
    SLASHED,
    BrokenExpression,
    CannotTell,
    Captures,
    compile_expression,
    require_little_work,
    require_short,
)


class NeverHolds(CannotTell):
    """A condition that no URL can fulfil."""

    def __init__(self) -> None:
        super().__init__("its condition never holds")


Test = Callable[[str], Captures | None]
"""Returns the captures of a condition in a text; None where it does not hold."""


@lru_cache(maxsize=8192)
def condition(operator: str | None, value: str | None) -> Test:
    """Return the test of a condition; raises CannotTell."""
    if operator not in OPERATORS:
        raise NeverHolds
    return OPERATORS[operator](value or "")


def holds(operator: str | None, value: str | None, text: str | None) -> bool:
    """Whether a condition holds for *text*; False where that can't be judged, or where there is no text."""
    try:
        return text is not None and condition(operator, value)(text) is not None
    except CannotTell:
        return False


def _equals(value: str) -> Test:
    return lambda text: () if text == value else None


def _contains(value: str) -> Test:
    return lambda text: () if value in text else None


def is_bare(value: str) -> bool:
    """Whether an expression has no slashes around it: it is tested as if it had them, but has no captures."""
    return not value.startswith("/") and bool(value)


def _matches(value: str) -> Test:
    bare = is_bare(value)
    found = SLASHED.fullmatch(f"/{value}/" if bare else value)
    if found is None:
        raise NeverHolds
    test = _expression(found[1], ignore_case="i" in found[2])
    return (lambda text: None if test(text) is None else ()) if bare else test


def _expression(expression: str, *, ignore_case: bool = False) -> Test:
    known = compile_expression(expression, ignore_case=ignore_case)

    def test(text: str) -> Captures | None:
        require_little_work(known, text)
        match = known.search(text)
        return None if match is None else tuple(match.groups())

    return test


def _wildcard(value: str) -> Test:
    """Match a wildcard as an expression with only ``?``, ``.`` and ``-`` escaped; never if that is invalid."""
    require_short(value)
    if IN_WILDCARD.search(value) is None:
        return _plain_wildcard(value)
    try:
        return _expression(wildcard_expression(value))
    except BrokenExpression:
        return lambda _: None


def wildcard_expression(value: str) -> str:
    """Return the expression that a wildcard stands for."""
    escaped = ESCAPED_IN_WILDCARD.sub(r"\\\g<0>", value)
    return f"^{escaped.replace('*', '(.*)')}$"


def _plain_wildcard(value: str) -> Test:
    """Match a wildcard without an expression: one with hundreds of groups takes seconds for one URL, string searches don't."""
    first, *rest = value.split("*")

    def test(text: str) -> Captures | None:
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

    return test


IN_WILDCARD: Final = re.compile(r"[+()\[|\\$^]|\{[0-9]+(?:,[0-9]*)?\}")
"""Characters of a wildcard that are special, though its users rarely know."""
ESCAPED_IN_WILDCARD: Final = re.compile(r"[?.-]")

OPERATORS: Final[dict[str | None, Callable[[str], Test]]] = {
    "Equals": _equals,
    "Contains": _contains,
    "Matches": _matches,
    "Wildcard_Matches": _wildcard,
}
