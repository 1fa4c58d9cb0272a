"""What a start loads: nothing that a bot on SQLite, with the schema of this release, has no use for yet."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Final

from bot.server import collector
from bot.server.manifest import document
from bot.store.engine import upgrade
from sandbox.gatehouse import WORKSPACES
from sandbox.services.running import running_services
from sandbox.slack.running import running_slack
from tests.harness.programs import serving

NOT_YET: Final = {
    "alembic": "only an older schema is migrated",
    "bot.command_line": "only for the other commands, and for --help",
    "typer": "only for the sandbox",
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
    await upgrade(f"sqlite:///{tmp_path / 'served.db'}")

    async with (
        running_services() as services,
        running_slack(document("http://127.0.0.1"), WORKSPACES) as slack,
        serving(slack, services, tmp_path, PYTHONPROFILEIMPORTTIME="1") as (_, log),
    ):
        imports = [line for line in log.read_text().splitlines() if line.startswith("import time:")]

    loaded = {line.rpartition("|")[2].strip() for line in imports}
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
