"""Apply and settle: an approved change carried out once, and what became of it told by reading back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import structlog

from bot.changes.journal import Journal
from bot.changes.model import Change, Guard, Kind, Move, State, canonical_form
from bot.changes.verify import AdapterOf, Reading, Truth, read_back, read_live
from bot.changes.worker import HeldLease, LeaseLost
from bot.clients.errors import ClientError, NotFound, OutcomeUnknown, RateLimited, Unreachable
from bot.clients.http import pass_fence
from bot.policy.access import Access, DirectoryUnavailable, NotAllowed

log = structlog.get_logger(__name__)

SETTLE_AFTER: Final = (0.2, 1.0, 3.0)
"""Seconds between the looks at a service whose answer to a write was lost."""

MOST_LOOKS: Final = 60
"""Attempts, a lease apart, to settle an unknown outcome; after that only a person can tell."""

LATE_LEASES: Final = 2
"""Leases after a write in which its service may still do, or come to show, what it did not answer for."""
MOST_SENDS: Final = 5
"""Processes, one after the other, that may die holding a change before it is no longer sent."""

HELD_FOR: Final = timedelta(hours=1)
"""How long an approval holds while the service is away."""
ASKED_AGAIN_AFTER: Final = timedelta(minutes=1)
"""How old a decision may be before everybody's right to it is asked for again."""

LOOKS_BEFORE_A_WRITE: Final = 2
"""The second where the first took long: its process was stopped, or its service is slow."""

SHORTEST_WAIT, LONGEST_WAIT = timedelta(seconds=5), timedelta(seconds=60)

Failpoint = Callable[[str], None]
"""Told the name of each step just before it is taken: the places where a process may die."""


def no_failpoint(_: str) -> None:
    """The checkpoint of every process that is not a drill."""


@dataclass(frozen=True, slots=True)
class Executor:
    """Carries out changes that it holds."""

    ledger: Journal
    adapter: AdapterOf
    access: Access
    settle_after: Sequence[float] = SETTLE_AFTER
    reached: Failpoint = no_failpoint

    async def go_on(self, change: Change) -> Change:
        """Apply what is approved; a change set is left to its own worker, for it may take long."""
        if change.state is not State.APPROVED or change.is_set:
            return change
        return await self.apply(change)

    async def apply(self, change: Change) -> Change:
        """Claim the approved change and carry it out; where another has claimed it, return it as it stands."""
        self.reached("claim")
        claimed = await self.ledger.claim(change.id)
        return await self.carry_out(claimed) if claimed is not None else await self._as_it_stands(change)

    async def begin(self, approved: Change) -> Change:
        """Carry out *approved* if this process claimed it with the approval; return a change set or an open request as it is."""
        return await self.carry_out(approved) if approved.state is State.APPLYING else approved

    async def carry_out(self, change: Change) -> Change:
        """Do the work of a change that this process holds; where another took it over in the meantime, as it stands."""
        try:
            async with HeldLease(self.ledger, change):
                return await self._carried_out(change)
        except LeaseLost:
            log.warning("change_lost", change=change.id[:8])
            return await self._as_it_stands(change)

    async def _carried_out(self, change: Change) -> Change:
        """The change after its first attempt, or after what became of another process's attempt was settled."""
        if change.state is State.UNKNOWN or (change.attempt > 1 and _may_have_been_sent(change)):
            return await self._settle(change)
        if self.too_old(change):
            return await self._end(change, Move.FAIL, refusal=TOO_OLD)
        if (refused := await self._refused(change)) is not None:
            return refused
        try:
            for _ in range(LOOKS_BEFORE_A_WRITE):
                self.reached("look")
                looked = self.ledger.now()
                live = await read_live(self.adapter(change.target), change.target)
                if canonical_form(live) != canonical_form(change.before):
                    return await self._end(change, Move.OUTDATE, result=live)
                change = await self._remember_lookalikes(change)
                if self.ledger.now() <= looked + self.ledger.lease / 2:
                    break
        except ClientError as error:
            return await self._not_begun(change, error)
        return await self._write(change)

    def too_old(self, change: Change) -> bool:
        """An approval is for now: it does not come true hours later, from a backup or after a long outage."""
        return change.decided_at is not None and self.ledger.now() > change.decided_at + HELD_FOR

    async def _refused(self, change: Change) -> Change | None:
        """What becomes of a change that waited, where somebody's right to it is gone or Slack does not say; else None.

        One that may have been sent before is not deferred, which would forget that: it is looked at again when its lease
        is over.
        """
        asked_for = change
        if change.part_of is not None:
            asked_for = await self.ledger.store.changes.get(change.part_of) or change
        try:
            lost = await self.lost_right(asked_for)
        except DirectoryUnavailable as error:
            return change if change.attempt > 1 else await self.wait(change, f"Slack does not say {error}")
        return None if lost is None else await self._end(change, Move.FAIL, **lost)

    async def lost_right(self, change: Change) -> dict[str, str] | None:
        """The fields that say who may not do this any more, though it was decided; None where everybody still may.

        Asked only where time went by since the decision. Raises DirectoryUnavailable.
        """
        decided = change.decided_at or change.created
        waited = bool(change.waits) or self.ledger.now() > decided + ASKED_AGAIN_AFTER
        if change.agreed or not waited:
            return None
        try:
            await self.access.require_still(change)
        except NotAllowed as error:
            return {"refusal": LOST_RIGHT, "lost_right": error.user, "outcome": error.why.value}
        return None

    async def wait(self, change: Change, why: str) -> Change:
        """Nothing was sent: try again later, the longer it has waited the later."""
        waited = self.ledger.now() - (change.decided_at or change.created)
        wait = min(max(waited / 4, SHORTEST_WAIT), LONGEST_WAIT)
        return await self._end(change, Move.DEFER, due=self.ledger.now() + wait, waits=why[:200])

    async def _not_begun(self, change: Change, error: ClientError) -> Change:
        """Nothing was sent. Where somebody's approval would be lost and the service is only away, it waits."""
        away = isinstance(error, Unreachable | RateLimited)
        decided = change.decided_at or change.created
        waited = self.ledger.now() - decided
        if not away or change.guard is Guard.NONE or waited >= HELD_FOR:
            return await self._end(change, Move.FAIL, **said(error))
        return await self.wait(change, f"the service is not answering ({error})")

    async def _remember_lookalikes(self, change: Change) -> Change:
        """Before a create: note what looks the same already, or a lost answer could not be told from an old rule."""
        if change.kind is not Kind.RULE_CREATE:
            return change
        alike = await self.adapter(change.target).snapshot([change.target], shared=True)
        return await self.ledger.remember(change, result={"twins": alike.lookalikes(change)})

    async def _write(self, change: Change) -> Change:
        self.reached("write")
        await pass_fence()
        try:
            answer = await self.adapter(change.target).write(change)
        except NotFound as error:
            gone = change.after is None
            return await self._end(change, Move.OUTDATE if gone else Move.FAIL, **said(error))
        except OutcomeUnknown as error:
            self.reached("lose")
            return await self._settle(await self._end(change, Move.LOSE, **said(error)))
        except ClientError as error:
            return await self._end(change, Move.FAIL, **said(error))
        if change.kind is Kind.RULE_CREATE:
            change = change.model_copy(update={"target": change.target.model_copy(update={"key": answer})})
        self.reached("read back")
        return await self._confirm(change, answer)

    async def _confirm(self, change: Change, answer: str) -> Change:
        """The service said yes: believe it once the target reads so, or reads as what the service made of it."""
        try:
            reading = await read_back(self.adapter(change.target), change)
        except ClientError as error:
            log.warning("read_back_failed", change=change.id[:8], error=type(error).__name__)
        else:
            stored = reading.truth is Truth.DIVERGED and reading.live is not None and change.after is not None
            if reading.truth is Truth.DONE or stored:
                return await self._finish(change, reading.live, outcome=answer)
        said_yes = {"outcome": answer, "accepted": True, "target_key": change.target.key}
        return await self._settle(await self._end(change, Move.LOSE, **said_yes))

    async def _finish(self, change: Change, live: dict[str, Any] | None, **fields: Any) -> Change:
        key = change.target.key or (live or {}).get("id")
        if change.lasts is not None:
            fields["ends"] = self.ledger.now() + timedelta(seconds=change.lasts)
        self.reached("record")
        return await self._end(change, Move.FINISH, result=live, target_key=key, **fields)

    async def _settle(self, change: Change) -> Change:
        """Nobody knows whether the write happened: look until the service's state says so."""
        if change.state not in {State.APPLYING, State.UNKNOWN}:
            return change
        reading = None
        for seconds in self.settle_after:
            await asyncio.sleep(seconds)
            try:
                reading = await self.ours(change, await read_back(self.adapter(change.target), change))
            except ClientError as error:
                log.warning("settling", change=change.id[:8], error=type(error).__name__)
                reading = None  # the one of before is no look right before a write
                continue
            if reading.truth is Truth.DONE:
                return await self._finish(change, reading.live)
        undone = reading is not None and reading.truth is Truth.NOT_DONE
        if undone and once_more(change) and not self.too_old(change):
            return await self._refused(change) or await self._write(change)
        if change.state is State.APPLYING:
            return await self._end(change, Move.LOSE)
        if reading is not None and undone and not self._may_still_come(change):
            if change.accepted or change.kind is Kind.RULE_CREATE:
                # A yes outweighs what is shown; and a new rule held no target, so others may have deleted it since.
                return await self._end(change, Move.LEAVE)
            return await self._end(change, Move.FAIL, result=reading.live)
        if change.attempt >= MOST_LOOKS:
            return await self._end(change, Move.LEAVE, result=reading.live if reading else None)
        return change

    async def ours(self, change: Change, reading: Reading) -> Reading:
        """What was read, unless the rule that was found is what another creation made of a draft just like this."""
        if change.kind is not Kind.RULE_CREATE or change.target.key or reading.truth is not Truth.DONE:
            return reading
        found = change.target.model_copy(update={"key": (reading.live or {}).get("id")})
        others = [each for each in await self.ledger.store.changes.creations(found) if each.id != change.id]
        if any(each.target == found for each in others):
            return Reading(Truth.NOT_DONE, None)
        alike = any(canonical_form(each.after) == canonical_form(change.after) for each in others)
        return Reading(Truth.DIVERGED, reading.live) if alike else reading

    def _may_still_come(self, change: Change) -> bool:
        """Whether what reads as not done may be done yet: by a slow service, or behind a cache that is stale."""
        lost = change.finished_at or change.created
        return self.ledger.now() < lost + LATE_LEASES * self.ledger.lease

    async def _end(self, change: Change, move: Move, **fields: Any) -> Change:
        """One step of a claimed change; where somebody took it over meanwhile, how it stands now."""
        if move is not Move.DEFER:
            fields.setdefault("finished_at", self.ledger.now())
        moved = await self.ledger.move(change, move, fenced=True, **fields)
        return moved or await self._as_it_stands(change)

    async def _as_it_stands(self, change: Change) -> Change:
        return await self.ledger.store.changes.get(change.id) or change


def _may_have_been_sent(change: Change) -> bool:
    """A create notes what looks like it before it is sent; without that note it never was."""
    return change.kind is not Kind.RULE_CREATE or "twins" in (change.result or {})


def once_more(change: Change) -> bool:
    """Whether a change whose process died, and that did not come true, is sent by the one that took over.

    Not a create: if the first request is still on its way somewhere, the second would make two. The others name
    what they change, so that the second finds the work of the first. Not for ever: it may be what they die of.
    """
    return change.state is State.APPLYING and 1 < change.attempt <= MOST_SENDS and change.kind is not Kind.RULE_CREATE


TOO_OLD: Final = "TooOld"
"""The refusal of a change whose approval no longer holds: ours, not a service's."""

LOST_RIGHT: Final = "LostRight"
"""The refusal of a change that waited until somebody had no right to it any more: ours, not a service's."""


def said(error: ClientError) -> dict[str, str]:
    """The fields that keep what the service said, or what became of the call: briefly in words, and by its name."""
    return {"outcome": str(error)[:300], "refusal": type(error).__name__}
