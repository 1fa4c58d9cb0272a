"""Checks the schema of a database, and migrates it to this release's inside the transaction of an open connection.

Alembic is imported only where there is something to migrate: most starts find the schema as they left it. A migration's
file is named by its revision, and revisions begin with a number that grows, so that they sort by age.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import sqlalchemy as sa
import structlog

from bot.store.db import StoreError
from bot.store.tables import compatibility

log = structlog.get_logger(__name__)

MIGRATIONS: Final = Path(__file__).parent
VERSION: Final = sa.table("alembic_version", sa.column("version_num"))
"""Where Alembic keeps the revision of the schema."""
DEVELOPMENT: Final = frozenset({*(f"{number:04}" for number in range(1, 10)), "0001_initial", "0001_schema"})
"""The revisions of development versions before 0.1.0; no migration leads on from them."""


def upgrade_schema(connection: sa.Connection, migrations: Path = MIGRATIONS) -> str:
    """Migrate the schema to the newest of *migrations*, but keep a newer compatible one; return the resulting schema.

    Raises StoreError.
    """
    found = usable_schema(connection, migrations)
    if found is not None and found not in _known_schemas(migrations)[:-1]:
        return found
    _migrate(connection, migrations)
    return newest_schema(migrations)


def refuse_other_schema(connection: sa.Connection, migrations: Path = MIGRATIONS) -> None:
    """Raise StoreError unless the schema is the newest of *migrations*, or a newer compatible one; changes nothing."""
    *older, newest = _known_schemas(migrations)
    found = usable_schema(connection, migrations)
    if found is None:
        raise StoreError("it holds nothing of Gatehouse: see that DATABASE_URL names the right one")
    if found in older:
        raise StoreError(
            f"the database has schema {found}, which an older release of Gatehouse made; this release knows schema"
            f" {newest}. Nothing was changed. Use the older release for this, or bring the database to this release's"
            " schema first: python -m bot db upgrade"
        )


def usable_schema(connection: sa.Connection, migrations: Path = MIGRATIONS) -> str | None:
    """Return the schema of the database, None before the first one; raises StoreError where a start would refuse it."""
    found = _read_if_there(connection, VERSION, "version_num")
    if found in DEVELOPMENT:
        raise StoreError(
            "it was made by a development version of Gatehouse, before 0.1.0, which this release can't read. Nothing was"
            " changed. To keep its audit, run python -m bot audit export with that version. Then set DATABASE_URL to a"
            " new database."
        )
    if found is not None and found not in (known := _known_schemas(migrations)):
        _refuse_newer(connection, found, known[-1])
    return found


def _migrate(connection: sa.Connection, migrations: Path) -> None:
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    command.upgrade(config, "head")


def _known_schemas(migrations: Path) -> list[str]:
    """Return the schemas that this release knows, the oldest first."""
    return sorted(path.stem for path in migrations.glob("versions/[0-9]*.py"))


def newest_schema(migrations: Path = MIGRATIONS) -> str:
    """Return the schema of this release."""
    return _known_schemas(migrations)[-1]


def _refuse_newer(connection: sa.Connection, found: str, known: str) -> None:
    """Raise StoreError unless the release that made schema *found* says that one which knows *known* may work with it."""
    needed = _read_if_there(connection, compatibility, "oldest_schema")
    if needed is None or needed > known:
        raise StoreError(
            f"the database has schema {found}, which a newer release of Gatehouse made; this release knows schema {known}"
            f" and the database needs {needed or 'a newer one'}. Nothing was changed. Start the newer release, or put back"
            " the backup from before the update."
        )
    log.warning("newer_schema", schema=found, known=known)


def _read_if_there(connection: sa.Connection, table: sa.TableClause, column: str) -> str | None:
    """Return the value of *column* in the one row of *table*; None where the database has no such table yet, or no row."""
    if not sa.inspect(connection).has_table(table.name):
        return None
    found: str | None = connection.scalar(sa.select(table.c[column]))
    return found
