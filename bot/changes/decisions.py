"""Decide: what people do with a change that is there, each step with the right that they have to it at that moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

from bot.changes.execute import Executor
from bot.changes.journal import GATEHOUSE, Journal, event_of
from bot.changes.model import Change, Guard, Move, Question, State
from bot.changes.refusals import AlreadyDecided, NothingToReview, NotTemporary, NotYours, PolicyTightened
from bot.policy.access import Access, DirectoryUnavailable, NotAllowed
from bot.policy.model import Irreconcilable
from bot.store.db import TargetBusy
from bot.tracing import note

LOOKED: Final = "seen"
"""Stands among the decisions of a change for a person who was shown all of it."""


class Decision(StrEnum):
    CONFIRM = "confirm"
    APPROVE = "approve"
    DENY = "deny"
    KEEP = "keep"
    BREAK_GLASS = "break_glass"


@dataclass(frozen=True, slots=True)
class Decisions:
    """Lets people decide about changes, ask about them, and hold to or prolong what they agreed to."""

    journal: Journal
    access: Access
    executor: Executor

    async def decide(self, change: Change, decision: Decision, by: str, *, reason: str = "") -> Change:
        """Take the decision about *change*, as it was just read, if it is *by*'s and still open; apply what has all it needs.

        Raises NotYours, NotAllowed, PolicyTightened, DirectoryUnavailable, or AlreadyDecided with the change as it stands.
        """
        note(change=change.id, decision=decision)
        if not _open(change, decision):
            raise AlreadyDecided(change)
        expires = change.decision.expires
        if expires is not None and self.journal.now() >= expires and change.state is State.PROPOSED:
            raise AlreadyDecided(await self.expire(change) or await self.journal.get(change.id))
        await self.require_decision(change, decision, by)
        if decision not in {Decision.KEEP, Decision.DENY} and (stricter := await self._tightened(change)) is not None:
            if decision is Decision.CONFIRM and stricter.decision.guard is not Guard.CONFIRM:
                raise PolicyTightened(stricter)
            change = stricter
            await self.require_decision(change, decision, by)
        match decision:
            case Decision.KEEP:
                move = Move.CANCEL if change.state is State.PROPOSED else Move.WITHDRAW
                moved = await self.journal.move(change, move, by=by, **self._decided(by))
            case Decision.DENY:
                moved = await self.journal.move(change, Move.DENY, by=by, **self._decided(by, reason))
            case Decision.APPROVE:
                return await self._approve(change, by)
            case _:
                override: dict[str, Any] = {"glass_broken": True} if decision is Decision.BREAK_GLASS else {}
                self.executor.failpoint("claim")
                moved = await self.journal.move(change, Move.APPROVE, by=by, **self._decided(by, reason), **override)
        if moved is None:
            raise AlreadyDecided(await self.journal.get(change.id))
        return await self.executor.go_on(moved)

    async def _tightened(self, change: Change) -> Change | None:
        """*change* under the policy of now, where that asks for more than the one it was asked for under; else None.

        Raises PolicyTightened where nobody could approve under both.
        """
        try:
            stricter = await self.access.stricter(change)
        except Irreconcilable as error:
            raise PolicyTightened(change) from error
        if not stricter:
            return None

        def tightened(held: Change) -> Mapping[str, Any]:
            return stricter if held.state is State.PROPOSED else {}

        return await self.journal.record(change, "tightened", GATEHOUSE, tightened)

    def _decided(self, by: str, reason: str = "") -> dict[str, Any]:
        return {"decided_by": by, "decided_at": self.journal.now(), "decision_reason": reason}

    async def require_decision(self, change: Change, decision: Decision, by: str) -> None:
        """Return where *decision* is *by*'s, with the rights that they have now in the channel of *change*.

        Raises NotYours, NotAllowed or DirectoryUnavailable.
        """
        match decision:
            case Decision.CONFIRM:
                if by != change.request.requester or change.decision.guard is not Guard.CONFIRM:
                    raise NotYours(change)
                await self.access.require_all(change, by)
            case Decision.KEEP if by == change.request.requester:
                pass
            case Decision.KEEP | Decision.DENY if change.decision.guard is Guard.CONFIRM:
                await self.access.require_all(change, by)  # anyone who could make it may also drop it
            case Decision.KEEP:
                raise NotYours(change)
            case Decision.BREAK_GLASS:
                await self.access.require_break_glass(change, by, change.request.channel)
            case _:
                if change.decision.guard is not Guard.APPROVE:
                    raise NotYours(change)
                await self.access.require_approver(change, by, change.request.channel)

    async def _approve(self, change: Change, by: str) -> Change:
        """One approval more; with the last one, whoever asked and approved before must still have their rights."""
        given = change.approved_by(by, self.journal.now())
        try:
            counted = await self.journal.count(change, by, last=await self._completed(given, by))
        except (NotAllowed, DirectoryUnavailable, TargetBusy):
            # It still counts, for when the others have their rights again, or the target is free.
            await self.journal.count(change, by)
            raise
        if counted is None:
            raise AlreadyDecided(await self.journal.get(change.id))
        if counted.state is State.PROPOSED and len(counted.decision.approvals) > len(given.decision.approvals):
            return await self._approve(counted, by)  # others approved at the same time
        return await self.executor.go_on(counted)

    async def _completed(self, given: Change, by: str) -> Mapping[str, Any] | None:
        """The fields of the decision where *given* has all approvals that it needs, with the last one from *by*; else None.

        Raises NotAllowed where who asked, or approved, has lost their right to, and DirectoryUnavailable.
        """
        if await self.access.people([each.by for each in given.decision.approvals]) < given.decision.approvals_needed:
            return None
        await self.access.require_still(given)
        self.executor.failpoint("claim")
        return self._decided(by)

    async def expire(self, change: Change) -> Change | None:
        """Nobody decided in time; None where somebody did at the last moment."""
        if change.state is not State.PROPOSED:
            return None
        return await self.journal.move(change, Move.EXPIRE, finished_at=self.journal.now())

    async def require_look(self, change: Change, by: str) -> None:
        """Return where *by* may see all of *change*: where they asked for it, or could decide about it, now.

        Where nobody has to decide any more: where they may read such things. Raises NotYours, NotAllowed or
        DirectoryUnavailable.
        """
        if change.state is not State.PROPOSED and not change.review_due:
            return await self._require_read(change, by)
        if by == change.request.requester:
            return await self.access.require_all(change, by)
        if change.decision.guard is Guard.CONFIRM:
            raise NotYours(change)
        try:
            await self.access.require_approver(change, by, change.request.channel)
        except NotAllowed:
            if not change.decision.break_glass:
                raise
            await self.access.require_break_glass(change, by, change.request.channel)
        return None

    async def _require_read(self, change: Change, by: str) -> None:
        await self.access.require(f"{change.edit.kind.operation.partition('.')[0]}.read", by, change.request.channel)

    async def note_look(self, change: Change, by: str) -> None:
        """Put on record that *by* was shown all of *change*; once, however often they look."""
        async with self.journal.store.transaction() as tx:
            if await self.journal.store.changes.decided(tx, change.id, by, LOOKED, change.fingerprint):
                await self.journal.store.audit.append(tx, event_of("looked", change, by))

    async def has_looked(self, change: Change, by: str) -> bool:
        """Whether *by* was shown all of this very *change*; what a stored change does never changes."""
        return await self.journal.store.changes.has_decided(change.id, by, LOOKED, change.fingerprint)

    async def ask(self, change: Change, *, by: str, text: str) -> Change:
        """Put a question about an open *change* into the thread of its card; the same one twice is one.

        Raises AlreadyDecided, TooManyQuestions, NotAllowed, DirectoryUnavailable.
        """
        await self._require_read(change, by)
        return await self.journal.ask(change, Question(by=by, text=text))

    async def stop(self, whole: Change, *, by: str, request: str) -> Change:
        """Let nothing more of a running set begin; raises AlreadyDecided, NotAllowed, DirectoryUnavailable."""

        def stopped(held: Change) -> Mapping[str, Any]:
            if not held.is_set or held.state not in {State.APPROVED, State.APPLYING}:
                raise AlreadyDecided(held)
            return {} if held.run.stopped_by else {"stopped_by": by}

        await self.access.require_all(whole, by)
        return await self.journal.record(whole, "stopped", by, stopped, request=request)

    async def review(self, change: Change, *, by: str, request: str) -> Change:
        """Sign what somebody did alone; raises NothingToReview, NotYours, NotAllowed, DirectoryUnavailable."""

        def signed(held: Change) -> Mapping[str, Any]:
            if not held.review_due:
                raise NothingToReview(held)
            return {"reviewed_by": by}

        if by == change.decision.decided_by:
            raise NotYours(change)
        await self.access.require_reviewer(change, by)
        return await self.journal.record(change, "reviewed", by, signed, request=request)

    async def extend(self, change: Change, *, by: str, seconds: int, request: str) -> Change:
        """Let a temporary *change* end so much later; raises NotTemporary, NotAllowed, DirectoryUnavailable."""

        def extended(held: Change) -> Mapping[str, Any]:
            if not held.temporary or held.request.reverts_at is None:
                raise NotTemporary(held)
            return {"reverts_at": max(held.request.reverts_at, self.journal.now()) + timedelta(seconds=seconds)}

        await self._may_reschedule(change, by)
        return await self.journal.record(change, "extended", by, extended, request=request)

    async def keep(self, change: Change, *, by: str, request: str) -> Change:
        """Let a temporary *change* stay; raises NotTemporary, NotAllowed, DirectoryUnavailable."""

        def kept(held: Change) -> Mapping[str, Any]:
            if held.state is not State.APPLIED or held.request.reverts_at is None or held.run.undone_by is not None:
                raise NotTemporary(held)
            return {"reverts_at": None, "revert_failure": ""}

        await self._may_reschedule(change, by)
        return await self.journal.record(change, "made_permanent", by, kept, request=request)

    async def _may_reschedule(self, change: Change, by: str) -> None:
        """What was approved for two hours is not one person's to make last: others decide."""
        await self.access.require_all(change, by)
        if change.decision.guard is Guard.APPROVE:
            await self.access.require_approver(change, by, change.request.channel)


def _open(change: Change, decision: Decision) -> bool:
    """Whether there is still something to decide; a change that waits for its service may still be withdrawn."""
    waits_for_service = change.state is State.APPROVED and bool(change.run.waits)
    return change.state is State.PROPOSED or (decision is Decision.KEEP and waits_for_service)
