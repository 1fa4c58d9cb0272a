"""The bot's first start, on what is no database yet or none at all."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.store.db import StoreError
from bot.store.engine import check, exclusive_lock, open_audit, open_store, upgrade


def now() -> datetime:
    return datetime.now(UTC)


@pytest.mark.threat("D3")
async def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    file, content = tmp_path / "store.db", b"SQLite format 3\x00" + b"\xff" * 5000
    file.write_bytes(content)

    with pytest.raises(StoreError):
        async with open_store(f"sqlite:///{file}", now=now):
            pass

    assert file.read_bytes() == content


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:///file:store?mode=memory&uri=true",
        "sqlite://store.db",
        "sqlite://folder/store.db",
        "sqlite:///store.db?mode=ro",
    ],
)
async def test_what_is_not_the_path_of_a_file_is_refused_by_all(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite would take some of these for a database in memory, which is empty again after each start."""
    monkeypatch.chdir(tmp_path)

    for opened in (open_store(url, now=now), open_audit(url)):
        with pytest.raises(StoreError):
            async with opened:
                pass
    for done in (check(url), upgrade(url)):
        with pytest.raises(StoreError):
            await done

    assert list(tmp_path.iterdir()) == []


async def test_a_check_takes_no_folder_for_a_file_that_is_not_there_yet(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="can't be opened to write"):
        await check(f"sqlite:///{tmp_path}")


async def test_a_new_database_is_its_owners_alone(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    before = os.umask(0)
    try:
        with exclusive_lock(url):
            async with open_store(url, now=now) as store, store.transaction():
                modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    finally:
        os.umask(before)

    assert modes == dict.fromkeys(("store.db", "store.db-wal", "store.db-shm", "store.db.lock"), 0o600)


async def test_another_that_makes_the_same_file_is_waited_for(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    starting = asyncio.create_task(upgrade(f"sqlite:///{tmp_path / 'store.db'}"))
    started, _ = await asyncio.wait({starting}, timeout=0.3)
    assert not started
    other.execute("ROLLBACK")
    other.close()

    await starting
