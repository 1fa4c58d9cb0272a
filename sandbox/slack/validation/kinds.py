"""Kinds of values in Block Kit, as data: the tables of shapes are made of them.

A kind that has a limit names it; the numbers are in `limits`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

Found = Mapping[str, Any]
Rule = Callable[[Found], Iterator[tuple[str, str]]]
"""A check across several properties of a well-formed thing: yields pointers inside of it, with Slack's messages."""


@dataclass(frozen=True, slots=True)
class Str:
    """A string of so many characters."""

    limit: str = "words"


@dataclass(frozen=True, slots=True)
class Text:
    """A text object whose text has so many characters."""

    limit: str
    types: tuple[str, ...] = ("plain_text", "mrkdwn")


def plain(limit: str) -> Text:
    """A text object without markup."""
    return Text(limit, ("plain_text",))


@dataclass(frozen=True, slots=True)
class Form:
    """A string of one form, such as YYYY-MM-DD."""

    name: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Bool:
    pass


@dataclass(frozen=True, slots=True)
class Int:
    """A whole number between two."""

    limit: str


@dataclass(frozen=True, slots=True)
class Enum:
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Obj:
    """A composition object by its name in OBJECTS: it has no type of its own."""

    name: str


@dataclass(frozen=True, slots=True)
class Elem:
    """One of these types of elements."""

    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """A block that the surface takes."""


@dataclass(frozen=True, slots=True)
class Many:
    """A list of so many things of one kind."""

    item: Kind
    limit: str


Kind = Str | Text | Form | Bool | Int | Enum | Obj | Elem | Block | Many

EVERYWHERE: Final = ("message", "modal", "home")


@dataclass(frozen=True, slots=True)
class Shape:
    """The properties of a thing: those it *must* have, those it *may* have, and no others; its surfaces and its rules."""

    must: dict[str, Kind]
    may: dict[str, Kind]
    surfaces: tuple[str, ...] = EVERYWHERE
    rules: tuple[Rule, ...] = ()

    def kind(self, name: str) -> Kind | None:
        """Return the kind of the property *name*; None where Slack doesn't know it."""
        return self.must.get(name) or self.may.get(name)
