"""Payloads made of the tables: the least that passes, and a way to any property of any block, element or object.

The way down to a property also gives its JSON pointer, so that a test knows it without asking the judge.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, NamedTuple

from sandbox.slack.validation import Problem, check_message, check_view
from sandbox.slack.validation.blocks import BLOCKS, SURFACES
from sandbox.slack.validation.kinds import (
    Block,
    Bool,
    Elem,
    Enum,
    Int,
    Kind,
    Many,
    Obj,
    Shape,
    Str,
    Text,
)
from sandbox.slack.validation.limits import LIMITS
from sandbox.slack.validation.shapes import ELEMENTS, OBJECTS

Payload = dict[str, Any]
TABLES: Final = {"surface": SURFACES, "block": BLOCKS, "element": ELEMENTS, "object": OBJECTS}
NUMBERS: Final = count()


class Key(NamedTuple):
    """A shape by its place in the tables."""

    table: str
    name: str

    @property
    def shape(self) -> Shape:
        return TABLES[self.table][self.name]

    def __str__(self) -> str:
        return f"{self.table} {self.name}"


def _words() -> Payload:
    return {"type": "plain_text", "text": "x"}


MORE: Final[dict[Key, Callable[[], Payload]]] = {
    Key("surface", "modal"): lambda: {"submit": _words()},
    Key("block", "section"): lambda: {"text": _words()},
    Key("element", "static_select"): lambda: {"options": [made(Key("object", "option"))]},
    Key("element", "multi_static_select"): lambda: {"options": [made(Key("object", "option"))]},
    Key("object", "conversation_filter"): lambda: {"exclude_bot_users": True},
}
"""What a shape needs beyond what it must have: one of several."""


def made(key: Key) -> Payload:
    """The least that passes of one shape."""
    typed = {} if key.table == "object" or key.name == "message" else {"type": key.name}
    own = {name: example(kind) for name, kind in key.shape.must.items()}
    return typed | own | MORE.get(key, dict)()


def example(kind: Kind) -> Any:
    """A value of *kind* that passes."""
    match kind:
        case Many(item, limit):
            return [example(item) for _ in range(max(LIMITS[limit].low, 1))]
        case Block():
            return {"type": "divider"}
        case Obj() | Elem():
            return made(_keys(kind)[0])
        case _:
            return _single(kind)


def _single(kind: Kind) -> Any:
    """A value without parts."""
    match kind:
        case Str(limit):
            return f"id {next(NUMBERS)}" if limit.endswith("_id") else "x" * max(LIMITS[limit].low, 1)
        case Text(_, types):
            return {"type": types[0], "text": "x"}
        case Int(limit):
            return LIMITS[limit].low
        case Enum(values):
            return values[0]
        case Bool():
            return True
        case _:
            return None


def _keys(kind: Kind) -> list[Key]:
    """The shapes that may stand where *kind* is asked for."""
    match kind:
        case Obj(name):
            return [Key("object", name)]
        case Elem(types):
            return [Key("element", name) for name in types]
        case Block():
            return [Key("block", name) for name in BLOCKS]
        case _:
            return []


class Slot(NamedTuple):
    """A place in a property: *at* is the rest of its pointer, *wrap* puts a value there."""

    at: str
    kind: Kind
    wrap: Callable[[Any], Any]


def slots(kind: Kind) -> Iterator[Slot]:
    """*kind* itself and, of lists, the first item."""
    yield Slot("", kind, lambda value: value)
    if isinstance(kind, Many):
        yield from map(_in_list, slots(kind.item))


def _in_list(slot: Slot) -> Slot:
    return Slot(f"/0{slot.at}", slot.kind, lambda value: [slot.wrap(value)])


class Way(NamedTuple):
    """How to get to a shape from a surface: through which property of which other one."""

    parent: Key | None
    name: str
    slot: Slot


def _ways() -> dict[Key, tuple[str, dict[Key, Way]]]:
    """For each shape that may be sent at all: a surface, and the ways on it."""
    found: dict[Key, tuple[str, dict[Key, Way]]] = {}
    for surface in SURFACES:
        start = Key("surface", surface)
        ways = {start: Way(None, "", Slot("", Str(), lambda value: value))}
        queue = deque([start])
        while queue:
            parent = queue.popleft()
            found.setdefault(parent, (surface, ways))
            for key, way in _below(parent):
                if surface in key.shape.surfaces and key not in ways:
                    ways[key] = way
                    queue.append(key)
    return found


def _below(parent: Key) -> Iterator[tuple[Key, Way]]:
    for name, kind in {**parent.shape.must, **parent.shape.may}.items():
        for slot in slots(kind):
            for key in _keys(slot.kind):
                yield key, Way(parent, name, slot)


WAYS: Final = _ways()
SENDABLE: Final = tuple(WAYS)


@dataclass(frozen=True, slots=True)
class Place:
    """A payload with a thing of one shape in it, and the pointer of that thing."""

    surface: str
    payload: Payload
    thing: Payload
    pointer: str

    def problems(self) -> list[Problem]:
        return check_message(self.payload) if self.surface == "message" else check_view(self.payload)


def place(key: Key) -> Place:
    """A payload that passes, with a thing of the shape *key* in it."""
    surface, ways = WAYS[key]
    thing = made(key)
    payload, pointer, at = thing, "", key
    while (parent := (way := ways[at]).parent) is not None:
        payload = made(parent) | {way.name: way.slot.wrap(payload)}
        pointer, at = f"/{way.name}{way.slot.at}{pointer}", parent
    settle(payload)
    return Place(surface, payload, thing, pointer if surface == "message" else f"/view{pointer}")


def settle(value: Any) -> None:
    """Make siblings agree: choices with their options."""
    if isinstance(value, dict):
        for fits, mend in MENDS:
            if fits(value):
                mend(value)
    for one in [*(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())]:
        settle(one)


def _agree_options(element: Payload) -> None:
    chosen = [element["initial_option"]] if "initial_option" in element else element["initial_options"]
    if "options" in element:
        element["options"] = chosen


def _either(first: str, second: str) -> tuple[Callable[[Payload], bool], Callable[[Payload], Any]]:
    """Of two that exclude each other, the second stays."""
    return (lambda found: first in found and second in found), (lambda found: found.pop(first))


MENDS: Final[list[tuple[Callable[[Payload], bool], Callable[[Payload], Any]]]] = [
    (lambda found: "initial_option" in found or "initial_options" in found, _agree_options),
    _either("options", "option_groups"),
]
