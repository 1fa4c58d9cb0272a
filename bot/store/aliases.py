"""Ids of rules that were deleted and brought back: the old id means the new one, for ever."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.session import Session, upsert
from bot.store.tables import aliases

MOST_LINKS = 100
"""Times that one rule may have come back before its first id is no longer followed."""


class Aliases:
    def __init__(self, session: Session) -> None:
        self._session = session

    async def put(self, tx: AsyncConnection, old: str, new: str) -> None:
        """From now on *old* means *new*."""
        await upsert(tx, aliases, {"old": old, "new": new})

    async def resolve(self, rule_id: str) -> str:
        """The id under which the rule once called *rule_id* is now; *rule_id* itself where it never moved."""
        return (await self.resolve_all([rule_id]))[rule_id]

    async def resolve_all(self, rule_ids: Iterable[str]) -> dict[str, str]:
        """The same for each of *rule_ids*, in one query for each time that one of them came back."""
        now = {rule_id: rule_id for rule_id in rule_ids}
        async with self._session.reading() as connection:
            for _ in range(MOST_LINKS):
                moved = sa.select(aliases.c.old, aliases.c.new).where(aliases.c.old.in_(set(now.values())))
                links = {row.old: row.new for row in await connection.execute(moved)}
                if not links:
                    break
                now = {rule_id: links.get(current, current) for rule_id, current in now.items()}
        return now

    async def all_of(self, rule_id: str) -> list[str]:
        """Every id that the rule now called *rule_id* has had, and those that it has got since; newest first."""
        ids = [await self.resolve(rule_id)]
        async with self._session.reading() as connection:
            for _ in range(MOST_LINKS):
                older = await connection.scalars(sa.select(aliases.c.old).where(aliases.c.new.in_(ids)))
                if not (fresh := [each for each in older if each not in ids]):
                    break
                ids += fresh
        return ids
