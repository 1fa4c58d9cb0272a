"""Update the other changes that an applied change affects: the requests that it overtakes, and the changes that it undoes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.changes.consequences import follow_move, record_fields
from bot.changes.events import actor_of
from bot.changes.model.change import Change
from bot.changes.model.documents import canonical_form
from bot.changes.model.edits import Kind, Target
from bot.changes.model.items import Item, Outcome
from bot.changes.model.moves import Invalidate
from bot.changes.model.parts import Undone
from bot.changes.model.states import State
from bot.changes.proposals import is_recreated, is_there
from bot.store.engine import Store

UNDOABLE: Final = (Outcome.APPLIED, Outcome.UNKNOWN)
"""Outcomes of items that are, or may be, there to be undone."""


async def find_overtaking(store: Store, change: Change) -> Change | None:
    """Return the last applied change of a temporary *change*'s target, if that leaves nothing to revert at its end; else None.

    What was done elsewhere than here isn't known. Of a bulk change that is a question about each of its items.
    """
    return await _find_newer(store, change) if change.is_temporary and not change.is_bulk else None


async def find_overtaking_of_items(store: Store, whole: Change, items: Iterable[Item]) -> Mapping[int, Change]:
    """Return the same for *items* of a bulk change that is, or was, temporary, by their numbers."""
    if whole.request.reverts_at is None:
        return {}
    numbers = {each.change_id: each.number for each in items if each.outcome is Outcome.APPLIED and each.change_id}
    done = await store.changes.get_many(list(numbers))
    newer = {numbers[each.id]: await _find_newer(store, each) for each in done.values()}
    return {number: since for number, since in newer.items() if since is not None}


async def _find_newer(store: Store, change: Change) -> Change | None:
    """Return what was done to the target of *change* since, where that left nothing of it."""
    last = await store.changes.last_applied_to(change.edit.target)
    if last is None or last.id == change.id:
        return None
    if last.edit.kind.destroys:
        return last if last.run.undone_by is None else None
    if last.run.result is None:
        return None
    others = (await store.changes.applied_by_target([last.edit.target])).get(last.edit.target, ())
    return None if is_there(change, last.run.result) and not is_recreated(change, others) else last


async def mark_effects(store: Store, tx: AsyncConnection, applied: Sequence[Change], now: datetime) -> Sequence[Change]:
    """Mark the changes that the *applied* ones undid, and move the requests that they overtook to stale; return these."""
    overtaken = await _overtake(store, tx, applied, now)
    await _mark_all_undone(store, tx, [change for change in applied if change.request.undoes])
    # Changes are locked before their messages, in the order that a click on a card takes.
    await _redraw_ending(store, tx, [change.edit.target for change in applied])
    return overtaken


async def _overtake(store: Store, tx: AsyncConnection, applied: Sequence[Change], now: datetime) -> Sequence[Change]:
    """Move to stale the requests whose target is no longer as they show it; return those that were moved.

    A request was made for what there was before: an applied change of the same target, or another undo of the same
    change, leaves nothing to decide.
    """
    by_target = {change.edit.target: change for change in applied}
    # A rule that an undo restores has a new id, so what else would undo the same is found by that.
    by_undone = {change.request.undoes: change for change in applied if change.request.undoes}
    overtaken = []
    for waiting in await store.changes.related_requests(tx, applied):
        undo = by_undone.get(waiting.request.undoes or "")
        if (change := by_target.get(waiting.edit.target, undo)) is None:
            continue
        found = change.run.result
        # The target is again just what the request was made for, so it stays valid.
        if undo is None and canonical_form(waiting.edit.before) == canonical_form(found):
            continue
        move = Invalidate(live=found, overtaken_by=actor_of(change))
        if (stale := await store.changes.move(tx, waiting.id, move, now)) is not None:
            await follow_move(store, tx, waiting, stale, move, change.request.requester)
            overtaken.append(stale)
    return overtaken


async def _mark_all_undone(store: Store, tx: AsyncConnection, undos: Sequence[Change]) -> None:
    """Mark the changes that *undos* undid as undone; a bulk change only once no item of it is left to undo."""
    wholes: dict[str, Change] = {}
    for undo in undos:
        change = await store.changes.get_locked(tx, undo.request.undoes or "")
        if change is None:
            continue
        if not change.is_bulk:
            await _mark_undone(store, tx, change, undo)
        if change.is_bulk or change.set_id is not None:
            wholes[change.set_id or change.id] = undo
        await _show_undone(store, tx, change, undo)
    for set_id, undo in wholes.items():
        whole = await store.changes.get_locked(tx, set_id)
        if whole is None or whole.state is not State.APPLIED or whole.run.undone_by is not None:
            continue
        if not await store.items.has_any(tx, set_id, UNDOABLE):
            await _mark_undone(store, tx, whole, undo)


async def _mark_undone(store: Store, tx: AsyncConnection, change: Change, undo: Change) -> None:
    """Record on *change* that *undo* undid it."""
    asked, at = undo.request, undo.run.finished_at or undo.created
    undone = asked.cause and Undone(at=at, by=asked.requester, cause=asked.cause, reason=asked.reason)
    by = (undo.set_id or undo.id) if change.is_bulk else undo.id
    await record_fields(store, tx, change, undone_by=by, undone=undone)


async def _show_undone(store: Store, tx: AsyncConnection, change: Change, undo: Change) -> None:
    """Have cards and lists show that *undo* undid *change*; where that restored a rule, map its old id to the new one."""
    was_temporary = change.set_id is None and change.request.reverts_at is not None
    if was_temporary and undo.request.requester != change.request.requester:
        await store.outbox.enqueue(tx, change.id, "notify-reverted")
    if change.set_id is not None:
        await store.items.mark(tx, change.set_id, change.item_number, Outcome.UNDONE)
    await store.outbox.enqueue(tx, change.set_id or change.id, "card")
    if undo.edit.kind is Kind.RULE_CREATE and change.edit.target.key and undo.edit.target.key:
        await store.former_ids.put(tx, change.edit.target.key, undo.edit.target.key)
        await _redraw_ending(store, tx, [change.edit.target])


async def _redraw_ending(store: Store, tx: AsyncConnection, targets: Sequence[Target]) -> None:
    """Redraw the cards of temporary changes of *targets*: what was done there may decide what their end still reverts."""
    for change_id in await store.changes.temporary_ids(tx, targets) if targets else ():
        await store.outbox.enqueue(tx, change_id, "card")
