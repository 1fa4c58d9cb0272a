"""Open the store: engine, schema, the lock that keeps two processes off one SQLite file, and the database's clock."""

from __future__ import annotations

import asyncio
import fcntl
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bot.changes.model.states import State
from bot.health import WORKS, Health, Level, health_of
from bot.store.audit import Audit
from bot.store.changes import Changes
from bot.store.db import (
    FAILURES,
    Session,
    StoreCorrupt,
    StoreError,
    StoreMissing,
    async_url,
    open_engine,
    open_private,
    timeout_statement,
)
from bot.store.inbox import Inbox
from bot.store.items import Items
from bot.store.migrations.run import (
    MIGRATIONS,
    VERSION,
    newest_schema,
    refuse_other_schema,
    upgrade_schema,
    usable_schema,
)
from bot.store.named_values import FormerIds, LastLists, NamedValues
from bot.store.outbox import Cards, Outbox
from bot.store.tables import changes

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Store:
    """The parts of the store, over one database."""

    session: Session
    changes: Changes
    inbox: Inbox
    outbox: Outbox
    cards: Cards
    lists: LastLists
    former_ids: FormerIds
    audit: Audit
    items: Items
    values: NamedValues

    def transaction(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Open a transaction; raises StoreError, and CommitUnknown where it may have been written."""
        return self.session.writing()

    async def end_leases(self) -> None:
        """End all leases and waits, so that the work is taken up at once: the processes that had it are known to be dead."""
        # Due means before now, hence one microsecond less.
        past = self.session.now() - 1
        async with self.transaction() as tx:
            for queue in (self.changes, self.inbox, self.outbox):
                await queue.leases.end(tx)
            left = sa.and_(changes.c.state == State.APPROVED, changes.c.due > past)
            await tx.execute(sa.update(changes).where(left).values(due=past))

    async def give_back_leases(self, owner: str) -> None:
        """End the leases of *owner*, whose process is ending, so that its work is taken over at once."""
        async with self.transaction() as tx:
            for queue in (self.changes, self.inbox, self.outbox):
                await queue.leases.give_back(tx, owner)

    async def health(self) -> dict[str, Health]:
        """Return the health of the ``store``: whether it can be read and written, the latter tried now or lately."""
        try:
            await self.session.scalar(sa.select(VERSION.c.version_num))
            if not self.session.has_written_within(WRITTEN_LATELY):
                async with self.transaction() as tx:
                    # Changes nothing, but shows a disk that is full or read-only.
                    await tx.execute(sa.update(VERSION).values(version_num=VERSION.c.version_num))
        except StoreError as error:
            return {"store": health_of(str(error))}
        if unreadable := ", ".join(sorted(self.session.unreadable)):
            return {"store": Health(Level.NEEDS_ATTENTION, f"can't read the record of {unreadable}")}
        return {"store": WORKS}


WRITTEN_LATELY: Final = timedelta(minutes=1)
"""How long after a successful write health needs no new one: readiness is asked every few seconds."""


@asynccontextmanager
async def open_store(database_url: str, *, now: Callable[[], datetime]) -> AsyncIterator[Store]:
    """Open the store at *database_url*, with the schema of this release; raises StoreError or StoreCorrupt."""
    async with open_engine(database_url) as writer:
        log.info("schema", found=await _upgrade(writer, MIGRATIONS))
        # Only now: a reader doesn't create the file.
        async with open_engine(database_url, read_only=True) as reader:
            yield _store(Session(reader, writer, now))


def _store(session: Session) -> Store:
    audit = Audit(session)
    values = NamedValues(session)
    return Store(
        session,
        changes=Changes(session),
        inbox=Inbox(session),
        outbox=Outbox(session),
        cards=Cards(session),
        lists=LastLists(session, values),
        former_ids=FormerIds(session),
        audit=audit,
        items=Items(session),
        values=values,
    )


@asynccontextmanager
async def open_audit(database_url: str) -> AsyncIterator[Audit]:
    """Open the audit of the database at *database_url* for reading, also while Gatehouse is running; raises StoreError."""
    async with _reading(database_url, refuse_other_schema) as session:
        yield Audit(session)


async def check(database_url: str) -> str:
    """Return what a start would find in the database; raises StoreError where it would refuse it. Changes nothing."""
    try:
        async with _reading(database_url, usable_schema) as session, session.reading() as connection:
            # PostgreSQL sees to its own files.
            if session.sqlite:
                await _refuse_damage(connection)
                _refuse_read_only(database_url)
            found = await connection.run_sync(usable_schema)
    except StoreMissing:
        _refuse_read_only(database_url)
        return "there is no file yet; the first start makes it"
    newest = newest_schema()
    if found is None:
        return f"is empty; the first start makes schema {newest}"
    return f"schema {found}" if found >= newest else f"schema {found}; the next start brings it to {newest}"


def _refuse_read_only(database_url: str) -> None:
    """Raise StoreError where nobody can write to the SQLite file, or to the folder that it and its journals need."""
    file = Path(async_url(database_url).database or "")
    folder = next(each for each in file.absolute().parents if each.exists())
    for path in (folder, file):
        if path.exists() and not (os.access(path, os.W_OK) and path.is_dir() == (path is folder)):
            raise StoreError(f"{path} can't be opened to write")


@asynccontextmanager
async def _reading(database_url: str, judge: Callable[[sa.Connection], object]) -> AsyncIterator[Session]:
    """Open a read-only session, after *judge* has checked the schema; raises StoreError."""
    async with open_engine(database_url, read_only=True) as engine:
        session = Session(engine, engine, lambda: datetime.now(UTC))
        async with session.reading() as connection:
            await connection.run_sync(judge)
        yield session


async def upgrade(database_url: str, migrations: Path = MIGRATIONS) -> None:
    """Check the database and bring it to the newest of *migrations*; two processes may do so at once."""
    async with open_engine(database_url) as engine:
        await _upgrade(engine, migrations)


async def _upgrade(engine: AsyncEngine, migrations: Path) -> str:
    try:
        async with engine.begin() as connection:
            if connection.dialect.name == "sqlite":
                await _refuse_damage(connection)
            else:
                await connection.execute(
                    sa.text(timeout_statement("0", locally=True))
                )  # another may have much to migrate
                # Replicas that start together migrate one after the other. Any number will do, the same in each
                # release.
                await connection.execute(sa.text("SELECT pg_advisory_xact_lock(7234015)"))
            return await connection.run_sync(upgrade_schema, migrations)
    except FAILURES as error:
        cause = getattr(error, "orig", None) or error
        raise StoreError(f"the database cannot be opened: {str(cause)[:200]}") from error


async def _refuse_damage(connection: AsyncConnection) -> None:
    said = await connection.scalar(sa.text("PRAGMA quick_check(1)"))
    if said != "ok":
        raise StoreCorrupt(
            f"the database file is damaged ({said}). Nothing was done. Put a backup in its place, or move the file "
            "away to start with an empty one; what was approved and not applied must then be asked for again."
        )


@contextmanager
def exclusive_lock(database_url: str) -> Iterator[bool]:
    """Hold the SQLite file of *database_url* for this process; raises StoreError where another one holds it.

    The system lets go of it when the process ends, however it ends. PostgreSQL is made for several: nothing is held. Yields
    whether it is held, and so every lease in it a dead process's.
    """
    url = async_url(database_url)
    if url.get_backend_name() != "sqlite":
        yield False
        return
    path = Path(f"{url.database}.lock")
    with ExitStack() as stack:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Never deleted: two processes could lock two files of the same name, one after the other.
            held = stack.enter_context(open(path, "w", opener=open_private))
        except OSError as error:
            raise StoreError(f"{path} can't be opened: {error.strerror}") from error
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StoreError(
                f"another Gatehouse uses {url.database}. Stop it first, or set DATABASE_URL to PostgreSQL, which "
                "several may share."
            ) from error
        yield True


def steady_clock() -> float:
    """Return monotonic seconds, which include time suspended where the system can tell (Linux)."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class DatabaseClock:
    """PostgreSQL's time, advanced by this machine's monotonic clock between readings, so that no host's clock counts."""

    def __init__(self, steady: Callable[[], float] = steady_clock) -> None:
        self._steady = steady
        self._read, self._at = datetime.now(UTC), steady()

    def __call__(self) -> datetime:
        return self._read + timedelta(seconds=self._steady() - self._at)

    async def read(self, session: Session) -> None:
        """Read the time from the database; raises StoreError."""
        before = self._steady()
        moment: datetime = await session.scalar(sa.text("SELECT clock_timestamp()"))
        after = self._steady()
        # The database read its clock at some time between the two; the middle has the smallest error.
        self._read, self._at = moment.astimezone(UTC), (before + after) / 2

    async def follow(self, session: Session, *, every: float) -> None:
        """Read the time *every* so many seconds, until cancelled."""
        while True:
            await asyncio.sleep(every)
            try:
                await self.read(session)
            except StoreError as error:
                log.warning("clock_not_read", error=str(error))
