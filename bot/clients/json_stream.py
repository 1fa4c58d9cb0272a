"""Parse JSON of any size without blocking the event loop.

A hundred thousand rules are 41 MB. Parsing them in one go blocks everything else for seconds, in a thread too, since
the parser holds the GIL. So a large list is decoded record by record, with turns of the event loop in between.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import threading
import time
from collections.abc import Generator, Iterable, Iterator
from itertools import takewhile
from typing import Any, Final, TypeVar

SMALL_BYTES: Final = 128 * 1024
"""Bytes that are parsed in one go, which takes well under two milliseconds."""
SLICE_SECONDS: Final = 0.01
"""Seconds of work between two turns of the event loop."""
FIRST_PIECE: Final = 1024
"""Characters of the first piece that is tried."""
MAX_DEPTH: Final = 16
"""Levels that are decoded in steps; a long value that is nested deeper is refused."""
MAX_JOINT: Final = 2
"""Characters at a cut that may continue a number which could also end before them: ``e+``."""
FREED_AT_ONCE: Final = 500
"""Records that are freed in one go, which takes well under a millisecond."""
CUT: Final = object()
SPACE: Final = re.compile(r"[ \t\r\n]*")

MAX_INTEGER_DIGITS: Final = 4_000
"""Characters of an integer that Python converts; it refuses longer ones."""

T = TypeVar("T")


def _reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raises ValueError where a name comes twice, since another reader may take the other value.

    The names are interned, so that all records of a list share them: otherwise they are a tenth of its memory.
    """
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name comes twice in an object")
    return {sys.intern(name): value for name, value in found.items()}


def _parse_integer(digits: str) -> int | float:
    """Return the integer, or infinity (as for ``1e999``) where Python can't convert it: other records stay readable."""
    return int(digits) if len(digits) <= MAX_INTEGER_DIGITS else float(digits)


DECODER: Final = json.JSONDecoder(
    parse_constant=_reject_constant, parse_int=_parse_integer, object_pairs_hook=_unique_names
)


def parse_json(body: bytes) -> Any:
    """Parse *body* as JSON; raises ValueError where it isn't valid, has NaN, or has an object with the same name twice."""
    try:
        return DECODER.decode(body.decode("utf-8-sig"))
    except RecursionError as error:
        raise ValueError("nested too deep") from error


async def parse_json_in_slices(body: bytes) -> Any:
    """Parse *body* as `parse_json` does, but decode long values in slices; raises ValueError."""
    if len(body) <= SMALL_BYTES:
        return parse_json(body)
    documents: list[Any] = []

    def steps() -> Iterator[None]:
        documents.append((yield from JsonReader(body.decode("utf-8-sig")).steps()))

    try:
        await run_in_slices(steps())
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    return documents[0]


async def run_in_slices(work: Iterable[T]) -> list[T]:
    """Return everything that *work* yields; yields to the event loop every SLICE_SECONDS."""
    done: list[T] = []
    until = time.monotonic() + SLICE_SECONDS
    for item in work:
        done.append(item)
        if time.monotonic() >= until:
            await asyncio.sleep(0)
            until = time.monotonic() + SLICE_SECONDS
    return done


class Many(list[T]):
    """A list that frees its items in slices once nothing refers to it, with turns of the event loop in between.

    Freeing a hundred thousand records in one go blocks the event loop for too long.
    """

    __slots__ = ("_loop",)

    def __init__(self, items: Iterable[T] = ()) -> None:
        super().__init__(items)
        self._loop = asyncio.get_running_loop()

    def __del__(self) -> None:
        if len(self) > FREED_AT_ONCE and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(_free, self._loop, list(self))


def _free(loop: asyncio.AbstractEventLoop, items: list[Any]) -> None:
    until = time.monotonic() + SLICE_SECONDS
    while items and time.monotonic() < until:
        del items[-FREED_AT_ONCE:]
    if items:
        loop.call_soon(_free, loop, items)


def pop_each(items: list[T]) -> Iterator[T]:
    """Yield the *items* in order and remove each from the list, so that each can be freed before the end."""
    items.reverse()
    while items:
        yield items.pop()


async def run_in_thread(work: Iterable[T]) -> list[T]:
    """Run *work* in a thread and return everything that it yields: for steps that are too long for the event loop.

    If the caller is cancelled, the thread stops at its next step.
    """
    stopped = threading.Event()
    try:
        return await asyncio.to_thread(lambda: list(takewhile(lambda _: not stopped.is_set(), work)))
    finally:
        stopped.set()


class JsonReader:
    """A parser of one JSON text in steps: a value longer than *piece* characters is decoded in parts, down to MAX_DEPTH."""

    def __init__(self, text: str, piece: int = SMALL_BYTES) -> None:
        self.at = 0
        self._text = text
        self._piece = piece
        self._likely = FIRST_PIECE

    def steps(self) -> Generator[None, None, Any]:
        """Parse the text, yield between two pieces, and return the document; raises ValueError."""
        found = yield from self._value(0)
        self._next()
        if self.at != len(self._text):
            raise ValueError("something stands after the JSON text")
        return found

    def _value(self, depth: int) -> Generator[None, None, Any]:
        first = self._next()
        if (found := self._short_value()) is not CUT:
            return found
        if first not in {"{", "["}:  # one long text, or not JSON
            found, self.at = DECODER.raw_decode(self._text, self.at)
            return found
        if depth == MAX_DEPTH:
            raise ValueError("nested too deep")
        return (yield from self._object(depth + 1) if first == "{" else self._list(depth + 1))

    def _short_value(self) -> Any:
        """Return the value that begins here if it is short, else CUT.

        Most values are about as long as the one before, so that size is tried first.
        """
        size = min(self._likely, self._piece)
        while True:
            piece = self._text[self.at : self.at + size]
            try:
                found, end = DECODER.raw_decode(piece)
            except json.JSONDecodeError:
                end = len(piece)
            if end + MAX_JOINT < len(piece):
                self.at += end
                self._likely = max(FIRST_PIECE, 4 * end)
                return found
            if size == self._piece:
                return CUT
            size = min(8 * size, self._piece)

    def _object(self, depth: int) -> Generator[None, None, dict[str, Any]]:
        found: dict[str, Any] = {}
        self._take("{")
        while self._next() != "}":
            name, self.at = DECODER.raw_decode(self._text, self.at) if self._next() == '"' else (None, self.at)
            if name is None:
                raise ValueError("the name of a field is no text")
            if name in found:
                raise ValueError("a name comes twice in an object")
            self._take(":")
            found[name] = yield from self._value(depth)
            yield
            if not self._take_comma("}"):
                break
        self._take("}")
        return found

    def _list(self, depth: int) -> Generator[None, None, list[Any]]:
        found: list[Any] = []
        self._take("[")
        while self._next() != "]":
            found.append((yield from self._value(depth)))
            yield
            if not self._take_comma("]"):
                break
        self._take("]")
        return found

    def _take_comma(self, end: str) -> bool:
        """Take a comma if there is one; return whether another entry follows."""
        if self._next() != ",":
            return False
        self._take(",")
        if self._next() == end:
            raise ValueError(f"a comma before the end at {self.at}")
        return True

    def _next(self) -> str:
        """Skip white space and return the next character without taking it; empty at the end."""
        match = SPACE.match(self._text, self.at)
        self.at = match.end() if match else self.at
        return self._text[self.at : self.at + 1]

    def _take(self, character: str) -> None:
        if self._next() != character:
            raise ValueError(f"expected {character} at {self.at}")
        self.at += 1
