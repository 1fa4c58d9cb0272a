"""Conditions: what each operator means, in time that grows only with the length of the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

import re2

from bot.rules.url import MAX_URL_LENGTH

SLASHED: Final = re.compile(r"/(.+)/(|i|g|ig|gi)")
"""A regular expression as the engines want it: in slashes, with no flags but these."""
LOOSE: Final = re.compile(r"/(.+)/([a-z]*)")
MAX_EXPRESSION: Final = 4_000
"""Characters of an expression that is tried: reading a megabyte of them takes the engine many seconds."""
MAX_EXPRESSION_WORK: Final = 5_000_000
"""Characters times steps of an expression, at some nanoseconds each: an ordinary one has 50 steps."""
GROUP: Final = re.compile(r"\$(\d)")

Captures = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A condition that holds. *captures* are what ``$1``, ``$2`` … stand for; *otherwise*: in the other engine."""

    captures: Captures = ()
    otherwise: Captures | None = None
    has_groups: bool = False
    """Whether ``$1`` means anything at all: for expressions and wildcards only."""


class UndecidableKind(StrEnum):
    """What keeps a condition, or what a rule makes of a URL, from being judged."""

    NEVER_HOLDS = "never holds"
    NO_CONDITION = "no condition"
    OTHER_SYNTAX = "other syntax"
    LOOKS_AROUND = "looks around"
    BROKEN = "broken"
    LONG_EXPRESSION = "long expression"
    LARGE_EXPRESSION = "large expression"
    LONG_RESULT = "long result"
    MANY_PARAMETERS = "many parameters"
    LONG_SOURCE = "long source"


@dataclass(frozen=True, slots=True)
class UndecidableReason:
    """A reason for which a rule can't be judged. *value*: the syntax that is read otherwise; *length*: in characters."""

    kind: UndecidableKind
    value: str = ""
    length: int = 0


class CannotTell(Exception):
    """A condition that cannot be tried here, or that no engine could."""

    def __init__(self, kind: UndecidableKind, value: str = "", length: int = 0) -> None:
        super().__init__(kind)
        self.why = UndecidableReason(kind, value, length)


class NeverHolds(CannotTell):
    """A condition that no URL can fulfil."""

    def __init__(self) -> None:
        super().__init__(UndecidableKind.NEVER_HOLDS)


Test = Callable[[str], Hit | None]


@lru_cache(maxsize=8192)
def condition(operator: str | None, value: str | None) -> Test:
    """What tells whether a text fulfils the condition; raises CannotTell."""
    if operator not in OPERATORS:
        raise NeverHolds
    return OPERATORS[operator](value or "")


def _equals(value: str) -> Test:
    return lambda text: Hit() if text == value else None


def _contains(value: str) -> Test:
    return lambda text: Hit() if value in text else None


def _matches(value: str) -> Test:
    found = SLASHED.fullmatch(value)
    if found is None:
        raise NeverHolds
    expression = compiled(found[1], ignore_case="i" in found[2])

    def test(text: str) -> Hit | None:
        bounded(expression, text)
        match = expression.search(text)
        return None if match is None else Hit(tuple(match.groups()), has_groups=True)

    return test


def _wildcard(value: str) -> Test:
    """Stars by hand: an expression with hundreds of groups takes seconds for one URL, finding runs does not."""
    tryable(value)
    first, *rest = value.split("*")

    def test(text: str) -> Hit | None:
        if not rest:
            return Hit(has_groups=True) if text == value else None
        *inner, last = rest
        end = len(text) - len(last)
        if not (text.startswith(first) and text.endswith(last) and len(first) <= end):
            return None
        near = _runs(text, inner, len(first), end)
        if near is None:
            return None
        far = _runs_backwards(text, inner, len(first), end)
        return Hit(near, far if far != near else None, has_groups=True)

    return test


def _runs(text: str, parts: Sequence[str], start: int, end: int) -> tuple[str, ...] | None:
    """What the stars between *start* and *end* catch, the first ones as little as can be; None where they do not fit."""
    caught = []
    for part in parts:
        if (at := text.find(part, start, end)) < 0:
            return None
        caught.append(text[start:at])
        start = at + len(part)
    return (*caught, text[start:end])


def _runs_backwards(text: str, parts: Sequence[str], start: int, end: int) -> tuple[str, ...]:
    """The same with the first ones as much as can be, for parts that do fit."""
    caught = []
    for part in reversed(parts):
        at = text.rfind(part, start, end)
        caught.append(text[at + len(part) : end])
        end = at
    return (text[start:end], *reversed(caught))


@lru_cache(maxsize=8192)
def compiled(expression: str, *, ignore_case: bool = False) -> Any:
    """*expression* for the linear engine; raises CannotTell for what it cannot express, or for what is not an expression."""
    tryable(expression)
    if (odd := next((each[1] for each in UNLIKE.finditer(expression) if each[1]), None)) is not None:
        raise CannotTell(UndecidableKind.OTHER_SYNTAX, odd)
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    options.never_nl = False
    try:
        return re2.compile(expression, options)
    except (re2.error, UnicodeError, ValueError) as error:
        looks = LOOKS.search(expression)
        raise CannotTell(UndecidableKind.LOOKS_AROUND if looks else UndecidableKind.BROKEN) from error


def tryable(expression: str) -> None:
    """Raise CannotTell for an expression, or a text with stars, that takes long to be read."""
    if (length := len(expression)) > MAX_EXPRESSION:
        raise CannotTell(UndecidableKind.LONG_EXPRESSION, length=length)


def of_a_length(length: int) -> None:
    """Raise CannotTell for what is longer than any URL: a few letters of a rule can stand for gigabytes."""
    if length > MAX_URL_LENGTH:
        raise CannotTell(UndecidableKind.LONG_RESULT)


def bounded(expression: Any, text: str) -> None:
    """Raise CannotTell where trying *expression* on *text* could take long: linear time is long where both are large."""
    if expression.programsize * len(text) > MAX_EXPRESSION_WORK:
        raise CannotTell(UndecidableKind.LARGE_EXPRESSION)


LOOKS: Final = re.compile(r"\(\?(?:[=!]|<[=!])|\\[1-9]|\\k<")
UNLIKE: Final = re.compile(r"(\\[AzQECapP]|\(\?P|\(\?[a-zA-Z-]+[:)]|\[\[:)|\\.", re.DOTALL)
"""What means one thing to browsers, if anything, and another to the linear engine; or else an escape, to be passed over."""

OPERATORS: Final[dict[str | None, Callable[[str], Test]]] = {
    "Equals": _equals,
    "Contains": _contains,
    "Matches": _matches,
    "Wildcard_Matches": _wildcard,
}


def filled(template: str, captures: Captures) -> str:
    """*template* with ``$1`` … ``$9`` in place; a number that no group has stays as it is written. Raises CannotTell."""
    longest = max((len(caught or "") for caught in captures), default=0)
    of_a_length(len(template) + template.count("$") * longest)

    def value(match: re.Match[str]) -> str:
        number = int(match[1])
        return (captures[number - 1] or "") if 0 < number <= len(captures) else match[0]

    return GROUP.sub(value, template)
