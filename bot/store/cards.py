"""Where the messages of changes are in Slack."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.db import Session, upsert
from bot.store.tables import cards


class Cards:
    """Channel and ts of the messages that are edited; of a file, its id instead."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def get(self, change_id: str, purpose: str) -> tuple[str, str] | None:
        query = sa.select(cards.c.channel, cards.c.ts).where(cards.c.change_id == change_id, cards.c.purpose == purpose)
        async with self._session.reading() as connection:
            row = (await connection.execute(query)).one_or_none()
        return None if row is None else (row.channel, row.ts)

    async def put(
        self, tx: AsyncConnection, change_id: str, channel: str, ts: str, purpose: str, permalink: str = ""
    ) -> None:
        place = {"channel": channel, "ts": ts, "permalink": permalink}
        await upsert(tx, cards, {"change_id": change_id, "purpose": purpose, **place})

    async def add(self, tx: AsyncConnection, change_id: str, channel: str, ts: str, purpose: str) -> None:
        """Note a message that is not there yet; fails where another process was first."""
        row = {"change_id": change_id, "purpose": purpose, "channel": channel, "ts": ts, "permalink": ""}
        await tx.execute(sa.insert(cards).values(row))

    async def forget(self, tx: AsyncConnection, change_id: str, purpose: str) -> None:
        """Forget a message that was never posted, or is gone."""
        await tx.execute(sa.delete(cards).where(cards.c.change_id == change_id, cards.c.purpose == purpose))

    async def stands(self, change_id: str, channel: str, ts: str) -> bool | None:
        """Whether a message is one that speaks for the change; None where no message of the change is on record."""
        query = sa.select(cards.c.channel, cards.c.ts).where(cards.c.change_id == change_id)
        async with self._session.reading() as connection:
            known = [(row.channel, row.ts) for row in await connection.execute(query)]
        return (channel, ts) in known if known else None

    async def link(self, change_id: str) -> str:
        """The permalink of the change's card; nothing while there is none."""
        query = sa.select(cards.c.permalink).where(cards.c.change_id == change_id, cards.c.purpose == "card")
        async with self._session.reading() as connection:
            return await connection.scalar(query) or ""
