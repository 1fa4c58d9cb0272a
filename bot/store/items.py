"""The items of bulk changes: what each is to do, written when the bulk change is requested, and its outcome."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.changes.model.change import Change
from bot.changes.model.items import Item, Outcome, Tally
from bot.changes.model.states import State
from bot.store.db import Session
from bot.store.tables import items
from bot.text.documents import dump, load

PAGE = 500


Row = dict[str, Any]


async def rows_of(set_id: str, wanted: Sequence[Item]) -> Sequence[Row]:
    """Return the rows of a new bulk change's items. Call it before the transaction; it yields to the event loop in between."""
    rows: list[Row] = []
    for number, item in enumerate(wanted):
        if number % PAGE == 0:
            await asyncio.sleep(0)
        rows.append(
            {
                "set_id": set_id,
                "number": item.number,
                "outcome": item.outcome,
                "change_id": item.change_id,
                "why": item.why,
                "document": dump(item, exclude={"outcome", "change_id", "why"}),
            }
        )
    return rows


class Items:
    def __init__(self, session: Session) -> None:
        self._session = session

    async def add(self, tx: AsyncConnection, rows: Sequence[Row]) -> None:
        """Write the items of a new bulk change, as `rows_of` made them."""
        for first in range(0, len(rows), PAGE):
            await tx.execute(sa.insert(items), rows[first : first + PAGE])

    async def find(self, set_id: str, outcomes: Collection[Outcome], limit: int) -> Sequence[Item]:
        """Return the first items with one of these *outcomes*, at most *limit*."""
        unknown = items.c.outcome.not_in(sorted(Outcome))  # read as well, so that it is noticed
        wanted = sa.and_(items.c.set_id == set_id, sa.or_(items.c.outcome.in_(sorted(outcomes)), unknown))
        query = sa.select(items).where(wanted).order_by(items.c.number).limit(limit)
        async with self._session.reading() as connection:
            return [self._item(row) for row in await connection.execute(query)]

    async def all(self, set_id: str) -> AsyncIterator[Item]:
        """Yield every item, in order, read in pages."""
        last = -1
        while True:
            wanted = sa.and_(items.c.set_id == set_id, items.c.number > last)
            query = sa.select(items).where(wanted).order_by(items.c.number).limit(PAGE)
            # A connection for each page: the reader may take long over each item.
            async with self._session.reading() as connection:
                found = [self._item(row) for row in await connection.execute(query)]
            if not found:
                return
            for item in found:
                yield item
            last = found[-1].number

    async def get(self, set_id: str, number: int) -> Item | None:
        query = sa.select(items).where(items.c.set_id == set_id, items.c.number == number)
        async with self._session.reading() as connection:
            row = (await connection.execute(query)).one_or_none()
            return None if row is None else self._item(row)

    async def tally(self, set_id: str) -> Tally:
        """Return how many items of a bulk change have each outcome."""
        many = sa.func.count().label("many")
        query = sa.select(items.c.outcome, many).where(items.c.set_id == set_id).group_by(items.c.outcome)
        rows = await self._session.rows(query)
        with self._session.decoding("change", set_id):
            return Tally({Outcome(row.outcome): row.many for row in rows})

    async def has_any(self, tx: AsyncConnection, set_id: str, outcomes: Collection[Outcome]) -> bool:
        """Whether an item of a bulk change has one of these outcomes."""
        wanted = sa.and_(items.c.set_id == set_id, items.c.outcome.in_(sorted(outcomes)))
        return await tx.scalar(sa.select(items.c.number).where(wanted).limit(1)) is not None

    async def waiting_numbers(self, tx: AsyncConnection, set_id: str, numbers: Collection[int]) -> set[int]:
        """Return those of *numbers* whose items were neither begun nor stopped."""
        wanted = sa.and_(items.c.set_id == set_id, items.c.number.in_(numbers), items.c.outcome == Outcome.WAITING)
        return set(await tx.scalars(sa.select(items.c.number).where(wanted)))

    async def note(self, tx: AsyncConnection, changes: Iterable[Change]) -> None:
        """Write the outcomes of the items whose *changes* moved."""
        rows = [
            {
                "which_set": change.set_id,
                "which": change.item_number,
                "outcome": Outcome(change.state),
                "change_id": change.id,
                "why": "" if change.state is State.APPLIED else change.run.refusal.words,
            }
            for change in changes
        ]
        await self._mark(tx, rows)

    async def end(self, tx: AsyncConnection, set_id: str, numbers: Iterable[int], outcome: Outcome, why: str) -> None:
        """Give items a final *outcome* without a change."""
        same = {"which_set": set_id, "outcome": outcome, "change_id": None, "why": why}
        await self._mark(tx, [same | {"which": number} for number in numbers])

    async def _mark(self, tx: AsyncConnection, rows: list[Row]) -> None:
        # Not named as the columns: in an UPDATE, SQLAlchemy reserves their names for the values.
        mine = sa.and_(items.c.set_id == sa.bindparam("which_set"), items.c.number == sa.bindparam("which"))
        names: dict[str, Any] = {name: sa.bindparam(name) for name in ("outcome", "change_id", "why")}
        if rows:
            await tx.execute(sa.update(items).where(mine).values(names), rows)

    async def mark(self, tx: AsyncConnection, set_id: str, number: int, outcome: Outcome) -> None:
        """Write a new *outcome* of an item that was done."""
        mine = sa.and_(items.c.set_id == set_id, items.c.number == number)
        await tx.execute(sa.update(items).where(mine).values(outcome=outcome))

    async def stop(self, tx: AsyncConnection, set_id: str) -> None:
        """End every item that was not begun."""
        waiting = sa.and_(items.c.set_id == set_id, items.c.outcome == Outcome.WAITING)
        await tx.execute(sa.update(items).where(waiting).values(outcome=Outcome.STOPPED))

    def _item(self, row: sa.Row[*tuple[Any, ...]]) -> Item:
        with self._session.decoding("change", row.set_id):
            item = load(Item, row.document)
            return replace(item, outcome=Outcome(row.outcome), change_id=row.change_id, why=row.why)
