"""What a start loads: nothing that a bot on SQLite, with the schema of this release, has no use for yet."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bot.server import collector
from bot.store.engine import open_store

ROOT: Final = Path(__file__).parent.parent.parent
START: Final = """
import asyncio, sys
import bot.__main__, bot.server.process
from bot.server.app import utc_now
from bot.store.engine import open_store

async def start():
    async with open_store(sys.argv[1], now=utc_now):
        print(*sys.modules)

asyncio.run(start())
"""
NOT_YET: Final = {
    "alembic": "only an older schema is migrated",
    "asyncpg": "only for PostgreSQL",
    "sqlalchemy.dialects.postgresql": "only for PostgreSQL",
    "email_validator": "only when somebody types an email",
    "sandbox": "not a part of the bot",
    "tests": "not a part of the bot",
    "pytest": "only for development",
    "hypothesis": "only for development",
    "playwright": "only for development",
}


async def test_a_start_loads_nothing_that_has_no_use_yet(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    async with open_store(url, now=lambda: datetime.now(UTC)):
        pass  # this makes the schema

    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", START, url),
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        stdout=asyncio.subprocess.PIPE,
    )
    loaded = set((await process.communicate())[0].decode().split())

    assert {"bot.server.app", "handlers.slack.listeners", "sqlalchemy.dialects.sqlite"} <= loaded
    assert {name: why for name, why in NOT_YET.items() if name in loaded} == {}


def test_the_collector_is_at_work_again_after_the_start() -> None:
    thresholds = gc.get_threshold()
    try:
        collector.pause()
        assert not gc.isenabled()
        collector.take_over()
        assert gc.isenabled()
    finally:
        gc.enable()
        gc.unfreeze()
        gc.set_threshold(*thresholds)
