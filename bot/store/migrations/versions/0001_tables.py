"""Create the tables of this release, empty but for the head of the audit.

It follows `bot.store.tables` for as long as it is the only migration: the second one has to freeze it.
"""

from alembic import op

from bot.store.audit import START
from bot.store.tables import audit_head, metadata

revision = "0001_tables"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        for index in (index for table in metadata.tables.values() for index in table.indexes):
            index.dialect_options["postgresql"]["where"] = index.dialect_options["sqlite"]["where"]
    metadata.create_all(connection)
    op.bulk_insert(audit_head, [{"one": 1, "seq": 0, "hash": START}])
