"""The items of a bulk change that is being executed: dealt out in chunks, and recorded before they are sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Final

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.changes.journal import Journal, event_of, slices
from bot.changes.model import Change, Item, Outcome, canonical_form, fingerprint
from bot.changes.verify import fresh_for
from bot.changes.worker import LeaseLost
from bot.store.audit import Event
from bot.store.items import Items

FEWEST: Final = 100
"""Items of a chunk, where a service is slow, and of the first one."""
MOST: Final = 500


class Chunks:
    """The items of one bulk change that are not at their end, dealt out in their order to several who work at once."""

    def __init__(self, items: Items, set_id: str) -> None:
        self._items = items
        self._set_id = set_id
        self._size = FEWEST
        self._at_work: dict[int, str] = {}
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def next(self) -> AsyncIterator[Sequence[Item]]:
        """The items to be done within the block, all of one service and site, and all waiting or all begun before.

        None where all others are done, or must wait for what is at work.
        """
        async with self._turn:
            chunk = self._apart(await self._items.left(self._set_id, self._size + len(self._at_work)))
            self._at_work |= {item.number: _thing(item) for item in chunk}
        try:
            yield chunk
        finally:
            for item in chunk:
                del self._at_work[item.number]

    def _apart(self, left: Sequence[Item]) -> Sequence[Item]:
        """The first of *left* that are not at work, and those like it, up to one whose thing another one is about.

        The look at its target must come after what the other one does to it; and of two rules that are alike, the
        first one must exist before the second is sent, or neither could be told from the other by reading back.
        """
        things = set(self._at_work.values())
        chunk: list[Item] = []
        for item in left:
            if item.number in self._at_work:
                continue
            thing = _thing(item)
            if thing in things or len(chunk) == self._size:
                break
            things.add(thing)
            if not chunk or _way(item) == _way(chunk[0]):
                chunk.append(item)
        return chunk

    def took(self, many: int, seconds: float, look: float) -> None:
        """Note how long so many items took to be sent, and the *look* at them to be read."""
        self._size = max(FEWEST, min(MOST, int(many * fresh_for(look) / max(seconds, 0.001))))


def _way(item: Item) -> tuple[Outcome, tuple[str, str | None]]:
    """What all items of a chunk share: whether they were begun before, and their service and site."""
    return item.outcome, item.target.place


def _thing(item: Item) -> str:
    """What an item is about: its target, or, where that is yet to be created, what it will look like."""
    return str(item.target) if item.target.key else fingerprint(canonical_form(item.after))


async def begin(journal: Journal, whole: Change, wanted: Sequence[Change]) -> Sequence[Change]:
    """Record that these items are about to be sent; those whose target another change holds are ended instead, and
    those that are no longer waiting left out. Raises LeaseLost.
    """
    begun: list[Change] = []
    store = journal.store
    for some in slices(wanted):
        async with store.transaction() as tx:
            free = await _waiting(journal, tx, whole, [item.item_number for item in some])
            items = await store.changes.begin(
                tx, [item for item in some if item.item_number in free], journal.owner, journal.lease
            )
            await store.items.note(tx, items)
            await store.items.end(tx, whole.id, free - {item.item_number for item in items}, Outcome.BUSY, "")
            await store.audit.append(tx, *(_begun(item) for item in items))
        begun += items
    return begun


def _begun(item: Change) -> Event:
    return event_of(
        "begun", item, item.request.requester, before=item.edit.before, after=item.edit.after, set=item.set_id
    )


async def give_up(journal: Journal, whole: Change, numbers: Collection[int], why: str) -> None:
    """End items that were never begun, for the same reason; raises LeaseLost."""
    async with journal.store.transaction() as tx:
        free = await _waiting(journal, tx, whole, numbers)
        await journal.store.items.end(tx, whole.id, free, Outcome.FAILED, why)
        await journal.store.outbox.enqueue(tx, whole.id, "card")
    journal.wake_workers()


async def _waiting(journal: Journal, tx: AsyncConnection, whole: Change, numbers: Collection[int]) -> set[int]:
    """Those of *numbers* that nobody has begun or stopped; raises LeaseLost where another executes the whole by now."""
    if not await journal.store.changes.is_applying(tx, whole, journal.owner):
        raise LeaseLost(whole.id)
    return await journal.store.items.waiting(tx, whole.id, numbers)


async def take_over(journal: Journal, ids: Sequence[str]) -> Sequence[Change]:
    """Take over items that a process left while it applied them, without those that another process still has."""
    taken: list[Change | None] = []
    for some in slices(ids):
        async with journal.store.transaction() as tx:
            taken += [await journal.store.changes.take_up(tx, each, journal.owner, journal.lease) for each in some]
    return [change for change in taken if change is not None]
