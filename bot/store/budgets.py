"""How many requests a service may get in a minute, counted for all replicas in one row of the database."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Self

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.db import Session, StoreError, upsert
from bot.store.tables import settings

log = structlog.get_logger(__name__)

NAME: Final = "budget"
"""The name under which a service has its row, among what channels and people have set."""
SLOT: Final = 5_000_000
"""Microseconds in which requests are counted together."""
SLOTS: Final = 13
"""Slots after which a request is a minute old, whenever in its slot it was."""


@dataclass(slots=True)
class Spent:
    """What a service got lately: requests by the numbers of their slots, and until when it wants a pause.

    Times are microseconds since 1970.
    """

    slots: dict[int, int] = field(default_factory=dict)
    paused_until: int = 0

    @classmethod
    def read(cls, text: str, now: int) -> Self:
        """What is stored as *text*, without what is too old to count, or ahead of a clock that was set back."""
        stored: Mapping[str, int] = json.loads(text or "{}")
        recent = range(now // SLOT - SLOTS + 1, now // SLOT + 2)
        slots = {int(name): count for name, count in stored.items() if name != "pause" and int(name) in recent}
        return cls(slots, stored.get("pause", 0))

    def text(self) -> str:
        """As it is stored."""
        return json.dumps({**{str(slot): count for slot, count in self.slots.items()}, "pause": self.paused_until})

    @property
    def total(self) -> int:
        return sum(self.slots.values())

    def take(self, now: int, most: int) -> float:
        """Count a request and return 0 where that makes at most *most* in any minute; else the seconds until it may."""
        free, total = self.paused_until, self.total
        for slot in sorted(self.slots):
            if total < most:
                break
            total -= self.slots[slot]
            free = max(free, (slot + SLOTS) * SLOT)
        if free > now:
            return (free - now) / 1_000_000
        self.slots[now // SLOT] = self.slots.get(now // SLOT, 0) + 1
        return 0.0


class Budget:
    """What *service* may get from all replicas together: *per_minute* requests in any minute.

    While the database doesn't answer, nothing is counted and nothing waits: what needs it fails on its own, and a change
    that was sent must be read back.
    """

    def __init__(self, session: Session, service: str, per_minute: int) -> None:
        self._session = session
        self.service = service
        self.per_minute = per_minute

    async def take(self, *, spare: int) -> float:
        """Take one request and return 0, if *spare* others are left then; else return the seconds until that may be so."""
        try:
            async with self._session.writing() as tx:
                spent = await self._locked(tx)
                if wait := spent.take(self._session.now(), self.per_minute - spare):
                    return wait
                await self._write(tx, spent)
        except StoreError as error:
            log.warning("budget_not_counted", service=self.service, error=str(error))
        return 0.0

    async def pause(self, seconds: float) -> None:
        """Let no replica take a request for so many seconds: the service asked for that."""
        try:
            async with self._session.writing() as tx:
                spent = await self._locked(tx)
                spent.paused_until = max(spent.paused_until, self._session.now() + int(seconds * 1_000_000))
                await self._write(tx, spent)
        except StoreError as error:
            log.warning("pause_not_shared", service=self.service, error=str(error))

    async def left(self) -> int:
        """How many requests are left of this minute's; raises StoreError."""
        async with self._session.reading() as connection:
            spent = await self._spent(connection)
        return max(0, self.per_minute - spent.total)

    async def _locked(self, tx: AsyncConnection) -> Spent:
        """What is spent, in a row that is kept from the other replicas to the end of the transaction."""
        row = {"owner": self.service, "name": NAME, "value": ""}
        await upsert(tx, settings, row, {"owner": self.service})
        return await self._spent(tx)

    async def _spent(self, connection: AsyncConnection) -> Spent:
        where = sa.and_(settings.c.owner == self.service, settings.c.name == NAME)
        text = await connection.scalar(sa.select(settings.c.value).where(where))
        return Spent.read(text or "", self._session.now())

    async def _write(self, tx: AsyncConnection, spent: Spent) -> None:
        await upsert(tx, settings, {"owner": self.service, "name": NAME, "value": spent.text()})
