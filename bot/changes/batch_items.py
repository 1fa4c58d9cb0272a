"""The items of a bulk change that is being executed: dealt out in portions, and recorded before they are sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Final

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.changes.journal import Journal, event_of, slices
from bot.changes.model import Change, Outcome, Part, canonical_form, fingerprint
from bot.changes.verify import fresh_for
from bot.changes.worker import LeaseLost
from bot.store.audit import Event
from bot.store.items import Parts

FEWEST: Final = 100
"""Items of a portion, where a service is slow, and of the first one."""
MOST: Final = 500


class Portions:
    """The items of one bulk change that are not at their end, dealt out in their order to several who work at once."""

    def __init__(self, parts: Parts, set_id: str) -> None:
        self._parts = parts
        self._set_id = set_id
        self._size = FEWEST
        self._at_work: dict[int, str] = {}
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def next(self) -> AsyncIterator[Sequence[Part]]:
        """The items to be done within the block, all of one service and site, and all waiting or all begun before.

        None where all others are done, or must wait for what is at work.
        """
        async with self._turn:
            portion = self._apart(await self._parts.left(self._set_id, self._size + len(self._at_work)))
            self._at_work |= {part.number: _thing(part) for part in portion}
        try:
            yield portion
        finally:
            for part in portion:
                del self._at_work[part.number]

    def _apart(self, left: Sequence[Part]) -> Sequence[Part]:
        """The first of *left* that are not at work, and those like it, up to one whose thing another one is about.

        The look at its target must come after what the other one does to it; and of two rules that are alike, the
        first one must exist before the second is sent, or neither could be told from the other by reading back.
        """
        things = set(self._at_work.values())
        portion: list[Part] = []
        for part in left:
            if part.number in self._at_work:
                continue
            thing = _thing(part)
            if thing in things or len(portion) == self._size:
                break
            things.add(thing)
            if not portion or _way(part) == _way(portion[0]):
                portion.append(part)
        return portion

    def took(self, many: int, seconds: float, look: float) -> None:
        """Note how long so many items took to be sent, and the *look* at them to be read."""
        self._size = max(FEWEST, min(MOST, int(many * fresh_for(look) / max(seconds, 0.001))))


def _way(part: Part) -> tuple[Outcome, str, str | None]:
    """What all items of a portion share: whether they were begun before, and their service and site."""
    return part.outcome, part.target.service, part.target.site


def _thing(part: Part) -> str:
    """What an item is about: its target, or, where that is yet to be created, what it will look like."""
    return str(part.target) if part.target.key else fingerprint(canonical_form(part.after))


async def begin(journal: Journal, whole: Change, wanted: Sequence[Change]) -> Sequence[Change]:
    """Record that these items are about to be sent; those whose target another change holds are ended instead, and
    those that are no longer waiting left out. Raises LeaseLost.
    """
    begun: list[Change] = []
    store = journal.store
    for some in slices(wanted):
        async with store.transaction() as tx:
            free = await _waiting(journal, tx, whole, [item.part_number for item in some])
            items = await store.changes.begin(
                tx, [item for item in some if item.part_number in free], journal.owner, journal.lease
            )
            await store.parts.note(tx, items)
            await store.parts.end(tx, whole.id, free - {item.part_number for item in items}, Outcome.BUSY, "")
            await store.audit.append(tx, *(_begun(item) for item in items))
        begun += items
    return begun


def _begun(item: Change) -> Event:
    return event_of("begun", item, item.requester, before=item.before, after=item.after, set=item.part_of)


async def give_up(journal: Journal, whole: Change, numbers: Collection[int], why: str) -> None:
    """End items that were never begun, for the same reason; raises LeaseLost."""
    async with journal.store.transaction() as tx:
        free = await _waiting(journal, tx, whole, numbers)
        await journal.store.parts.end(tx, whole.id, free, Outcome.FAILED, why)
        await journal.store.outbox.enqueue(tx, whole.id, "card")
    journal.tell()


async def _waiting(journal: Journal, tx: AsyncConnection, whole: Change, numbers: Collection[int]) -> set[int]:
    """Those of *numbers* that nobody has begun or stopped; raises LeaseLost where another executes the whole by now."""
    if not await journal.store.changes.is_applying(tx, whole, journal.owner):
        raise LeaseLost(whole.id)
    return await journal.store.parts.waiting(tx, whole.id, numbers)


async def take_over(journal: Journal, ids: Sequence[str]) -> Sequence[Change]:
    """Take over items that a process left while it applied them, without those that another process still has."""
    taken: list[Change | None] = []
    for some in slices(ids):
        async with journal.store.transaction() as tx:
            taken += [await journal.store.changes.take_up(tx, each, journal.owner, journal.lease) for each in some]
    return [change for change in taken if change is not None]
