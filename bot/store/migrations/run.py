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
    script = ScriptDirectory.from_config(config)
    found, known = MigrationContext.configure(connection).get_current_revision(), script.get_current_head()
    if found is None or found in {each.revision for each in script.walk_revisions()}:
        command.upgrade(config, "head")
        return
    needed = _needed(connection)
    if needed is None or known is None or needed > known:
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
