"""Changes, requests taken in, what Slack is owed, cards, lists."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

LIVE = "state IN ('applying', 'approved', 'proposed', 'unknown') AND target <> ''"


def upgrade() -> None:
    op.create_table(
        "changes",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("origin", sa.String(64), nullable=False, unique=True),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False, server_default="0"),
        sa.Column("owner", sa.String(64)),
        sa.Column("lease", sa.BigInteger),
    )
    op.create_index(
        "one_live_change_per_target",
        "changes",
        ["target"],
        unique=True,
        sqlite_where=sa.text(LIVE),
        postgresql_where=sa.text(LIVE),
    )
    op.create_table(
        "inbound",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("natural_key", sa.String(64), nullable=False, unique=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.Column("received", sa.BigInteger, nullable=False, index=True),
        sa.Column("done", sa.Boolean, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("lease", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "outbox",
        sa.Column("change_id", sa.String(32), primary_key=True),
        sa.Column("purpose", sa.String(16), primary_key=True),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("delivered", sa.Integer, nullable=False),
        sa.Column("due", sa.BigInteger, nullable=False, index=True),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("owner", sa.String(64)),
        sa.Column("lease", sa.BigInteger),
        sa.Column("last_error", sa.Text, nullable=False),
    )
    op.create_table(
        "cards",
        sa.Column("change_id", sa.String(32), primary_key=True),
        sa.Column("purpose", sa.String(16), primary_key=True),
        sa.Column("channel", sa.String(32), nullable=False),
        sa.Column("ts", sa.String(32), nullable=False),
    )
    op.create_table(
        "lists",
        sa.Column("person", sa.String(32), primary_key=True),
        sa.Column("service", sa.String(16), primary_key=True),
        sa.Column("refs", sa.Text, nullable=False),
    )
