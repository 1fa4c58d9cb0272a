"""Connections to SQLite that run each statement in one turn of their thread, with all of its rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from typing import Any, NamedTuple, Self, TypeAlias, TypeVar

import aiosqlite

Result = TypeVar("Result")
Description: TypeAlias = tuple[tuple[str, None, None, None, None, None, None], ...]


def connect(*args: Any, **kwargs: Any) -> Connection:
    """Return a connection that is opened when it is awaited; takes the arguments of `sqlite3.connect`."""
    connection = Connection(partial(sqlite3.connect, *args, **kwargs), iter_chunk_size=1)
    # A process that ends without having closed it must not wait for its thread.
    connection._thread.daemon = True
    return connection


class Connection(aiosqlite.Connection):
    """A connection for SQLAlchemy, which takes cursors of it.

    Those of aiosqlite hand four things to the thread, one after the other: to make a cursor, the statement, its rows, and to
    close the cursor. The switches of threads took longer than SQLite did. And where a caller was cancelled between two of them,
    its open cursor kept the lock of its transaction, even after the connection was closed.
    """

    def cursor(self) -> Cursor:  # type: ignore[override]
        return Cursor(self)

    async def run(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Return what *work* returns, called in the thread of this connection."""
        return await self._execute(work, self._conn)  # type: ignore[no-any-return,no-untyped-call]


class _Done(NamedTuple):
    """What a statement left: its rows, and what a cursor tells of it."""

    rows: Sequence[Any]
    description: Description | None
    rowcount: int
    lastrowid: int | None


class Cursor:
    """What SQLAlchemy asks of the cursor of an asyncio driver."""

    arraysize = 1

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._note(_Done((), None, -1, None))

    async def __aenter__(self) -> Self:
        return self

    async def execute(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        self._note(await self._connection.run(lambda sqlite: _use_up(sqlite.execute(statement, parameters))))

    async def executemany(self, statement: str, parameters: Sequence[Sequence[Any]]) -> None:
        self._note(await self._connection.run(lambda sqlite: _use_up(sqlite.executemany(statement, parameters))))

    def _note(self, done: _Done) -> None:
        self._rows, self.description, self.rowcount, self.lastrowid = done

    async def fetchall(self) -> Sequence[Any]:
        return self._rows

    async def close(self) -> None:
        """Do nothing: the cursor of SQLite was closed in the turn of its statement."""


def _use_up(cursor: sqlite3.Cursor) -> _Done:
    with closing(cursor):
        return _Done(cursor.fetchall(), cursor.description, cursor.rowcount, cursor.lastrowid)
