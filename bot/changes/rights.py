"""Check who may take which decision about a change, by the policy and by Slack as they are at that moment."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal, TypeAlias

from bot.changes.model.change import Change
from bot.changes.model.edits import Need
from bot.changes.model.parts import Guard
from bot.changes.model.states import State
from bot.changes.refusals import LookFirst, NotYours, PolicyTightened
from bot.policy.access import Access, approval_of, override_of
from bot.policy.inquiry import DirectoryUnavailable, NotAllowed
from bot.policy.model import Act, Irreconcilable


class Decision(StrEnum):
    """The decisions that people can take about an existing change."""

    CONFIRM = "confirm"
    APPROVE = "approve"
    BREAK_GLASS = "break_glass"
    DENY = "deny"
    WITHDRAW = "withdraw"
    STOP = "stop"
    CHANGE_END = "change_end"
    REVERT = "revert"
    UNDO = "undo"
    REPLAN = "replan"
    LOOK = "look"


OfRequest = Literal[Decision.CONFIRM, Decision.APPROVE, Decision.BREAK_GLASS, Decision.DENY, Decision.WITHDRAW]
"""Decisions about a request, or about what was approved and waits; the others are about what was done."""

RELEASES: Final = frozenset({Decision.CONFIRM, Decision.APPROVE, Decision.BREAK_GLASS})
"""Decisions that release a request; nobody may take one before they were shown all of it."""

Seen = Callable[[Change, str], Awaitable[bool]]
"""Whether somebody was shown all of a change."""


@dataclass(frozen=True, slots=True)
class Rights:
    """Checks rights by the current policy and by what Slack says now; where Slack doesn't answer, nothing is allowed."""

    access: Access
    has_seen: Seen

    async def require(self, change: Change, decision: Decision, by: str, since: datetime | None = None) -> None:
        """Require that *by* may take *decision* about *change*; the state of the change is checked where the decision is taken.

        *since*: as for `Access.may`. Raises NotYours, NotAllowed, LookFirst or DirectoryUnavailable.
        """
        await self._require_right(change, decision, by, since)
        if decision in RELEASES and not await self.has_seen(change, by):
            raise LookFirst(change)

    async def _require_right(self, change: Change, decision: Decision, by: str, since: datetime | None) -> None:
        channel, ways = change.request.channel, ways_to(change, decision, by)
        if not ways:
            # Only those who may read it are told whose it is.
            await self.access.require(by, channel, change.read_operation)
            raise NotYours(change)
        for acts in ways[:-1]:
            if await self.access.is_allowed(by, channel, *acts, since=since):
                return
        await self.access.require(by, channel, *ways[-1], since=since)

    async def is_allowed(self, change: Change, decision: Decision, by: str) -> bool:
        """Whether *by* may take *decision* about *change*, at least once they have looked at it; False where Slack fails."""
        try:
            await self._require_right(change, decision, by, None)
        except (NotYours, NotAllowed, DirectoryUnavailable):
            return False
        return True

    async def with_current_guard(self, change: Change) -> Change:
        """Return *change* with what it required at its request or what the policy requires now, whichever is stricter.

        Raises PolicyTightened where nobody could approve under both, and DirectoryUnavailable.
        """
        try:
            return replace(change, decision=await self.access.stricter_decision(change))
        except Irreconcilable as error:
            raise PolicyTightened(change) from error


Ways: TypeAlias = Sequence[Sequence[Act | Need | str]]


def ways_to(change: Change, decision: Decision, by: str) -> Ways:
    """Return what lets *by* take *decision* about *change*: all acts of any of these; nothing where it belongs to others."""
    is_own, guard = by == change.request.requester, change.decision.guard
    operations: Ways = [change.needs]
    reading, approval = [[change.read_operation]], [approval_of(change)]
    override = [override_of(change)] if change.decision.break_glass else []
    # Those who could decide see all of a request.
    looking = [] if guard is Guard.CONFIRM else [*approval, *override]
    is_droppable = guard is Guard.CONFIRM or change.state is State.PLANNED
    lasting: Ways = [[*change.needs, *approval_of(change)]] if guard is Guard.APPROVE else operations
    found: dict[Decision, Ways] = {
        Decision.CONFIRM: operations if is_own and guard is Guard.CONFIRM else [],
        Decision.APPROVE: approval if guard is Guard.APPROVE else [],
        Decision.BREAK_GLASS: [override_of(change)],
        # Anyone who could request a change that its requester has to confirm may also drop it.
        Decision.DENY: {Guard.CONFIRM: operations, Guard.APPROVE: approval}.get(guard, []),
        Decision.WITHDRAW: [[]] if is_own else operations if is_droppable else [],
        Decision.STOP: operations,
        # What was approved for a limited time needs an approver to last longer.
        Decision.CHANGE_END: lasting,
        Decision.REVERT: operations,
        Decision.UNDO: reading,
        Decision.REPLAN: operations,
        Decision.LOOK: reading if change.state is not State.PROPOSED else operations if is_own else looking,
    }
    return found[decision]
