"""Checks the schema of a database, and migrates it to this release's inside the transaction of an open connection.

Alembic is imported only where there is something to migrate: most starts find the schema as they left it. A migration's
file is named by its revision, and revisions begin with a number that grows, so that they sort by age.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import sqlalchemy as sa

from bot.store.db import StoreError

MIGRATIONS: Final = Path(__file__).parent
VERSION: Final = sa.table("alembic_version", sa.column("version_num"))
"""Where Alembic keeps the revision of the schema."""


def upgrade_schema(connection: sa.Connection, migrations: Path = MIGRATIONS) -> str:
    """Migrate the schema to the newest of *migrations*, and return that; raises StoreError where it is newer."""
    newest = newest_schema(migrations)
    if usable_schema(connection, migrations) != newest:
        _migrate(connection, migrations)
    return newest


def refuse_other_schema(connection: sa.Connection, migrations: Path = MIGRATIONS) -> None:
    """Raise StoreError unless the schema is the newest of *migrations*; changes nothing."""
    found, newest = usable_schema(connection, migrations), newest_schema(migrations)
    if found is None:
        raise StoreError("it holds nothing of Gatehouse: see that DATABASE_URL names the right one")
    if found != newest:
        raise StoreError(
            f"the database has schema {found}, which an older release of Gatehouse made; this release knows schema"
            f" {newest}. Nothing was changed. Use the older release for this, or bring the database to this release's"
            " schema first: python -m bot db upgrade"
        )


def usable_schema(connection: sa.Connection, migrations: Path = MIGRATIONS) -> str | None:
    """Return the schema of the database, None before the first one; raises StoreError for one that isn't of *migrations*."""
    if not sa.inspect(connection).has_table(VERSION.name):
        return None
    found: str | None = connection.scalar(sa.select(VERSION.c.version_num))
    if found is not None and found not in (known := _known_schemas(migrations)):
        raise StoreError(
            f"the database has schema {found}, which another release of Gatehouse made; this release knows schema"
            f" {known[-1]}. Nothing was changed. Start that release, or put back the backup from before the update."
        )
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
