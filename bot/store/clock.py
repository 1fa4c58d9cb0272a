"""The time by which leases end and requests expire: the database's, where several machines share one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
import structlog

from bot.store.errors import StoreError
from bot.store.session import Session

log = structlog.get_logger(__name__)

JUMP = timedelta(seconds=5)
"""A difference to the last reading that is worth a line in the log."""


class DatabaseClock:
    """PostgreSQL's time, carried on by this machine's steady clock between readings, so that no host's clock counts."""

    def __init__(self, steady: Callable[[], float] = time.monotonic) -> None:
        self._steady = steady
        self._read, self._at = datetime.now(UTC), steady()

    def __call__(self) -> datetime:
        return self._read + timedelta(seconds=self._steady() - self._at)

    async def read(self, session: Session) -> None:
        """Ask the database what time it is; raises StoreError."""
        before = self._steady()
        async with session.reading() as connection:
            moment: datetime = await connection.scalar(sa.text("SELECT clock_timestamp()"))
        after = self._steady()
        # The database looked at its clock at some time between the two; in the middle is the least wrong.
        self._read, self._at = moment.astimezone(UTC), (before + after) / 2

    async def follow(self, session: Session, *, every: float) -> None:
        """Read again and again, until cancelled."""
        while True:
            await asyncio.sleep(every)
            ours = self()
            try:
                await self.read(session)
            except StoreError as error:
                log.warning("clock_not_read", error=str(error))
            else:
                if abs(self() - ours) > JUMP:
                    log.warning("clock_jumped", seconds=round((self() - ours).total_seconds()))
