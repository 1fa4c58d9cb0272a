"""The workspaces that Gatehouse is installed in: their tokens and settings, encrypted, and the installs under way.

They are rows of the main database's `settings`. What happens in a workspace is in a database of its own (`workspace_url`).
"""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import sqlalchemy as sa
from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from bot.store.db import Session, StoreError, insert_new, upsert
from bot.store.tables import settings

INSTALLATION: Final = "installation"
"""The name of the row that holds what Slack gave at an install: tokens, and when they expire."""
CONFIGURATION: Final = "configuration"
"""The name of the row that holds what the operator set: variables, and the policy as TOML."""
STATE: Final = "oauth_state"
REFRESHING: Final = "refreshing"
STATE_LIFE: Final = timedelta(minutes=10)
MAX_STATES: Final = 1000
"""Installs under way: strangers may begin one, too, and leave it."""
REFRESH_LEASE: Final = timedelta(minutes=1)

Document = Mapping[str, Any]


class WrongKeys(StoreError):
    """What the database holds of a workspace was encrypted with another key."""

    def __init__(self, team: str) -> None:
        super().__init__(f"ENCRYPTION_KEYS can't decrypt what the database holds of {team}")

    @property
    def mend(self) -> str:
        return "Add the key that it was encrypted with behind the others"


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of a workspace. *installation*: None where it is not installed; *configuration*: None where not set up.

    *trouble*: why nothing of it can be read; empty where it can.
    """

    installation: Document | None = None
    configuration: Document | None = None
    trouble: str = ""


class Directory:
    """Keeps workspaces by their ids. *keys*: the first encrypts, each of them decrypts."""

    def __init__(self, session: Session, keys: Sequence[str]) -> None:
        self._session = session
        self._keys = MultiFernet([Fernet(key) for key in keys])

    async def all(self) -> dict[str, Entry]:
        """Every workspace by its id; raises StoreError where the database can't be read."""
        async with self._session.reading() as connection:
            rows = list(await connection.execute(sa.select(settings).where(_is_sealed)))
        entries: dict[str, Entry] = {}
        for team in sorted({row.owner for row in rows}):
            try:
                entries[team] = self._entry(row for row in rows if row.owner == team)
            except WrongKeys as error:
                entries[team] = Entry(trouble=error.advice())
        return entries

    async def of(self, team: str) -> Entry:
        """What is known of *team*; raises StoreError, also where it can't be decrypted."""
        async with self._session.reading() as connection:
            return self._entry(
                await connection.execute(sa.select(settings).where(_is_sealed, settings.c.owner == team))
            )

    def _entry(self, rows: Iterable[Any]) -> Entry:
        documents = {row.name: self._opened(row) for row in rows}
        return Entry(documents.get(INSTALLATION), documents.get(CONFIGURATION))

    async def keep(self, team: str, name: str, document: Document) -> None:
        """Put *document* in the place of what is kept as *name*; raises StoreError."""
        value = self._sealed(team, name, document)
        async with self._session.writing() as tx:
            await upsert(tx, settings, {"owner": team, "name": name, "value": value})

    async def swap(self, team: str, name: str, before: Document, after: Document | None) -> bool:
        """Put *after*, or nothing, in the place of *before*; return whether that was still there. Raises StoreError."""
        async with self._session.writing() as tx:
            row = (await tx.execute(sa.select(settings).where(_is_row(team, name)).with_for_update())).one_or_none()
            if row is None or self._opened(row) != before:
                return False
            changed = (
                sa.delete(settings)
                if after is None
                else sa.update(settings).values(value=self._sealed(team, name, after))
            )
            await tx.execute(changed.where(_is_row(team, name)))
            return True

    async def forget(self, team: str, *names: str) -> None:
        """Remove what is kept as *names*; raises StoreError."""
        async with self._session.writing() as tx:
            await tx.execute(sa.delete(settings).where(settings.c.owner == team, settings.c.name.in_(names)))

    async def encrypt_again(self) -> int:
        """Encrypt everything with the first key, and return of how many workspaces; raises WrongKeys and changes nothing."""
        async with self._session.writing() as tx:
            rows = list(await tx.execute(sa.select(settings).where(_is_sealed).with_for_update()))
            for row in rows:
                value = self._sealed(row.owner, row.name, self._opened(row))
                await tx.execute(sa.update(settings).where(_is_row(row.owner, row.name)).values(value=value))
        return len({row.owner for row in rows})

    def _sealed(self, team: str, name: str, document: Document) -> str:
        return self._keys.encrypt(json.dumps([team, name, document]).encode()).decode()

    def _opened(self, row: Any) -> Document:
        """What a row holds. It says whose it is: nobody who can write to the database can give it to another workspace."""
        try:
            team, name, document = json.loads(self._keys.decrypt(row.value.encode()))
        except InvalidToken as error:
            raise WrongKeys(row.owner) from error
        if (team, name) != (row.owner, row.name):
            raise WrongKeys(row.owner)
        return dict(document)

    @asynccontextmanager
    async def refreshing(self, team: str) -> AsyncIterator[bool]:
        """Yield whether nobody else refreshes the token of *team* until the block ends; raises StoreError.

        Others wait a minute for a process that died in it.
        """
        until = f"{self._session.now(REFRESH_LEASE):020}"
        is_ours = await self._claim(team, until)
        try:
            yield is_ours
        finally:
            if is_ours:
                async with self._session.writing() as tx:
                    ours = sa.and_(_is_row(team, REFRESHING), settings.c.value == until)
                    await tx.execute(sa.delete(settings).where(ours))

    async def _claim(self, team: str, until: str) -> bool:
        async with self._session.writing() as tx:
            if await insert_new(tx, settings, {"owner": team, "name": REFRESHING, "value": until}):
                return True
            ended = sa.and_(_is_row(team, REFRESHING), settings.c.value < f"{self._session.now():020}")
            return (await tx.execute(sa.update(settings).where(ended).values(value=until))).rowcount == 1

    async def issue_state(self) -> str:
        """Return a new word that Slack is to bring back from an install; good once, for ten minutes. Raises StoreError."""
        state = secrets.token_hex(16)
        newest = sa.select(settings.c.owner).where(settings.c.name == STATE).order_by(settings.c.value.desc())
        kept = newest.limit(MAX_STATES - 1).scalar_subquery()
        gone = sa.or_(settings.c.value < f"{self._session.now():020}", settings.c.owner.not_in(kept))
        async with self._session.writing() as tx:
            await tx.execute(sa.delete(settings).where(settings.c.name == STATE, gone))
            until = f"{self._session.now(STATE_LIFE):020}"
            await tx.execute(sa.insert(settings).values(owner=state, name=STATE, value=until))
        return state

    async def use_state(self, state: str) -> bool:
        """Whether *state* was issued, is still good, and was not used before; raises StoreError."""
        good = sa.and_(_is_row(state, STATE), settings.c.value >= f"{self._session.now():020}")
        async with self._session.writing() as tx:
            return (await tx.execute(sa.delete(settings).where(good))).rowcount == 1


_is_sealed: Final = settings.c.name.in_((INSTALLATION, CONFIGURATION))


def _is_row(owner: str, name: str) -> sa.ColumnElement[bool]:
    return sa.and_(settings.c.owner == owner, settings.c.name == name)
