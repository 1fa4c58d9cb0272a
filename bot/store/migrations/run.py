"""Runs the migrations of this release over an open connection, inside its transaction.

Alembic is imported only where there is something to migrate: most starts find the schema as they left it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import sqlalchemy as sa
import structlog

from bot.store.errors import StoreError
from bot.store.tables import compatibility

log = structlog.get_logger(__name__)

HERE: Final = Path(__file__).parent
VERSION: Final = sa.table("alembic_version", sa.column("version_num"))
"""Where Alembic keeps the revision of the schema."""


def upgrade_schema(connection: sa.Connection) -> None:
    """Bring the schema to this release's; what is there already is left alone, and so is a newer schema that suits.

    Raises StoreError where a newer release made a schema that this one can't work with.
    """
    newest, *older = _known()
    match _found(connection):
        case found if found == newest:
            return
        case found if found is None or found in older:
            _migrate(connection)
        case _:
            _refuse_newer(connection)


def _migrate(connection: sa.Connection) -> None:
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(HERE))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def refuse_other_schema(connection: sa.Connection) -> None:
    """Return where the schema is this release's, or a newer one that suits; changes nothing. Raises StoreError."""
    newest, *older = _known()
    match _found(connection):
        case None:
            raise StoreError("it holds nothing of Gatehouse: see that DATABASE_URL names the right one")
        case found if found in older:
            raise StoreError(
                f"the database has schema {found}, which an older release of Gatehouse made; this release knows schema"
                f" {newest}. Nothing was changed. Use the older release for this, or bring the database to this release's"
                " schema first: python -m bot db upgrade"
            )
        case found if found != newest:
            _refuse_newer(connection)


def _known() -> list[str]:
    """The schemas that this release knows, the newest first: each migration's file begins with its revision."""
    return sorted((path.name[:4] for path in HERE.glob("versions/[0-9]*.py")), reverse=True)


def _found(connection: sa.Connection) -> str | None:
    """The schema of the database; None where it has none yet."""
    if not sa.inspect(connection).has_table(VERSION.name):
        return None
    found: str | None = connection.scalar(sa.select(VERSION.c.version_num))
    return found


def _refuse_newer(connection: sa.Connection) -> None:
    found, known = _found(connection), _known()[0]
    needed = _needed(connection)
    if needed is None or needed > known:
        raise StoreError(
            f"the database has schema {found}, which a newer release of Gatehouse made; this release knows schema {known}"
            f" and the database needs {needed or 'a newer one'}. Nothing was changed. Start the newer release, or put back"
            " the backup from before the update."
        )
    log.warning("newer_schema", schema=found, known=known)


def _needed(connection: sa.Connection) -> str | None:
    """The oldest schema whose release may work with the database as it is; revisions are numbers that grow."""
    if not sa.inspect(connection).has_table(compatibility.name):
        return None
    needed: str | None = connection.scalar(sa.select(compatibility.c.oldest_schema))
    return needed
