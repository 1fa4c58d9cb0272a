"""Single flight for identical reads, what came back kept for a moment, and the type-ahead index beside it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Generic, NamedTuple, TypeVar

from bot.clients.gate import Priority, current_priority
from bot.clients.json_stream import cooperatively, free_gradually
from bot.clients.lists import Listing
from bot.text.search import SearchHit, SearchIndex, search

T = TypeVar("T")

KEPT_SECONDS: Final = 10.0
"""How long the result of a read is recent."""

_began: Final[ContextVar[float]] = ContextVar("began", default=float("inf"))
"""When the command began on whose behalf things are read."""


@contextmanager
def one_command() -> Iterator[None]:
    """Let what is done for one command of one person share what is read for it."""
    token = _began.set(time.monotonic())
    try:
        yield
    finally:
        _began.reset(token)


class _Kept(NamedTuple):
    """A result, with when its read began and ended."""

    began: float
    ended: float
    result: Any


def _none(_: object) -> Iterable[Any]:
    return ()


class SingleFlight(Generic[T]):
    """Shares one read among all who ask while it is under way; its result is `recent` for some seconds.

    For the command that it was read for it is `current` as long.

    A write calls `drop`: what was read before it, or is being read while it happens, is not given to anybody who
    asks afterwards. *many* names the items of a result of which there may be very many.
    """

    def __init__(
        self,
        read: Callable[[], Awaitable[T]],
        *,
        keep: float = KEPT_SECONDS,
        many: Callable[[T], Iterable[Any]] = _none,
    ) -> None:
        self._read = read
        self._keep = keep
        self._many = many
        self._task: asyncio.Task[T] | None = None
        self._priority = Priority.READ
        self._kept: _Kept | None = None
        self._going: set[asyncio.Task[None]] = set()

    async def fresh(self) -> T:
        """What a read that starts now, or is under way, brings; its errors are everybody's.

        A change does not wait with reads that are less urgent, and may be refused where it is not.
        """
        if self._task is None or self._task.done() or current_priority() > self._priority:
            self._priority = current_priority()
            self._task = asyncio.create_task(self._fly())
        return await asyncio.shield(self._task)

    async def recent(self) -> T:
        """The last result where it is young enough, else a fresh one."""
        return await self._since(float("-inf"))

    async def current(self) -> T:
        """What was read since the command began that asks, else a fresh result."""
        return await self._since(_began.get())

    async def _since(self, moment: float) -> T:
        kept = self._kept
        if kept is not None and kept.began >= moment and time.monotonic() - kept.ended < self._keep:
            found: T = kept.result
            return found
        return await self.fresh()

    def drop(self) -> None:
        self._task = None
        self._keep_only(None)

    async def _fly(self) -> T:
        mine, began = asyncio.current_task(), time.monotonic()
        found = await self._read()
        if self._task is mine:
            self._keep_only(_Kept(began, time.monotonic(), found))
        return found

    def _keep_only(self, kept: _Kept | None) -> None:
        old, self._kept = self._kept, kept
        if old is None:
            return
        going = asyncio.create_task(free_gradually(list(self._many(old.result))))
        self._going.add(going)
        going.add_done_callback(self._going.discard)


class SharedList(Generic[T]):
    """One list of a service, read by *read* once for all who ask at the same time, and its index for type-ahead."""

    def __init__(self, read: Callable[[], Awaitable[Listing[T]]], text_of: Callable[[T], str]) -> None:
        self._flight = SingleFlight(read, many=lambda found: found.known)
        self._indexed = Indexed(text_of)

    async def fresh(self) -> Listing[T]:
        """Everything as it is now, through all pages; each once, as it was read last."""
        return await self._flight.fresh()

    async def all(self) -> Listing[T]:
        """The same, read once for all of a person's command that asks."""
        return await self._flight.current()

    async def recent(self) -> Listing[T]:
        """The same, up to some seconds old: for type-ahead."""
        return await self._flight.recent()

    async def index(self) -> SearchIndex[T]:
        """What `recent` brings, ready to be searched."""
        return await self._indexed.of((await self.recent()).known)

    def drop(self) -> None:
        """Forget what was read: something was written."""
        self._flight.drop()
        self._indexed.drop()


class Indexed(Generic[T]):
    """The index of one list at a time. *text_of* is what an item can be found by."""

    def __init__(self, text_of: Callable[[T], str]) -> None:
        self._text_of = text_of
        self._of: Sequence[T] | None = None
        self._made: asyncio.Task[SearchIndex[T]] | None = None

    async def of(self, items: Sequence[T]) -> SearchIndex[T]:
        """The index of *items*; everybody who asks for the same list in the meantime waits for the same one."""
        if self._made is None or self._of is not items:
            self._of, self._made = items, asyncio.create_task(self._make(items))
        return await asyncio.shield(self._made)

    def drop(self) -> None:
        self._of = self._made = None

    async def _make(self, items: Sequence[T]) -> SearchIndex[T]:
        return SearchIndex(items, await cooperatively(map(self._text_of, items)))


async def looked_up(index: SearchIndex[T], typed: str, *, most: int) -> list[SearchHit[T]]:
    """What *typed* fits, the best first, with the event loop let in while it is looked for."""
    return [hit for hit in await cooperatively(search(index, typed, most=most)) if hit is not None]
