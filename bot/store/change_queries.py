"""What is asked about changes in the database, outside of any transaction that moves one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import sqlalchemy as sa

from bot.changes.model.change import Change
from bot.changes.model.edits import Kind, Target
from bot.changes.model.states import State
from bot.store.db import Session, UnreadableRow
from bot.store.outbox import WAITS, Purpose
from bot.store.tables import LIVE_STATES, NEW, STORED, Row, changes, items, outbox, seen
from bot.text.documents import dump, load

MAX_OUT_OF_ORDER: Final = 20
"""How many changes of one target are searched for the one that was done last."""
CLAIMED: Final = (State.APPLYING, State.UNKNOWN)
"""States of a change that a process has claimed, though its lease may be over."""
MAX_IDS_PER_QUERY: Final = 500


def select_changes(*where: sa.ColumnElement[bool]) -> sa.Select[Any]:
    return sa.select(*STORED).where(*where)


def _select_newest(*where: sa.ColumnElement[bool]) -> sa.Select[Any]:
    return select_changes(*where).order_by(changes.c.created.desc())


def is_temporary() -> sa.ColumnElement[bool]:
    """Return the condition for changes that are still to be reverted automatically."""
    return changes.c.id.in_(sa.select(outbox.c.change_id).where(WAITS, outbox.c.purpose == Purpose.REVERT))


def _is_upcoming() -> sa.ColumnElement[bool]:
    """Return the condition for changes that will start or be reverted automatically."""
    return sa.or_(changes.c.state == State.PLANNED, is_temporary())


class ChangeQueries:
    """The table of changes, as far as it is only read."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def _change(self, row: Row) -> Change:
        """Return the change of a row that has the columns `STORED`; raises UnreadableRow."""
        with self._session.decoding("change", row.id):
            change = load(Change, row.document)
            return replace(change, run=replace(change.run, token=row.token))

    async def _read(self, query: sa.Select[Any]) -> list[Change]:
        """Return the changes that somebody decides by; raises UnreadableRow, since one that is left out may be the one."""
        async with self._session.reading() as connection:
            return [self._change(row) for row in await connection.execute(query)]

    async def _list(self, query: sa.Select[Any]) -> list[Change]:
        """Return the changes that are shown, or looked through one by one; without those whose rows can't be read."""
        found = []
        async with self._session.reading() as connection:
            for row in await connection.execute(query):
                with suppress(UnreadableRow):
                    found.append(self._change(row))
        return found

    async def get(self, change_id: str) -> Change | None:
        return next(iter(await self._read(select_changes(changes.c.id == change_id))), None)

    async def get_many(self, ids: Sequence[str]) -> dict[str, Change]:
        """Return the changes with these *ids*, by id; raises UnreadableRow."""
        return await self._get_by_id(ids, self._read)

    async def list_many(self, ids: Sequence[str]) -> dict[str, Change]:
        """Return the changes with these *ids*, by id, to be shown: without those that can't be read."""
        return await self._get_by_id(ids, self._list)

    async def _get_by_id(
        self, ids: Sequence[str], read: Callable[[sa.Select[Any]], Awaitable[list[Change]]]
    ) -> dict[str, Change]:
        found: dict[str, Change] = {}
        for first in range(0, len(ids), MAX_IDS_PER_QUERY):
            some = await read(select_changes(changes.c.id.in_(ids[first : first + MAX_IDS_PER_QUERY])))
            found.update((change.id, change) for change in some)
        return found

    async def find_by_key(self, idempotency_key: str) -> Change | None:
        """Return the change with this *idempotency_key*; None where there is none."""
        return next(iter(await self._read(select_changes(changes.c.idempotency_key == idempotency_key))), None)

    async def find_by_prefix(self, reference: str) -> Sequence[Change]:
        """Return up to two changes whose id begins with *reference*, hexadecimal as people read it off a card."""
        begins = select_changes(changes.c.id >= reference, changes.c.id < f"{reference}g")  # LIKE would read all rows
        return await self._read(begins.limit(2))

    async def list_open(self, limit: int = 50) -> Sequence[Change]:
        """Return the changes that wait for a decision, a service or an answer.

        First the oldest of each person, then the second oldest, so that one person's flood doesn't hide those of others.
        """
        turn = sa.func.row_number().over(partition_by=changes.c.requester, order_by=changes.c.created)
        query = sa.select(*STORED, changes.c.created, turn.label("turn"))
        turns = query.where(changes.c.state.in_(set(LIVE_STATES) - {State.PLANNED})).subquery()
        fair = sa.select(turns).order_by(turns.c.turn, turns.c.created).limit(limit)
        return await self._list(fair)

    async def list_planned(self, limit: int | None = None) -> Sequence[Change]:
        """Return the changes that wait for their start, or were not begun at it; the oldest first."""
        query = select_changes(changes.c.state == State.PLANNED).order_by(changes.c.created)
        return await self._list(query.limit(limit))

    async def list_upcoming(self, targets: Sequence[Target]) -> Sequence[Change]:
        """Return the changes that will automatically start on, or be reverted on, one of *targets*."""
        names = [str(target) for target in targets if target.key]
        about: sa.ColumnElement[bool] = changes.c.target.in_(names)
        async with self._session.reading() as connection:
            due = await connection.execute(sa.select(changes.c.id).where(changes.c.size > 0, _is_upcoming()))
            bulk = [row.id for row in due]
            if bulk and names:  # else all items ever stored would be searched
                texts = [f'"target": {dump(target)}' for target in targets if target.key]
                with_one = sa.or_(*(items.c.document.contains(text, autoescape=True) for text in texts))
                sets = sa.select(items.c.set_id).where(items.c.set_id.in_(bulk), with_one)
                about = sa.or_(about, changes.c.id.in_(sets))
            query = select_changes(about, _is_upcoming()).order_by(changes.c.created)
        return await self._list(query)

    async def find_due(self, target: Target) -> Sequence[Change]:
        """Return what is due to start or to be reverted: changes of *target*, and bulk changes; all where *target* has no key."""
        # After a failed try it waits for the next one, but it is due all the same.
        is_due = sa.or_(outbox.c.due <= self._session.now(), outbox.c.attempt > 0)
        begins_or_ends = outbox.c.purpose.in_([Purpose.START, Purpose.REVERT])
        ids = sa.select(outbox.c.change_id).where(WAITS, begins_or_ends, is_due)
        about = sa.true() if target.key is None else sa.or_(changes.c.target == str(target), changes.c.size > 0)
        return await self._list(select_changes(changes.c.id.in_(ids), about))

    async def count_by_state(self) -> dict[str, int]:
        """Return how many changes are in each state."""
        query = sa.select(changes.c.state, sa.func.count().label("many")).group_by(changes.c.state)
        return {row.state: row.many for row in await self._session.rows(query)}

    async def backlogs(self) -> dict[str, tuple[int, float]]:
        """Return for each state that is not final the number of changes in it, and the age of the oldest in seconds."""
        oldest = sa.func.min(changes.c.created)
        query = sa.select(changes.c.state, sa.func.count().label("many"), oldest.label("oldest"))
        rows = await self._session.rows(query.where(changes.c.state.in_(LIVE_STATES)).group_by(changes.c.state))
        found = {row.state: (row.many, self._session.seconds_since(row.oldest)) for row in rows}
        return {state: found.get(state, (0, 0.0)) for state in LIVE_STATES}

    async def creations(self, target: Target) -> Sequence[Change]:
        """Return the changes that may have created the rule *target*: the one that did, and those not confirmed yet."""
        unnamed = changes.c.target.startswith(f"rules/{NEW}")
        open_ = sa.and_(unnamed, changes.c.state.in_(CLAIMED))
        found = await self._read(select_changes(sa.or_(changes.c.target == str(target), open_)))
        return [change for change in found if change.edit.kind is Kind.RULE_CREATE]

    async def list_by_targets(self, targets: Sequence[str], limit: int = 20) -> Sequence[Change]:
        """Return the changes of these *targets*, newest first."""
        return await self._list(_select_newest(changes.c.target.in_(targets)).limit(limit))

    async def find_move(self, email: str) -> Change | None:
        """Return the last change that gave the member with this *email* another one; None where there is none."""
        text = f'"moved_from": {dump(email)}'
        is_move = changes.c.document.contains(text, autoescape=True)
        found = await self._list(_select_newest(is_move, changes.c.state == State.APPLIED).limit(1))
        return next(iter(found), None)

    async def last_applied_to(self, target: Target) -> Change | None:
        """Return the change that was applied to *target* last, whether it was undone since or not; None where there is none."""
        newest = _select_newest(changes.c.target == str(target), changes.c.state == State.APPLIED).limit(
            MAX_OUT_OF_ORDER
        )
        # What was planned, or waited for an approval, was requested before others and done after them.
        return max(await self._read(newest), key=lambda each: each.run.finished_at or each.created, default=None)

    async def has_seen(self, change: Change, by: str) -> bool:
        """Whether Slack has shown *by* all of *change*, or its channel by the card."""
        viewers = seen.c.viewer.in_([by, change.request.channel])
        return bool(await self._session.rows(sa.select(seen).where(seen.c.change_id == change.id, viewers)))
