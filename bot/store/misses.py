"""What people typed that was not understood, counted: how often, and when last."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from bot.store.db import Session, upsert
from bot.store.tables import misses, moment

MAX_MISSES: Final = 500
"""Texts that are kept; a busy day may have more, until the next tidying up."""
MAX_TEXT: Final = 300
REMEMBERED_FOR: Final = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Miss:
    """A text that was not understood *count* times, most recently at *last*."""

    text: str
    count: int
    last: datetime


class Misses:
    def __init__(self, session: Session) -> None:
        self._session = session

    async def add(self, text: str) -> None:
        """Count *text*, which holds nothing personal."""
        now = self._session.now()
        async with self._session.writing() as tx:
            new = {"text": text[:MAX_TEXT], "count": 1, "last": now}
            await upsert(tx, misses, new, {"count": misses.c.count + 1, "last": now})

    async def most(self, limit: int) -> list[Miss]:
        """The *limit* most frequent ones, the most frequent first, of equals the latest."""
        query = sa.select(misses).order_by(misses.c.count.desc(), misses.c.last.desc(), misses.c.text).limit(limit)
        async with self._session.reading() as connection:
            return [Miss(text, count, moment(last)) for text, count, last in await connection.execute(query)]

    async def forget(self) -> None:
        """Drop what nobody typed for a while, and the oldest beyond MAX_MISSES."""
        old = misses.c.last < self._session.now(-REMEMBERED_FOR)
        latest = sa.select(misses.c.text).order_by(misses.c.last.desc(), misses.c.text).limit(MAX_MISSES)
        async with self._session.writing() as tx:
            await tx.execute(sa.delete(misses).where(sa.or_(old, misses.c.text.not_in(latest))))
