"""`audit export` beside a bot that is at work: it reads, waits for nobody, and changes nothing."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from bot.server.audit_export import write_entries
from bot.store.audit import Event
from bot.store.db import StoreError, open_engine
from bot.store.engine import Store, check, exclusive_lock, open_store
from tests.harness.clocks import StandingClock
from tests.harness.databases import BOTH

both = pytest.mark.parametrize("database_url", BOTH, indirect=True)
EVENT = Event("applied", "U1", "C1")


async def append(store: Store) -> None:
    async with store.transaction() as tx:
        await store.audit.append(tx, EVENT)


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    async with open_store(database_url, now=StandingClock()) as opened:
        await append(opened)
        yield opened


async def lines_of(database_url: str) -> list[str]:
    out = io.StringIO()
    await write_entries(database_url, "jsonl", None, out)
    return [json.loads(line)["event"] for line in out.getvalue().splitlines()]


@both
async def test_it_waits_for_no_transaction_of_the_bot(store: Store, database_url: str) -> None:
    async with store.transaction() as tx, asyncio.timeout(20):  # less than a writer would wait
        await store.audit.append(tx, EVENT)

        assert await lines_of(database_url) == ["applied"]


@both
async def test_the_database_itself_lets_it_write_nothing(store: Store, database_url: str) -> None:
    async with open_engine(database_url, read_only=True) as engine:
        with pytest.raises(DBAPIError, match=r"read.?only"):
            async with engine.begin() as connection:
                await connection.execute(sa.text("DELETE FROM audit"))


async def test_an_empty_database_is_left_empty(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    file.touch()
    url = f"sqlite:///{file}"

    with pytest.raises(StoreError, match="nothing of Gatehouse"):
        await lines_of(url)
    await check(url)

    assert file.read_bytes() == b""


async def test_no_file_is_made_where_none_is(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no file"):
        await lines_of(f"sqlite:///{tmp_path / 'typo.db'}")
    await check(f"sqlite:///{tmp_path / 'before the first start.db'}")

    assert list(tmp_path.iterdir()) == []


async def test_a_name_with_signs_of_urls_in_it_is_the_name_of_a_file(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/50%25 & #1.db"
    async with open_store(url, now=StandingClock()) as store:
        await append(store)

    assert await lines_of(url) == ["applied"]


async def test_the_home_folder_is_the_same_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    url = "sqlite:///~/kept/store.db"

    with exclusive_lock(url):
        async with open_store(url, now=StandingClock()) as store:
            await append(store)
            assert await lines_of(url) == ["applied"]
            names = {path.name for path in (tmp_path / "kept").iterdir()}

    assert names == {"store.db", "store.db-wal", "store.db-shm", "store.db.lock"}
    with pytest.raises(StoreError, match="DATABASE_URL: "):
        async with open_store("sqlite:///~nobody-of-that-name/store.db", now=StandingClock()):
            pass
