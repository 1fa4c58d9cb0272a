"""Single flight for identical reads, what came back kept for a moment, and the type-ahead index beside it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from copy import copy
from typing import Final, Generic, NamedTuple, Self, TypeVar

from bot.clients.gate import CallContext, Priority
from bot.clients.json_stream import run_in_slices
from bot.clients.lists import Listing
from bot.text.search import SearchHit, SearchIndex, search

T = TypeVar("T")

KEPT_SECONDS: Final = 10.0
"""How long the result of a read is recent."""


class Kept(Generic[T]):
    """One value, or none: it is let go of after some seconds, so that what nobody asks for takes no memory."""

    def __init__(self) -> None:
        self._end: asyncio.TimerHandle | None = None
        self._with_it: list[Callable[[], None]] = []
        self.value: T | None = None

    def on_drop(self, drop: Callable[[], None]) -> None:
        """Call *drop* whenever the value is dropped, so that what was derived from it goes as well."""
        self._with_it.append(drop)

    def put(self, value: T, seconds: float = KEPT_SECONDS) -> None:
        """Keep *value* for some *seconds*, and let go of the one before it."""
        self.drop()
        self.value, self._end = value, asyncio.get_running_loop().call_later(seconds, self.drop)

    def drop(self) -> None:
        """Let go of the value now."""
        if self._end is None:
            return
        self._end.cancel()
        self.value = self._end = None
        for each in self._with_it:
            each()


class _Read(NamedTuple, Generic[T]):
    """What a read brought, and when it began."""

    began: float
    result: T


class SingleFlight(Generic[T]):
    """Shares one read among all who ask while it is under way; its result is kept for some seconds.

    A write calls `drop`: what was read before it, or is being read while it happens, is not given to anybody who
    asks afterwards.
    """

    def __init__(self, read: Callable[[Priority], Awaitable[T]], *, keep: float = KEPT_SECONDS) -> None:
        self._read = read
        self._keep = keep
        self._task: asyncio.Task[T] | None = None
        self._priority = Priority.READ
        self.kept = Kept[_Read[T]]()

    async def fresh(self, priority: Priority) -> T:
        """What a read that starts now, or is under way, brings; its errors are everybody's.

        A change does not wait with reads that are less urgent, and may be refused where it is not.
        """
        if self._task is None or self._task.done() or priority > self._priority:
            self._priority = priority
            self._task = asyncio.create_task(self._read_and_keep(priority))
        return await asyncio.shield(self._task)

    async def recent(self, priority: Priority) -> T:
        """The last result where it is still kept, else a fresh one."""
        return await self.since(float("-inf"), priority)

    async def since(self, moment: float, priority: Priority) -> T:
        """What was read since *moment*, by the monotonic clock, else a fresh result."""
        kept = self.kept.value
        return kept.result if kept is not None and kept.began >= moment else await self.fresh(priority)

    def drop(self) -> None:
        self._task = None
        self.kept.drop()

    async def _read_and_keep(self, priority: Priority) -> T:
        mine, began = asyncio.current_task(), time.monotonic()
        found = await self._read(priority)
        if self._task is mine:
            self._task = None  # or it would keep its result
            self.kept.put(_Read(began, found), self._keep)
        return found


class SharedList(Generic[T]):
    """One list of a service, read by *read* once for all who ask at the same time, and its index for type-ahead."""

    def __init__(self, read: Callable[[Priority], Awaitable[Listing[T]]], text_of: Callable[[T], str]) -> None:
        self._flight = SingleFlight(read)
        self._indexed = Indexed(text_of)
        self._context = CallContext()
        self.on_drop(self._indexed.drop)

    def with_context(self, context: CallContext) -> Self:
        """The same list, and the same of it kept, for requests with this *context*."""
        view = copy(self)
        view._context = context
        return view

    def on_drop(self, drop: Callable[[], None]) -> None:
        """Call *drop* whenever the list that was read is dropped."""
        self._flight.kept.on_drop(drop)

    async def fresh(self) -> Listing[T]:
        """Everything as it is now, through all pages; each once, as it was read last."""
        return await self._flight.fresh(self._context.priority)

    async def all(self) -> Listing[T]:
        """The same, read once for all of a person's command that asks."""
        return await self._flight.since(self._context.began, self._context.priority)

    async def recent(self) -> Listing[T]:
        """The same, up to some seconds old: for type-ahead."""
        return await self._flight.recent(self._context.priority)

    async def index(self) -> SearchIndex[T]:
        """What `recent` brings, ready to be searched."""
        return await self._indexed.of((await self.recent()).known)

    def drop(self) -> None:
        """Forget what was read: something was written."""
        self._flight.drop()


class Indexed(Generic[T]):
    """The index of one list at a time. *text_of* is what an item can be found by."""

    def __init__(self, text_of: Callable[[T], str]) -> None:
        self._text_of = text_of
        self._made = Kept[tuple[Sequence[T], asyncio.Task[SearchIndex[T]]]]()

    async def of(self, items: Sequence[T]) -> SearchIndex[T]:
        """The index of *items*; everybody who asks for the same list in the meantime waits for the same one."""
        made = self._made.value
        if made is None or made[0] is not items:
            made = items, asyncio.create_task(self._make(items))
            self._made.put(made)
        return await asyncio.shield(made[1])

    def drop(self) -> None:
        self._made.drop()

    async def _make(self, items: Sequence[T]) -> SearchIndex[T]:
        return SearchIndex(items, await run_in_slices(map(self._text_of, items)))


async def search_in_slices(index: SearchIndex[T], typed: str, *, most: int) -> list[SearchHit[T]]:
    """Return the hits for *typed*, the best first; the event loop runs in between."""
    return [hit for hit in await run_in_slices(search(index, typed, most=most)) if hit is not None]
