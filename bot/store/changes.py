"""Changes in the database. A change moves by one compare-and-set; what is not in the table of moves cannot be written."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.changes.model import MOVES, Change, Move, State, canonical_form, fingerprint, sources
from bot.store.change_queries import NEW, STORED, Queries, change_of, is_ours, of_service, ours, readable
from bot.store.db import StoreError, TargetBusy, insert, insert_new
from bot.store.tables import HOLDING_STATES, changes, decisions, micros, moment
from bot.text.documents import stored


def _held(change: Change) -> str:
    """What one change at a time may hold: its target; of a rule that has no id yet, all that it is to be."""
    if change.target.key:
        return str(change.target)
    return f"{change.target}/" + (
        f"set:{change.id}" if change.is_set else f"{NEW}{fingerprint(canonical_form(change.after))}"
    )


def _row(change: Change) -> dict[str, Any]:
    return {
        "target": _held(change),
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
        if (known := await self._of_origin(tx, origin)) is not None:
            return known
        await self._refuse_held(tx, change)
        row = _row(change) | {"id": change.id, "origin": origin, "created": micros(change.created)}
        if await insert_new(tx, changes, row):
            return change
        if (known := await self._of_origin(tx, origin)) is not None:  # another one was faster
            return known
        await self._refuse_held(tx, change)
        raise StoreError(f"the change {change.id} is there already")

    async def _of_origin(self, tx: AsyncConnection, origin: str) -> Change | None:
        row = (await tx.execute(sa.select(*STORED).where(changes.c.origin == origin))).one_or_none()
        return None if row is None else change_of(row)

    async def _refuse_held(self, tx: AsyncConnection, change: Change) -> None:
        """Return where nothing holds what *change* would; raises TargetBusy."""
        held = sa.and_(changes.c.target == _held(change), changes.c.state.in_(HOLDING_STATES))
        if (row := (await tx.execute(sa.select(*STORED).where(held))).first()) is not None:
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
        if made.state is State.APPROVED:
            # Nothing was sent for it yet, so whoever claims it next does so for the first time.
            made = made.model_copy(update={"attempt": 0})
        replace = self._hold if move is Move.APPROVE else self._replace
        return await replace(tx, row.state, row.token, made, **columns)

    async def _hold(self, tx: AsyncConnection, state: str, token: int, made: Change, **columns: Any) -> Change | None:
        """Replace a change by one that holds its target; raises TargetBusy where another one does, or was faster."""
        await self._refuse_held(tx, made)
        try:
            return await self._replace(tx, state, token, made, **columns)
        except IntegrityError:
            async with self._session.reading() as other:  # *tx* is over
                await self._refuse_held(other, made)
            raise

    async def claim(self, tx: AsyncConnection, change_id: str, owner: str, lease: timedelta) -> Change | None:
        """Take an approved change for *owner*, or return None where somebody else has."""
        row = (await tx.execute(self._locked(change_id))).one_or_none()
        if row is None or row.state not in sources(Move.CLAIM) or not is_ours(row):
            return None
        return await self._taken(tx, row, MOVES[State(row.state), Move.CLAIM], owner, lease)

    async def claim_due(
        self,
        tx: AsyncConnection,
        owner: str,
        lease: timedelta,
        *,
        sets: bool = False,
        but: Collection[str] = (),
        service: str | None = None,
    ) -> Change | None:
        """Take the change that is due the longest: left after its approval, or by its holder. None where there is none.

        *but*: ids of those that are not to be taken. *service*: the one whose changes are taken; None for each.
        """
        while True:
            row = (await tx.execute(self._session.skipping_locked(self._due(sets, but, service)))).one_or_none()
            if row is None:
                return None
            if is_ours(row):
                break
            self._newer.pass_over(row.id)
        state = State(row.state)
        return await self._taken(tx, row, MOVES.get((state, Move.CLAIM), state), owner, lease)

    async def any_due(self, *, sets: bool = False, but: Collection[str] = (), service: str | None = None) -> bool:
        """Whether there is something for `claim_due`: a look that holds nobody up."""
        async with self._session.reading() as connection:
            return (await connection.execute(self._due(sets, but, service))).first() is not None

    def _due(self, sets: bool, but: Collection[str], service: str | None) -> sa.Select[Any]:
        """What may be taken. A part that is being applied is its set's; one whose outcome is not known is anybody's."""
        now = self._session.now()
        held = sa.or_(
            changes.c.state == State.UNKNOWN, sa.and_(changes.c.state == State.APPLYING, changes.c.part_of == "")
        )
        abandoned = sa.and_(held, changes.c.lease < now)
        left = sa.and_(changes.c.state == State.APPROVED, changes.c.due < now)
        kind = changes.c.size > 0 if sets else changes.c.size == 0
        wanted = sa.and_(kind, sa.or_(abandoned, left), changes.c.id.not_in({*but, *self._newer.ids}))
        here = sa.true() if service is None else of_service(service)
        since = sa.case((changes.c.state == State.APPROVED, changes.c.due), else_=changes.c.lease)
        return sa.select(changes).where(wanted, here).order_by(since, changes.c.created).limit(1)

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
        return made if (await tx.execute(update)).rowcount == 1 else None

    def _locked(self, change_id: str) -> sa.Select[Any]:
        return self._locking(sa.select(changes).where(changes.c.id == change_id))

    def _locking(self, query: sa.Select[Any]) -> sa.Select[Any]:
        """*query* that keeps its rows from others; always in one order, or two of them may wait for each other."""
        return query if self._session.sqlite else query.order_by(changes.c.id).with_for_update()

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
            # In the same order by all: two sets with the same targets would wait for each other.
            for part in sorted(parts, key=_held)
        ]
        if not rows:
            return []
        begin = insert(tx, changes).on_conflict_do_nothing().returning(changes.c.id)
        begun = set(await tx.scalars(begin, rows))
        return [part for part in parts if part.id in begun]

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
            theirs = sa.and_(changes.c.id.in_(parts), held)
            await tx.execute(self._locking(sa.select(changes.c.id).where(theirs)))
            await tx.execute(sa.update(changes).where(theirs).values(lease=until))
        return True

    async def finish(
        self, tx: AsyncConnection, parts: Sequence[tuple[Change, Move]], owner: str
    ) -> Sequence[tuple[Change, Move]]:
        """Move changes that *owner* is applying, each already as it then is; those of somebody else are left out."""
        ids = [change.id for change, _ in parts]
        query = sa.select(changes.c.id, changes.c.token).where(
            changes.c.id.in_(ids), changes.c.state == State.APPLYING, changes.c.owner == owner
        )
        rows = await tx.execute(self._locking(query))
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
        row = {"change_id": change_id, "person": person, "decision": decision, "reason": reason}
        return await insert_new(tx, decisions, row | {"at": self._session.now()})


def micros_of(span: timedelta) -> int:
    return span // timedelta(microseconds=1)
