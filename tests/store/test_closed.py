"""Nobody waits for a connection longer than they must: not for a cancelled write, and not for those who came later."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.store.db import MAX_READERS, open_engine
from bot.store.engine import open_store
from tests.harness.clocks import StandingClock


async def test_a_cancelled_statement_holds_no_lock(tmp_path: Path) -> None:
    async with open_engine(f"sqlite:///{tmp_path / 'store.db'}") as engine:
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

    assert list(found) == [11, 12]


async def test_who_asks_first_reads_first_also_in_a_rush(tmp_path: Path) -> None:
    order: list[str] = []
    all_busy, waits = asyncio.Barrier(MAX_READERS + 1), asyncio.Event()

    async def read(name: str) -> None:
        async with store.session.reading():
            order.append(name)

    async def read_twice() -> None:
        async with store.session.reading():
            await all_busy.wait()
            await waits.wait()
        await read("again")

    opened = open_store(f"sqlite:///{tmp_path / 'store.db'}", now=StandingClock())
    async with opened as store, asyncio.TaskGroup() as tasks:
        for _ in range(MAX_READERS):
            tasks.create_task(read_twice())
        await all_busy.wait()
        for _ in range(MAX_READERS):
            tasks.create_task(read("waited"))
        # Once those have asked: the loop takes tasks in the order in which they were made.
        asyncio.get_running_loop().call_soon(waits.set)

    assert order == ["waited"] * MAX_READERS + ["again"] * MAX_READERS
