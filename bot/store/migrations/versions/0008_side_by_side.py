"""What lets several processes, and several releases, work side by side.

A fencing token that only grows, since the count of attempts begins again where a change is put back; and the oldest
schema whose release may work with the database. A later migration that an older release can't live with raises that.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("changes", sa.Column("token", sa.BigInteger, nullable=False, server_default="0"))
    compatibility = op.create_table(
        "compatibility",
        sa.Column("one", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("oldest_schema", sa.String(8), nullable=False),
    )
    op.bulk_insert(compatibility, [{"one": 1, "oldest_schema": "0008"}])
