"""Look changes up: by id, origin, target, requester and state. Documents of a newer release are kept and left alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.changes.model import Change, Kind, State, Target
from bot.store.db import NewerRelease, Session
from bot.store.tables import HOLDING_STATES, LIVE_STATES, changes, decisions, outbox, timers
from bot.text.documents import restored

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


NEW = "new:"
"""What a rule that has no id yet is stored under, before the fingerprint of its content."""
SERVICES: Final = ("rules", "members")
"""What changes are written to, each with slots of its own for what is due there. Groups are with the rules."""
IDS = 500
"""Ids that one query asks for."""


def of_service(service: str) -> sa.ColumnElement[bool]:
    """The changes whose target is at one of `SERVICES`."""
    members = changes.c.target.startswith("members/")
    return members if service == "members" else sa.not_(members)


class Queries:
    """Those of one change raise NewerRelease where it is a newer release's; lists leave such changes out."""

    def __init__(self, session: Session, newer: Newer) -> None:
        self._session = session
        self._newer = newer

    async def get(self, change_id: str) -> Change | None:
        async with self._session.reading() as connection:
            row = (await connection.execute(sa.select(*STORED).where(changes.c.id == change_id))).one_or_none()
        return None if row is None else ours(row)

    async def many(self, ids: Sequence[str]) -> dict[str, Change]:
        """These changes, by id."""
        found: dict[str, Change] = {}
        async with self._session.reading() as connection:
            for first in range(0, len(ids), IDS):
                query = sa.select(*STORED).where(changes.c.id.in_(ids[first : first + IDS]))
                found.update((change.id, change) for change in map(ours, await connection.execute(query)))
        return found

    async def of_origin(self, origin: str) -> Change | None:
        """The change that this origin made."""
        query = sa.select(*STORED).where(changes.c.origin == origin)
        async with self._session.reading() as connection:
            row = (await connection.execute(query)).one_or_none()
        return None if row is None else change_of(row)

    async def called(self, reference: str) -> Sequence[Change]:
        """The changes whose id begins with *reference*, hexadecimal as people read it off a card; at most two."""
        begins = sa.and_(changes.c.id >= reference, changes.c.id < f"{reference}g")  # LIKE would read them all
        query = sa.select(*STORED).where(begins).limit(2)
        async with self._session.reading() as connection:
            return [ours(row) for row in await connection.execute(query)]

    async def undoable(self, requester: str, channel: str) -> Change | None:
        """The last change that *requester* made in *channel* and that can be taken back."""
        mine = sa.and_(changes.c.requester == requester, changes.c.channel == channel, changes.c.undoable)
        query = sa.select(*STORED).where(mine).order_by(changes.c.created.desc()).limit(1)
        async with self._session.reading() as connection:
            row = (await connection.execute(query)).first()
        return None if row is None else ours(row)

    async def of_requester(self, requester: str, limit: int) -> Sequence[Change]:
        """The changes that *requester* asked for, newest first."""
        return await self._documents(changes.c.requester == requester, limit=limit)

    async def open(self, limit: int = 50) -> Sequence[Change]:
        """The changes that wait for a decision, a service or an answer.

        First the oldest of each person, then the second oldest: nobody's are hidden behind another's flood.
        """
        turn = sa.func.row_number().over(partition_by=changes.c.requester, order_by=changes.c.created)
        query = sa.select(*STORED, changes.c.created, turn.label("turn"))
        turns = query.where(changes.c.state.in_(LIVE_STATES)).subquery()
        fair = sa.select(turns).order_by(turns.c.turn, turns.c.created).limit(limit)
        async with self._session.reading() as connection:
            found = readable(await connection.execute(fair))
            return [change for change in found if not change.unknown_fields]

    async def waiting(self, tx: AsyncConnection, requester: str, channel: str) -> tuple[int, int]:
        """How many requests of *requester*, and how many in *channel*, wait for a decision."""
        theirs, here = (
            sa.func.coalesce(sa.func.sum(sa.case((condition, 1), else_=0)), 0)
            for condition in (changes.c.requester == requester, changes.c.channel == channel)
        )
        row = (await tx.execute(sa.select(theirs, here).where(changes.c.state == State.PROPOSED))).one()
        return int(row[0]), int(row[1])

    async def counts(self) -> dict[str, int]:
        """How many changes are in each state."""
        query = sa.select(changes.c.state, sa.func.count().label("many")).group_by(changes.c.state)
        async with self._session.reading() as connection:
            return {row.state: row.many for row in await connection.execute(query)}

    async def creations(self, target: Target) -> Sequence[Change]:
        """The changes that may have made the rule *target*: one that did, and those of which it is not known yet."""
        unnamed = changes.c.target.startswith(f"rules/{NEW}")
        open_ = sa.and_(unnamed, changes.c.state.in_((State.APPLYING, State.UNKNOWN)))
        query = sa.select(*STORED).where(sa.or_(changes.c.target == str(target), open_))
        async with self._session.reading() as connection:
            found = readable(await connection.execute(query))
            return [change for change in found if change.kind is Kind.RULE_CREATE]

    async def is_being_reverted(self, tx: AsyncConnection, change_id: str) -> bool:
        """Whether the end of a temporary change is at work, or of unknown outcome."""
        query = sa.select(changes.c.id).where(
            changes.c.origin.startswith(f"revert:{change_id}:"), changes.c.state.in_(HOLDING_STATES)
        )
        return await tx.scalar(query.limit(1)) is not None

    async def for_targets(self, targets: Sequence[str], limit: int = 20) -> Sequence[Change]:
        """The changes of these targets, newest first."""
        return await self._documents(changes.c.target.in_(targets), limit=limit)

    async def _documents(self, where: sa.ColumnElement[bool], *, limit: int) -> Sequence[Change]:
        query = sa.select(*STORED).where(where).order_by(changes.c.created.desc()).limit(limit)
        async with self._session.reading() as connection:
            found = readable(await connection.execute(query))
            return [change for change in found if not change.unknown_fields]

    async def of_newer_release(self) -> frozenset[str]:
        """The ids of changes that are left to a newer release, of those that are open, waited for, or in a state of its."""
        waited_for = sa.union(
            sa.select(timers.c.change_id), sa.select(outbox.c.change_id).where(outbox.c.delivered < outbox.c.version)
        )
        unknown = changes.c.state.not_in(sorted(State))
        wanted = sa.or_(changes.c.state.in_(LIVE_STATES), unknown, changes.c.id.in_(waited_for))
        async with self._session.reading() as connection:
            rows = await connection.execute(sa.select(*STORED).where(wanted))
            return frozenset(row.id for row in rows if not is_ours(row))

    async def has_decided(self, change_id: str, person: str, decision: str, reason: str) -> bool:
        """Whether *person* took this decision, with this very reason."""
        known = {"change_id": change_id, "person": person, "decision": decision, "reason": reason}
        query = sa.select(decisions.c.at).filter_by(**known)
        async with self._session.reading() as connection:
            return await connection.scalar(query) is not None
