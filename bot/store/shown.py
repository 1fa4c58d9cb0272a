"""The last list that a person was shown, for ``#n``."""

from __future__ import annotations

import json
from collections.abc import Sequence

import sqlalchemy as sa

from bot.store.session import Session, upsert
from bot.store.tables import lists


class Lists:
    def __init__(self, session: Session) -> None:
        self._session = session

    async def get(self, person: str, service: str) -> list[str]:
        """What ``#1``, ``#2`` … mean to *person*; empty before their first list."""
        query = sa.select(lists.c.refs).where(lists.c.person == person, lists.c.service == service)
        async with self._session.reading() as connection:
            refs = await connection.scalar(query)
        return [] if refs is None else list(json.loads(refs))

    async def put(self, person: str, service: str, refs: Sequence[str]) -> None:
        """Remember what *person* was shown; a list that is the same again is not written again."""
        if await self.get(person, service) == list(refs):
            return
        async with self._session.writing() as tx:
            await upsert(tx, lists, {"person": person, "service": service, "refs": json.dumps(list(refs))})
