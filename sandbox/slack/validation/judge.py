"""Check a payload against the tables: shapes say what is allowed where, and limits how much of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox.slack.validation.blocks import BLOCKS, SURFACES
from sandbox.slack.validation.kinds import (
    Block,
    Bool,
    Elem,
    Enum,
    Form,
    Int,
    Kind,
    Many,
    Obj,
    Shape,
    Str,
    Text,
)
from sandbox.slack.validation.limits import LIMITS, Limit
from sandbox.slack.validation.rules import too_long_text
from sandbox.slack.validation.shapes import ELEMENTS, OBJECTS


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that Slack would refuse: a JSON pointer to it, and Slack's message."""

    pointer: str
    text: str


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges what is sent to one surface: message, modal or home. Other *objects* and *limits*: of something else."""

    surface: str
    objects: Mapping[str, Shape] = field(default_factory=lambda: OBJECTS)
    limits: Mapping[str, Limit] = field(default_factory=lambda: LIMITS)

    def check_payload(self, found: Any, pointer: str) -> Iterator[Problem]:
        """Yield what is wrong with a whole message or view."""
        if isinstance(found, Mapping):
            yield from self._check_shape(found, SURFACES[self.surface], pointer, own=("type",))
        else:
            yield Problem(pointer, "must provide an object")

    def check_value(self, found: Any, kind: Kind, pointer: str) -> Iterator[Problem]:
        """Yield what is wrong with *found*, which should be of *kind*."""
        match kind:
            case Str(limit):
                yield from _check_string(found, self.limits[limit], pointer)
            case Text(limit, types):
                shapes = {name: _text_shape(name, limit) for name in types}
                yield from self._check_typed(found, shapes, types, pointer)
            case Elem(types):
                yield from self._check_typed(found, ELEMENTS, types, pointer)
            case Block():
                yield from self._check_typed(found, BLOCKS, tuple(BLOCKS), pointer)
            case Obj(name):
                yield from self._check_object(found, self.objects[name], pointer)
            case Many(item, limit):
                yield from self._check_list(found, item, limit, pointer)
            case Int(limit):
                yield from _check_integer(found, self.limits[limit], pointer)
            case _:
                yield from _check_single(found, kind, pointer)

    def _check_typed(
        self, found: Any, shapes: Mapping[str, Shape], types: tuple[str, ...], at: str
    ) -> Iterator[Problem]:
        """Check something that has a ``type``."""
        if not isinstance(found, Mapping):
            yield Problem(at, "must provide an object")
        elif "type" not in found:
            yield Problem(at, "missing required field: type")
        elif found["type"] not in [name for name in types if self.surface in shapes[name].surfaces]:
            yield Problem(f"{at}/type", f"unsupported type: {found['type']}")
        else:
            yield from self._check_shape(found, shapes[found["type"]], at, own=("type",))

    def _check_object(self, found: Any, shape: Shape, pointer: str) -> Iterator[Problem]:
        if isinstance(found, Mapping):
            yield from self._check_shape(found, shape, pointer)
        else:
            yield Problem(pointer, "must provide an object")

    def _check_shape(
        self, found: Mapping[str, Any], shape: Shape, pointer: str, *, own: tuple[str, ...] = ()
    ) -> Iterator[Problem]:
        problems = [*self._check_properties(found, shape, pointer, own)]
        yield from problems
        if not problems:
            yield from (Problem(pointer + inner, words) for rule in shape.rules for inner, words in rule(found))

    def _check_properties(
        self, found: Mapping[str, Any], shape: Shape, pointer: str, own: tuple[str, ...]
    ) -> Iterator[Problem]:
        for name in shape.must:
            if name not in found:
                yield Problem(pointer, f"missing required field: {name}")
        for name, value in found.items():
            if (kind := shape.kind(name)) is not None:
                yield from self.check_value(value, kind, f"{pointer}/{name}")
            elif name not in own:
                yield Problem(pointer, f"invalid additional property: {name}")

    def _check_list(self, found: Any, item: Kind, limit: str, pointer: str) -> Iterator[Problem]:
        if not isinstance(found, list):
            yield Problem(pointer, "must provide an array")
            return
        if len(found) < (least := self.limits[limit].low):
            yield Problem(pointer, f"must provide at least {least} items")
        if (most := self.limits[limit].high) is not None and len(found) > most:
            yield Problem(pointer, f"no more than {most} items allowed")
        for number, one in enumerate(found):
            yield from self.check_value(one, item, f"{pointer}/{number}")


def _text_shape(name: str, limit: str) -> Shape:
    """Return the shape of a text object with a *limit* on its length."""
    return Shape({"text": Str(limit)}, ELEMENTS[name].may)


def _check_string(found: Any, limit: Limit, pointer: str) -> Iterator[Problem]:
    least, most = limit.low, limit.high
    if not isinstance(found, str):
        yield Problem(pointer, "must provide a string")
    elif len(found) < least:
        yield Problem(pointer, f"must be more than {least - 1} characters")
    elif most is not None and len(found) > most:
        yield Problem(pointer, too_long_text(most))


def _check_single(found: Any, kind: Kind, pointer: str) -> Iterator[Problem]:
    """Check a value without parts that isn't free text."""
    match kind:
        case Bool() if not isinstance(found, bool):
            yield Problem(pointer, "must provide a boolean")
        case Enum(values) if found not in values:
            yield Problem(pointer, "must be a valid enum value")
        case Form(name, pattern) if not isinstance(found, str) or not re.fullmatch(pattern, found, re.ASCII):
            yield Problem(pointer, f"must be in the format {name}")


def _check_integer(found: Any, limit: Limit, pointer: str) -> Iterator[Problem]:
    least, most = limit.low, limit.high
    if not isinstance(found, int) or isinstance(found, bool):
        yield Problem(pointer, "must provide an integer")
    elif most is None and found < least:
        yield Problem(pointer, f"must be more than {least - 1}")
    elif most is not None and not least <= found <= most:
        yield Problem(pointer, f"must be between {least} and {most}")
