"""Check who may take which decision about a change, by the policy and by Slack as they are at that moment."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

from bot.changes.model.change import Change
from bot.changes.model.parts import Guard
from bot.changes.model.states import State
from bot.changes.refusals import LookFirst, NotYours, PolicyTightened
from bot.policy.access import Access
from bot.policy.inquiry import DirectoryUnavailable, NotAllowed
from bot.policy.model import Irreconcilable


class Decision(StrEnum):
    """The decisions that people can take about an existing change."""

    CONFIRM = "confirm"
    APPROVE = "approve"
    BREAK_GLASS = "break_glass"
    DENY = "deny"
    WITHDRAW = "withdraw"
    STOP = "stop"
    EXTEND = "extend"
    KEEP = "keep"
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

    async def require(self, change: Change, decision: Decision, by: str) -> None:
        """Require that *by* may take *decision* about *change*; the state of the change is checked where the decision is taken.

        Raises NotYours, NotAllowed, LookFirst or DirectoryUnavailable.
        """
        await QUESTIONS[decision](self, change, by)
        if decision in RELEASES and not await self.has_seen(change, by):
            raise LookFirst(change)

    async def is_allowed(self, change: Change, decision: Decision, by: str) -> bool:
        """Whether *by* may take *decision* about *change*, at least once they have looked at it; False where Slack fails."""
        try:
            await QUESTIONS[decision](self, change, by)
        except (NotYours, NotAllowed, DirectoryUnavailable):
            return False
        return True

    async def with_current_guard(self, change: Change) -> Change:
        """Return *change* with what it required at its request or what the policy requires now, whichever is stricter.

        Raises PolicyTightened where nobody could approve under both, and DirectoryUnavailable.
        """
        try:
            return change.with_fields(**await self.access.stricter_fields(change))
        except Irreconcilable as error:
            raise PolicyTightened(change) from error

    async def _require_operations(self, change: Change, by: str) -> None:
        """Require that *by* may do all that *change* does."""
        await self.access.require_all(change.operations, by, change.request.channel)

    async def _confirm(self, change: Change, by: str) -> None:
        if by != change.request.requester or change.decision.guard is not Guard.CONFIRM:
            raise NotYours(change)
        await self._require_operations(change, by)

    async def _approve(self, change: Change, by: str) -> None:
        if change.decision.guard is not Guard.APPROVE:
            raise NotYours(change)
        await self.access.require_approver(change, by)

    async def _override(self, change: Change, by: str) -> None:
        await self.access.require_break_glass(change, by)

    async def _deny(self, change: Change, by: str) -> None:
        """Anyone who could request a change that its requester has to confirm may also drop it."""
        await (self._require_operations if change.decision.guard is Guard.CONFIRM else self._approve)(change, by)

    async def _withdraw(self, change: Change, by: str) -> None:
        if by == change.request.requester:
            return
        if change.decision.guard is not Guard.CONFIRM and change.state is not State.PLANNED:
            raise NotYours(change)
        await self._require_operations(change, by)

    async def _prolong(self, change: Change, by: str) -> None:
        """A change that was approved for a limited time needs an approver to last longer."""
        await self._require_operations(change, by)
        if change.decision.guard is Guard.APPROVE:
            await self._approve(change, by)

    async def _read(self, change: Change, by: str) -> None:
        await self.access.require(change.read_operation, by, change.request.channel)

    async def _look(self, change: Change, by: str) -> None:
        """The requester and those who could decide may see all of a request; after the decision, all who may read its target."""
        if change.state is not State.PROPOSED:
            await self._read(change, by)
        elif by == change.request.requester:
            await self._require_operations(change, by)
        elif change.decision.guard is Guard.CONFIRM:
            await self._read(change, by)  # only those who may read it are told whose it is
            raise NotYours(change)
        else:
            try:
                await self.access.require_approver(change, by)
            except NotAllowed:
                if not change.decision.break_glass:
                    raise
                await self._override(change, by)


QUESTIONS: Final[Mapping[Decision, Callable[[Rights, Change, str], Awaitable[None]]]] = {
    Decision.CONFIRM: Rights._confirm,
    Decision.APPROVE: Rights._approve,
    Decision.BREAK_GLASS: Rights._override,
    Decision.DENY: Rights._deny,
    Decision.WITHDRAW: Rights._withdraw,
    Decision.STOP: Rights._require_operations,
    Decision.EXTEND: Rights._prolong,
    Decision.KEEP: Rights._prolong,
    Decision.REVERT: Rights._require_operations,
    Decision.UNDO: Rights._read,
    Decision.REPLAN: Rights._require_operations,
    Decision.LOOK: Rights._look,
}
"""The check before each decision: returns where the person may take it, raises why where they may not."""
