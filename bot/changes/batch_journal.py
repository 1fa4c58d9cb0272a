"""What is recorded of a change set while it is carried out: many parts moved in one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, TypeVar

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.changes.journal import EVENTS, GATEHOUSE, Journal, event_of, told
from bot.changes.model import Change, Move, Outcome, State
from bot.changes.worker import LeaseLost

SLICE: Final = 50
"""Parts that one transaction moves: others wait for it, and for the loop while their records are made."""
PROGRESS: Final = timedelta(seconds=2)
"""How late a card may show how far a set is: Slack takes about one edit a second, of all cards together."""

T = TypeVar("T")

Ended = tuple[Change, Move]
"""A part as it is after its last move, and that move."""


@dataclass(frozen=True, slots=True)
class BatchJournal:
    """The transactions of a set that is being carried out."""

    ledger: Journal

    async def claim(self, service: str | None = None) -> Change | None:
        """Take a set that was approved, or left by a process that died, of *service* or of any; None where there is none."""
        store = self.ledger.store
        if not await store.changes.any_due(sets=True, but=self.ledger.at_work, service=service):
            return None
        async with store.transaction() as tx:
            claimed = await store.changes.claim_due(
                tx, self.ledger.owner, self.ledger.lease, sets=True, but=self.ledger.at_work, service=service
            )
            if claimed is not None:
                await store.outbox.add(tx, claimed.id, "card")
                await store.audit.append(tx, event_of("applying", claimed, GATEHOUSE, attempt=claimed.attempt))
        self.ledger.tell()
        return claimed

    async def begin(self, whole: Change, wanted: Sequence[Change]) -> Sequence[Change]:
        """Record that these parts are about to be sent; those whose target another change holds are ended instead, and
        those that are no longer waiting left out. Raises Lost.
        """
        begun: list[Change] = []
        for some in _slices(wanted):
            begun += await self._begin(whole, some)
        return begun

    async def _begin(self, whole: Change, wanted: Sequence[Change]) -> Sequence[Change]:
        store = self.ledger.store
        async with store.transaction() as tx:
            free = await self._waiting(tx, whole, [part.part_number for part in wanted])
            wanted = [part for part in wanted if part.part_number in free]
            begun = await store.changes.begin(tx, wanted, self.ledger.owner, self.ledger.lease)
            busy = free - {part.part_number for part in begun}
            await store.parts.note(tx, begun)
            await store.parts.end(tx, whole.id, busy, Outcome.BUSY, "")
            events = [
                event_of("begun", part, part.requester, before=part.before, after=part.after, set=whole.id)
                for part in begun
            ]
            await store.audit.append(tx, *events)
        return begun

    async def _waiting(self, tx: AsyncConnection, whole: Change, numbers: Collection[int]) -> set[int]:
        """Those of *numbers* that nobody has begun or stopped; raises Lost where another carries the set out by now."""
        if not await self.ledger.store.changes.is_applying(tx, whole, self.ledger.owner):
            raise LeaseLost(whole.id)
        return await self.ledger.store.parts.waiting(tx, whole.id, numbers)

    async def finish(self, whole: Change, ended: Sequence[Ended]) -> None:
        """Record what became of parts that this process was applying, and owe the card."""
        for some in _slices(ended):
            await self._finish(whole, some)
        self.ledger.tell()

    async def _finish(self, whole: Change, ended: Sequence[Ended]) -> None:
        store = self.ledger.store
        async with store.transaction() as tx:
            mine = await store.changes.finish(tx, ended, self.ledger.owner)
            await store.parts.note(tx, [part for part, _ in mine])
            events = [event_of(EVENTS[move], part, GATEHOUSE, **told(part)) for part, move in mine]
            events += await self.ledger.applied(tx, [part for part, _ in mine if part.state is State.APPLIED])
            await store.outbox.add(tx, whole.id, "card", within=PROGRESS)
            await store.audit.append(tx, *events)

    async def give_up(self, whole: Change, numbers: Collection[int], why: str) -> None:
        """End parts that were never begun, for the same reason; raises Lost."""
        async with self.ledger.store.transaction() as tx:
            free = await self._waiting(tx, whole, numbers)
            await self.ledger.store.parts.end(tx, whole.id, free, Outcome.FAILED, why)
            await self.ledger.store.outbox.add(tx, whole.id, "card")
        self.ledger.tell()

    async def take_up(self, ids: Sequence[str]) -> Sequence[Change]:
        """Take over parts that a process left while it applied them, without those that somebody still holds."""
        taken: list[Change | None] = []
        for some in _slices(ids):
            async with self.ledger.store.transaction() as tx:
                taken += [
                    await self.ledger.store.changes.take_up(tx, each, self.ledger.owner, self.ledger.lease)
                    for each in some
                ]
        return [change for change in taken if change is not None]


def _slices(all_of: Sequence[T]) -> Iterator[Sequence[T]]:
    return (all_of[first : first + SLICE] for first in range(0, len(all_of), SLICE))
