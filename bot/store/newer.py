"""Changes that a newer release wrote into the same database: recognised, passed over by this one, and left as they are.

While a release is rolled out, and after going back to an older one, the database holds changes of kinds and in states
that this release doesn't know, and changes with fields that may be guards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.change import Change
from bot.domain.wire import restored
from bot.store.errors import NewerRelease
from bot.store.tables import changes

log = structlog.get_logger(__name__)

STORED: Final = (changes.c.id, changes.c.document, changes.c.token)
"""The columns that make a change."""

Row = sa.Row[*tuple[Any, ...]]


def change_of(row: Row) -> Change:
    """Return the change of a row that has the columns `STORED`; raises NewerRelease where it can't be read."""
    try:
        return restored(Change, row.document).model_copy(update={"token": row.token})
    except ValueError as error:
        raise NewerRelease(row.id) from error


def ours(row: Row) -> Change:
    """The same, for a caller that is to act on it: raises NewerRelease also where it has fields that may be guards."""
    change = change_of(row)
    if change.unknown_fields:
        raise NewerRelease(change.id)
    return change


def is_ours(row: Row) -> bool:
    try:
        ours(row)
    except NewerRelease:
        return False
    return True


def readable(rows: Iterable[Row]) -> Iterator[Change]:
    """The changes of those rows that can be read."""
    for row in rows:
        try:
            yield change_of(row)
        except NewerRelease:
            continue


class Newer:
    """The changes that this process has come upon and leaves to a newer release: it doesn't claim them again."""

    def __init__(self) -> None:
        self.ids: set[str] = set()

    def pass_over(self, change_id: str) -> None:
        """Leave it to a newer release from now on; each is logged once."""
        if change_id not in self.ids:
            log.warning("left_to_a_newer_release", change=change_id[:8])
            self.ids.add(change_id)

    async def takes(self, tx: AsyncConnection, change_id: str) -> bool:
        """Whether a newer release is to do what is due for a change; if so, this one passes it over."""
        row = (await tx.execute(sa.select(*STORED).where(changes.c.id == change_id))).one_or_none()
        if row is None or is_ours(row):
            return False
        self.pass_over(change_id)
        return True
