"""The schema: made whole by a first start, brought on by a release, refused where it is not for this one."""

from __future__ import annotations

import asyncio
import io
import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pytest
import sqlalchemy as sa

from bot.server.audit_export import write_entries
from bot.store.db import StoreError, open_engine
from bot.store.engine import check, open_store, upgrade
from bot.store.migrations.run import MIGRATIONS, refuse_other_schema
from bot.store.tables import metadata
from tests.harness.clocks import StandingClock
from tests.harness.databases import BOTH
from tests.harness.programs import run_module

both = pytest.mark.parametrize("empty_database", BOTH, indirect=True)

ADDS: Final = (
    "ALTER TABLE changes ADD COLUMN vetoes INTEGER NOT NULL DEFAULT 0",
    "CREATE TABLE votes (person VARCHAR(32) PRIMARY KEY)",
)
FAILS: Final = "DELETE FROM missing_table"
NEWER: Final = "has schema 0002_votes, which another release"


def next_release(folder: Path, *statements: str) -> Path:
    """The migrations of a release after this one, whose own executes *statements*."""
    shutil.copytree(MIGRATIONS, folder / "next")
    lines = ("from alembic import op", "revision = '0002_votes'", "down_revision = '0001_start'", "def upgrade():")
    executed = (f"    op.execute({statement!r})" for statement in statements)
    (folder / "next/versions/0002_votes.py").write_text("\n".join((*lines, *executed)))
    return folder / "next"


async def execute(database_url: str, *statements: str) -> None:
    async with open_engine(database_url) as engine, engine.begin() as connection:
        for statement in statements:
            await connection.execute(sa.text(statement))


async def content(database_url: str) -> dict[str, list[Any]]:
    """Every table of the database with its rows."""

    def read(connection: sa.Connection) -> dict[str, list[Any]]:
        names = sa.inspect(connection).get_table_names()
        return {name: list(connection.execute(sa.select(sa.text("*")).select_from(sa.table(name)))) for name in names}

    async with open_engine(database_url, read_only=True) as engine, engine.connect() as connection:
        return await connection.run_sync(read)


async def version(database_url: str) -> str:
    ((found,),) = (await content(database_url))["alembic_version"]
    return str(found)


async def refusals(database_url: str) -> list[str]:
    """What each part of Gatehouse that opens the database says against it."""

    async def refusal(opening: Any) -> str:
        with pytest.raises(StoreError) as refused:
            await opening
        return str(refused.value)

    out = io.StringIO()
    reading = write_entries(database_url, "jsonl", None, out)
    return [await refusal(opening) for opening in (upgrade(database_url), check(database_url), reading)]


def declared(*, schema: str, sqlite: bool) -> sa.MetaData:
    """The tables as they are declared, in *schema*; their partial indexes on PostgreSQL, too."""
    copy = sa.MetaData()
    for table in metadata.tables.values():
        for index in table.to_metadata(copy, schema=schema).indexes:
            if not sqlite:
                index.dialect_options["postgresql"]["where"] = index.dialect_options["sqlite"]["where"]
    return copy


def described(connection: sa.Connection, schema: str | None, tables: Iterable[str]) -> dict[str, Any]:
    """All that the database knows of each table: columns and their types, keys, indexes, constraints."""
    found = sa.inspect(connection)
    looks = (
        found.get_columns,
        found.get_pk_constraint,
        found.get_indexes,
        found.get_unique_constraints,
        found.get_check_constraints,
        found.get_foreign_keys,
    )
    text = {name: json.dumps([look(name, schema=schema) for look in looks], default=str) for name in tables}
    return {name: json.loads(re.sub(r"\bwanted\.|(?<=ix_)wanted_", "", said)) for name, said in text.items()}


@both
async def test_a_database_has_what_the_tables_declare(empty_database: str) -> None:
    def differ(connection: sa.Connection) -> None:
        sqlite = connection.dialect.name == "sqlite"
        connection.execute(sa.text("ATTACH ':memory:' AS wanted" if sqlite else "CREATE SCHEMA wanted"))
        declared(schema="wanted", sqlite=sqlite).create_all(connection)
        more = set(sa.inspect(connection).get_table_names()) - {*metadata.tables, "alembic_version"}
        assert more == set()
        assert described(connection, None, metadata.tables) == described(connection, "wanted", metadata.tables)

    async with open_store(empty_database, now=StandingClock()) as store:
        # SQLite attaches nothing within a transaction.
        engine = store.session.reader if store.session.sqlite else store.session.writer
        async with engine.connect() as connection:
            await connection.run_sync(differ)


@both
async def test_two_may_bring_the_schema_up_at_once(empty_database: str, tmp_path: Path) -> None:
    migrations = next_release(tmp_path, *ADDS)

    await asyncio.gather(upgrade(empty_database, migrations), upgrade(empty_database, migrations))

    assert await version(empty_database) == "0002_votes"


@pytest.mark.threat("D6")
@both
async def test_a_migration_that_fails_leaves_the_database_as_it_was(empty_database: str, tmp_path: Path) -> None:
    await upgrade(empty_database)
    before = await content(empty_database)

    with pytest.raises(StoreError, match="missing_table"):
        await upgrade(empty_database, next_release(tmp_path, *ADDS, FAILS))

    assert await content(empty_database) == before


@pytest.mark.threat("D6")
@both
async def test_a_newer_schema_is_left_to_the_newer_release(empty_database: str, tmp_path: Path) -> None:
    await upgrade(empty_database, next_release(tmp_path, *ADDS))
    before = await content(empty_database)

    for said in await refusals(empty_database):
        assert NEWER in said
        assert "Start that release" in said
    assert await content(empty_database) == before


@both
async def test_what_only_reads_leaves_an_older_schema_to_the_older_release(empty_database: str, tmp_path: Path) -> None:
    await upgrade(empty_database)
    async with open_engine(empty_database, read_only=True) as engine, engine.connect() as connection:
        with pytest.raises(StoreError, match=r"older release.*db upgrade"):
            await connection.run_sync(refuse_other_schema, next_release(tmp_path, *ADDS))

    assert await version(empty_database) == "0001_start"


@pytest.mark.slow
async def test_the_command_line_says_so_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    await upgrade(f"sqlite:///{file}")
    await execute(f"sqlite:///{file}", "UPDATE alembic_version SET version_num = '0002_votes'")
    before = file.read_bytes()
    required = ("SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET", "RULES_API_KEY", "MEMBERS_API_KEY")
    bases = {"RULES_BASE_URL": "http://127.0.0.1:9/v1", "MEMBERS_BASE_URL": "http://127.0.0.1:9/api/v1"}
    environment = (
        dict.fromkeys(required, "x")
        | bases
        | {"MEMBERS_SITES": "blog=site_1", "DATABASE_URL": f"sqlite:///{file}", "PORT": "0"}
    )

    serve, check = await asyncio.gather(
        *(run_module("bot", each, environment=environment) for each in ("serve", "check"))
    )

    *summary, refusal = serve[2].splitlines()
    assert serve[0] == 1
    assert NEWER in refusal
    assert [line for line in summary if "[info " not in line] == []
    assert [line[:1] for line in check[1].splitlines() if NEWER in line] == ["✗"]
    assert check[0] == 1
    assert file.read_bytes() == before
