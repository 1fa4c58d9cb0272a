"""A process that froze in the middle of a statement keeps nobody from the rows that it had locked."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Mapping
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.store.db import FROZEN, MAX_TRANSACTION, open_engine, timeout_statement

pytestmark = [pytest.mark.postgres, pytest.mark.parametrize("database_url", ["postgres"], indirect=True)]
LOCKS = "UPDATE alembic_version SET version_num = version_num"
READY = b"Z"


class Talk:
    """PostgreSQL's protocol, as far as it takes to stop in the middle of it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def starts(self, settings: Mapping[str, str]) -> None:
        words = [word for pair in settings.items() for word in pair]
        body = struct.pack("!i", 196608) + b"".join(word.encode() + b"\0" for word in words) + b"\0"
        self._writer.write(struct.pack("!i", len(body) + 4) + body)
        await self._answered()

    async def says(self, sql: str) -> None:
        self._write(b"Q", sql.encode() + b"\0")
        await self._answered()

    def begins_to_say(self, sql: str) -> None:
        """A statement to be parsed, and then nothing: neither its execution nor the end of the message."""
        self._write(b"P", b"\0" + sql.encode() + b"\0" + struct.pack("!h", 0))
        self._write(b"H", b"")

    async def closes(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()

    def _write(self, kind: bytes, body: bytes) -> None:
        self._writer.write(kind + struct.pack("!i", len(body) + 4) + body)

    async def _answered(self) -> None:
        kind = b""
        while kind != READY:
            kind, size = struct.unpack("!ci", await self._reader.readexactly(5))
            body = await self._reader.readexactly(size - 4)
            assert kind != b"E", body


async def version_of(database_url: str) -> int:
    async with open_engine(database_url) as engine, engine.connect() as connection:
        number = int(await connection.scalar(sa.text("SHOW server_version_num")) or 0)
    return number // 10_000


@pytest.mark.parametrize("said", [True, False], ids=["between two statements", "in the middle of one"])
async def test_its_locks_end(database_url: str, postgres_folder: Path, said: bool) -> None:
    name = sa.make_url(database_url).database
    quickly = dict.fromkeys(FROZEN, "300ms")
    version = await version_of(database_url)
    if version < 17 and not said:
        pytest.skip(f"PostgreSQL {version} cannot end such a transaction: install 17 or later")
    talk = Talk(*await asyncio.open_unix_connection(str(postgres_folder / ".s.PGSQL.5432")))
    await talk.starts({"user": "postgres", "database": str(name), **quickly})
    await talk.says(timeout_statement("300ms", locally=False))
    await talk.says("BEGIN")
    await talk.says(LOCKS)
    if not said:
        talk.begins_to_say(LOCKS)

    async with open_engine(database_url) as engine, engine.begin() as connection:
        await connection.execute(sa.text("SET LOCAL lock_timeout = '15s'"))
        await connection.execute(sa.text(LOCKS))
    await talk.closes()


async def test_our_connections_say_so(database_url: str) -> None:
    wanted = FROZEN | ({"transaction_timeout": MAX_TRANSACTION} if await version_of(database_url) >= 17 else {})
    async with open_engine(database_url) as engine, engine.connect() as connection:
        said = {name: await connection.scalar(sa.text(f"SHOW {name}")) for name in wanted}

    assert said == wanted
