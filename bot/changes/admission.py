"""Check whether a new change may be recorded next to the existing ones."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.changes.model.change import Change
from bot.changes.model.documents import canonical_form
from bot.changes.model.parts import Guard
from bot.changes.model.states import State
from bot.changes.refusals import AlreadyRequested, NotTemporary, TooManyRequests
from bot.store.engine import Store


async def require_admission(
    store: Store, tx: AsyncConnection, change: Change, reverts: Change | None, max_waiting: int
) -> None:
    """Require that *change* may be recorded; *reverts*: the temporary change whose end it is.

    Raises NotTemporary where that has another end now, or none, AlreadyRequested and TooManyRequests.
    """
    if reverts is not None:
        # Locked, or somebody could move the end between this check and the commit.
        now = await store.changes.get_locked(tx, reverts.id) or reverts
        if not now.is_temporary or now.request.reverts_at != reverts.request.reverts_at:
            raise NotTemporary(now)
    # An undo that is asked for twice is one undo anyhow, and is never limited, however many requests wait.
    if change.request.undoes is not None:
        return
    is_guarded = change.decision.guard is not Guard.NONE
    if is_guarded or change.request.starts_at is not None:
        await _require_new(store, tx, change)
    if not is_guarded:
        return
    others = await store.changes.count_waiting(tx, change.request.requester) - 1
    if others >= max_waiting:
        raise TooManyRequests(others)


async def _require_new(store: Store, tx: AsyncConnection, change: Change) -> None:
    if change.is_bulk:
        return
    await store.changes.lock_requests(tx, change)
    for waiting in await store.changes.related_requests(tx, [change]):
        # A held change is requested again first, and withdrawn only then.
        if waiting.id != change.id and not waiting.run.held and _asks_the_same(waiting, change):
            raise AlreadyRequested(waiting)


def _asks_the_same(waiting: Change, change: Change) -> bool:
    """Whether *waiting* already asks for what *change* asks for: for the same people, planned, or waiting for others."""
    is_theirs = change.request.requester == waiting.request.requester
    is_for_them = is_theirs or waiting.decision.guard is Guard.APPROVE or waiting.state is State.PLANNED
    return is_for_them and _wish(waiting) == _wish(change)


def _wish(change: Change) -> tuple[object, ...]:
    """Return what *change* asks for, where, for which times, and what it requires."""
    edit, request, decision = change.edit, change.request, change.decision
    content = edit.kind, edit.target, canonical_form(edit.before), canonical_form(edit.after)
    times = request.starts_at, request.reverts_at, request.revert_after
    return content, times, request.channel, decision.guard, decision.approvals_needed, decision.approvers
