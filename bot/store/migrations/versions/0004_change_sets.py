"""Change sets: their parts, and which changes are sets and parts of sets."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("changes", sa.Column("size", sa.Integer, nullable=False, server_default="0"))
    op.add_column("changes", sa.Column("part_of", sa.String(32), nullable=False, server_default=""))
    op.create_table(
        "parts",
        sa.Column("set_id", sa.String(32), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("change_id", sa.String(32)),
        sa.Column("why", sa.Text, nullable=False, server_default=""),
        sa.Column("document", sa.Text, nullable=False),
    )
    op.create_index("parts_by_outcome", "parts", ["set_id", "outcome", "number"])
