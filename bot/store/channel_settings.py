"""What a channel, or a person by their id in its place, has set, by name; every change of it is on record."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.audit import Audit, Event
from bot.store.session import Session, insert_new
from bot.store.tables import channel_settings


class SettingsMoved(Exception):
    """Somebody else changed the channel's settings meanwhile; nothing was written."""


class ChannelSettings:
    def __init__(self, session: Session, audit: Audit) -> None:
        self._session = session
        self._audit = audit

    async def get(self, channel: str) -> dict[str, str]:
        """The settings of *channel* that are set."""
        query = sa.select(channel_settings.c.name, channel_settings.c.value)
        async with self._session.reading() as connection:
            rows = await connection.execute(query.where(channel_settings.c.channel == channel))
            return {row.name: row.value for row in rows}

    async def change(self, channel: str, before: Mapping[str, str], after: Mapping[str, str], *, by: str) -> None:
        """Make *after* of *before*; an empty value is none. Raises SettingsMoved where they are not *before* any more."""
        names = sorted(name for name in {*before, *after} if before.get(name, "") != after.get(name, ""))
        if not names:
            return
        detail = {"before": {n: before.get(n, "") for n in names}, "now": {n: after.get(n, "") for n in names}}
        async with self._session.writing() as tx:
            for name in names:
                if not await self._swap(tx, channel, name, before.get(name, ""), after.get(name, "")):
                    raise SettingsMoved(channel)
            event = Event("settings", by, channel, target=f"settings/{channel}", detail=detail)
            await self._audit.append(tx, event)

    async def _swap(self, tx: AsyncConnection, channel: str, name: str, old: str, new: str) -> bool:
        """One setting, only if it is still *old*: the database decides between two who change it at once."""
        here = sa.and_(channel_settings.c.channel == channel, channel_settings.c.name == name)
        if not old:
            return await insert_new(tx, channel_settings, {"channel": channel, "name": name, "value": new})
        still = sa.and_(here, channel_settings.c.value == old)
        changed = sa.update(channel_settings).where(still).values(value=new)
        return (await tx.execute(changed if new else sa.delete(channel_settings).where(still))).rowcount == 1
