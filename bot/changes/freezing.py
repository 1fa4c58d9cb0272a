"""Freezes: check them before a change is released, make them by command, and lift them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncConnection

from bot.changes.model.change import Change
from bot.changes.model.edits import Edit
from bot.changes.model.items import NOT_DONE
from bot.changes.model.states import State
from bot.policy.access import Access
from bot.policy.freezes import ChatFreeze, Freeze, Vote
from bot.policy.inquiry import count_people
from bot.policy.model import FREEZE
from bot.store.audit import Event
from bot.store.db import UnreadableRow
from bot.store.engine import Store
from bot.store.outbox import Purpose


class Frozen(Exception):
    """A requested or pending change is not allowed at its time because of *freeze*."""

    def __init__(self, freeze: Freeze) -> None:
        super().__init__(freeze.why)
        self.freeze = freeze


class NoFreeze(Exception):
    """The freeze is over, or was lifted."""


class LiftRequested(Exception):
    """The person has asked before to lift *freeze*: somebody else has to agree."""

    def __init__(self, freeze: ChatFreeze) -> None:
        super().__init__(freeze.title)
        self.freeze = freeze


FREEZES: Final = ("gatehouse", "freezes")
"""The value that holds the freezes that were made by command."""
MAX_PLANNED_CHANGES: Final = 5_000
"""Planned changes, at most, that are searched for those within a freeze; any others are held at their start all the same."""


@dataclass(frozen=True, slots=True)
class Freezes:
    """The freezes of the current policy, and those that were made by command."""

    store: Store
    access: Access
    now: Callable[[], datetime]

    async def all(self) -> list[Freeze]:
        """Return the freezes that are active or to come, in the order in which they begin."""
        now = self.now()
        found = [*self.access.policy().freeze, *await self.chat_freezes()]
        return sorted((each for each in found if each.until > now), key=lambda each: each.starts)

    async def chat_freezes(self) -> list[ChatFreeze]:
        """Return the freezes that were made by command and are not over."""
        return self._load(await self.store.values.value(*FREEZES))

    async def find_for_edits(self, edits: Iterable[Edit], at: datetime) -> Freeze | None:
        """Return the freeze that blocks *edits* at the time *at*, of several the last to end; None without one."""
        if not (holding := await self._active_freezes(at)):
            return None
        # In a thread: thousands of items against many patterns would hold up the event loop.
        return await asyncio.to_thread(_first_that_covers, holding, list(edits))

    async def all_for_edit(self, edit: Edit) -> Sequence[Freeze]:
        """Return every freeze that covers *edit* right now."""
        return [each for each in await self._active_freezes(self.now()) if each.covers(edit)]

    async def find_for_change(self, change: Change, at: datetime) -> Freeze | None:
        """Return the freeze that blocks *change* at the time *at*; None without one.

        Nothing blocks what was agreed to in advance, such as the end of a temporary change, and an undo of one's own act.
        """
        if change.is_automatic or self.access.is_own_undo(change):
            return None
        if not (holding := [each for each in await self._active_freezes(at) if not is_overridden(each, change)]):
            return None
        return await asyncio.to_thread(_first_that_covers, holding, await self.edits_of(change))

    async def find_for_start(self, change: Change) -> Freeze | None:
        """Return the freeze that blocks a waiting *change* at its start, or now where it has none; None without one."""
        if change.state not in {State.PROPOSED, State.PLANNED}:
            return None
        return await self.find_for_change(change, change.request.starts_at or self.now())

    async def _active_freezes(self, at: datetime) -> list[Freeze]:
        """Return the freezes that hold at the time *at*, the last to end first."""
        holding = [each for each in await self.all() if each.holds_at(at)]
        return sorted(holding, key=lambda each: each.until, reverse=True)

    async def edits_of(self, change: Change) -> Sequence[Edit]:
        """Return every edit of *change*, without items that came to nothing."""
        if not change.is_bulk:
            return [change.edit]
        items = self.store.items.all(change.id)
        return [item.edit async for item in items if item.kind is not None and item.outcome not in NOT_DONE]

    async def require(self, change: Change) -> None:
        """Require that nothing blocks *change* at its start, or now where it has none or its start is past; raises Frozen."""
        now = self.now()
        if (freeze := await self.find_for_change(change, max(change.request.starts_at or now, now))) is not None:
            raise Frozen(freeze)

    async def planned_changes_in(self, freeze: Freeze) -> Sequence[Change]:
        """Return the changes that were planned to begin within *freeze*; they will be held."""
        return await self._blocked_changes(freeze, await self.store.changes.list_planned(MAX_PLANNED_CHANGES))

    async def _blocked_changes(self, freeze: Freeze, changes: Iterable[Change]) -> Sequence[Change]:
        """Return those of *changes* that *freeze* blocks at their start, or now, to be shown; none that can't be read."""
        blocked, now = [], self.now()
        for change in changes:
            if freeze.holds_at(change.request.starts_at or now) and not is_overridden(freeze, change):
                with suppress(UnreadableRow):
                    if any(freeze.covers(edit) for edit in await self.edits_of(change)):
                        blocked.append(change)
        return blocked

    async def make(self, freeze: ChatFreeze) -> None:
        """Store *freeze*, once per id."""
        waiting = await self._waiting_changes_in(freeze)
        async with self.store.transaction() as tx:
            kept = self._load(await self.store.values.get_locked(tx, *FREEZES))
            # A second delivery of the same request makes no second freeze.
            if any(each.id == freeze.id for each in kept):
                return
            await self._put(tx, [*kept, freeze])
            detail = {"id": freeze.id, "until": freeze.until.isoformat(), "why": freeze.why}
            event = Event("froze", freeze.by, freeze.channel, target=_audit_name(freeze), detail=detail)
            await self._redraw(tx, waiting)
            await self.store.audit.append(tx, event)

    async def lift(self, freeze_id: str, by: str, channel: str) -> tuple[ChatFreeze, bool]:
        """Count the vote of *by* to lift a freeze; return the freeze, and whether it is lifted.

        Its maker lifts it alone, others two together who both may now. Raises NoFreeze, LiftRequested and DirectoryUnavailable.
        """
        while True:
            found = find_by_id(await self.chat_freezes(), freeze_id)
            # It asks Slack, so it comes before the transaction.
            now, given = self.now(), [*(each for each in found.votes if each.by != by), Vote(by=by, channel=channel)]
            may = self.access.is_allowed
            votes = [each for each in given if await may(each.by, each.channel, FREEZE, since=now)]
            is_lifted = by == found.by or await count_people(self.access.directory, [each.by for each in votes]) > 1
            if any(each.by == by for each in found.votes):
                raise LiftRequested(found)
            waiting = await self._waiting_changes_in(found)
            async with self.store.transaction() as tx:
                kept = self._load(await self.store.values.get_locked(tx, *FREEZES))
                if find_by_id(kept, freeze_id) != found:
                    continue  # somebody else was counted in the meantime
                others = [each for each in kept if each.id != freeze_id]
                counted = found.model_copy(update={"votes": tuple(votes)})
                await self._put(tx, others if is_lifted else [*others, counted])
                event = "lifted" if is_lifted else "wants_to_lift"
                await self._redraw(tx, waiting)
                await self.store.audit.append(tx, Event(event, by, channel, target=_audit_name(found)))
            return counted, is_lifted

    async def _waiting_changes_in(self, freeze: Freeze) -> Sequence[Change]:
        """Return the requests and planned changes that *freeze* blocks, or no longer blocks."""
        waiting = await self.store.changes.list_open(MAX_PLANNED_CHANGES)
        requested = await self._blocked_changes(freeze, [each for each in waiting if each.state is State.PROPOSED])
        return [*await self.planned_changes_in(freeze), *requested]

    async def _redraw(self, tx: AsyncConnection, waiting: Iterable[Change]) -> None:
        for change in waiting:
            await self.store.outbox.enqueue(tx, change.id, Purpose.CARD)

    async def _put(self, tx: AsyncConnection, made: Sequence[ChatFreeze]) -> None:
        stored = json.dumps([each.model_dump_json(by_alias=True) for each in made])
        await self.store.values.put(tx, *FREEZES, stored)

    def _load(self, stored: str) -> list[ChatFreeze]:
        with self.store.session.decoding("freezes"):
            made = map(ChatFreeze.model_validate_json, json.loads(stored or "[]"))
            return [each for each in made if each.until > self.now()]


def find_by_id(made: Iterable[ChatFreeze], freeze_id: str) -> ChatFreeze:
    """Return the freeze of *made* with this id; raises NoFreeze."""
    if (found := next((each for each in made if each.id == freeze_id), None)) is None:
        raise NoFreeze
    return found


def _first_that_covers(freezes: Iterable[Freeze], edits: Sequence[Edit]) -> Freeze | None:
    return next((each for each in freezes if any(each.covers(edit) for edit in edits)), None)


def _audit_name(freeze: ChatFreeze) -> str:
    """Return the name of a freeze in the audit."""
    return f"freeze/{freeze.title}"


def is_overridden(freeze: Freeze, change: Change) -> bool:
    """Whether *change* got its emergency override when *freeze* was there already: the person who used it knew of the freeze."""
    decided = change.decision.decided_at if change.decision.glass_broken else None
    return decided is not None and not (isinstance(freeze, ChatFreeze) and freeze.made > decided)
