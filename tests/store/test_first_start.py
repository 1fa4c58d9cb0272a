"""The bot's first start, on what is no database yet or none at all."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.store.engine import open_store, upgrade
from bot.store.errors import StoreError
from tests.databases import BOTH


def now() -> datetime:
    return datetime.now(UTC)


@pytest.mark.parametrize("empty_database", BOTH, indirect=True)
async def test_two_may_bring_the_schema_up_at_once(empty_database: str) -> None:
    await asyncio.gather(upgrade(empty_database), upgrade(empty_database))

    async with open_store(empty_database, now=now) as store:
        assert await store.health() == {"store": "ok"}


async def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    file, content = tmp_path / "store.db", b"SQLite format 3\x00" + b"\xff" * 5000
    file.write_bytes(content)

    with pytest.raises(StoreError):
        async with open_store(f"sqlite:///{file}", now=now):
            pass

    assert file.read_bytes() == content
