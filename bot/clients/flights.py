"""One flight for identical reads at one time, and what came back kept for a moment."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Generic, TypeVar

from bot.clients.parsing import let_go

T = TypeVar("T")


def _none(_: object) -> Iterable[Any]:
    return ()


class Flight(Generic[T]):
    """Shares one read among all who ask while it is under way; its result is `recent` for some seconds.

    A write calls `drop`: what was read before it, or is being read while it happens, is not given to anybody who
    asks afterwards. *many* names the items of a result of which there may be very many.
    """

    def __init__(
        self,
        read: Callable[[], Awaitable[T]],
        *,
        keep: float,
        clock: Callable[[], float],
        many: Callable[[T], Iterable[Any]] = _none,
    ) -> None:
        self._read = read
        self._keep = keep
        self._clock = clock
        self._many = many
        self._task: asyncio.Task[T] | None = None
        self._kept: tuple[float, T] | None = None
        self._going: set[asyncio.Task[None]] = set()

    async def fresh(self) -> T:
        """What a read that starts now, or is under way, brings; its errors are everybody's."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._fly())
        return await asyncio.shield(self._task)

    async def recent(self) -> T:
        """The last result where it is young enough, else a fresh one."""
        if self._kept is not None and self._clock() - self._kept[0] < self._keep:
            return self._kept[1]
        return await self.fresh()

    def drop(self) -> None:
        self._task = None
        self._keep_only(None)

    async def _fly(self) -> T:
        mine = asyncio.current_task()
        found = await self._read()
        if self._task is mine:
            self._keep_only((self._clock(), found))
        return found

    def _keep_only(self, kept: tuple[float, T] | None) -> None:
        old, self._kept = self._kept, kept
        if old is None:
            return
        going = asyncio.create_task(let_go(list(self._many(old[1]))))
        self._going.add(going)
        going.add_done_callback(self._going.discard)
