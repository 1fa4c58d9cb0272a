"""The consequences of a move of a change: messages, audit events, and the timers of what is due later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.changes.model.change import Change
from bot.changes.model.moves import Approve, Finish, Move
from bot.changes.model.parts import Guard
from bot.changes.model.states import State
from bot.store.engine import Store
from bot.store.outbox import Purpose

REMIND_AFTER: Final = timedelta(minutes=15)
OFFER_BEFORE: Final = timedelta(minutes=10)
MIN_OFFER_SHARE: Final = 0.2
"""For a short temporary change: the fraction of its time that is left when its requester is offered to extend it."""


LATE_START: Final = timedelta(minutes=15)
"""How late a planned change still begins automatically; after that, somebody is asked."""
HELD_LONGEST: Final = timedelta(days=7)
"""How long a held change waits for somebody to decide before it expires."""
TELL_BEFORE: Final = timedelta(minutes=10)


def _expiry_time(change: Change) -> datetime | None:
    if change.state is State.PLANNED and change.run.held_at is not None:
        return change.run.held_at + HELD_LONGEST
    return change.decision.expires if change.state is State.PROPOSED else None


def start_time(change: Change) -> datetime | None:
    """Return when a planned *change* begins; None for any other, and where it is held."""
    return change.request.starts_at if change.state is State.PLANNED and not change.run.held else None


def _start_notice_time(change: Change) -> datetime | None:
    """Return the time ten minutes before the start; None for a change that was planned at shorter notice."""
    starts, decided = start_time(change), change.decision.decided_at or change.created
    return starts - TELL_BEFORE if starts is not None and starts - decided > 2 * TELL_BEFORE else None


def _reminder_time(change: Change) -> datetime | None:
    waits_for_others = change.state is State.PROPOSED and change.decision.guard is Guard.APPROVE
    return change.created + REMIND_AFTER if waits_for_others else None


def revert_time(change: Change) -> datetime | None:
    """Return when a temporary *change* is reverted; None for any other."""
    return change.request.reverts_at if change.is_temporary else None


def _offer_time(change: Change) -> datetime | None:
    if (ends := revert_time(change)) is None:
        return None
    # Of an hour ten minutes, of ten minutes two: an offer right after the beginning would help nobody.
    return ends - min(OFFER_BEFORE, (ends - (change.run.finished_at or change.created)) * MIN_OFFER_SHARE)


DUE_TIMES: Final[Mapping[Purpose, Callable[[Change], datetime | None]]] = {
    Purpose.EXPIRE: _expiry_time,
    Purpose.START: start_time,
    Purpose.REVERT: revert_time,
    Purpose.REMIND: _reminder_time,
    Purpose.STARTS: _start_notice_time,
    Purpose.OFFER: _offer_time,
}
"""Functions that return when each timer or message of a change is due; None where it isn't."""

SHOWN_WITHIN: Final = timedelta(seconds=1)
"""How long the messages about an approval may wait: mostly the outcome is known by then, and one message says both."""


async def follow_move(store: Store, tx: AsyncConnection, change: Change, moved: Change, move: Move, by: str) -> None:
    """Enqueue the messages and set the timers that follow from *move* by *by*; *change* and *moved*: before and after it."""
    within = SHOWN_WITHIN if move.begins and not moved.is_bulk else timedelta()
    await store.outbox.enqueue(tx, moved.id, "card", within=within)
    if isinstance(move, Finish) and moved.request.starts_at is not None:
        await store.outbox.enqueue(tx, moved.id, Purpose.STARTED)
    if _is_news_to_requester(moved, by):
        # Messages that were to wait for this outcome don't have to wait any more.
        if not within:
            await store.outbox.make_due(tx, moved.id)
        if move.notice:
            await store.outbox.enqueue(tx, moved.id, move.notice, within=within)
    if move.stops_items:
        await store.items.stop(tx, moved.id)
    if moved.decision.glass_broken and isinstance(move, Approve):
        await store.outbox.enqueue(tx, moved.id, "break_glass")
    await set_due(store, tx, change, moved)


def _is_news_to_requester(change: Change, by: str) -> bool:
    """Whether to notify the requester: they waited for others or for a start, and *by*, who moved *change*, is somebody else."""
    decision, asker = change.decision, change.request.requester
    waited_for_others = decision.guard is Guard.APPROVE and asker != decision.decided_by
    return asker != by and (waited_for_others or change.request.starts_at is not None)


async def set_due(store: Store, tx: AsyncConnection, was: Change | None, now: Change) -> None:
    """Set the timers and later messages of a change, and drop those no longer due; *was* and *now*: it before and after."""
    for what, due_of in DUE_TIMES.items():
        due = due_of(now)
        # A message that was sent, or a timer that fired, must not become due again because something else changed.
        if due == (due_of(was) if was is not None else None):
            continue
        if due is None:
            await store.outbox.drop_for_later(tx, now.id, what)
        else:
            await store.outbox.enqueue(tx, now.id, what, due=due)


async def record(store: Store, tx: AsyncConnection, held: Change, made: Change) -> None:
    """Write *made* over a change without moving it, and set the timers and later messages that follow from it."""
    await store.changes.record(tx, held, made)
    await set_due(store, tx, held, made)
