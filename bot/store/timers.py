"""What falls due: claimed with a lease, finished by whoever still holds it, so that any replica may do it, once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.change_queries import SERVICES, of_service
from bot.store.changes import micros_of
from bot.store.newer import Newer
from bot.store.session import Session, upsert
from bot.store.tables import changes, micros, moment, timers


class TimerKind(StrEnum):
    EXPIRE = "expire"
    REMIND = "remind"
    OFFER = "offer"
    REVERT = "revert"
    REVIEW = "review"


NO_SERVICE: Final = "no service"
LANES: Final = (NO_SERVICE, *SERVICES)
"""What is due by what it needs: the ends of temporary changes call the service of their target, all else calls none."""
KNOWN: Final = timers.c.kind.in_(sorted(TimerKind))
"""Timers of the kinds of this release: those of a newer one are left to it."""


@dataclass(frozen=True, slots=True)
class Timer:
    """One thing to be done to a change at *due*. *number* counts how often it came before."""

    change_id: str
    kind: TimerKind
    due: datetime
    number: int
    owner: str = ""


class Timers:
    def __init__(self, session: Session, newer: Newer) -> None:
        self._session = session
        self._newer = newer

    async def set(self, tx: AsyncConnection, change_id: str, kind: TimerKind, due: datetime) -> None:
        """From now on *kind* is due at *due*, and not when it was due before."""
        fresh = {"due": micros(due), "number": 0, "owner": None, "lease": None}
        await upsert(tx, timers, {"change_id": change_id, "kind": kind, **fresh})

    async def clear(self, tx: AsyncConnection, change_id: str, *kinds: TimerKind) -> None:
        await tx.execute(sa.delete(timers).where(timers.c.change_id == change_id, timers.c.kind.in_(kinds)))

    async def claim_due(self, owner: str, lease: timedelta, lane: str | None = None) -> Timer | None:
        """Take the timer that is overdue the longest; None where none is due. It is never handed out early.

        *lane*: one of `LANES`, whose timers are taken; None for each.
        """
        now = self._session.now()
        free = sa.or_(timers.c.lease.is_(None), timers.c.lease < now)
        query = (
            sa.select(timers).where(timers.c.due <= now, free, KNOWN, _in_lane(lane)).order_by(timers.c.due).limit(1)
        )
        while True:
            async with self._session.claiming(query.where(timers.c.change_id.not_in(self._newer.ids))) as claim:
                if claim is None:
                    return None
                tx, row = claim
                if await self._newer.takes(tx, row.change_id):
                    continue
                taken = Timer(row.change_id, TimerKind(row.kind), moment(row.due), row.number, owner)
                values = {"owner": owner, "lease": now + micros_of(lease)}
                await tx.execute(sa.update(timers).where(_held(taken)).values(values))
            return taken

    async def of_newer_release(self) -> frozenset[str]:
        """The ids of changes with a timer that this release doesn't know."""
        async with self._session.reading() as connection:
            return frozenset(await connection.scalars(sa.select(timers.c.change_id).where(sa.not_(KNOWN))))

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


def _in_lane(lane: str | None) -> sa.ColumnElement[bool]:
    calls = timers.c.kind == TimerKind.REVERT
    if lane is None:
        return sa.true()
    if lane == NO_SERVICE:
        return sa.not_(calls)
    return sa.and_(calls, sa.exists().where(changes.c.id == timers.c.change_id, of_service(lane)))


def _held(timer: Timer) -> sa.ColumnElement[bool]:
    mine = sa.and_(timers.c.change_id == timer.change_id, timers.c.kind == timer.kind)
    return sa.and_(mine, timers.c.due == micros(timer.due))
