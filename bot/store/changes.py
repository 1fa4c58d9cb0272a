"""Changes in the database. A change moves by one compare-and-set, and only by a move that starts in its state."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import nullcontext
from datetime import datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.changes.model.change import Change
from bot.changes.model.edits import Target
from bot.changes.model.items import Outcome
from bot.changes.model.moves import Approve, Claim, Defer, Ended, Move
from bot.changes.model.states import IN_EFFECT, State
from bot.store.change_queries import CLAIMED, ChangeQueries, select_changes
from bot.store.db import Session, StoreError, TargetBusy, UnreadableRow, insert, insert_new
from bot.store.leases import Leases
from bot.store.tables import (
    HOLDING_STATES,
    Row,
    changes,
    decisions,
    former_ids,
    hold_key,
    is_of_service,
    items,
    micros,
    moment,
    row_of,
    seen,
)

UNREADABLE_AGAIN: Final = timedelta(hours=1)
"""How long a change whose row can't be read is not claimed."""


def _new_row(change: Change, idempotency_key: str) -> dict[str, Any]:
    return row_of(change) | {"id": change.id, "idempotency_key": idempotency_key, "created": micros(change.created)}


def _with_locks(query: sa.Select[Any]) -> sa.Select[Any]:
    """Return *query* with its rows locked, always in one order, since two of them could deadlock otherwise."""
    return query.order_by(changes.c.id).with_for_update()


def _owed_on() -> sa.Select[Any]:
    """Select the changes of one target that have an end, alone or in a bulk change, locked."""
    former = sa.select(former_ids.c.old).where(former_ids.c.new == sa.bindparam("key")).cte(recursive=True)
    former = former.union(sa.select(former_ids.c.old).where(former_ids.c.new == former.c.old))
    # A rule that was deleted and restored has a new id; older changes name the old one.
    restored = sa.select(sa.bindparam("place", type_=sa.String).concat(former.c.old))
    whole = changes.alias()
    ends = sa.or_(changes.c.ends, sa.exists().where(whole.c.id == changes.c.set_id, whole.c.ends))
    about = sa.or_(changes.c.target == sa.bindparam("target"), changes.c.target.in_(restored))
    return _with_locks(select_changes(about, changes.c.state.in_(IN_EFFECT), ends))


OWED_ON: Final = _owed_on()
"""Built once, since it is asked whenever a change was applied."""


def _when(change: Change) -> tuple[datetime | None, datetime | None]:
    """Return when a planned change is to begin, and since when it is held."""
    return change.request.starts_at, change.run.held_at


class Changes(ChangeQueries):
    """The table of changes, which writes them one by one or, as items of a bulk change, many at once."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.leases = Leases(session, changes, changes.c.token)

    async def count_waiting(self, tx: AsyncConnection, requester: str) -> int:
        """Return how many requests of *requester* wait for a decision."""
        theirs = sa.and_(changes.c.state == State.PROPOSED, changes.c.requester == requester)
        return await tx.scalar(sa.select(sa.func.count()).where(theirs)) or 0

    async def is_being_reverted(self, tx: AsyncConnection, change_id: str) -> bool:
        """Whether the revert of a temporary change is being applied, or its outcome is unknown."""
        query = sa.select(changes.c.id).where(
            changes.c.idempotency_key.startswith(f"revert:{change_id}:"), changes.c.state.in_(HOLDING_STATES)
        )
        return await tx.scalar(query.limit(1)) is not None

    async def owed_on(self, tx: AsyncConnection, target: Target) -> Sequence[Change]:
        """Return the changes of *target* that have an end, alone or in a bulk change, and were not undone; locked."""
        about = {"target": str(target), "place": f"{target.with_key(None)}/", "key": target.key}
        found = [self._change(row) for row in await tx.execute(OWED_ON, about)]
        return [each for each in found if each.run.undone is None]

    async def add(self, tx: AsyncConnection, change: Change, idempotency_key: str) -> Change:
        """Store *change* and return it; where one with the same *idempotency_key* is stored already, return that one.

        Raises TargetBusy where another change holds the target.
        """
        if (known := await self._find_by_key(tx, idempotency_key)) is not None:
            return known
        # A planned change holds nothing before it begins: others may change the target until then.
        if change.request.starts_at is None:
            await self._refuse_held(tx, change)
        if await insert_new(tx, changes, _new_row(change, idempotency_key)):
            return change
        if (known := await self._find_by_key(tx, idempotency_key)) is not None:  # another one was faster
            return known
        await self._refuse_held(tx, change)
        raise StoreError(f"the change {change.id} is there already")

    async def _find_by_key(self, tx: AsyncConnection, idempotency_key: str) -> Change | None:
        row = (await tx.execute(select_changes(changes.c.idempotency_key == idempotency_key))).one_or_none()
        return None if row is None else self._change(row)

    async def require_free(self, change: Change) -> None:
        """Require that no change holds the target of *change*; raises TargetBusy."""
        async with self._session.reading() as connection:
            await self._refuse_held(connection, change)

    async def _refuse_held(self, tx: AsyncConnection, change: Change) -> None:
        """Require within *tx* that no change holds what *change* would hold; raises TargetBusy."""
        held = select_changes(changes.c.target == hold_key(change), changes.c.state.in_(HOLDING_STATES))
        if (row := (await tx.execute(held)).first()) is not None:
            raise TargetBusy(self._change(row))

    async def lock_requests(self, tx: AsyncConnection, change: Change) -> None:
        """Keep other transactions from recording a request about the target of *change* until this one ends.

        Otherwise two that are recorded at once don't see each other. SQLite has only one writer.
        """
        if not self._session.sqlite:
            number = sa.func.hashtextextended(hold_key(change), 0)
            await tx.execute(sa.select(sa.func.pg_advisory_xact_lock(number)))

    async def related_requests(self, tx: AsyncConnection, applied: Sequence[Change]) -> Sequence[Change]:
        """Return the proposed and planned changes of a target of *applied*, and those that would undo what one of them undoes.

        Of a rule that has no id yet, those are meant that would create the same.

        Those that somebody is deciding about at this moment are left out: once approved, they look at the target first.
        """
        targets = [hold_key(change) for change in applied]
        undone = [f"undo:{change.request.undoes}:" for change in applied if change.request.undoes]
        about = sa.or_(changes.c.target.in_(targets), *map(changes.c.idempotency_key.startswith, undone))
        wanted = select_changes(changes.c.state.in_([State.PROPOSED, State.PLANNED]), about)
        return [self._change(row) for row in await tx.execute(wanted.with_for_update(skip_locked=True))]

    async def move(
        self,
        tx: AsyncConnection,
        read: Change,
        move: Move,
        at: datetime,
        *,
        planned: bool = False,
        due: datetime | None = None,
    ) -> Change | None:
        """Make *move* at the time *at*, or return None where the change is not where the move starts.

        *read*: the change as it was read; None as well where it is to be approved, and requires something else now. *planned*:
        None as well where it has another time now, or was held or released since. Raises TargetBusy where the change would hold
        its target now, and another one does. *due*: when an approved change is taken up where its process died.
        """
        row = await self._lock(tx, read.id)
        if row is None or row.state not in move.starts:
            return None
        change = self._change(row)
        # Slack can't be asked within a transaction, so the change must still require what the rights were checked for.
        if isinstance(move, Approve) and not change.decision.has_requirements_of(read.decision):
            return None
        if planned and _when(change) != _when(read):
            return None
        columns = {} if due is None else {"due": micros(due)}
        replace = self._hold if move.begins else self._replace
        return await replace(tx, change, move.apply(change, at), **columns)

    async def _hold(self, tx: AsyncConnection, change: Change, made: Change, **columns: Any) -> Change | None:
        """Replace *change* by *made*, which holds its target; raises TargetBusy where another change holds it, or was faster."""
        await self._refuse_held(tx, made)
        try:
            # SQLite has only one writer.
            async with nullcontext() if self._session.sqlite else tx.begin_nested():
                return await self._replace(tx, change, made, **columns)
        # The unique index on held targets decides between two who looked at the same moment.
        except IntegrityError:
            await self._refuse_held(tx, made)
            raise

    async def claim(self, tx: AsyncConnection, change_id: str, owner: str, lease: timedelta) -> Change | None:
        """Claim an approved change for *owner*; None where another process has claimed it."""
        row = await self._lock(tx, change_id)
        if row is None or row.state not in Claim.starts:
            return None
        return await self.take(tx, self._change(row), owner, lease)

    async def claim_due(
        self,
        tx: AsyncConnection,
        owner: str,
        lease: timedelta,
        *,
        bulk: bool = False,
        but: Collection[str] = (),
        service: str | None = None,
    ) -> Change | None:
        """Claim the change that is overdue the longest, left after its approval or by its owner; None where there is none.

        *but*: ids of changes to skip. *service*: the service whose changes are claimed; None for all.
        """
        due = self._select_due(bulk, but, service).with_for_update(skip_locked=True)
        if (row := (await tx.execute(due)).one_or_none()) is None:
            return None
        try:
            change = self._change(row)
        except UnreadableRow:  # looked at again later, or what is due after it would never be claimed
            later = self._session.now(UNREADABLE_AGAIN)
            await tx.execute(sa.update(changes).where(changes.c.id == row.id).values(lease=later, due=later))
            return None
        return await self.take(tx, change, owner, lease)

    async def any_due(self, *, bulk: bool = False, but: Collection[str] = (), service: str | None = None) -> bool:
        """Whether there is something for `claim_due`, read without locks."""
        return bool(await self._session.rows(self._select_due(bulk, but, service)))

    def _select_due(self, bulk: bool, but: Collection[str], service: str | None) -> sa.Select[Any]:
        """Select what may be claimed: no item that is being applied, which is its bulk change's, but items of unknown outcome."""
        # The process that applies a bulk change knows when its items may be sent; no other takes them up.
        claimed = sa.or_(
            changes.c.state == State.UNKNOWN, sa.and_(changes.c.state == State.APPLYING, changes.c.set_id == "")
        )
        abandoned = sa.and_(claimed, self.leases.free)
        left = sa.and_(changes.c.state == State.APPROVED, changes.c.due < self._session.now())
        kind = changes.c.size > 0 if bulk else changes.c.size == 0
        wanted = sa.and_(kind, sa.or_(abandoned, left), changes.c.id.not_in(but))
        here = sa.true() if service is None else is_of_service(service)
        since = sa.case((changes.c.state == State.APPROVED, changes.c.due), else_=changes.c.lease)
        return sa.select(changes).where(wanted, here).order_by(since, changes.c.created).limit(1)

    async def take(self, tx: AsyncConnection, change: Change, owner: str, lease: timedelta) -> Change | None:
        """Claim *change*, which *tx* read or wrote last, for *owner*; an approved change becomes APPLYING."""
        until = self._session.now(lease)
        taken = Claim(lease=lease).apply(change, moment(until) - lease)
        return await self._replace(tx, change, taken, owner=owner, lease=until)

    async def get_locked(self, tx: AsyncConnection, change_id: str) -> Change | None:
        """Return the change, read within *tx* and locked until its end."""
        row = await self._lock(tx, change_id)
        return None if row is None else self._change(row)

    async def find_undo_in(self, tx: AsyncConnection, set_id: str) -> Change | None:
        """Return the change that undid an item of a bulk change; None where nothing did."""
        item = sa.select(items.c.change_id).where(items.c.set_id == set_id, items.c.outcome == Outcome.UNDONE).limit(1)
        for row in await tx.execute(select_changes(changes.c.id == item.scalar_subquery())):
            if (undone := self._change(row).run.undone) is not None:
                return await self.get_locked(tx, undone.change)
        return None

    async def is_applying(self, tx: AsyncConnection, change: Change, owner: str) -> bool:
        """Whether *owner* still has its claim on *change*; no other process can claim it before the end of *tx*."""
        row = await self._lock(tx, change.id)
        return row is not None and (row.state, row.owner, row.token) == (State.APPLYING, owner, change.run.token)

    async def record(self, tx: AsyncConnection, held: Change, made: Change) -> None:
        """Write *made* over a change as `get_locked` returned it, without moving it."""
        await self._replace(tx, held, made)

    async def _replace(self, tx: AsyncConnection, change: Change, made: Change, **columns: Any) -> Change | None:
        """Write *made* over *change* by compare-and-set: only if the stored state and fencing token are still *change*'s."""
        update = (
            sa.update(changes)
            .where(changes.c.id == change.id, changes.c.state == change.state, changes.c.token == change.run.token)
            .values(row_of(made) | columns)
        )
        return made if (await tx.execute(update)).rowcount == 1 else None

    async def _lock(self, tx: AsyncConnection, change_id: str) -> Row | None:
        """Return the row of a change, locked until the end of *tx*; None where there is none."""
        query = sa.select(changes).where(changes.c.id == change_id)
        row: Row | None = (await tx.execute(query.with_for_update())).one_or_none()
        return row

    async def take_up(self, tx: AsyncConnection, change_id: str, owner: str, lease: timedelta) -> Change | None:
        """Take over an item that a dead process was applying; None where its owner's lease still runs."""
        row = await self._lock(tx, change_id)
        if row is None or row.state != State.APPLYING or (row.owner != owner and row.lease > self._session.now()):
            return None
        return await self.take(tx, self._change(row), owner, lease)

    async def begin(
        self, tx: AsyncConnection, items: Sequence[Change], owner: str, lease: timedelta
    ) -> Sequence[Change]:
        """Store new changes in state APPLYING and return them, without those whose target another change holds."""
        until = self._session.now(lease)
        # Every process inserts in the same order, or two bulk changes with the same targets would deadlock.
        ordered = sorted(items, key=hold_key)
        rows = [_new_row(item, f"item:{item.id}") | {"owner": owner, "lease": until} for item in ordered]
        if not rows:
            return []
        begin = insert(tx, changes).on_conflict_do_nothing().returning(changes.c.id)
        begun = set(await tx.scalars(begin, rows))
        return [item for item in items if item.id in begun]

    async def renew(
        self, tx: AsyncConnection, change: Change, items: Sequence[str], owner: str, lease: timedelta
    ) -> bool:
        """Renew the lease on *change* and those *items* of it; False where *owner* no longer has the change."""
        until = {"lease": self._session.now(lease)}
        open_ = changes.c.state.in_(CLAIMED)
        this = sa.and_(changes.c.id == change.id, changes.c.token == change.run.token, open_)
        if not await self.leases.write(tx, this, owner, until):
            return False
        if items:
            theirs = sa.and_(changes.c.id.in_(items), open_)
            # Locked in one order first: an UPDATE takes its rows in whatever order it finds them.
            await tx.execute(_with_locks(sa.select(changes.c.id).where(theirs, changes.c.owner == owner)))
            await self.leases.write(tx, theirs, owner, until)
        return True

    async def finish(
        self, tx: AsyncConnection, ended: Sequence[Ended], owner: str, at: datetime
    ) -> Sequence[tuple[Change, Move]]:
        """Move the changes that *owner* still has, by their fencing tokens; return them as moved, without the others.

        Other fields that were written on them in the meantime stay.
        """
        query = sa.select(changes).where(changes.c.id.in_([change.id for change, _ in ended]), changes.c.owner == owner)
        rows = {row.id: row for row in await tx.execute(_with_locks(query))}
        moved, values = [], []
        for change, move in ended:
            row = rows.get(change.id)
            if row is None or row.token != change.run.token or row.state not in move.starts:
                continue
            # Made from the row and not from the claimed change: somebody may have written on it since.
            made = move.apply(self._change(row), at)
            moved.append((made, move))
            # An item is free for reconciling; a single change is free once its owner's lease is over.
            lease = row.lease if made.set_id is None else self._session.now()
            due = micros(move.due) if isinstance(move, Defer) else row.due
            values.append({"which": made.id, "due": due, "lease": lease, **row_of(made)})
        if values:
            # Not named as the column: in an UPDATE, SQLAlchemy reserves the columns' names for the values.
            names: dict[str, Any] = {name: sa.bindparam(name) for name in values[0] if name != "which"}
            await tx.execute(sa.update(changes).where(changes.c.id == sa.bindparam("which")).values(names), values)
        return moved

    async def note_seen(self, tx: AsyncConnection, change: Change, viewer: str, *, seen_all: bool = True) -> None:
        """Record whether Slack has shown *viewer*, a person or a channel, all of *change*."""
        row = {"change_id": change.id, "viewer": viewer}
        if seen_all:
            await insert_new(tx, seen, row)
        else:
            await tx.execute(sa.delete(seen).filter_by(**row))

    async def note_decision(self, tx: AsyncConnection, change_id: str, person: str, decision: str) -> bool:
        """Record a decision; False where the same person took the same one before."""
        row = {"change_id": change_id, "person": person, "decision": decision}
        return await insert_new(tx, decisions, row)
