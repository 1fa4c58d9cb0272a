"""Addresses of channels, to try changes on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "samples",
        sa.Column("channel", sa.String(32), primary_key=True),
        sa.Column("urls", sa.Text, nullable=False),
    )
