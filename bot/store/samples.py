"""Addresses that a channel keeps to try changes on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.session import Session, upsert
from bot.store.tables import samples

MOST: Final = 50
"""Addresses of one channel: each is looked up at every change."""


class Samples:
    def __init__(self, session: Session) -> None:
        self._session = session

    async def of(self, channel: str) -> list[str]:
        """The addresses of *channel*, in the order in which they came."""
        async with self._session.reading() as connection:
            return await self._of(connection, channel)

    async def _of(self, connection: AsyncConnection, channel: str) -> list[str]:
        query = sa.select(samples.c.urls).where(samples.c.channel == channel)
        text = await connection.scalar(query)
        return (text or "").split()

    async def add(self, channel: str, urls: Sequence[str]) -> list[str]:
        """Those of *urls* that are new and were kept; past MOST of a channel none is. They hold no white space."""
        return await self._change(channel, add=urls)

    async def remove(self, channel: str, url: str) -> bool:
        """Whether *url* was among them, and is not any more."""
        return bool(await self._change(channel, remove=url))

    async def _change(self, channel: str, *, add: Sequence[str] = (), remove: str | None = None) -> list[str]:
        async with self._session.writing() as tx:
            # Keeps the channel's row from others to the end of the transaction.
            await upsert(tx, samples, {"channel": channel, "urls": ""}, {"channel": channel})
            known = await self._of(tx, channel)
            left = [url for url in known if url != remove]
            kept = list(dict.fromkeys([*left, *add]))[: max(MOST, len(left))]
            mine = sa.update(samples).where(samples.c.channel == channel)
            await tx.execute(mine.values(urls="\n".join(kept)))
        return sorted(set(known) ^ set(kept), key=[*known, *kept].index)
