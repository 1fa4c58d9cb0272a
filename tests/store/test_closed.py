"""A write that is cancelled in the middle of a statement keeps nobody waiting."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.store.db import make_engine


async def test_a_cancelled_statement_holds_no_lock(tmp_path: Path) -> None:
    engine = make_engine(f"sqlite:///{tmp_path / 'store.db'}")
    begun, may_end = threading.Event(), threading.Event()

    def hold() -> int:
        begun.set()
        may_end.wait()
        return 1

    async with engine.begin() as connection:
        await connection.execute(sa.text("CREATE TABLE numbers (n)"))
        await connection.execute(sa.text("INSERT INTO numbers VALUES (1), (2)"))

    async def write() -> None:
        async with engine.begin() as cancelled:
            driver = (await cancelled.get_raw_connection()).driver_connection
            assert driver is not None
            await driver.create_function("hold", 0, hold)
            await cancelled.execute(sa.text("UPDATE numbers SET n = n + hold() RETURNING n"))

    writing = asyncio.create_task(write())
    await asyncio.to_thread(begun.wait)
    writing.cancel()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await writing

    async with engine.begin() as other:
        await other.execute(sa.text("PRAGMA busy_timeout = 1"))
        await other.execute(sa.text("UPDATE numbers SET n = n + 10"))
    async with engine.connect() as reader:
        found = (await reader.execute(sa.text("SELECT n FROM numbers"))).scalars().all()
    await engine.dispose()

    assert list(found) == [11, 12]
