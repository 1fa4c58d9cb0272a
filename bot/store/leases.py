"""Leases on the rows of a queue: a process claims what is due and free, renews that while it works, and releases it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.db import Session
from bot.store.tables import MICROSECOND

RESTART_BACKOFF_SECONDS: Final = (0, 0, 0.5, 1, 2, 4, 8, 16, 32)
"""How long a row waits after a restart, by how often it was taken up before."""

Note = Callable[[AsyncConnection], Awaitable[None]]
"""Writes the result of the work, in the transaction that releases its row."""


class Leases:
    """The leases on the rows of one table, in its columns ``owner`` and ``lease``: who has a row, and until when.

    An owner whose row another process has claimed, after its lease was over, can't renew, write or release it any more.
    """

    def __init__(self, session: Session, table: sa.Table, attempts: sa.ColumnElement[int]) -> None:
        """*attempts*: how often a row was taken up before."""
        self._session = session
        self._table = table
        self._attempts = attempts

    @property
    def free(self) -> sa.ColumnElement[bool]:
        """Return the condition for rows without a lease, or with an expired one."""
        return self._table.c.lease < self._session.now()

    async def claim(
        self,
        query: sa.Select[Any],
        owner: str,
        lease: timedelta,
        choose: Callable[[Sequence[sa.Row[Any]]], Sequence[sa.Row[Any]]],
        *,
        look: bool = True,
        **values: object,
    ) -> Sequence[sa.Row[Any]]:
        """Claim for *owner* the free rows of *query* that *choose* returns, and set *values*; return them as they were before.

        *look*: check first, without locks, whether there is any; False where the caller knows.
        Rows that another process is claiming are skipped.
        """
        query = query.where(self.free)
        if look and not await self._session.rows(query):
            return []
        async with self._session.writing() as tx:
            # Checked again, since another process may have claimed them after the look.
            rows = choose((await tx.execute(query.with_for_update(skip_locked=True))).all())
            if rows:
                update = sa.update(self._table).where(sa.or_(*map(self._is_row, rows)))
                await tx.execute(update.values(owner=owner, lease=self._session.now(lease), **values))
        return rows

    def _is_row(self, row: sa.Row[Any]) -> sa.ColumnElement[bool]:
        return sa.and_(*(column == getattr(row, column.name) for column in self._table.primary_key))

    async def write(
        self, tx: AsyncConnection, which: sa.ColumnElement[bool], owner: str, values: Mapping[str, object]
    ) -> bool:
        """Set *values* on the rows that match *which* and are *owner*'s; False where there are none."""
        update = sa.update(self._table).where(which, self._table.c.owner == owner).values(values)
        return (await tx.execute(update)).rowcount > 0

    async def renew(self, which: sa.ColumnElement[bool], owner: str, lease: timedelta) -> bool:
        """Renew *owner*'s lease on its row by *lease*; False where another process has the row."""
        async with self._session.writing() as tx:
            return await self.write(tx, which, owner, {"lease": self._session.now(lease)})

    async def release(
        self, which: sa.ColumnElement[bool], owner: str, note: Note | None = None, **values: object
    ) -> None:
        """Release the row of *owner*, which is claimed again when it is due by *values*; the *note* is written in any case."""
        async with self._session.writing() as tx:
            await self.write(tx, which, owner, {"owner": "", "lease": 0, **values})
            if note is not None:
                await note(tx)

    async def give_back(self, tx: AsyncConnection, owner: str) -> None:
        """Release all rows of *owner*, whose process is ending, so that others can claim them at once."""
        held = sa.and_(self._table.c.owner == owner, self._table.c.lease > self._session.now())
        await tx.execute(sa.update(self._table).where(held).values(owner="", lease=0))

    async def end(self, tx: AsyncConnection) -> None:
        """End every lease: the processes that had them are known to be dead.

        What was taken up several times and never finished waits longer each time: processes that die one right after the
        other would use up its attempts within seconds.
        """
        waits = [timedelta(seconds=each) // MICROSECOND for each in RESTART_BACKOFF_SECONDS]
        backoff = sa.cast(sa.case(dict(enumerate(waits)), value=self._attempts, else_=waits[-1]), sa.BigInteger)
        # A row is free once its lease lies before now, hence one microsecond less.
        over = sa.literal(self._session.now() - 1, sa.BigInteger) + backoff
        await tx.execute(sa.update(self._table).where(self._table.c.lease > over).values(lease=over))
