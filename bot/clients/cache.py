"""Single flight for identical reads, a cache of their results for some seconds, and the type-ahead index."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from copy import copy
from typing import Final, Generic, NamedTuple, Self, TypeVar

from bot.clients.gate import CallContext, Priority
from bot.clients.lists import Listing
from bot.text.search import SearchHit, SearchIndex, search
from bot.threads import run_over

T = TypeVar("T")

KEPT_SECONDS: Final = 10.0
"""Seconds for which the result of a read is cached."""


class Kept(Generic[T]):
    """A cache of one value: it is dropped after some seconds, so that an unused value takes no memory."""

    def __init__(self) -> None:
        self._end: asyncio.TimerHandle | None = None
        self._with_it: list[Callable[[], None]] = []
        self.value: T | None = None

    def on_drop(self, drop: Callable[[], None]) -> None:
        """Call *drop* whenever the value is dropped, so that values derived from it are dropped as well."""
        self._with_it.append(drop)

    def put(self, value: T, seconds: float = KEPT_SECONDS) -> None:
        """Keep *value* for *seconds*, in place of the one before it."""
        self.drop()
        self.value, self._end = value, asyncio.get_running_loop().call_later(seconds, self.drop)

    def drop(self) -> None:
        """Drop the value now, and call the callbacks of `on_drop`."""
        if self._end is None:
            return
        self._end.cancel()
        self.value = self._end = None
        for each in self._with_it:
            each()


class _Read(NamedTuple, Generic[T]):
    """The result of a read, and when the read began (monotonic clock)."""

    began: float
    result: T


class SingleFlight(Generic[T]):
    """Share one read among all callers that arrive while it runs, and cache its result for some seconds.

    A write calls `drop`: a caller that arrives afterwards never gets a result that was read before or during the write.
    """

    def __init__(self, read: Callable[[Priority], Awaitable[T]], *, keep: float = KEPT_SECONDS) -> None:
        self._read = read
        self._keep = keep
        self._task: asyncio.Task[T] | None = None
        self._priority = Priority.READ
        self._began = float("-inf")
        self.kept = Kept[_Read[T]]()

    async def fresh(self, priority: Priority, moment: float = float("-inf")) -> T:
        """Return the result of the read that is under way, or else of a new one; all of its callers get its errors.

        What began before *moment* (monotonic clock) may lack what was there by then: its callers wait for its end, and share
        the next one. A call of a higher *priority* starts a read of its own: the one under way waits longer, and may be refused
        by the `Gate` where this one would not be.
        """
        while (
            (task := self._task)
            and not task.done()
            and self._began < moment < float("inf")
            and priority <= self._priority
        ):
            await asyncio.wait([task])
        if self._task is None or self._task.done() or priority > self._priority:
            self._priority, self._began = priority, time.monotonic()
            self._task = asyncio.create_task(self._read_and_keep(priority))
        return await asyncio.shield(self._task)

    async def recent(self, priority: Priority) -> T:
        """Return the last result if it is still cached, else a fresh one."""
        return await self.since(float("-inf"), priority)

    async def since(self, moment: float, priority: Priority) -> T:
        """Return the cached result if its read began at *moment* (monotonic clock) or later, else a fresh one."""
        kept = self.kept.value
        return kept.result if kept is not None and kept.began >= moment else await self.fresh(priority, moment)

    def drop(self) -> None:
        self._task = None
        self.kept.drop()

    async def _read_and_keep(self, priority: Priority) -> T:
        mine, began = asyncio.current_task(), time.monotonic()
        found = await self._read(priority)
        if self._task is mine:
            self._task = None  # only where `drop` was not called: a result from before a write must not be cached
            self.kept.put(_Read(began, found), self._keep)
        return found


class SharedList(Generic[T]):
    """One list of a service and its type-ahead index; callers that ask at the same time share one call of *read*.

    *text_of* returns the text that an item is found by.
    """

    def __init__(self, read: Callable[[Priority], Awaitable[Listing[T]]], text_of: Callable[[T], str]) -> None:
        self._flight = SingleFlight(read)
        self._text_of = text_of
        self._index = Kept[tuple[Listing[T], asyncio.Task[SearchIndex[T]]]]()
        self._context = CallContext()

    def with_context(self, context: CallContext) -> Self:
        """Return a view of this list that sends requests with this *context* and shares its cache."""
        view = copy(self)
        view._context = context
        return view

    def on_drop(self, drop: Callable[[], None]) -> None:
        """Call *drop* whenever the cached list is dropped."""
        self._flight.kept.on_drop(drop)

    async def fresh(self) -> Listing[T]:
        """Return the whole list as it is now, through all pages; each item once, as it was read last."""
        return await self._flight.fresh(self._context.priority)

    async def all(self) -> Listing[T]:
        """Return the whole list, read since the command of the context began: a command reads it once."""
        return await self._flight.since(self._context.began, self._context.priority)

    async def recent(self) -> Listing[T]:
        """Return the whole list, up to KEPT_SECONDS old: for type-ahead."""
        return await self._flight.recent(self._context.priority)

    async def index(self) -> SearchIndex[T]:
        """Return the search index of the list that `recent` returns; callers with the same list share one build."""
        listing = await self.recent()
        made = self._index.value
        if made is None or made[0] is not listing:
            made = listing, asyncio.create_task(make_index(listing.known, self._text_of))
            self._index.put(made)
        return await asyncio.shield(made[1])

    def drop(self) -> None:
        """Drop the cached list; called after each write."""
        self._flight.drop()


async def make_index(items: Sequence[T], text_of: Callable[[T], str]) -> SearchIndex[T]:
    return SearchIndex(items, await run_over(items, lambda: list(map(text_of, items))))


async def search_items(index: SearchIndex[T], typed: str, *, most: int) -> list[SearchHit[T]]:
    """Return the hits for *typed*, at most *most*, the best first."""
    return await run_over(index.items, lambda: list(search(index, typed, most=most)))
