"""JSON of any size without holding up the event loop.

A hundred thousand rules are 41 MB; parsing them in one go stops everything else for seconds, in a thread too, since
the parser keeps the interpreter to itself. So a large list is decoded record by record, with the loop let in between.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Any, Final, TypeVar

SMALL_BYTES: Final = 128 * 1024
"""Bytes that are parsed in one go: well under a millisecond or two."""
SLICE_SECONDS: Final = 0.01
"""Seconds of work between two turns of the event loop."""
SPACE: Final = re.compile(r"[ \t\r\n]*")

MAX_INTEGER_DIGITS: Final = 4_000
"""Characters."""

T = TypeVar("T")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, unless a name comes twice: whichever value were taken, another reader takes the other."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name comes twice in an object")
    return found


def _integer(digits: str) -> int | float:
    """Python refuses to read or write longer ones; as infinite as ``1e999`` they hide no other record."""
    return int(digits) if len(digits) <= MAX_INTEGER_DIGITS else float(digits)


DECODER: Final = json.JSONDecoder(parse_constant=_no_constant, parse_int=_integer, object_pairs_hook=_unique_names)


def parsed(body: bytes) -> Any:
    """*body* as JSON; raises ValueError where it is none. NaN is none either, nor an object with a name twice."""
    try:
        return DECODER.decode(body.decode("utf-8-sig"))
    except RecursionError as error:
        raise ValueError("nested too deep") from error


async def parsed_cooperatively(body: bytes) -> Any:
    """The same as `parsed`, for a body of any size: its long lists are decoded in slices."""
    if len(body) <= SMALL_BYTES:
        return parsed(body)
    text = body.decode("utf-8-sig")
    reader = _JsonReader(text)
    try:
        return await reader.document()
    except RecursionError as error:
        raise ValueError("nested too deep") from error


async def cooperatively(work: Iterable[T]) -> list[T]:
    """Everything that *work* yields, with the event loop let in between."""
    done: list[T] = []
    until = time.monotonic() + SLICE_SECONDS
    for item in work:
        done.append(item)
        if time.monotonic() >= until:
            await asyncio.sleep(0)
            until = time.monotonic() + SLICE_SECONDS
    return done


async def update(known: dict[str, T], items: Iterable[tuple[str, T]]) -> None:
    """``known.update(items)``, with the event loop let in between."""

    def steps() -> Iterator[None]:
        for name, item in items:
            known[name] = item
            yield

    await cooperatively(steps())


async def free_gradually(items: list[Any]) -> None:
    """Empty *items*, with the event loop let in between: what nobody else holds is freed then, which takes its time too."""
    await cooperatively(None for _ in taken(items))


def taken(items: list[T]) -> Iterator[T]:
    """The *items* in their order, each out of the list: the list does not keep them until its end."""
    items.reverse()
    while items:
        yield items.pop()


async def aside(work: Iterable[T]) -> list[T]:
    """Everything that *work* yields, worked out in a thread: for steps that are too large to be taken on the loop.

    Where the caller is cancelled, it stops at its next step.
    """
    stopped = threading.Event()
    try:
        return await asyncio.to_thread(lambda: list(takewhile(lambda _: not stopped.is_set(), work)))
    finally:
        stopped.set()


class _JsonReader:
    """Reads one JSON text whose bulk is an array, at the top or one level below it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    async def document(self) -> Any:
        found = await self._object() if self._next() == "{" else await self._value()
        self._next()
        if self._at != len(self._text):
            raise ValueError("something stands after the JSON text")
        return found

    async def _object(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self._take("{")
        if self._next() == "}":
            self._take("}")
            return found
        while True:
            name = self._decoded()
            if not isinstance(name, str):
                raise ValueError("the name of a field is no text")
            if name in found:
                raise ValueError("a name comes twice in an object")
            self._take(":")
            found[name] = await self._value()
            if self._next() != ",":
                self._take("}")
                return found
            self._take(",")

    async def _value(self) -> Any:
        return await cooperatively(self._elements()) if self._next() == "[" else self._decoded()

    def _elements(self) -> Iterator[Any]:
        self._take("[")
        if self._next() == "]":
            self._take("]")
            return
        while True:
            yield self._decoded()
            if self._next() != ",":
                self._take("]")
                return
            self._take(",")

    def _next(self) -> str:
        """The character that comes after the white space, which is skipped; empty at the end."""
        match = SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return self._text[self._at : self._at + 1]

    def _take(self, character: str) -> None:
        if self._next() != character:
            raise ValueError(f"expected {character} at {self._at}")
        self._at += 1

    def _decoded(self) -> Any:
        self._next()
        found, self._at = DECODER.raw_decode(self._text, self._at)
        return found
