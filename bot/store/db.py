"""Connections, transactions and errors of the database, and the one place where SQLite and PostgreSQL differ.

Rows are locked for PostgreSQL by ``FOR UPDATE``, which SQLAlchemy leaves out for SQLite: that has only one writer.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import sqlalchemy as sa
import structlog
from pydantic import ValidationError
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from bot.changes.model.change import Change
from bot.metrics import UNREADABLE_ROWS
from bot.store import sqlite_connection
from bot.store.tables import Row, micros

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql

log = structlog.get_logger(__name__)

SERVER = "See that the database server runs, and that DATABASE_URL names it and a user and database that it has"
BACKUP = "Put a backup in its place, or move the file away to start with an empty one"
FOLDER = "Let the user that runs Gatehouse read and write the file and its folder"
MENDS = {
    "not a database": BACKUP,
    "malformed": BACKUP,
    "locked": "Close the other program that has the database open",
    "readonly": FOLDER,
    "read-only": FOLDER,
    "ermission denied": FOLDER,
    "unable to open": FOLDER,
    "can't be opened": FOLDER,
    "ot a directory": FOLDER,
    "disk is full": "Make room on the disk",
    "onnect": SERVER,
    "ame or service": SERVER,
    "password": SERVER,
    "does not exist": SERVER,
    "timed out": SERVER,
    "TimeoutError": SERVER,
}
"""What an operator can do, by a word in the error of the database or the system."""


class StoreError(Exception):
    """The database failed: it is locked, full, read-only or unreachable.

    Nothing was written, unless it is a CommitUnknown.
    """

    @property
    def mend(self) -> str:
        """Return what to do about it, unless its text says so already; without a full stop."""
        return next((mend for word, mend in MENDS.items() if word in str(self)), "")

    def advice(self) -> str:
        """Return its text, and what to do about it."""
        return f"{self}. {self.mend}." if self.mend else str(self)


class CommitUnknown(StoreError):
    """COMMIT was sent and got no clear answer: only reading can tell whether it was written."""


class UnreadableRow(StoreError):
    """A *record* doesn't hold what this release writes: it waits for somebody who mends its row."""

    def __init__(self, record: str) -> None:
        super().__init__(f"the record of {record} can't be read")
        self.record = record


class StoreMissing(StoreError):
    """There is no database file yet."""


class StoreCorrupt(StoreError):
    """The database file is damaged; Gatehouse does not act on it."""


class TargetBusy(Exception):
    """Another change holds the target; *change* is that one."""

    def __init__(self, change: Change) -> None:
        super().__init__(change.id)
        self.change = change


MAX_READERS, MAX_WRITERS = 4, 6
"""How many connections a process has, to read and to write. Of the latter SQLite has one: its writers queue here rather than
in the database.
"""
BUSY_SECONDS = 30
"""How long SQLite waits for another process's write."""
USE_WAL: Final = "PRAGMA journal_mode=WAL"

FROZEN = {"idle_in_transaction_session_timeout": "10s"}
"""Makes PostgreSQL end the transaction of a process that stopped in the middle of one: its locks would block all others."""
MAX_TRANSACTION = "20s"
"""The same for a process that stopped while sending a statement, which is not idle; needs PostgreSQL 17 or later."""


def open_private(path: str, flags: int) -> int:
    """Open *path* like `os.open`; a new file is readable only for this user, since it holds emails of members."""
    return os.open(path, flags, 0o600)


def async_url(database_url: str) -> sa.URL:
    """Return *database_url* with the driver that we use; raises StoreError for another kind of database."""
    try:
        url = make_url(database_url)
    except (ArgumentError, ValueError):
        raise StoreError(
            "DATABASE_URL is not a URL such as sqlite:///gatehouse.db or postgresql://user@host/name"
        ) from None
    # Some hosting providers write postgres:// for postgresql://.
    drivers = {"sqlite": "sqlite+aiosqlite", "postgresql": "postgresql+asyncpg", "postgres": "postgresql+asyncpg"}
    if (driver := drivers.get(url.drivername.partition("+")[0])) is None:
        raise StoreError(f"DATABASE_URL: {url.drivername} is neither sqlite:///path nor postgresql://…")
    return (_of_file(url) if driver.startswith("sqlite") else _with_known_options(url)).set(drivername=driver)


def _with_known_options(url: sa.URL) -> sa.URL:
    """Return *url* with our driver's name for libpq's ``sslmode``; raises StoreError for an option that it doesn't know."""
    import asyncpg  # type: ignore[import-untyped]  # noqa: PLC0415  it ships no types; SQLite needs none of it

    query = {"ssl" if name == "sslmode" else name: value for name, value in url.query.items()}
    known = {*signature(asyncpg.connect).parameters, "prepared_statement_cache_size"}
    if unknown := sorted(query.keys() - known):
        raise StoreError(f"DATABASE_URL: there is no option {', '.join(unknown)}")
    return url.set(query=query)


def _of_file(url: sa.URL) -> sa.URL:
    """Return *url* with ``~`` in its path replaced by the home folder; the file is opened and locked by this path.

    Raises StoreError for anything but the path of a file: with less, SQLite works in memory, and a stop loses everything.
    """
    path = url.database or ""
    if path in {"", ":memory:"} or url != sa.URL.create(url.drivername, database=path):
        raise StoreError("DATABASE_URL must be sqlite:/// and the path of a file, without options")
    if not path.startswith("~"):
        return url
    try:
        return url.set(database=str(Path(path).expanduser()))
    except RuntimeError as error:
        raise StoreError(f"DATABASE_URL: {error}") from error


@asynccontextmanager
async def open_engine(database_url: str, *, read_only: bool = False) -> AsyncIterator[AsyncEngine]:
    """Open an engine whose transactions take SQLite's write lock at once: a later upgrade of a read lock can't wait.

    *read_only*: each statement sees its own moment, without a transaction, and the database itself refuses every write.
    """
    url = async_url(database_url)
    # Parameters are hidden because they hold emails and URLs, and errors get into the log.
    options: dict[str, Any] = {"hide_parameters": True, "pool_size": MAX_READERS if read_only else MAX_WRITERS}
    if read_only:  # without transactions, nothing has to be rolled back after each read
        options |= {"isolation_level": "AUTOCOMMIT", "skip_autocommit_rollback": True}
    if url.get_backend_name() != "sqlite":
        settings = {"server_settings": {**FROZEN, **({"default_transaction_read_only": "on"} if read_only else {})}}
        engine = create_async_engine(url, **options, pool_pre_ping=True, connect_args=settings)
        sa.event.listen(engine.sync_engine, "connect", _set_timeout)
    else:
        file = Path(url.database or "")
        url = _require_file(url, file) if read_only else _create_file(url, file)
        driver = {"timeout": BUSY_SECONDS, "async_creator_fn": sqlite_connection.connect}
        engine = create_async_engine(url, **options, connect_args=driver)
        if not read_only:
            sa.event.listen(engine.sync_engine, "connect", _prepare_sqlite)
            sa.event.listen(engine.sync_engine, "begin", _begin_immediate)
    try:
        yield engine
    finally:
        await engine.dispose()


def _require_file(url: sa.URL, path: Path) -> sa.URL:
    if not path.is_file():
        raise StoreMissing(f"there is no file {path}")
    return url.set(database=f"file:{quote(str(path))}", query={"uri": "true", "mode": "ro"})


def _create_file(url: sa.URL, path: Path) -> sa.URL:
    with contextlib.suppress(OSError):  # a file that can't be opened is reported by SQLite
        path.parent.mkdir(parents=True, exist_ok=True)
        open(path, "ab", opener=open_private).close()  # SQLite gives its journals the same mode
    return url


def timeout_statement(longest: str, *, locally: bool) -> str:
    """Return the statement that limits transactions to *longest*, 0 for no limit; *locally*: only the current transaction."""
    # Selected from the existing settings: before PostgreSQL 17 there is no such setting, and SET would fail.
    chosen = f"set_config('transaction_timeout', '{longest}', {locally})"
    return f"SELECT {chosen} FROM pg_settings WHERE name = 'transaction_timeout'"  # noqa: S608  our own words


def _set_timeout(connection: Any, _: object) -> None:
    connection.run_async(lambda driver: driver.execute(timeout_statement(MAX_TRANSACTION, locally=False)))


def _prepare_sqlite(connection: Any, _: object) -> None:
    # Otherwise Python's sqlite3 begins transactions itself, which take the lock to write only later.
    connection.isolation_level = None
    cursor = connection.cursor()
    try:
        cursor.execute(USE_WAL)
    except sqlite3.OperationalError:
        # Another process makes the same switch. Who reads, as this does first, may not wait for a lock to write; BEGIN may.
        for statement in ("BEGIN IMMEDIATE", "ROLLBACK", USE_WAL):
            cursor.execute(statement)
    # With NORMAL, a power failure may take back the last commits, which people were told of.
    for pragma in ("synchronous=FULL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_immediate(connection: sa.Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def insert(tx: AsyncConnection, table: sa.Table) -> sqlite.Insert | postgresql.Insert:
    """Return an INSERT that can have an ON CONFLICT, in the dialect of the database of *tx*."""
    if tx.dialect.name == "sqlite":
        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # noqa: PLC0415  SQLite needs none of it

    return postgresql.insert(table)


async def upsert(
    tx: AsyncConnection, table: sa.Table, row: Mapping[str, Any], changes: Mapping[str, Any] | None = None
) -> None:
    """Insert *row*, or apply *changes* (None: the values of *row*) to the row with its primary key.

    One statement: an UPDATE that finds no row, and then an INSERT, would fail where another process is between the two.
    """
    inserted = insert(tx, table).values(row)
    key = [column.name for column in table.primary_key]
    changed = changes or {name: value for name, value in row.items() if name not in key}
    await tx.execute(inserted.on_conflict_do_update(index_elements=key, set_=changed))


async def insert_new(tx: AsyncConnection, table: sa.Table, row: Mapping[str, Any]) -> bool:
    """Insert *row*; False where it conflicts with a unique key of another row, committed or about to be."""
    return (await tx.execute(insert(tx, table).values(row).on_conflict_do_nothing())).rowcount == 1


def after_commit(tx: AsyncConnection, do: Callable[[], object]) -> None:
    """Call *do* once *tx*, a transaction of `Session.writing`, is committed; not at all where it is rolled back or may be."""
    tx.info["after_commit"].append(do)


class Session:
    """Hands out transactions, in the order in which they are asked for.

    No task may ask for a second one: all could have one, and wait for another.
    """

    def __init__(self, reader: AsyncEngine, writer: AsyncEngine, now: Callable[[], datetime]) -> None:
        self.reader, self.writer = reader, writer
        self._now = now
        self.unreadable: set[str] = set()
        """The records that couldn't be read since the start."""
        self._written: datetime | None = None
        """The time of the last write; None where the last write failed."""
        self.sqlite = reader.dialect.name == "sqlite"
        # Semaphores wake tasks in order. The pool doesn't: under load, all others would overtake the task that asked first.
        self._readers = asyncio.Semaphore(MAX_READERS)
        # Apart from readers: what Slack sends is acknowledged once it is written, and that has to be soon.
        self._writers = asyncio.Semaphore(1 if self.sqlite else MAX_WRITERS)

    def now(self, away: timedelta = timedelta()) -> int:
        """Return the current time plus *away*, in microseconds as it is stored."""
        return micros(self._now() + away)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """Open a transaction that is committed at the end of the block; raises StoreError where the database refuses.

        Raises CommitUnknown where nobody knows whether it was committed.
        """
        try:
            async with self._connect(self.writer, self._writers) as connection, connection.begin() as whole:
                following: list[Callable[[], object]] = []
                connection.info["after_commit"] = following
                yield connection
                # Committed here and not by the end of the block, so that a failure of the COMMIT itself is known.
                with _committing():
                    await whole.commit()
        except StoreError:
            self._written = None
            raise
        self._written = self._now()
        for do in following:
            do()

    def has_written_within(self, span: timedelta) -> bool:
        """Whether the last write succeeded, at most *span* ago."""
        return self._written is not None and abs(self._now() - self._written) <= span

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """Open a connection for reading; it doesn't wait for writers."""
        async with self._connect(self.reader, self._readers) as connection:
            yield connection

    async def rows(self, query: sa.Executable) -> Sequence[Row]:
        """Return all rows of *query*, read without waiting for writers."""
        async with self.reading() as connection:
            rows: Sequence[Row] = (await connection.execute(query)).all()
            return rows

    async def scalar(self, query: sa.Executable) -> Any:
        """Return the first value of the first row of *query*, read in the same way; None where there is no row."""
        async with self.reading() as connection:
            return await connection.scalar(query)

    @contextlib.contextmanager
    def decoding(self, what: str, key: str = "") -> Iterator[None]:
        """Raise errors of reading a record as UnreadableRow; the first of each record is counted and logged."""
        try:
            yield
        except (ValueError, TypeError) as error:
            record = f"{what} {key[:8]}".strip()
            if record not in self.unreadable:
                self.unreadable.add(record)
                UNREADABLE_ROWS.inc()
                places = [each["loc"] for each in error.errors()] if isinstance(error, ValidationError) else []
                fields = [".".join(map(str, place)) for place in places]
                log.error("unreadable_row", record=record, fields=fields)  # noqa: TRY400  the error's words hold values
            raise UnreadableRow(record) from None

    @asynccontextmanager
    async def _connect(self, engine: AsyncEngine, turns: asyncio.Semaphore) -> AsyncIterator[AsyncConnection]:
        """Take a connection from the pool once it is one's turn; raises StoreError."""
        async with turns, self._translating_errors(), engine.connect() as connection:
            yield connection

    async def backlog(self, since: sa.ColumnElement[int], *which: sa.ColumnElement[bool]) -> tuple[int, float]:
        """Return how many rows match *which*, and how many seconds ago the earliest *since* of them was; 0 for none."""
        query = sa.select(sa.func.count(), sa.func.min(since)).where(*which)
        ((count, earliest),) = await self.rows(query)
        return count, self.seconds_since(earliest)

    def seconds_since(self, stored: int | None) -> float:
        """Return the seconds from *stored* until now; 0 where it is None, or lies in the future."""
        return 0.0 if stored is None else max(0, self.now() - stored) / 1_000_000

    @asynccontextmanager
    async def _translating_errors(self) -> AsyncIterator[None]:
        """Raise errors of the database as StoreError."""
        try:
            yield
        except FAILURES as error:
            raise StoreError(_error_words(error)) from error


FAILURES: Final = (SQLAlchemyError, OSError, UnicodeError)
"""The errors that the database and its drivers raise; UnicodeError, since a damaged file garbles SQLite's messages, too."""
DISK_FAILED: Final = "disk I/O error"
"""SQLite's message where a write to its log may have reached the disk, or a part of it."""


@contextlib.contextmanager
def _committing() -> Iterator[None]:
    """Raise CommitUnknown where COMMIT fails, unless the database itself refused it on a connection that still works."""
    try:
        yield
    except FAILURES as error:
        # On a connection that broke, nobody knows whether the COMMIT arrived before that.
        is_answer = isinstance(error, DBAPIError) and not error.connection_invalidated
        if is_answer and DISK_FAILED not in str(error):
            raise
        raise CommitUnknown(_error_words(error)) from error


def _error_words(error: Exception) -> str:
    cause = getattr(error, "orig", None) or error
    return f"{type(cause).__name__}: {str(cause)[:120]}"
