"""Runs the migrations of this release over an open connection, inside its transaction."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config


def upgrade_schema(connection: sa.Connection) -> None:
    """Bring the schema to this release's; what is there already is left alone."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
