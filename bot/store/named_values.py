"""What Gatehouse keeps for itself: freezes, the last list that a person saw, ids of restored rules."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.db import Session, upsert
from bot.store.tables import former_ids, named_values


class NamedValues:
    """Values by owner, a person or a service, and name."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def value(self, owner: str, name: str) -> str:
        """Return one value; empty where it is not set."""
        return await self._session.scalar(sa.select(named_values.c.value).where(_is_at(owner, name))) or ""

    async def get_locked(self, tx: AsyncConnection, owner: str, name: str) -> str:
        """Return one value, locked until the end of the transaction."""
        await upsert(tx, named_values, _row(owner, name, ""), {"owner": owner})
        return str(await tx.scalar(sa.select(named_values.c.value).where(_is_at(owner, name))))

    async def put(self, tx: AsyncConnection, owner: str, name: str, value: str) -> None:
        """Set one value; an empty one unsets it."""
        if value:
            await upsert(tx, named_values, _row(owner, name, value))
        else:
            await tx.execute(sa.delete(named_values).where(_is_at(owner, name)))


def _row(owner: str, name: str, value: str) -> dict[str, str]:
    return {"owner": owner, "name": name, "value": value}


def _is_at(owner: str, name: str) -> sa.ColumnElement[bool]:
    return sa.and_(named_values.c.owner == owner, named_values.c.name == name)


IN_SIGHT_SECONDS: Final = 600


@dataclass(frozen=True, slots=True)
class LastList:
    """The list of a service that a person was shown last. *refs*: what ``#1``, ``#2`` … mean; none where it had no numbers."""

    refs: Sequence[str] = ()
    in_sight: bool = False
    """Whether the person was shown nothing else since, in the last minutes, as far as this process knows."""


@dataclass(frozen=True, slots=True)
class LastLists:
    session: Session
    values: NamedValues
    _in_sight: dict[str, dict[str, int]] = field(default_factory=dict)
    """When this process showed each person lists, by service, and nothing else since: what only asks writes nothing."""

    async def get(self, person: str, service: str) -> LastList:
        """Return the last list of *person*; an empty one before their first."""
        stored = await self.values.value(person, f"listed_{service}") or "[]"
        shown = self._in_sight.get(person, {}).get(service)
        in_sight = shown is not None and self.session.seconds_since(shown) < IN_SIGHT_SECONDS
        with self.session.decoding("the last list of", person):
            return LastList(json.loads(stored), in_sight)

    async def put(self, person: str, service: str, refs: Sequence[str]) -> None:
        """Remember the list that *person* was shown; an unchanged list is not written again."""
        self._in_sight.setdefault(person, {})[service] = self.session.now()
        if (await self.get(person, service)).refs != list(refs):
            async with self.session.writing() as tx:
                await self.values.put(tx, person, f"listed_{service}", json.dumps(list(refs)))

    def cover(self, person: str) -> None:
        """Note that *person* is shown something else than a list."""
        self._in_sight.pop(person, None)


MAX_LINKS: Final = 100
"""How many times a rule may be restored before its first id is no longer followed."""


class FormerIds:
    def __init__(self, session: Session) -> None:
        self._session = session

    async def put(self, tx: AsyncConnection, old: str, new: str) -> None:
        """Let the rule id *old*, and every id that led to it, lead to *new*."""
        for _ in range(MAX_LINKS):
            moved = await tx.scalar(sa.select(former_ids.c.new).where(former_ids.c.old == old))
            if moved is None or moved == new:
                break
            old = moved
        await upsert(tx, former_ids, {"old": old, "new": new})

    async def resolve(self, rule_id: str) -> str:
        """Return the current id of the rule that had *rule_id*; *rule_id* itself where it never changed."""
        return (await self.resolve_all([rule_id]))[rule_id]

    async def resolve_all(self, rule_ids: Iterable[str]) -> dict[str, str]:
        """Return the current id of each of *rule_ids*, with one query for each time that one of them was restored."""
        now = {rule_id: rule_id for rule_id in rule_ids}
        async with self._session.reading() as connection:
            # Bounded, since a cycle of ids would be followed for ever.
            for _ in range(MAX_LINKS):
                moved = sa.select(former_ids.c.old, former_ids.c.new).where(former_ids.c.old.in_(set(now.values())))
                links = {row.old: row.new for row in await connection.execute(moved)}
                if not links:
                    break
                now = {rule_id: links.get(current, current) for rule_id, current in now.items()}
        return now

    async def all_of(self, rule_id: str) -> list[str]:
        """Return every id that the rule with *rule_id* had before or has got since; newest first."""
        ids = [await self.resolve(rule_id)]
        async with self._session.reading() as connection:
            for _ in range(MAX_LINKS):
                older = await connection.scalars(sa.select(former_ids.c.old).where(former_ids.c.new.in_(ids)))
                if not (fresh := [each for each in older if each not in ids]):
                    break
                ids += fresh
        return ids
