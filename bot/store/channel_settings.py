"""Named values: settings of channels, freezes, the last list that a person saw, ids of restored rules."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.store.audit import Audit, Event
from bot.store.db import Session, insert_new, upsert
from bot.store.tables import former_ids, settings


class SettingsMoved(Exception):
    """Somebody else changed the channel's settings in the meantime; nothing was written."""


class ChannelSettings:
    """The settings of channels, and values that Gatehouse keeps for itself."""

    def __init__(self, session: Session, audit: Audit) -> None:
        self._session = session
        self._audit = audit

    async def get(self, channel: str) -> dict[str, str]:
        """Return the settings of *channel* that have a value."""
        query = sa.select(settings.c.name, settings.c.value).where(settings.c.owner == channel)
        return {row.name: row.value for row in await self._session.rows(query)}

    async def change(self, channel: str, before: Mapping[str, str], after: Mapping[str, str], *, by: str) -> None:
        """Change settings from *before* to *after*; an empty value unsets one. Raises SettingsMoved where it isn't *before*."""
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

    async def value(self, owner: str, name: str) -> str:
        """Return one setting of a channel or a person, or a value that Gatehouse keeps for itself; empty where it is not set."""
        return await self._session.scalar(sa.select(settings.c.value).where(_is_at(owner, name))) or ""

    async def get_locked(self, tx: AsyncConnection, owner: str, name: str) -> str:
        """Return one setting, locked until the end of the transaction."""
        await upsert(tx, settings, _row(owner, name, ""), {"owner": owner})
        return str(await tx.scalar(sa.select(settings.c.value).where(_is_at(owner, name))))

    async def put(self, tx: AsyncConnection, owner: str, name: str, value: str) -> None:
        """Set a value that Gatehouse keeps for itself; an empty one unsets it. It is no person's change, so it isn't audited."""
        if value:
            await upsert(tx, settings, _row(owner, name, value))
        else:
            await tx.execute(sa.delete(settings).where(_is_at(owner, name)))

    async def _swap(self, tx: AsyncConnection, channel: str, name: str, old: str, new: str) -> bool:
        """Set one setting only if it is still *old*: of two who change it at once, the database lets one through."""
        if not old:
            return await insert_new(tx, settings, _row(channel, name, new))
        still = sa.and_(_is_at(channel, name), settings.c.value == old)
        changed = sa.update(settings).where(still).values(value=new)
        return (await tx.execute(changed if new else sa.delete(settings).where(still))).rowcount == 1


def _row(owner: str, name: str, value: str) -> dict[str, str]:
    return {"owner": owner, "name": name, "value": value}


def _is_at(owner: str, name: str) -> sa.ColumnElement[bool]:
    return sa.and_(settings.c.owner == owner, settings.c.name == name)


IN_SIGHT_SECONDS: Final = 600


@dataclass(frozen=True, slots=True)
class LastList:
    """The list of a service that a person was shown last. *refs*: what ``#1``, ``#2`` … mean."""

    refs: Sequence[str] = ()
    unnumbered: Sequence[str] = ()
    """The names of its first rows, where it had no numbers."""
    in_sight: bool = False
    """Whether the person was shown nothing else since, in the last minutes, as far as this process knows."""


@dataclass(frozen=True, slots=True)
class LastLists:
    session: Session
    settings: ChannelSettings
    _in_sight: dict[str, dict[str, int]] = field(default_factory=dict)
    """When this process showed each person lists, by service, and nothing else since: what only asks writes nothing."""

    async def get(self, person: str, service: str) -> LastList:
        """Return the last list of *person*; an empty one before their first."""
        stored = await self.settings.value(person, f"listed_{service}") or "[[], []]"
        shown = self._in_sight.get(person, {}).get(service)
        in_sight = shown is not None and self.session.seconds_since(shown) < IN_SIGHT_SECONDS
        with self.session.decoding("the last list of", person):
            refs, unnumbered = json.loads(stored)
        return LastList(refs, unnumbered, in_sight)

    async def put(self, person: str, service: str, refs: Sequence[str], unnumbered: Sequence[str] = ()) -> None:
        """Remember the list that *person* was shown; an unchanged list is not written again."""
        if not refs:
            self.cover(person)
            return
        self._in_sight.setdefault(person, {})[service] = self.session.now()
        if (await self.get(person, service)).refs != list(refs):
            async with self.session.writing() as tx:
                shown = json.dumps([[], list(unnumbered)] if unnumbered else [list(refs), []])
                await self.settings.put(tx, person, f"listed_{service}", shown)

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


MAX_SEGMENTS: Final = 30
MAX_SEGMENT_LENGTH: Final = 75
"""How many characters an option in one of Slack's menus may have."""
DELIMITER: Final = ","


@dataclass(frozen=True, slots=True)
class Preferences:
    """Preferences of a channel. *site*: the default site's name; *segments*: names that exist though nobody has them."""

    site: str = ""
    segments: tuple[str, ...] = ()

    @classmethod
    def load(cls, stored: Mapping[str, str]) -> Self:
        """Return the preferences in *stored*; settings that this release doesn't know are ignored."""
        return cls(stored.get("site", ""), tuple(filter(None, stored.get("segments", "").split(DELIMITER))))

    def dump(self) -> dict[str, str]:
        return {"site": self.site, "segments": DELIMITER.join(self.segments)}
