"""Update the other changes that an applied change affects: the requests that it overtakes, and the changes that it undoes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.changes.consequences import follow_move, record
from bot.changes.events import actor_of
from bot.changes.model.change import Change
from bot.changes.model.documents import canonical_form
from bot.changes.model.edits import Kind
from bot.changes.model.items import Item, Outcome
from bot.changes.model.moves import Invalidate
from bot.changes.model.obligation import EXISTENCE, Standing, parts_of, standings
from bot.changes.model.parts import RevertFailure, Undone
from bot.changes.model.states import State
from bot.changes.proposals import undo_cause
from bot.changes.targets import key_of
from bot.store.engine import Store

UNDOABLE: Final = (Outcome.APPLIED, Outcome.UNKNOWN)
"""Outcomes of items that are, or may be, there to be undone."""


async def find_closing(store: Store, change: Change) -> Change | None:
    """Return the later change that left nothing of a temporary *change* to be put back; None while something is."""
    return None if change.closed_by is None else await store.changes.get(change.closed_by)


async def find_closing_of_items(store: Store, items: Iterable[Item]) -> Mapping[int, Change]:
    """Return the same for *items* of a bulk change, by their numbers."""
    done = await store.changes.get_many([each.change_id for each in items if each.change_id])
    closed = {each.item_number: each.closed_by for each in done.values() if each.closed_by is not None}
    later = await store.changes.get_many(list(closed.values()))
    return {number: later[change_id] for number, change_id in closed.items()}


async def mark_effects(
    store: Store, tx: AsyncConnection, applied: Sequence[Change], wholes: AbstractSet[str], now: datetime
) -> Sequence[Change]:
    """Mark the changes that the *applied* ones undid, and move the requests that they overtook to stale; return these.

    *wholes*: ids of bulk changes that came to an end, or an item of which that was in doubt.
    """
    overtaken = await _overtake(store, tx, applied, now)
    undos = await _mark_all_undone(store, tx, applied)
    # Sorted, so that two processes lock these rows in the same order and can't deadlock.
    for set_id in sorted(wholes | undos.keys()):
        await _mark_whole(store, tx, set_id, undos.get(set_id))
    for change in applied:
        await _settle(store, tx, change, now)
    return overtaken


async def _overtake(store: Store, tx: AsyncConnection, applied: Sequence[Change], now: datetime) -> Sequence[Change]:
    """Move to stale the requests whose target is no longer as they show it; return those that were moved.

    A request was made for what there was before: an applied change of the same target, or another undo of the same
    change, leaves nothing to decide.
    """
    by_target = {change.edit.target: change for change in applied}
    # A rule that an undo restores has a new id, so what else would undo the same is found by that.
    by_undone: dict[str | None, Change] = {each.request.undoes: each for each in applied if each.request.undoes}
    overtaken = []
    for waiting in await store.changes.related_requests(tx, applied):
        undo = by_undone.get(waiting.request.undoes)
        if (change := by_target.get(waiting.edit.target, undo)) is None:
            continue
        found = change.run.result
        # The target is again just what the request was made for, so it stays valid. Of a bulk change neither is known.
        if undo is None and canonical_form(waiting.edit.before) == canonical_form(found):
            continue
        move = Invalidate(live=found, overtaken_by=actor_of(change))
        if (stale := await store.changes.move(tx, waiting, move, now)) is not None:
            await follow_move(store, tx, waiting, stale, move, change.request.requester)
            overtaken.append(stale)
    return overtaken


async def _settle(store: Store, tx: AsyncConnection, change: Change, now: datetime) -> None:
    """Close the parts of temporary changes that *change* took away or gave for good; open those that it, an undo, brings back."""
    closes, run = list[str](), change.run
    for owed in await store.changes.owed_on(tx, change.edit.target):
        if owed.id == change.id:
            continue
        was, closed = owed.run.closed, _closed_parts(owed, change)
        if owed.edit.kind.creates and EXISTENCE not in closed:
            run = replace(run, ends_with=owed.id)
        # Somebody may have been asked about it at its end, and now a part is as the change had left it.
        is_back = bool(change.request.undoes) and Standing.THERE in owed.shown_by(change.run.result).values()
        if is_back or was.keys() - closed.keys():
            await _reopen(store, tx, owed, closed, now)
        elif closed != was:
            await record(store, tx, owed, replace(owed, run=replace(owed.run, closed=closed)))
        else:
            continue
        closes += [owed.id] if closed.keys() - was.keys() else []
        await store.outbox.enqueue(tx, owed.set_id or owed.id, "card")
    if (run := replace(run, closes=tuple(closes))) != change.run:
        await store.changes.record(tx, change, replace(change, run=run))


def _closed_parts(owed: Change, change: Change) -> Mapping[str, str]:
    """Return the closed parts of *owed* after *change*, each with the id of what closed it."""
    was, now = (standings(owed.edit, owed.run.result, each) for each in (change.edit.before, change.run.result))
    closed, undoes = dict(owed.run.closed), change.request.undoes
    for part, found in now.items():
        if found is was[part]:
            continue
        if part in closed:
            if closed[part] == undoes:
                del closed[part]
        # What an undo brings back is no new decision.
        elif not (undoes and found is Standing.THERE):
            closed[part] = change.id
    return closed


async def _reopen(store: Store, tx: AsyncConnection, owed: Change, closed: Mapping[str, str], now: datetime) -> None:
    """Let what *owed* changed end after all: at its time, or at once where that is past."""
    whole = await store.changes.get_locked(tx, owed.set_id) if owed.set_id is not None else None
    opened = replace(owed, run=replace(owed.run, closed=closed, revert_failure=RevertFailure.NONE))
    await record(store, tx, owed, opened)
    ending = whole or opened
    if (ends := ending.request.reverts_at) is not None:
        request = replace(ending.request, reverts_at=max(ends, now))
        run = replace(ending.run, undone=None, revert_failure=RevertFailure.NONE)
        await record(store, tx, ending, replace(ending, request=request, run=run))


async def _mark_all_undone(store: Store, tx: AsyncConnection, applied: Sequence[Change]) -> Mapping[str, Change]:
    """Mark the changes that the *applied* ones undid; return the last undo of items, by the ids of their bulk changes.

    One that came to its end is still not undone where somebody has to say what becomes of a part of it.
    """
    wholes = {}
    for undo in applied:
        if (undone := undo.request.undoes) is None or (change := await store.changes.get_locked(tx, undone)) is None:
            continue
        if _leaves_a_part(undo, change):
            continue
        if not change.is_bulk:
            await _mark_undone(store, tx, change, undo)
        # The undo of a bulk change ends after those of its items, of which the last leaves nothing to undo.
        if change.set_id is not None:
            wholes[change.set_id] = undo
        await _show_undone(store, tx, change, undo)
    return wholes


async def _mark_whole(store: Store, tx: AsyncConnection, set_id: str, undo: Change | None) -> None:
    """Mark a bulk change that was done as undone where nothing of it is left to undo; *undo*: that of an item, just now."""
    whole = await store.changes.get_locked(tx, set_id)
    if whole is None or whole.state is not State.APPLIED or await store.items.has_any(tx, set_id, UNDOABLE):
        return
    if (undo := undo or await store.changes.find_undo_in(tx, set_id)) is not None:
        await _mark_undone(store, tx, whole, undo)


def _leaves_a_part(undo: Change, change: Change) -> bool:
    """Whether *undo* leaves a part of *change* as somebody else had made it."""
    others = {part for part, found in change.shown_by(undo.edit.before).items() if found is Standing.OTHER}
    return bool(others - parts_of(undo.edit))


async def _mark_undone(store: Store, tx: AsyncConnection, change: Change, undo: Change) -> None:
    """Record on *change* that *undo* undid it."""
    asked = undo.request
    undone = Undone(
        change=(undo.set_id or undo.id) if change.is_bulk else undo.id,
        at=undo.run.finished_at or undo.created,
        by=asked.requester,
        cause=asked.cause or undo_cause(change),
        reason=asked.reason,
    )
    await record(store, tx, change, replace(change, run=replace(change.run, undone=undone)))


async def _show_undone(store: Store, tx: AsyncConnection, change: Change, undo: Change) -> None:
    """Have cards and lists show that *undo* undid *change*; where that restored a rule, map its old id to the new one."""
    if change.request.reverts_at is not None and undo.request.requester != change.request.requester:
        await store.outbox.enqueue(tx, change.id, "notify-reverted")
    if change.set_id is not None:
        await store.items.mark(tx, change.set_id, change.item_number, Outcome.UNDONE)
    await store.outbox.enqueue(tx, change.set_id or change.id, "card")
    if undo.edit.kind is Kind.RULE_CREATE and not change.is_bulk:
        await store.former_ids.put(tx, key_of(change), key_of(undo))
