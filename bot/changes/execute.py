"""Execute approved changes, one or many: read the target, write, read back, classify the outcome, and reconcile the rest."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Final

import structlog

from bot.changes.freezing import Freezes
from bot.changes.journal import Journal
from bot.changes.model.change import Change
from bot.changes.model.documents import canonical_form
from bot.changes.model.edits import Kind, Target
from bot.changes.model.moves import Defer, Ended, Fail, GiveUp, MarkUnknown, Move
from bot.changes.model.parts import Frozen, Guard, LostRight, Refused
from bot.changes.model.states import State
from bot.changes.refusals import Unrecorded
from bot.changes.targets import LOOKING, Adapter, AdapterOf, Differs, EndPassed, Look
from bot.changes.verify import UNREADABLE, Reading, Sent, Verification, classify, discard_answer, read_back
from bot.changes.worker import Backoff, ChangeLease, LeaseLost, keep_change_lease
from bot.clients.errors import ClientError, OutcomeUnknown, RateLimited, Unreachable
from bot.clients.gate import CallContext
from bot.policy.access import GROUPS_SHARED_FOR, Access
from bot.policy.inquiry import DirectoryUnavailable, NotAllowed
from bot.store.db import StoreError

log = structlog.get_logger(__name__)

RECONCILE_AFTER: Final = (0.2, 1.0, 3.0)
"""Seconds to wait before each attempt to read back a write whose outcome is unknown."""

MAX_LOOKS: Final = 60
"""Attempts, a lease apart, to reconcile an unknown outcome; after that, a person has to check."""

LATE_LEASES: Final = 2
"""How many leases after an unanswered write its service may still carry it out, or not show it yet."""
MAX_SENDS: Final = 5
"""How many processes may begin to send a change and die; after that, it is not sent again."""

HELD_FOR: Final = timedelta(hours=1)
"""How long an approval stays valid while the service is unavailable."""
ASKED_AGAIN_AFTER: Final = timedelta(minutes=1)
"""How old a decision may be before the rights of its requester and approvers are checked again."""

LOOKS_BEFORE_A_WRITE: Final = 2
"""Reads of the target right before a write, at most: a second one where the first took so long that it may be out of date."""

MIN_WAIT, MAX_WAIT = timedelta(seconds=5), timedelta(seconds=60)
"""Until a deferred change is tried again."""

TOO_OLD: Final = "TooOld"
"""The refusal code of a change whose approval is too old to act on. Gatehouse sets it, not a service."""

END_PASSED: Final = EndPassed.code
"""The refusal code of a change whose end passed while it waited. Gatehouse sets it, not a service."""

Failpoint = Callable[[str], None]
"""Called with the name of each step at which a drill may kill the process."""


def no_failpoint(_: str) -> None:
    """Do nothing: the failpoint of every process outside of tests."""


@dataclass(frozen=True, slots=True)
class Executor:
    """Carries out changes that this process claimed: a single one, or the items of many for `bot.changes.batch`."""

    journal: Journal
    adapter: AdapterOf
    access: Access
    freezes: Freezes
    reconcile_after: Sequence[float] = RECONCILE_AFTER
    failpoint: Failpoint = no_failpoint
    context: CallContext = LOOKING

    def with_lease(self, lease: ChangeLease) -> Executor:
        """Return a copy of the executor that sends only while this process has *lease*."""
        return replace(self, context=lease.context)

    async def go_on(self, change: Change) -> Change:
        """Carry out a change that this process has claimed, or that is approved; return any other as it stands.

        A bulk change is left to `BatchWorker`, since it may take long. Raises Unrecorded where our database fails.
        """
        if change.is_bulk or (change.run.leased_until is None and change.state is not State.APPROVED):
            return change
        try:
            if change.run.leased_until is not None:
                return await self.carry_out(change)
            self.failpoint("claim")
            claimed = await self.journal.claim(change.id)
            return await self.carry_out(claimed) if claimed is not None else await self._reload(change)
        except StoreError as error:
            raise Unrecorded(change) from error

    async def carry_out(self, change: Change) -> Change:
        """Send or reconcile a change that this process claimed, and return it as it then stands.

        Where another process takes it over in the meantime, nothing more is sent for it here.
        """
        try:
            async with keep_change_lease(self.journal, change) as lease:
                leased = self.with_lease(lease)
                if _may_have_been_sent(change):
                    return await leased._reconcile_one(change)
                return await leased._handle_refusal(change) or await leased._attempt(change)
        except LeaseLost:
            log.warning("change_lost", change=change.id[:8])
            return await self._reload(change)

    # Whether it may be done

    def is_too_old(self, change: Change) -> bool:
        """Whether the approval of *change* is too old to act on, as after a long outage or from a backup."""
        return self._time_waited(change) > HELD_FOR

    def is_past_end(self, change: Change) -> bool:
        """Whether the end of *change* is past: then it isn't applied, since it would have to be reverted at once."""
        return change.request.reverts_at is not None and change.request.reverts_at <= self.journal.now()

    async def refusal(self, change: Change) -> Refused | LostRight | Frozen | None:
        """Return why a decided change may no longer be applied; None where it may.

        Where time has passed since the decision, freezes and the rights of its requester and approvers are checked again.
        Raises DirectoryUnavailable.
        """
        if self.is_too_old(change):
            return Refused(code=TOO_OLD)
        if self.is_past_end(change):
            return Refused(code=END_PASSED)
        # The end of a temporary change was agreed to with its beginning; a fresh decision was only just asked about.
        if change.is_automatic or not (change.run.waits or self._time_waited(change) > ASKED_AGAIN_AFTER):
            return None
        try:
            await self.access.require_still_allowed(change, self.journal.now() - GROUPS_SHARED_FOR)
        except NotAllowed as error:
            return LostRight(who=error.user, why=error.why)
        # A freeze stops nothing that was begun before it, and a change that was taken over was begun.
        if change.run.attempt > 1:
            return None
        freeze = await self.freezes.find_for_change(change, self.journal.now())
        return None if freeze is None else Frozen(until=freeze.until)

    async def _handle_refusal(self, change: Change) -> Change | None:
        """End *change* where it may no longer be applied, defer it where Slack is unavailable; return None where it may be.

        A change that may have been sent is not deferred, which would forget that it was: it is taken over again when its lease
        is over. Nor is it marked as failed, since what a dead process sent may still take effect: its outcome is unknown.
        """
        whole = await self.journal.store.changes.get(change.set_id) if change.set_id is not None else None
        sent = _may_have_been_sent(change)
        try:
            refusal = await self.refusal(whole or change)
        except DirectoryUnavailable as error:
            return change if sent else await self.wait(change, f"Slack does not say {error}")
        if refusal is None:
            return None
        return await self.end(change, MarkUnknown(why=refusal) if sent else Fail(why=refusal))

    async def wait(self, change: Change, why: str) -> Change:
        """Defer *change*, of which nothing was sent, because of *why*: the longer it has waited, the later the next try."""
        wait = min(max(self._time_waited(change) / 4, MIN_WAIT), MAX_WAIT)
        return await self.end(change, Defer(waits=why[:200], due=self.journal.now() + wait))

    def _time_waited(self, change: Change) -> timedelta:
        return self.journal.now() - (change.run.started_at or change.decision.decided_at or change.created)

    # One attempt

    async def _attempt(self, change: Change) -> Change:
        """Send *change* and read it back; where the outcome isn't clear, reconcile it. Return it as it then stands."""
        # Tried once: while its service is away, a change waits in the database, and not here.
        sent = await self.send(change, self.look([change.edit.target]), Backoff(0))
        is_waited_for = change.decision.guard is not Guard.NONE or change.request.starts_at is not None
        away = isinstance(sent.error, Unreachable | RateLimited) and is_waited_for
        if away and not _may_have_been_sent(change):
            # Deferred, not failed: an approval or a planned start must survive a service that is only away for a while.
            why = "isn’t available" if isinstance(sent.error, Unreachable) else "takes no requests for now"
            return await self.wait(change, f"the service {why}")
        moved = await self.journal.finish(await self.read_back([sent]))
        ended = moved[0] if moved else await self._reload(change)
        return await self._reconcile_one(ended) if ended.state is State.UNKNOWN else ended

    def look(self, targets: Sequence[Target]) -> Look:
        """Return a `Look` at *targets*, which are all of one service and site."""
        return Look(self._adapter_of, targets, self.journal.now)

    def _adapter_of(self, target: Target) -> Adapter:
        return self.adapter(target, self.context)

    async def send(self, change: Change, look: Look, backoff: Backoff) -> Sent:
        """Send *change* if its target is still as it was shown; return the answer, or the error in its place.

        While the service is rate-limiting or unreachable, it is sent again for as long as *backoff* allows.
        """
        try:
            return await backoff.retry(partial(self._write, change, look))
        except (ClientError, Differs, EndPassed) as error:
            return Sent(change, error=error)

    async def _write(self, change: Change, look: Look) -> Sent:
        change = await self._require_as_shown(change, look)
        if self.is_past_end(change):
            raise EndPassed
        # Last before the write: a process that stood still may have lost its lease since the look.
        await self.context.pass_fence(ask=True)
        try:
            made = await look.adapter.write(change)
        # Returned and not raised: the change now has the lookalikes that reading back needs.
        except OutcomeUnknown as error:
            return Sent(change, error=error)
        finally:
            self.failpoint("sent")
        if made is not None:
            # Only the answer names the new rule; without it, reading back has to search all rules by content.
            change = change.with_target(change.edit.target.with_key(made["id"]))
        return Sent(change, accepted=True, made=made)

    async def _require_as_shown(self, change: Change, look: Look) -> Change:
        """Read the target right before the write; raises Differs where it is not what was shown."""
        for _ in range(LOOKS_BEFORE_A_WRITE):
            self.failpoint("look")
            began = self.journal.now()
            live = await look.live(change)
            if canonical_form(live) != canonical_form(change.edit.before):
                raise Differs(live)
            change = await self._remember_lookalikes(change)
            self.failpoint("write")
            # A look that took longer is too old to write on, so there is a second one.
            if self.journal.now() <= began + self.journal.lease / 2:
                break
        return change

    async def _remember_lookalikes(self, change: Change) -> Change:
        """Before a rule is created, store the ids of rules that already look like it; return the change with them.

        Without them, if the answer to the create were lost, an old rule could be taken for the new one. The items of a bulk
        change get theirs when they are begun.
        """
        if change.edit.kind is not Kind.RULE_CREATE or change.set_id is not None:
            return change
        alike = await self._adapter_of(change.edit.target).snapshot([change.edit.target])
        found = tuple(alike.lookalikes(change))
        (change,) = await self.journal.remember(
            [change], lambda held: replace(held, run=replace(held.run, lookalikes=found))
        )
        return change

    async def read_back(self, sent: Sequence[Sent]) -> Sequence[Ended]:
        """Read back changes that were sent to one service and site; return the moves that follow, if any yet."""
        self.failpoint("read back")
        read = await self._read([each for each in sent if each.is_open])
        return self._classify_all([*read, *((each, UNREADABLE) for each in sent if not each.is_open)])

    async def _read(self, sent: Sequence[Sent]) -> Sequence[tuple[Sent, Reading]]:
        """Return each of *sent* with what reading back shows of it."""
        if not sent:
            return []
        try:
            found = await read_back(self._adapter_of(sent[0].change.edit.target), sent)
        except ClientError as error:
            log.warning("read_back_failed", change=sent[0].change.id[:8], error=type(error).__name__)
            return [
                (discard_answer(each, f"done, it says, but it could not be read: {error}"), UNREADABLE) for each in sent
            ]
        return [(each, await self._exclude_others(each.change, reading)) for each, reading in found]

    async def _exclude_others(self, change: Change, reading: Reading) -> Reading:
        """Return *reading*; NOT_DONE or DIVERGED where the rule that it found belongs, or may belong, to another create."""
        if change.edit.kind is not Kind.RULE_CREATE or change.edit.target.key or not reading.is_done:
            return reading
        found = change.edit.target.with_key((reading.live or {}).get("id"))
        others = [each for each in await self.journal.store.changes.creations(found) if each.id != change.id]
        if any(each.edit.target == found for each in others):
            return Reading(Verification.NOT_DONE)
        alike = any(canonical_form(each.edit.after) == canonical_form(change.edit.after) for each in others)
        return Reading(Verification.DIVERGED, reading.live) if alike else reading

    # What is not clear yet

    async def reconcile(self, changes: Sequence[Change]) -> Sequence[tuple[Change, Reading]]:
        """Read back changes that may have been sent, several times, and finish those that read as done.

        Return the others, each with its last reading.
        """
        left: Sequence[tuple[Sent, Reading]] = [(Sent(change), UNREADABLE) for change in changes]
        for seconds in self.reconcile_after:
            await asyncio.sleep(seconds)
            read = await self._read([sent for sent, _ in left])
            await self.journal.finish(self._classify_all([each for each in read if each[1].is_done]))
            left = [each for each in read if not each[1].is_done]
            if not left:
                break
        return [(sent.change, reading) for sent, reading in left]

    async def _reconcile_one(self, change: Change) -> Change:
        """Reconcile a change of unknown outcome: read the target until the service's state shows whether the write happened."""
        left = await self.reconcile([change])
        if not left:
            return await self._reload(change)
        ((_, reading),) = left
        if self.may_be_resent(change, reading):
            # Time has passed since it was approved, so the rights are checked again.
            return await self._handle_refusal(change) or await self._attempt(*await self.begin_resending([change]))
        if change.state is State.APPLYING:
            return await self.end(change, MarkUnknown())
        # A slow service may still carry out a request that it didn't answer, so nothing is called failed for some leases.
        late = (change.run.finished_at or change.created) + LATE_LEASES * self.journal.lease
        if reading.is_undone and self.journal.now() >= late:
            # After a success response, or for a new rule, which others may have deleted since, a read doesn't prove a failure.
            leave = change.run.accepted or change.edit.kind is Kind.RULE_CREATE
            return await self.end(change, GiveUp(live=reading.live) if leave else Fail(live=reading.live))
        return await self.end(change, GiveUp(live=reading.live)) if change.run.attempt >= MAX_LOOKS else change

    def may_be_resent(self, change: Change, reading: Reading) -> bool:
        """Whether a change whose process died, and whose target is unchanged, may be sent again by the one that took it over.

        Not a create: if the first request is still in flight, the second would create the rule twice. The other kinds name
        what they change, so a second request finds the work of the first. At most MAX_SENDS times in all, since the change
        itself may be what kills its processes.
        """
        taken_over = (
            change.state is State.APPLYING and change.run.attempt > 1 and change.edit.kind is not Kind.RULE_CREATE
        )
        return taken_over and reading.is_undone and change.run.resends < MAX_SENDS - 1 and not self.is_too_old(change)

    async def begin_resending(self, changes: Sequence[Change]) -> Sequence[Change]:
        """Record that *changes* are about to be resent, and return them; called before they are sent."""
        return await self.journal.remember(
            changes, lambda held: replace(held, run=replace(held.run, resends=held.run.resends + 1))
        )

    # What is recorded

    def _classify_all(self, read: Sequence[tuple[Sent, Reading]]) -> Sequence[Ended]:
        ends = [(sent.change, classify(sent, reading)) for sent, reading in read]
        if ends:
            self.failpoint("record")
        return [(change, move) for change, move in ends if move is not None]

    async def end(self, change: Change, move: Move) -> Change:
        """Make *move* of a claimed *change*; return it as it then stands, even if another process took it over."""
        moved = await self.journal.finish([(change, move)])
        return moved[0] if moved else await self._reload(change)

    async def _reload(self, change: Change) -> Change:
        return await self.journal.store.changes.get(change.id) or change


def _may_have_been_sent(change: Change) -> bool:
    """Whether an earlier process may have sent *change*. A create stores its lookalikes first: without any, it was not sent."""
    return change.run.attempt > 1 and (change.edit.kind is not Kind.RULE_CREATE or change.run.lookalikes is not None)
