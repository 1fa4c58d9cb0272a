"""A request that waits for a decision holds its target no longer: only what was approved does."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

HOLDING = "state IN ('applying', 'approved', 'unknown') AND target <> ''"


def upgrade() -> None:
    op.create_index(
        "one_holder_per_target",
        "changes",
        ["target"],
        unique=True,
        sqlite_where=sa.text(HOLDING),
        postgresql_where=sa.text(HOLDING),
    )
    op.drop_index("one_live_change_per_target", "changes")
