"""The index for type-ahead, beside the list that a client keeps for a moment: made once for each, dropped with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from bot.clients.parsing import gently
from bot.domain.search import Hit, Index, search

T = TypeVar("T")


class Indexed(Generic[T]):
    """The index of one list at a time. *text_of* is what an item can be found by."""

    def __init__(self, text_of: Callable[[T], str]) -> None:
        self._text_of = text_of
        self._of: Sequence[T] | None = None
        self._made: asyncio.Task[Index[T]] | None = None

    async def of(self, items: Sequence[T]) -> Index[T]:
        """The index of *items*; everybody who asks for the same list meanwhile waits for the same one."""
        if self._made is None or self._of is not items:
            self._of, self._made = items, asyncio.create_task(self._make(items))
        return await asyncio.shield(self._made)

    def drop(self) -> None:
        self._of = self._made = None

    async def _make(self, items: Sequence[T]) -> Index[T]:
        return Index(items, await gently(map(self._text_of, items)))


async def looked_up(index: Index[T], typed: str, *, most: int) -> list[Hit[T]]:
    """What *typed* fits, the best first, with the event loop let in while it is looked for."""
    return [hit for hit in await gently(search(index, typed, most=most)) if hit is not None]
