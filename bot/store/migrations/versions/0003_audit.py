"""Decisions, timers, the audit chain; what changes are searched by."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

START = "0" * 64
"""The hash before the first event."""


def upgrade() -> None:
    op.create_table(
        "decisions",
        sa.Column("change_id", sa.String(32), primary_key=True),
        sa.Column("person", sa.String(32), primary_key=True),
        sa.Column("decision", sa.String(16), primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
    )
    timers = op.create_table(
        "timers",
        sa.Column("change_id", sa.String(32), primary_key=True),
        sa.Column("kind", sa.String(16), primary_key=True),
        sa.Column("due", sa.BigInteger, nullable=False, index=True),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("owner", sa.String(64)),
        sa.Column("lease", sa.BigInteger),
    )
    op.create_table(
        "audit",
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("event", sa.String(24), nullable=False),
        sa.Column("change_id", sa.String(32), nullable=False, index=True),
        sa.Column("target", sa.Text, nullable=False, index=True),
        sa.Column("actor", sa.String(32), nullable=False, index=True),
        sa.Column("channel", sa.String(32), nullable=False),
        sa.Column("permalink", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
    )
    head = op.create_table(
        "audit_head",
        sa.Column("one", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
    )
    op.bulk_insert(head, [{"one": 1, "seq": 0, "hash": START}])
    op.add_column("cards", sa.Column("permalink", sa.Text, nullable=False, server_default=""))
    for column in (
        sa.Column("requester", sa.String(32), nullable=False, server_default=""),
        sa.Column("channel", sa.String(32), nullable=False, server_default=""),
        sa.Column("undoable", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("due", sa.BigInteger, nullable=False, server_default="0"),
    ):
        op.add_column("changes", column)
    op.create_index("changes_by_state", "changes", ["state", "created"])
    _fill_what_changes_are_searched_by()
    _let_open_requests_expire(timers)


def _let_open_requests_expire(timers: sa.Table) -> None:
    changes = sa.table("changes", sa.column("id", sa.String), sa.column("document", sa.Text), sa.column("state", sa.String))
    connection = op.get_bind()
    query = sa.select(changes.c.id, changes.c.document).where(changes.c.state == "proposed")
    for row in connection.execute(query).all():
        if expires := json.loads(row.document).get("expires"):
            due = (datetime.fromisoformat(expires) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
            connection.execute(sa.insert(timers).values(change_id=row.id, kind="expire", due=due, number=0))


def _fill_what_changes_are_searched_by() -> None:
    changes = sa.table(
        "changes",
        sa.column("id", sa.String),
        sa.column("document", sa.Text),
        sa.column("requester", sa.String),
        sa.column("channel", sa.String),
        sa.column("undoable", sa.Boolean),
    )
    connection = op.get_bind()
    for row in connection.execute(sa.select(changes.c.id, changes.c.document)).all():
        change = json.loads(row.document)
        undoable = change["state"] == "applied" and not change.get("undone_by") and not change.get("undoes")
        values = {"requester": change["requester"], "channel": change["channel"], "undoable": undoable}
        connection.execute(sa.update(changes).where(changes.c.id == row.id).values(values))
