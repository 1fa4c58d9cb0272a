"""Kinds of values in Block Kit, as data: what the tables of shapes are written in.

A kind that has a limit names it; the numbers are in `limits`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

Found = Mapping[str, Any]
Rule = Callable[[Found], Iterator[tuple[str, str]]]
"""What spans several properties of a well-formed thing: yields a pointer inside of it, and Slack's words."""


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
class Number:
    """Any number; *above* is the greatest that is too small."""

    above: float | None = None


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
    """One of these types of blocks, or of all, as far as the surface takes them."""

    types: tuple[str, ...] | None = None
    is_typed: bool = True
    """Whether it must say of which type it is: where only one may stand, Slack's examples leave that out."""


@dataclass(frozen=True, slots=True)
class Many:
    """A list of so many things of one kind."""

    item: Kind
    limit: str


@dataclass(frozen=True, slots=True)
class OrNull:
    """The kind, or null."""

    kind: Kind


Kind = Str | Text | Form | Bool | Int | Number | Enum | Obj | Elem | Block | Many | OrNull

EVERYWHERE: Final = ("message", "modal", "home")


@dataclass(frozen=True, slots=True)
class Shape:
    """The properties of a thing: *must* be there, *may* be there, and no others; where it may stand; what else holds."""

    must: dict[str, Kind]
    may: dict[str, Kind]
    surfaces: tuple[str, ...] = EVERYWHERE
    rules: tuple[Rule, ...] = ()
    is_open: bool = False
    """Whether other properties than these are let through."""

    def kind(self, name: str) -> Kind | None:
        """What the property *name* holds; None where Slack does not know it."""
        return self.must.get(name) or self.may.get(name)
