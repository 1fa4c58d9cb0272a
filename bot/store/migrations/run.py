"""Runs the migrations of this release over an open connection, inside its transaction."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
import structlog
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from bot.store.errors import StoreError
from bot.store.tables import compatibility

log = structlog.get_logger(__name__)


def upgrade_schema(connection: sa.Connection) -> None:
    """Bring the schema to this release's; what is there already is left alone, and so is a newer schema that suits.

    Raises StoreError where a newer release made a schema that this one can't work with.
    """
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    if _found(connection) in {None, *_known()}:
        command.upgrade(config, "head")
    else:
        _refuse_newer(connection)


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
    """The schemas that this release knows, the newest first."""
    return [each.revision for each in ScriptDirectory(str(Path(__file__).parent)).walk_revisions()]


def _found(connection: sa.Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


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
