"""Old ids of rules that came back under a new one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "aliases",
        sa.Column("old", sa.String(128), primary_key=True),
        sa.Column("new", sa.String(128), nullable=False),
    )
