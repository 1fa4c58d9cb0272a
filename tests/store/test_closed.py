"""A connection that is closed in the middle of a statement, as a cancelled write leaves it, keeps nobody waiting."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from bot.store.db import make_engine


async def test_a_cursor_that_outlives_its_connection_holds_no_lock(tmp_path: Path) -> None:
    engine = make_engine(f"sqlite:///{tmp_path / 'store.db'}")
    async with engine.begin() as connection:
        await connection.execute(sa.text("CREATE TABLE numbers (n)"))
        await connection.execute(sa.text("INSERT INTO numbers VALUES (1), (2)"))

    async with engine.connect() as cancelled:
        driver = (await cancelled.get_raw_connection()).driver_connection
        assert driver is not None
        await driver.execute("BEGIN IMMEDIATE")
        cursor = await driver.execute("UPDATE numbers SET n = n + 1 RETURNING n")
        await driver.close()
        await cancelled.invalidate()

        async with engine.begin() as other:
            await other.execute(sa.text("PRAGMA busy_timeout = 1"))
            await other.execute(sa.text("UPDATE numbers SET n = n + 10"))
    async with engine.connect() as reader:
        found = (await reader.execute(sa.text("SELECT n FROM numbers"))).scalars().all()
    await engine.dispose()

    assert list(found) == [11, 12]
    del cursor
