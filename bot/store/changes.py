"""Changes in the database. A change moves by one compare-and-set; what is not in the table of moves cannot be written."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.change import MOVES, Change, Move, State, sources
from bot.domain.wire import stored
from bot.store.change_queries import Queries
from bot.store.errors import StoreError, TargetBusy
from bot.store.newer import STORED, change_of, is_ours, ours, readable
from bot.store.tables import HOLDING_STATES, changes, decisions, micros, moment


def _row(change: Change) -> dict[str, Any]:
    """A rule to be created has no key yet, so nothing else can hold it: its target is stored empty."""
    return {
        "target": str(change.target) if change.target.key else "",
        "state": change.state,
        "document": stored(change),
        "attempt": change.attempt,
        "token": change.token,
        "requester": change.requester,
        "channel": change.channel,
        "undoable": (
            change.state is State.APPLIED
            and change.undone_by is None
            and change.undoes is None
            and change.part_of is None
        ),
        "size": change.size,
        "part_of": change.part_of or "",
    }


class Changes(Queries):
    """All of them: written one by one, or, as the parts of a set, many at once."""

    async def add(self, tx: AsyncConnection, change: Change, origin: str) -> Change:
        """Store *change*; a second one of the same *origin* is the first one.

        Raises TargetBusy where another change holds the target.
        """
        known = (await tx.execute(sa.select(*STORED).where(changes.c.origin == origin))).one_or_none()
        if known is not None:
            return change_of(known)
        await self._refuse_held(tx, change)
        row = _row(change) | {"id": change.id, "origin": origin, "created": micros(change.created)}
        try:
            await tx.execute(sa.insert(changes).values(row))
        except IntegrityError as error:
            raise StoreError("the same request came first; ask again") from error
        return change

    async def _refuse_held(self, tx: AsyncConnection, change: Change) -> None:
        """Return where nothing holds the target of *change*; raises TargetBusy."""
        held = sa.and_(changes.c.target == str(change.target), changes.c.state.in_(HOLDING_STATES))
        row = (await tx.execute(sa.select(*STORED).where(held))).first() if change.target.key else None
        if row is not None:
            raise TargetBusy(change_of(row))

    async def requested(self, tx: AsyncConnection, applied: Sequence[Change]) -> Sequence[Change]:
        """The requests that wait for a decision about a target of *applied*, or would undo what one of them undoes.

        Those that somebody is deciding about at this moment are left out: once approved, they look at the target first. So
        are those of a newer release.
        """
        targets = [str(change.target) for change in applied if change.target.key]
        undone = [f"undo:{change.undoes}:" for change in applied if change.undoes]
        about = sa.or_(changes.c.target.in_(targets), *map(changes.c.origin.startswith, undone))
        wanted = sa.select(*STORED).where(changes.c.state == State.PROPOSED, about)
        found = readable(await tx.execute(self._session.skipping_locked(wanted)))
        return [request for request in found if not request.unknown_fields]

    async def move(
        self,
        tx: AsyncConnection,
        change_id: str,
        move: Move,
        *,
        owner: str | None = None,
        token: int | None = None,
        target_key: str | None = None,
        due: datetime | None = None,
        **fields: Any,
    ) -> Change | None:
        """Make *move* with *fields* set, or return None where the change is not where the move starts.

        Raises TargetBusy where the change would hold its target now, and another one does.
        With *owner* and *token* the move is fenced: only the holder of the change under that fencing token makes it.
        *target_key*: the key of what a creation created. *due*: when an approved change is taken up, if it was left.
        """
        row = (await tx.execute(self._locked(change_id))).one_or_none()
        if row is None or row.state not in sources(move):
            return None
        if owner is not None and (row.owner != owner or row.token != token):
            return None
        change = ours(row) if owner is None else change_of(row)  # what a holder has done is recorded in any case
        made = change.model_copy(update={**fields, "state": MOVES[State(row.state), move]})
        if target_key is not None:
            made = made.model_copy(update={"target": made.target.model_copy(update={"key": target_key})})
        columns = {} if due is None else {"due": micros(due)}
        if move is Move.APPROVE:
            await self._refuse_held(tx, made)
        if made.state is State.APPROVED:
            # Nothing was sent for it yet, so whoever claims it next does so for the first time.
            made = made.model_copy(update={"attempt": 0})
        return await self._replace(tx, row.state, row.token, made, **columns)

    async def claim(self, tx: AsyncConnection, change_id: str, owner: str, lease: timedelta) -> Change | None:
        """Take an approved change for *owner*, or return None where somebody else has."""
        row = (await tx.execute(self._locked(change_id))).one_or_none()
        if row is None or row.state not in sources(Move.CLAIM) or not is_ours(row):
            return None
        return await self._taken(tx, row, MOVES[State(row.state), Move.CLAIM], owner, lease)

    async def claim_due(
        self, tx: AsyncConnection, owner: str, lease: timedelta, *, sets: bool = False, but: Collection[str] = ()
    ) -> Change | None:
        """Take a change that was approved and left, or whose holder's lease is over; None where there is none.

        *but*: ids of those that are not to be taken.
        """
        while True:
            row = (await tx.execute(self._session.skipping_locked(self._due(sets, but)))).one_or_none()
            if row is None:
                return None
            if is_ours(row):
                break
            self._newer.pass_over(row.id)
        state = State(row.state)
        return await self._taken(tx, row, MOVES.get((state, Move.CLAIM), state), owner, lease)

    async def any_due(self, *, sets: bool = False, but: Collection[str] = ()) -> bool:
        """Whether there is something for `claim_due`: a look that holds nobody up."""
        async with self._session.reading() as connection:
            return (await connection.execute(self._due(sets, but))).first() is not None

    def _due(self, sets: bool, but: Collection[str]) -> sa.Select[Any]:
        """What may be taken. A part that is being applied is its set's; one whose outcome is not known is anybody's."""
        now = self._session.now()
        held = sa.or_(
            changes.c.state == State.UNKNOWN, sa.and_(changes.c.state == State.APPLYING, changes.c.part_of == "")
        )
        abandoned = sa.and_(held, changes.c.lease < now)
        left = sa.and_(changes.c.state == State.APPROVED, changes.c.due < now)
        kind = changes.c.size > 0 if sets else changes.c.size == 0
        wanted = sa.and_(kind, sa.or_(abandoned, left), changes.c.id.not_in({*but, *self._newer.ids}))
        return sa.select(changes).where(wanted).order_by(changes.c.created).limit(1)

    async def _taken(
        self, tx: AsyncConnection, row: sa.Row[Any], state: State, owner: str, lease: timedelta
    ) -> Change | None:
        until = self._session.now() + micros_of(lease)
        change = ours(row)
        now_held = {"state": state, "attempt": change.attempt + 1, "token": row.token + 1, "held_until": moment(until)}
        return await self._replace(
            tx, row.state, row.token, change.model_copy(update=now_held), owner=owner, lease=until
        )

    async def held(self, tx: AsyncConnection, change_id: str) -> Change | None:
        """The change, read within *tx* and kept from others until its end."""
        row = (await tx.execute(self._locked(change_id))).one_or_none()
        return None if row is None else change_of(row)

    async def is_applying(self, tx: AsyncConnection, change: Change, owner: str) -> bool:
        """Whether *owner* still applies *change* as it claimed it; nobody else takes it before the end of *tx*."""
        row = (await tx.execute(self._locked(change.id))).one_or_none()
        return row is not None and (row.state, row.owner, row.token) == (State.APPLYING, owner, change.token)

    async def record(self, tx: AsyncConnection, change: Change, **fields: Any) -> None:
        """Note *fields* on a change that is held, without moving it."""
        await self._replace(tx, change.state, change.token, change.model_copy(update=fields))

    async def _replace(
        self, tx: AsyncConnection, state: str, token: int, made: Change, **columns: Any
    ) -> Change | None:
        """The compare-and-set: only if state and fencing token are still what they were."""
        update = (
            sa.update(changes)
            .where(changes.c.id == made.id, changes.c.state == state, changes.c.token == token)
            .values(_row(made) | columns)
        )
        try:
            return made if (await tx.execute(update)).rowcount == 1 else None
        except IntegrityError as error:
            raise StoreError("another change of the same target came first; try again") from error

    def _locked(self, change_id: str) -> sa.Select[Any]:
        query = sa.select(changes).where(changes.c.id == change_id)
        return query if self._session.sqlite else query.with_for_update()

    async def take_up(self, tx: AsyncConnection, change_id: str, owner: str, lease: timedelta) -> Change | None:
        """Take a part that is being applied over from a process that died; None where its holder's lease still runs.

        Raises NewerRelease.
        """
        row = (await tx.execute(self._locked(change_id))).one_or_none()
        if row is None or row.state != State.APPLYING or (row.owner != owner and row.lease > self._session.now()):
            return None
        return await self._taken(tx, row, State.APPLYING, owner, lease)

    async def begin(
        self, tx: AsyncConnection, parts: Sequence[Change], owner: str, lease: timedelta
    ) -> Sequence[Change]:
        """Store new changes that are being applied already; those whose target is held by then are left out."""
        targets = [str(part.target) for part in parts if part.target.key]
        query = sa.select(changes.c.target).where(changes.c.target.in_(targets), changes.c.state.in_(HOLDING_STATES))
        held = set(await tx.scalars(query)) if targets else set()
        free = []
        for part in parts:
            if part.target.key and str(part.target) in held:
                continue
            free.append(part)
            held.add(str(part.target))
        until = self._session.now() + micros_of(lease)
        rows = [
            _row(part)
            | {
                "id": part.id,
                "origin": f"part:{part.id}",
                "created": micros(part.created),
                "owner": owner,
                "lease": until,
            }
            for part in free
        ]
        try:
            if rows:
                await tx.execute(sa.insert(changes), rows)
        except IntegrityError as error:
            raise StoreError("another change of the same target came first") from error
        return free

    async def renew(
        self, tx: AsyncConnection, change: Change, parts: Sequence[str], owner: str, lease: timedelta
    ) -> bool:
        """Hold *change* and those *parts* of it for another *lease*; False where *owner* no longer holds the change."""
        until = self._session.now() + micros_of(lease)
        held = sa.and_(changes.c.owner == owner, changes.c.state.in_((State.APPLYING, State.UNKNOWN)))
        this = sa.and_(changes.c.id == change.id, changes.c.token == change.token)
        renewed = await tx.execute(sa.update(changes).where(this, held).values(lease=until))
        if renewed.rowcount != 1:
            return False
        if parts:
            await tx.execute(sa.update(changes).where(changes.c.id.in_(parts), held).values(lease=until))
        return True

    async def finish(
        self, tx: AsyncConnection, parts: Sequence[tuple[Change, Move]], owner: str
    ) -> Sequence[tuple[Change, Move]]:
        """Move changes that *owner* is applying, each already as it then is; those of somebody else are left out."""
        ids = [change.id for change, _ in parts]
        query = sa.select(changes.c.id, changes.c.token).where(
            changes.c.id.in_(ids), changes.c.state == State.APPLYING, changes.c.owner == owner
        )
        rows = await tx.execute(query if self._session.sqlite else query.with_for_update())
        held = {row.id: row.token for row in rows}
        mine = [(change, move) for change, move in parts if held.get(change.id) == change.token]
        update = sa.update(changes).where(changes.c.id == sa.bindparam("which"))
        values = [{"which": change.id, "lease": self._session.now(), **_row(change)} for change, _ in mine]
        if values:
            names: dict[str, Any] = {name: sa.bindparam(name) for name in values[0] if name != "which"}
            await tx.execute(update.values(names), values)
        return mine

    async def decided(self, tx: AsyncConnection, change_id: str, person: str, decision: str, reason: str) -> bool:
        """Note a decision; False where the same person took the same one before."""
        mine = sa.and_(
            decisions.c.change_id == change_id, decisions.c.person == person, decisions.c.decision == decision
        )
        if await tx.scalar(sa.select(decisions.c.at).where(mine)) is not None:
            return False
        row = {"change_id": change_id, "person": person, "decision": decision, "reason": reason}
        await tx.execute(sa.insert(decisions).values(row | {"at": self._session.now()}))
        return True


def micros_of(span: timedelta) -> int:
    return span // timedelta(microseconds=1)
