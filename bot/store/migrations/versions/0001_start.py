"""Create the tables of this release, empty.

It follows `bot.store.tables` for as long as it is the only migration: the second one has to freeze it.
"""

from alembic import op

from bot.store.tables import metadata

revision = "0001_start"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        for index in (index for table in metadata.tables.values() for index in table.indexes):
            index.dialect_options["postgresql"]["where"] = index.dialect_options["sqlite"]["where"]
    metadata.create_all(connection)
