"""Indexes by which rows are looked up: those that are still open, apart from all that are done, and those of one target."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _index_open("outbox_waiting", "outbox", "due", "delivered < version")
    _index_open("outbox_given_up", "outbox", "due", "last_error <> ''")
    _index_open("inbound_open", "inbound", "received", "done IS FALSE")
    op.drop_index("ix_outbox_due", "outbox")
    op.create_index("changes_by_target", "changes", ["target", "created"])
    op.create_index("changes_by_requester", "changes", ["requester", "created"])
    op.create_index("ix_aliases_new", "aliases", ["new"])
    op.create_index("ix_audit_at", "audit", ["at"])


def _index_open(name: str, table: str, column: str, condition: str) -> None:
    where = sa.text(condition)
    op.create_index(name, table, [column], sqlite_where=where, postgresql_where=where)
