"""The tables, the same on SQLite and PostgreSQL, and how times and changes are stored in their rows.

Times are UTC microseconds since 1970, documents are JSON text.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa

from bot.changes.model.change import Change
from bot.changes.model.documents import canonical_form, fingerprint
from bot.changes.model.states import HOLDING, IN_EFFECT, LIVE
from bot.text.documents import dump

metadata = sa.MetaData()
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)

LIVE_STATES: Final = sorted(LIVE)
HOLDING_STATES: Final = sorted(HOLDING)


def _partial_index(name: str, column: str, condition: str, *, unique: bool = False) -> sa.Index:
    """Return an index of only the rows that match *condition*: it stays small however many others there are.

    PostgreSQL's index has the same condition, from the migration: naming it here would load that dialect on SQLite, too.
    """
    return sa.Index(name, column, unique=unique, sqlite_where=sa.text(condition))


changes = sa.Table(
    "changes",
    metadata,
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
    sa.Column("ends", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("due", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("size", sa.Integer, nullable=False, server_default="0"),
    sa.Column("set_id", sa.String(32), nullable=False, server_default=""),
    sa.Index("changes_by_state", "state", "created"),
    sa.Index("changes_by_target", "target", "created"),
    sa.Index("changes_by_requester", "requester", "created"),
    _partial_index(
        "one_holder_per_target", "target", "state IN ('applying', 'approved', 'unknown') AND target <> ''", unique=True
    ),
)

items = sa.Table(
    "items",
    metadata,
    sa.Column("set_id", sa.String(32), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("outcome", sa.String(16), nullable=False),
    sa.Column("change_id", sa.String(32)),
    sa.Column("why", sa.Text, nullable=False, server_default=""),
    sa.Column("document", sa.Text, nullable=False),
    sa.Index("items_by_outcome", "set_id", "outcome", "number"),
)

inbox = sa.Table(
    "inbox",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("payload", sa.Text, nullable=False),
    sa.Column("received", sa.BigInteger, nullable=False, index=True),
    sa.Column("done", sa.Boolean, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("owner", sa.String(64), nullable=False, server_default=""),
    sa.Column("lease", sa.BigInteger, nullable=False, server_default="0"),
    _partial_index("inbox_open", "received", "done IS FALSE"),
)

outbox = sa.Table(
    "outbox",
    metadata,
    sa.Column("change_id", sa.String(32), primary_key=True),
    sa.Column("purpose", sa.String(16), primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("delivered", sa.Integer, nullable=False),
    sa.Column("due", sa.BigInteger, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("owner", sa.String(64), nullable=False, server_default=""),
    sa.Column("lease", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("last_error", sa.Text, nullable=False),
    _partial_index("outbox_waiting", "due", "delivered < version"),
    _partial_index("outbox_given_up", "due", "last_error <> ''"),
)

cards = sa.Table(
    "cards",
    metadata,
    sa.Column("change_id", sa.String(32), primary_key=True),
    sa.Column("purpose", sa.String(16), primary_key=True),
    sa.Column("channel", sa.String(32), nullable=False),
    sa.Column("ts", sa.String(32), nullable=False),
    sa.Column("permalink", sa.Text, nullable=False, server_default=""),
)

former_ids = sa.Table(
    "former_ids",
    metadata,
    sa.Column("old", sa.String(128), primary_key=True),
    sa.Column("new", sa.String(128), nullable=False, index=True),
)


decisions = sa.Table(
    "decisions",
    metadata,
    sa.Column("change_id", sa.String(32), primary_key=True),
    sa.Column("person", sa.String(32), primary_key=True),
    sa.Column("decision", sa.String(16), primary_key=True),
)

seen = sa.Table(
    "seen",
    metadata,
    sa.Column("change_id", sa.String(32), primary_key=True),
    sa.Column("viewer", sa.String(32), primary_key=True),
)
"""The people whom Slack has shown all of a change, and the channel whose card shows it."""

audit = sa.Table(
    "audit",
    metadata,
    sa.Column("seq", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
    sa.Column("at", sa.BigInteger, nullable=False, index=True),
    sa.Column("event", sa.String(24), nullable=False),
    sa.Column("change_id", sa.String(32), nullable=False, index=True),
    sa.Column("target", sa.Text, nullable=False, index=True),
    sa.Column("actor", sa.String(32), nullable=False, index=True),
    sa.Column("channel", sa.String(32), nullable=False),
    sa.Column("permalink", sa.Text, nullable=False),
    sa.Column("detail", sa.Text, nullable=False),
)

named_values = sa.Table(
    "named_values",
    metadata,
    sa.Column("owner", sa.String(32), primary_key=True),
    sa.Column("name", sa.String(32), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
"""Values of a person or a service, by name: the last list that they were shown, the freezes."""


def micros(moment: datetime) -> int:
    """Return *moment* as it is stored, in microseconds."""
    return (moment - EPOCH) // MICROSECOND


def moment(stored: int) -> datetime:
    """Return the time that was stored as *stored*, in UTC."""
    return EPOCH + stored * MICROSECOND


STORED: Final = (changes.c.id, changes.c.document, changes.c.token)
"""The columns that make a change."""

Row = sa.Row[*tuple[Any, ...]]

SERVICES: Final = ("rules", "members")
"""The services that changes are written to, each with its own slots for due work. Groups belong to ``rules``."""


NEW = "new:"
"""The prefix of the key of a rule that has no id yet; the fingerprint of its content follows."""


def hold_key(change: Change) -> str:
    """Return the key that only one change at a time may hold: its target; for a rule without an id, its whole content."""
    if change.edit.target.key:
        return str(change.edit.target)
    return f"{change.edit.target}/" + (
        f"set:{change.id}" if change.is_bulk else f"{NEW}{fingerprint(canonical_form(change.edit.after))}"
    )


def is_of_service(service: str) -> sa.ColumnElement[bool]:
    """Return the condition for changes whose target is at *service*, one of `SERVICES`."""
    members = changes.c.target.startswith("members/")
    return members if service == "members" else sa.not_(members)


def row_of(change: Change) -> dict[str, Any]:
    """Return the columns that are derived from *change* at every write."""
    is_done, asked = change.state in IN_EFFECT, change.request
    return {
        "target": hold_key(change),
        "state": change.state,
        "document": dump(change),
        "attempt": change.run.attempt,
        "token": change.run.token,
        "requester": change.request.requester,
        "channel": change.request.channel,
        "ends": asked.reverts_at is not None or (asked.revert_after is not None and not is_done),
        "size": change.bulk.size,
        "set_id": change.set_id or "",
    }
