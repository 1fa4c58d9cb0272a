"""Decisions of people about an existing change; each checks the person's right at that moment."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, assert_never

from bot.changes.consequences import LATE_START
from bot.changes.execute import Executor
from bot.changes.freezing import Freezes, Frozen
from bot.changes.journal import Journal
from bot.changes.model.change import Change
from bot.changes.model.documents import canonical_form
from bot.changes.model.moves import (
    GATEHOUSE,
    Approve,
    Cancel,
    Deny,
    Expire,
    Invalidate,
    Replan,
    Start,
    Withdraw,
    put_off,
)
from bot.changes.model.parts import Guard, Held, RevertFailure
from bot.changes.model.states import State
from bot.changes.refusals import (
    AlreadyDecided,
    ApprovalWaits,
    EndsBeforeStart,
    MoreMustAgree,
    NotPlanned,
    NotTemporary,
    PolicyTightened,
    TimeIsPast,
)
from bot.changes.rights import RELEASES, Decision, OfRequest, Rights
from bot.changes.targets import LOOKING, read_live
from bot.policy.access import GROUPS_SHARED_FOR, Access
from bot.policy.inquiry import DirectoryUnavailable, NotAllowed, count_people
from bot.store.db import TargetBusy
from bot.store.outbox import Purpose

APPROVED_AGAIN_WITHIN: Final = timedelta(hours=24)
"""How long a request for another time waits for its approval."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """Takes the decisions of people about changes: approve, deny, replan, stop, give it another end."""

    journal: Journal
    access: Access
    executor: Executor
    rights: Rights
    freezes: Freezes

    async def decide(self, change: Change, decision: OfRequest, by: str, *, reason: str = "") -> Change:
        """Take *decision* of *by* about *change*, and apply the change once it has all that it requires; return it as it stands.

        *change*: as it was just read.
        Raises as `Rights.require` does, PolicyTightened, Frozen, MoreMustAgree, or AlreadyDecided with the change as it stands.
        """
        if not is_open(change, decision):
            raise AlreadyDecided(change)
        expires = change.decision.expires
        # The timer that expires it may fire late; a click after the end is too late all the same.
        if expires is not None and self.journal.now() >= expires and change.state is State.PROPOSED:
            raise AlreadyDecided(await self.expire(change) or await self.journal.get(change.id))
        await self.rights.require(change, decision, by, self.journal.now())
        if decision in RELEASES:
            change = await self._require_releasable(change, decision, by)
        match decision:
            case Decision.WITHDRAW:
                move = Cancel(by=by) if change.state is State.PROPOSED else Withdraw(by=by)
                moved = await self.journal.move(change, move)
            case Decision.DENY:
                moved = await self.journal.move(change, Deny(by=by, reason=reason))
            case Decision.APPROVE:
                return await self._approve(change, by)
            case Decision.CONFIRM | Decision.BREAK_GLASS:
                self.executor.failpoint("claim")
                overrides = decision is Decision.BREAK_GLASS
                moved = await self.journal.move(change, Approve(by=by, reason=reason, glass_broken=overrides))
            case _:
                assert_never(decision)
        if moved is None:
            return await self._decide_again(change, decision, by, reason=reason)
        return await self.executor.go_on(moved)

    async def _require_releasable(self, change: Change, decision: OfRequest, by: str) -> Change:
        """Return *change* under the current policy, where that lets *decision* through; raises as `decide` does."""
        if (stricter := await self._tighten(change)) is not None:
            # The requester's own confirmation is no longer enough: somebody else has to approve now.
            if decision is Decision.CONFIRM and stricter.decision.guard is not Guard.CONFIRM:
                raise PolicyTightened(stricter)
            # Checked again, since who may take the decision depends on what the change requires.
            change = stricter
            await self.rights.require(change, decision, by, self.journal.now())
        if decision is not Decision.BREAK_GLASS:
            await self.freezes.require(change)
        return change

    async def _decide_again(self, judged: Change, decision: OfRequest, by: str, *, reason: str = "") -> Change:
        """Decide again where the change now requires more than *judged* did; else the decision came too late."""
        change = await self.journal.get(judged.id)
        if change.decision.has_requirements_of(judged.decision):
            raise AlreadyDecided(change)
        return await self.decide(change, decision, by, reason=reason)

    async def _tighten(self, change: Change) -> Change | None:
        """Record what the current policy requires of *change*, where that is stricter than at its request; else return None.

        Raises PolicyTightened where nobody could approve under both.
        """
        stricter = (await self.rights.with_current_guard(change)).decision
        if stricter == change.decision:
            return None

        def update(held: Change) -> Change:
            required = held.decision.with_requirements_of(stricter)
            return replace(held, decision=required) if held.state is State.PROPOSED else held

        return await self.journal.record(change, "tightened", GATEHOUSE, update)

    async def _approve(self, change: Change, by: str) -> Change:
        """Count one more approval; at the last one, the requester and the earlier approvers must still have their rights."""
        given = change.with_approval(by, self.journal.now())
        try:
            counted = await self.journal.count(change, by, completes=await self._is_complete(given))
        except (NotAllowed, DirectoryUnavailable, TargetBusy) as error:
            # It still counts, for when the others have their rights again, or the target is free.
            waits = await self.journal.count(change, by)
            if isinstance(error, NotAllowed) and waits is not None:
                raise ApprovalWaits(waits, error.user, error.why) from error
            raise
        if counted is None:
            return await self._decide_again(change, Decision.APPROVE, by)
        if len(counted.decision.approvals) > len(given.decision.approvals):
            return await self._approve(counted, by)  # others approved at the same time
        return await self.executor.go_on(counted)

    async def _is_complete(self, given: Change) -> bool:
        """Whether *given* has all approvals that it needs.

        Raises NotAllowed where the requester or an approver has lost their right, and DirectoryUnavailable.
        """
        if (
            await count_people(self.access.directory, [each.by for each in given.decision.approvals])
            < given.decision.approvals_needed
        ):
            return False
        await self.access.require_still_allowed(given, self.journal.now())
        self.executor.failpoint("claim")
        return True

    async def start(self, change: Change) -> None:
        """Begin a planned change at its time: check rights, policy, freezes and target again; hold it, or end it as stale.

        Raises a ClientError, TargetBusy and DirectoryUnavailable where it can't begin yet, and NotPlanned.
        """
        try:
            if why := await self._find_hold(change):
                await self.journal.hold(change, why)
                return
        except NotAllowed as error:
            await self.journal.hold(change, Held.RIGHT, lost=error)
            return
        # A thing that is yet to be created can't have been changed.
        if change.edit.target.key is not None:
            # A change of it that is under way right now is not an edit that came in between: raises TargetBusy.
            await self.journal.store.changes.require_free(change)
            live = await read_live(self.executor.adapter(change.edit.target, LOOKING), change.edit.target)
            if canonical_form(live) != canonical_form(change.edit.before):
                await self.journal.move(change, Invalidate(live=live), planned=True)
                return
        # The checks took a while, in which somebody may have moved it to another time.
        await self._begin(change, GATEHOUSE, planned=True)

    async def _begin(self, change: Change, by: str, *, planned: bool = False) -> Change:
        self.executor.failpoint("claim")
        moved = await self.journal.move(change, Start(by=by), planned=planned)
        if moved is None:
            raise NotPlanned(await self.journal.get(change.id))
        return await self.executor.go_on(moved)

    async def _find_hold(self, change: Change) -> Held:
        """Return why *change* may not begin now, NOT where it may; raises NotAllowed and DirectoryUnavailable."""
        await self.access.require_still_allowed(change, self.journal.now() - GROUPS_SHARED_FOR)
        try:
            stricter = await self.rights.with_current_guard(change)
        except PolicyTightened:
            return Held.POLICY
        if await self.freezes.find_for_change(change, self.journal.now()) is not None:
            return Held.FROZEN
        is_enough = change.decision.glass_broken or stricter.decision.has_requirements_of(change.decision)
        return Held.NOT if is_enough else Held.POLICY

    async def replan(
        self, change: Change, *, by: str, request: str, starts_at: datetime | None = None, as_typed: str = ""
    ) -> Change:
        """Move a planned change to *starts_at*, or begin it now (None); what was approved for its time is requested again.

        Raises NotPlanned, TimeIsPast, EndsBeforeStart, PolicyTightened, Frozen, and as `Rights.require` does.
        """
        await self.rights.require(change, Decision.REPLAN, by)
        await self._require_startable(change, starts_at, as_typed)
        if change.decision.guard is Guard.APPROVE or change.decision.glass_broken:
            return await self._ask_again(change, by, starts_at, as_typed)
        if starts_at is None:
            await self.access.require_still_allowed(change, self.journal.now())
            if not (await self.rights.with_current_guard(change)).decision.has_requirements_of(change.decision):
                raise PolicyTightened(change)
            return await self._begin(change, by)

        def update(held: Change) -> Change:
            if held.state is not State.PLANNED:
                raise NotPlanned(held)
            return put_off(held, starts_at, as_typed, by)

        # The requester counts on the time that they know.
        note = Purpose.MOVED.of(self.journal.now()) if by != change.request.requester else ""
        return await self.journal.record(change, "replanned", by, update, request=request, note=note)

    async def _require_startable(self, change: Change, starts_at: datetime | None, as_typed: str) -> None:
        """Require that *change* can begin at *starts_at*, or now; raises NotPlanned, TimeIsPast, EndsBeforeStart, Frozen."""
        now = self.journal.now()
        if change.state is not State.PLANNED:
            raise NotPlanned(change)
        if starts_at is not None and starts_at <= now:
            raise TimeIsPast(as_typed)
        ends = change.request.reverts_at
        if ends is not None and ends <= (starts_at or now):
            raise EndsBeforeStart
        if (freeze := await self.freezes.find_for_change(change, starts_at or now)) is not None:
            raise Frozen(freeze)

    async def _ask_again(self, change: Change, by: str, starts: datetime | None, as_typed: str) -> Change:
        """Turn a planned change back into a request for another time; raises NotPlanned."""
        expires = self.journal.now() + APPROVED_AGAIN_WITHIN
        # After this, nothing begins automatically, so a later approval would be too late.
        expires = expires if starts is None else min(expires, starts + LATE_START)
        moved = await self.journal.move(change, Replan(by=by, starts_at=starts, as_typed=as_typed, expires=expires))
        if moved is None:
            raise NotPlanned(await self.journal.get(change.id))
        return moved

    async def expire(self, change: Change) -> Change | None:
        """Expire *change*, which nobody decided in time; None where somebody did at the last moment."""
        # A held change waits for a decision, too, but not for ever.
        if change.state is not State.PROPOSED and not change.run.held:
            return None
        return await self.journal.move(change, Expire(), planned=True)

    async def stop(self, whole: Change, *, by: str, request: str) -> Change:
        """Stop a running bulk change: no more items are begun; raises AlreadyDecided, NotAllowed, DirectoryUnavailable."""

        def update(held: Change) -> Change:
            if not held.is_bulk or held.state not in {State.APPROVED, State.APPLYING}:
                raise AlreadyDecided(held)
            return held if held.run.stopped_by else replace(held, run=replace(held.run, stopped_by=by))

        await self.rights.require(whole, Decision.STOP, by)
        return await self.journal.record(whole, "stopped", by, update, request=request)

    async def end_at(
        self,
        change: Change,
        *,
        by: str,
        ends_at: datetime,
        as_typed: str,
        request: str,
        shown_end: datetime | None = None,
        is_back: bool = False,
    ) -> Change:
        """Move the end of a temporary *change* to *ends_at*, later or sooner.

        *shown_end*: the end that *by* was shown. *is_back*: it had *ends_at* before *by* gave it another
        end, or none, which nobody else has changed since. Raises NotTemporary, TimeIsPast, and as `require` does.
        """
        if ends_at <= self.journal.now():
            raise TimeIsPast(as_typed)

        def update(held: Change) -> Change:
            moved = _with_end(held, ends_at, by, as_typed)
            is_as_shown = shown_end in {None, held.request.reverts_at}
            # What was kept has no end now, but is temporary with the one that it had.
            is_theirs = held.run.time_changed_by == by if is_back else held.is_temporary
            if not (is_as_shown and is_theirs and moved.is_temporary):
                raise NotTemporary(held)
            return moved

        await self.require(change, Decision.CHANGE_END, by)
        event = "end_restored" if is_back else "end_moved"
        return await self.journal.record(change, event, by, update, request=request)

    async def keep(self, change: Change, *, by: str, request: str) -> Change:
        """Keep a temporary *change*, without an end; raises NotTemporary, and as `require` does."""

        def update(held: Change) -> Change:
            # What could not be put back at its end can be kept all the same.
            kept = replace(held, run=replace(held.run, revert_failure=RevertFailure.NONE))
            if not kept.is_temporary:
                raise NotTemporary(held)
            return _with_end(kept, None, by)

        await self.require(change, Decision.CHANGE_END, by)
        return await self.journal.record(change, "made_permanent", by, update, request=request)

    async def require(self, change: Change, decision: Decision, by: str) -> None:
        """Require that *by* may take *decision* about *change*; another end takes as many people as had to approve it.

        Raises MoreMustAgree, and as `Rights.require` does.
        """
        is_end = decision is Decision.CHANGE_END
        change = await self.rights.with_current_guard(change) if is_end else change
        await self.rights.require(change, decision, by, self.journal.now())
        if is_end and change.decision.guard is Guard.APPROVE and change.decision.approvals_needed > 1:
            raise MoreMustAgree(change)


def _with_end(change: Change, ends: datetime | None, by: str, as_typed: str = "") -> Change:
    """Return *change* with another end, which *by* gave it; None for none."""
    request = replace(change.request, reverts_at=ends, reverts_at_as_typed=as_typed)
    return replace(change, request=request, run=replace(change.run, time_changed_by=by))


def is_open(change: Change, decision: Decision) -> bool:
    """Whether there may be something to decide; a change that waited for its service may still be withdrawn, until it begins."""
    waits = change.state is State.PLANNED or bool(change.run.waits)
    return change.state is State.PROPOSED or (decision is Decision.WITHDRAW and waits)
