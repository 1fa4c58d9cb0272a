"""Execute bulk changes: chunks of items go the way of any change together, several of them at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

import structlog

from bot.changes import batch_items
from bot.changes.batch_items import Chunks
from bot.changes.execute import TOO_OLD, Executor
from bot.changes.journal import Journal
from bot.changes.model import Change, Item, Kind, Move, Outcome, Target
from bot.changes.proposals import begun
from bot.changes.verify import Look, Snapshot
from bot.changes.worker import Backoff, ChangeLease, LeaseLost, Wake, keep_change_lease, work_off
from bot.clients.errors import ClientError
from bot.policy.access import DirectoryUnavailable
from bot.store.changes import SERVICES
from bot.store.tables import NewerRelease
from bot.tracing import span

log = structlog.get_logger(__name__)

PORTIONS_AT_ONCE: Final = 2
"""One is being sent, and one is read or recorded."""
AT_ONCE: Final = 8
"""Requests to one service at a time."""
LOOK_AGAIN: Final = 1.0
"""Seconds until an item is looked at again that another process has."""
SETS_AT_ONCE: Final = 4
"""Bulk changes of one service."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class ServiceSite:
    """One service and site, as all chunks of a bulk change share it."""

    backoff: Backoff
    sending: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True)
class BatchExecutor:
    """Carries one bulk change out, for as long as this process has its lease."""

    whole: Change
    lease: ChangeLease
    chunks: Chunks
    journal: Journal
    executor: Executor
    new_id: Callable[[], str]
    backoff: Callable[[], Backoff]
    sleep: Callable[[float], Awaitable[None]]
    refused: bool = False
    """It may not be done any more: what was under way is reconciled, and nothing more is sent."""
    places: dict[tuple[str, str | None], ServiceSite] = field(default_factory=dict)

    async def carry_out(self) -> None:
        """Do the items that are left, as far as they need not wait for somebody; raises LeaseLost."""
        async with asyncio.TaskGroup() as group:
            for _ in range(PORTIONS_AT_ONCE):
                group.create_task(self._chunks())

    async def _chunks(self) -> None:
        """One chunk after the other: while it is read and recorded, another one is sent."""
        while True:
            await self.lease.require()
            async with self.chunks.next() as chunk:
                if not chunk:
                    return
                left = chunk[0].outcome is Outcome.APPLYING
                await (self._take_over(chunk) if left else self._begin(chunk))

    async def _take_over(self, items: Sequence[Item]) -> None:
        """Reconcile what was under way when its process died, or when its answer was lost: what is not done by now is
        sent again, if that is safe.
        """
        taken = await batch_items.take_over(self.journal, [item.change_id or "" for item in items])
        if not taken:
            await self.sleep(LOOK_AGAIN)  # another process has them
            return
        with self.lease.also(taken):
            left = await self.executor.reconcile(taken)
            again = {
                change.id: change
                for change, reading in left
                if not self.refused and self.executor.may_be_resent(change, reading)
            }
            await self._execute(
                await self.executor.begin_resending(list(again.values())),
                self.executor.look([change.edit.target for change in taken]),
            )
            await _each(self.executor.carry_out, [change for change, _ in left if change.id not in again])

    async def _begin(self, items: Sequence[Item]) -> None:
        """Read items that wait, record them, and execute them."""
        numbers = [item.number for item in items]
        look = self.executor.look([item.target for item in items])
        try:
            before = await self._place(items[0].target).backoff.retry(look.take)
        except ClientError as error:
            await batch_items.give_up(self.journal, self.whole, numbers, str(error))
            return
        self.executor.failpoint("begin")
        wanted = [self._begun(item, before) for item in items]
        at_work = await batch_items.begin(self.journal, self.whole, wanted)
        with self.lease.also(at_work):
            await self._execute(at_work, look)

    def _begun(self, item: Item, before: Snapshot) -> Change:
        change = begun(self.whole, item, change_id=self.new_id(), now=self.journal.now())
        if item.kind is Kind.RULE_CREATE:
            return change.changed(lookalikes=tuple(before.lookalikes(change)))
        return change

    async def _execute(self, changes: Sequence[Change], look: Look) -> None:
        """Send what is recorded, when it is its turn, read it back together, and record what became of it."""
        if not changes:
            return
        place = self._place(changes[0].edit.target)
        async with place.sending:
            began = time.monotonic()
            sent = await _each(partial(self.executor.send, look=look, backoff=place.backoff), changes)
        sending = time.monotonic() - began
        ended = await self.executor.read_back(sent)
        self.chunks.took(len(changes), sending, time.monotonic() - began - sending)
        await self.journal.finish(ended)

    def _place(self, target: Target) -> ServiceSite:
        return self.places.setdefault(target.place, ServiceSite(self.backoff()))


async def _each(work: Callable[[Change], Awaitable[Result]], changes: Iterable[Change]) -> list[Result]:
    """Do *work* with each, several at a time; what came of them."""
    left = iter(changes)
    results: list[Result] = []

    async def take() -> None:
        for change in left:
            came = await work(change)
            results.append(came)

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(take())
    return results


@dataclass(frozen=True, slots=True)
class BatchWorker:
    """Does the work of bulk changes. Any replica may; a claim with a lease decides who does."""

    executor: Executor
    new_id: Callable[[], str]
    wake: Wake
    backoff: Callable[[], Backoff] = Backoff
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    @property
    def journal(self) -> Journal:
        return self.executor.journal

    async def run(self, *, every: float) -> None:
        """Carry bulk changes out until cancelled, several at a time, so that a long one holds up no short one."""
        claim = partial(self.journal.claim_due, sets=True)
        await work_off("sets", SERVICES, claim, self._do, width=SETS_AT_ONCE, every=every, wake=self.wake)

    async def _do(self, whole: Change) -> None:
        """Where it fails, it stays claimed until its lease ends, and is then taken over."""
        try:
            with span("execute", change=whole.id, operation="bulk"):
                await self.carry_out(whole)
        except* LeaseLost:
            log.warning("set_lost", change=whole.id[:8])
        except* NewerRelease:
            self.journal.store.newer.pass_over(whole.id)

    async def carry_out(self, whole: Change) -> None:
        """Do every item of a bulk change that this process claimed, and end it; raises LeaseLost where another took it over."""
        items = self.journal.store.items
        try:
            refusal = await self.executor.refusal(whole)
        except DirectoryUnavailable as error:
            if whole.run.attempt <= 1:  # else what was begun already is looked at again when the lease is over
                await self.executor.wait(whole, f"Slack does not say {error}")
            return
        if refusal:
            async with self.journal.store.transaction() as tx:
                await items.stop(tx, whole.id)
        async with keep_change_lease(self.journal, whole) as lease:
            batch = BatchExecutor(
                whole,
                lease,
                Chunks(items, whole.id),
                self.journal,
                self.executor,
                self.new_id,
                self.backoff,
                self.sleep,
                refused=bool(refusal),
            )
            while await items.left(whole.id, 1):
                await batch.carry_out()
            self.executor.failpoint("end of set")
            await self._end(whole, refusal)

    async def _end(self, whole: Change, refusal: Mapping[str, str]) -> None:
        """Done where anything was, or may have been; the card has the outcome of each item."""
        tally = await self.journal.store.items.tally(whole.id)
        done = tally.of((Outcome.APPLIED, Outcome.UNKNOWN, Outcome.UNSETTLED)) > 0
        was_begun = done or whole.run.attempt > 1
        fields = {} if was_begun and refusal.get("refusal") == TOO_OLD else refusal
        await self.executor.end(whole, Move.FINISH if done else Move.FAIL, **fields)
