"""What a start loads: nothing that a bot on SQLite, with the schema of this release, has no use for yet."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Final

from bot.server.manifest import document
from bot.store.engine import upgrade
from sandbox.gatehouse import SHOP
from sandbox.services.running import running_services
from sandbox.slack.running import SECRET, TOKEN, running_slack
from tests.harness.programs import ROOT, service_variables, serving

NOT_YET: Final = {
    "alembic": "only an older schema is migrated",
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
        running_slack(document("http://127.0.0.1"), SHOP) as slack,
        serving(slack, services, tmp_path, PYTHONPROFILEIMPORTTIME="1") as (_, log),
    ):
        imports = [line for line in log.read_text().splitlines() if line.startswith("import time:")]

    loaded = {line.rpartition("|")[2].strip() for line in imports}
    assert {"bot.server.app", "handlers.slack.listeners", "sqlalchemy.dialects.sqlite"} <= loaded
    assert {name: why for name, why in NOT_YET.items() if name in loaded} == {}


async def test_a_start_that_is_interrupted_ends_without_a_traceback(tmp_path: Path) -> None:
    variables = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "SLACK_BOT_TOKEN": TOKEN,
        "SLACK_SIGNING_SECRET": SECRET,
        "PORT": "0",
        **service_variables("https://rules.example/v1", "https://members.example/api/v1"),
    }
    there = await asyncio.create_subprocess_exec(
        sys.executable, "-X", "importtime", "-m", "bot", "serve",
        cwd=tmp_path, env=variables, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert there.stderr is not None
    while b" structlog" not in (line := await there.stderr.readline()):
        assert line
    there.send_signal(signal.SIGINT)

    _, said = await there.communicate()
    assert there.returncode == -signal.SIGINT
    assert [line for line in said.decode().splitlines() if not line.startswith("import time:")] == []
