"""Create every table of the first release, empty but for the head of the audit and the compatible schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001_tables"
down_revision = None
branch_labels = None
depends_on = None

START = "0" * 64
"""The hash before the first event."""


def upgrade() -> None:
    _create_changes()
    _create_items_and_decisions()
    _create_inbox()
    _create_outbox()
    _create_timers()
    _create_audit()
    _create_settings()
    _create_compatibility()


def _partial(name: str, column: str, condition: str, *, unique: bool = False) -> sa.Index:
    """Return an index of only the rows for which *condition* holds."""
    where = sa.text(condition)
    return sa.Index(name, column, unique=unique, sqlite_where=where, postgresql_where=where)


def _create_changes() -> None:
    op.create_table(
        "changes",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("idempotency_key", sa.String(64), nullable=False, unique=True),
        sa.Column("target", sa.Text, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False, server_default="0"),
        sa.Column("token", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("owner", sa.String(64), nullable=False, server_default=""),
        sa.Column("lease", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("requester", sa.String(32), nullable=False, server_default=""),
        sa.Column("channel", sa.String(32), nullable=False, server_default=""),
        sa.Column("undoable", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("due", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("size", sa.Integer, nullable=False, server_default="0"),
        sa.Column("set_id", sa.String(32), nullable=False, server_default=""),
        sa.Index("changes_by_requester", "requester", "created"),
        sa.Index("changes_by_state", "state", "created"),
        sa.Index("changes_by_target", "target", "created"),
        _partial(
            "one_holder_per_target",
            "target",
            "state IN ('applying', 'approved', 'unknown') AND target <> ''",
            unique=True,
        ),
    )


def _create_items_and_decisions() -> None:
    op.create_table(
        "items",
        sa.Column("set_id", sa.String(32), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("change_id", sa.String(32)),
        sa.Column("why", sa.Text, nullable=False, server_default=""),
        sa.Column("document", sa.Text, nullable=False),
        sa.Index("items_by_outcome", "set_id", "outcome", "number"),
    )
    op.create_table(
        "decisions",
        sa.Column("change_id", sa.String(32), primary_key=True),
        sa.Column("person", sa.String(32), primary_key=True),
        sa.Column("decision", sa.String(16), primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
    )


def _create_inbox() -> None:
    op.create_table(
        "inbox",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("natural_key", sa.String(64), nullable=False, unique=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.Column("received", sa.BigInteger, nullable=False, index=True),
        sa.Column("done", sa.Boolean, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("owner", sa.String(64), nullable=False, server_default=""),
        sa.Column("lease", sa.BigInteger, nullable=False, server_default="0"),
        _partial("inbox_open", "received", "done IS FALSE"),
    )


def _create_outbox() -> None:
    op.create_table(
        "outbox",
        sa.Column("change_id", sa.String(32), primary_key=True),
        sa.Column("purpose", sa.String(16), primary_key=True),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("delivered", sa.Integer, nullable=False),
        sa.Column("due", sa.BigInteger, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("owner", sa.String(64), nullable=False, server_default=""),
        sa.Column("lease", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("last_error", sa.Text, nullable=False),
        _partial("outbox_given_up", "due", "last_error <> ''"),
        _partial("outbox_waiting", "due", "delivered < version"),
    )
    op.create_table(
        "cards",
        sa.Column("change_id", sa.String(32), primary_key=True),
        sa.Column("purpose", sa.String(16), primary_key=True),
        sa.Column("channel", sa.String(32), nullable=False),
        sa.Column("ts", sa.String(32), nullable=False),
        sa.Column("permalink", sa.Text, nullable=False, server_default=""),
    )


def _create_timers() -> None:
    op.create_table(
        "timers",
        sa.Column("change_id", sa.String(32), primary_key=True),
        sa.Column("kind", sa.String(16), primary_key=True),
        sa.Column("due", sa.BigInteger, nullable=False, index=True),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("owner", sa.String(64), nullable=False, server_default=""),
        sa.Column("lease", sa.BigInteger, nullable=False, server_default="0"),
    )


def _create_audit() -> None:
    op.create_table(
        "audit",
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("at", sa.BigInteger, nullable=False, index=True),
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


def _create_settings() -> None:
    op.create_table(
        "former_ids",
        sa.Column("old", sa.String(128), primary_key=True),
        sa.Column("new", sa.String(128), nullable=False, index=True),
    )
    op.create_table(
        "settings",
        sa.Column("owner", sa.String(32), primary_key=True),
        sa.Column("name", sa.String(32), primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    op.create_table(
        "misses",
        sa.Column("text", sa.String(300), primary_key=True),
        sa.Column("count", sa.Integer, nullable=False),
        sa.Column("last", sa.BigInteger, nullable=False),
    )


def _create_compatibility() -> None:
    compatibility = op.create_table(
        "compatibility",
        sa.Column("one", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("oldest_schema", sa.String(32), nullable=False),
    )
    op.bulk_insert(compatibility, [{"one": 1, "oldest_schema": revision}])
