"""Kinds of values in Block Kit, as data: what the tables of shapes are written in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Str:
    """A string of *low* to *high* characters."""

    high: int | None = None
    low: int = 1


@dataclass(frozen=True, slots=True)
class Text:
    """A text object. *plain*: no mrkdwn allowed here."""

    high: int
    plain: bool = False


@dataclass(frozen=True, slots=True)
class Bool:
    pass


@dataclass(frozen=True, slots=True)
class Int:
    low: int = 0
    high: int | None = None


@dataclass(frozen=True, slots=True)
class Enum:
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Obj:
    """A composition object by its name in OBJECTS."""

    name: str


@dataclass(frozen=True, slots=True)
class Elem:
    """One of these element types."""

    types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Many:
    """A list of *low* to *high* things of one kind."""

    item: Kind
    high: int | None = None
    low: int = 1


@dataclass(frozen=True, slots=True)
class Anything:
    """Taken as it is: shapes that this local Slack does not look into."""


Kind = Str | Text | Bool | Int | Enum | Obj | Elem | Many | Anything


@dataclass(frozen=True, slots=True)
class Shape:
    """The properties of a block, an element or an object: *must* be there, *may* be there, and no others."""

    must: dict[str, Kind]
    may: dict[str, Kind]
    surfaces: tuple[str, ...] = ("message", "modal", "home")
