"""What falls due: claimed with a lease, finished by whoever still holds it, so that any replica may do it, once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.changes import micros_of
from bot.store.session import Session
from bot.store.tables import micros, moment, timers


class TimerKind(StrEnum):
    EXPIRE = "expire"
    REMIND = "remind"
    OFFER = "offer"
    REVERT = "revert"
    REVIEW = "review"


@dataclass(frozen=True, slots=True)
class Timer:
    """One thing to be done to a change at *due*. *number* counts how often it came before."""

    change_id: str
    kind: TimerKind
    due: datetime
    number: int
    owner: str = ""


class Timers:
    def __init__(self, session: Session) -> None:
        self._session = session

    async def set(self, tx: AsyncConnection, change_id: str, kind: TimerKind, due: datetime) -> None:
        """From now on *kind* is due at *due*, and not when it was due before."""
        mine = sa.and_(timers.c.change_id == change_id, timers.c.kind == kind)
        fresh = {"due": micros(due), "number": 0, "owner": None, "lease": None}
        if not (await tx.execute(sa.update(timers).where(mine).values(fresh))).rowcount:
            await tx.execute(sa.insert(timers).values(change_id=change_id, kind=kind, due=micros(due), number=0))

    async def clear(self, tx: AsyncConnection, change_id: str, *kinds: TimerKind) -> None:
        await tx.execute(sa.delete(timers).where(timers.c.change_id == change_id, timers.c.kind.in_(kinds)))

    async def claim_due(self, owner: str, lease: timedelta) -> Timer | None:
        """Take the timer that is overdue the longest; None where none is due. It is never handed out early."""
        now = self._session.now()
        free = sa.or_(timers.c.lease.is_(None), timers.c.lease < now)
        query = sa.select(timers).where(timers.c.due <= now, free).order_by(timers.c.due).limit(1)
        async with self._session.claiming(query) as claim:
            if claim is None:
                return None
            tx, row = claim
            taken = Timer(row.change_id, TimerKind(row.kind), moment(row.due), row.number, owner)
            values = {"owner": owner, "lease": now + micros_of(lease)}
            await tx.execute(sa.update(timers).where(_held(taken)).values(values))
        return taken

    async def again(self, timer: Timer, due: datetime) -> None:
        """Done for this time, and due again."""
        values = {"due": micros(due), "number": timer.number + 1, "owner": None, "lease": None}
        async with self._session.writing() as tx:
            mine = sa.and_(_held(timer), timers.c.owner == timer.owner)
            await tx.execute(sa.update(timers).where(mine).values(values))

    async def done(self, timer: Timer) -> None:
        """Done for good; unless it was set anew meanwhile."""
        async with self._session.writing() as tx:
            mine = sa.and_(_held(timer), timers.c.owner == timer.owner)
            await tx.execute(sa.delete(timers).where(mine))

    async def pending(self, kind: TimerKind, limit: int = 50) -> Sequence[Timer]:
        """What will fall due, soonest first."""
        query = sa.select(timers).where(timers.c.kind == kind).order_by(timers.c.due).limit(limit)
        async with self._session.reading() as connection:
            rows = await connection.execute(query)
            return [Timer(row.change_id, TimerKind(row.kind), moment(row.due), row.number) for row in rows]


def _held(timer: Timer) -> sa.ColumnElement[bool]:
    mine = sa.and_(timers.c.change_id == timer.change_id, timers.c.kind == timer.kind)
    return sa.and_(mine, timers.c.due == micros(timer.due))
