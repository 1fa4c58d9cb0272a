"""Execute bulk changes: their items are executed in chunks, several of them at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeVar

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.changes.events import event_of
from bot.changes.execute import Executor
from bot.changes.journal import Journal, slices
from bot.changes.model.change import Change
from bot.changes.model.documents import canonical_form, fingerprint
from bot.changes.model.edits import Kind, Target
from bot.changes.model.items import DONE, OPEN, Item, Outcome
from bot.changes.model.moves import Fail, Finish
from bot.changes.model.parts import Frozen, LostRight, Refused
from bot.changes.proposals import item_change
from bot.changes.targets import Look, Snapshot
from bot.changes.worker import Backoff, ChangeLease, LeaseLost, Wake, keep_change_lease, work_off
from bot.clients.errors import ClientError
from bot.policy.inquiry import DirectoryUnavailable
from bot.store.audit import Event
from bot.store.items import Items
from bot.store.tables import SERVICES

log = structlog.get_logger(__name__)

CHUNKS_AT_ONCE: Final = 2
"""Chunks of one bulk change in progress: one is sent while another is read or recorded."""
ITEMS_AT_ONCE: Final = 8
"""Requests to one service at a time."""
LOOK_AGAIN: Final = 1.0
"""Seconds until an item that another process has is checked again."""
BULK_CHANGES_AT_ONCE: Final = 4
"""Bulk changes of one service."""
ITEMS_PER_CHUNK: Final = 250
"""Their targets are read together, before and after: members can only be read all at once, which shouldn't be done for a few."""

Result = TypeVar("Result")


class Chunks:
    """Deals out the open items of one bulk change, in order and in chunks, to several tasks at once."""

    def __init__(self, items: Items, set_id: str) -> None:
        self._items = items
        self._set_id = set_id
        self._at_work: dict[int, str] = {}
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def next(self) -> AsyncIterator[Sequence[Item]]:
        """Yield the items to execute within the block, all of one service and site, and all waiting or all begun before.

        Empty where no item is left, or where those that are must wait for items at work.
        """
        # Read and marked under one lock, or two tasks would get the same items.
        async with self._turn:
            # What is at work is still open in the database, so as many more are read.
            chunk = self._pick_chunk(await self._items.find(self._set_id, OPEN, ITEMS_PER_CHUNK + len(self._at_work)))
            self._at_work |= {item.number: _subject_key(item) for item in chunk}
        try:
            yield chunk
        finally:
            for item in chunk:
                del self._at_work[item.number]

    def _pick_chunk(self, left: Sequence[Item]) -> Sequence[Item]:
        """Pick from *left* the first items of one service and site that aren't at work; stop where a target is taken already.

        A target must be read after the earlier item has changed it. And of two rules to be created that are alike, the first
        must exist before the second is sent, or reading back couldn't tell them apart.
        """
        things = set(self._at_work.values())
        chunk: list[Item] = []
        for item in [item for item in left if item.number not in self._at_work][:ITEMS_PER_CHUNK]:
            thing = _subject_key(item)
            if thing in things:
                break
            things.add(thing)
            if not chunk or _chunk_key(item) == _chunk_key(chunk[0]):
                chunk.append(item)
        return chunk


def _chunk_key(item: Item) -> tuple[Outcome, tuple[str, str | None]]:
    """Return what all items of a chunk have in common: whether they were begun before, and their service and site."""
    return item.outcome, item.target.place


def _subject_key(item: Item) -> str:
    """Return a key for what an item is about: its target, or its content where the target is yet to be created."""
    return str(item.target) if item.target.key else fingerprint(canonical_form(item.after))


@dataclass(frozen=True, slots=True)
class ServiceSite:
    """The backoff and the send lock of one service and site, shared by all chunks of a bulk change."""

    backoff: Backoff
    sending: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True)
class BatchExecutor:
    """Executes one bulk change while this process has its lease."""

    worker: BatchWorker
    whole: Change
    lease: ChangeLease
    chunks: Chunks
    executor: Executor
    refused: bool = False
    """The change may no longer be applied: what was under way is reconciled, and nothing more is sent."""
    places: dict[tuple[str, str | None], ServiceSite] = field(default_factory=dict)

    @property
    def journal(self) -> Journal:
        return self.executor.journal

    async def carry_out(self) -> None:
        """Execute the remaining items, unless they must wait for another process; raises LeaseLost."""
        async with asyncio.TaskGroup() as group:
            for _ in range(CHUNKS_AT_ONCE):
                group.create_task(self._chunks())

    async def _chunks(self) -> None:
        """Execute one chunk after the other: while one is read and recorded, another is sent."""
        while not self.journal.stopping.is_set():
            await self.lease.require()
            # Asked before each chunk: the end may come while a long change is under way.
            if self.executor.is_past_end(self.whole):
                await self.stop()
            async with self.chunks.next() as chunk:
                if not chunk:
                    return
                left = chunk[0].outcome is Outcome.APPLYING
                await (self._take_over(chunk) if left else self._begin(chunk))

    async def _take_over(self, items: Sequence[Item]) -> None:
        """Reconcile items whose process died or whose answer was lost; send again those that are not done, where that is safe."""
        taken = await self._take_up([item.change_id or "" for item in items])
        if not taken:
            await self.worker.sleep(LOOK_AGAIN)  # another process has them
            return
        with self.lease.renewing(taken):
            left = await self.executor.reconcile(taken)
            again = {
                change.id: change
                for change, reading in left
                if not self.refused and self.executor.may_be_resent(change, reading)
            }
            look = self.executor.look([change.edit.target for change in taken])
            await self._execute(list(again.values()), look, again=True)
            # What may not be sent again is handled like a single change that was taken over.
            await _run_each(self.executor.carry_out, [change for change, _ in left if change.id not in again])

    async def _begin(self, items: Sequence[Item]) -> None:
        """Read items that wait, record them, and execute them."""
        numbers = [item.number for item in items]
        look = self.executor.look([item.target for item in items])
        try:
            before = await self._place(items[0].target).backoff.retry(look.take)
        except ClientError as error:
            await self.give_up(numbers, str(error))
            return
        self.executor.failpoint("begin")
        wanted = [self._make_change(item, before) for item in items]
        at_work = await self.begin(wanted)
        with self.lease.renewing(at_work):
            await self._execute(at_work, look)

    def _make_change(self, item: Item, before: Snapshot) -> Change:
        change = item_change(self.whole, item, change_id=self.worker.new_id(), now=self.journal.now())
        if item.kind is Kind.RULE_CREATE:
            return replace(change, run=replace(change.run, lookalikes=tuple(before.lookalikes(change))))
        return change

    async def _execute(self, changes: Sequence[Change], look: Look, *, again: bool = False) -> None:
        """Send *changes*, which are on record, or send them *again*, read them back together, and record their outcomes."""
        if not changes:
            return
        place = self._place(changes[0].edit.target)
        # One chunk at a time is sent to a service; another is read or recorded in the meantime.
        async with place.sending:
            # Only now: while they wait for their turn, they aren't what a process dies of.
            changes = await self.executor.begin_resending(changes) if again else changes
            sent = await _run_each(partial(self.executor.send, look=look, backoff=place.backoff), changes)
        await self.journal.finish(await self.executor.read_back(sent))

    def _place(self, target: Target) -> ServiceSite:
        return self.places.setdefault(target.place, ServiceSite(self.worker.backoff()))

    # What is recorded of the items

    async def begin(self, wanted: Sequence[Change]) -> Sequence[Change]:
        """Record that the *wanted* items are about to be sent, and return those to send; raises LeaseLost.

        Those whose target another change holds are ended as BUSY, and those that no longer wait are left out.
        """
        begun: list[Change] = []
        store = self.journal.store
        for some in slices(wanted):
            async with store.transaction() as tx:
                free = await self._waiting_numbers(tx, [item.item_number for item in some])
                mine = [item for item in some if item.item_number in free]
                items = await store.changes.begin(tx, mine, self.journal.owner, self.journal.lease)
                await store.items.note(tx, items)
                # What was not stored was left out because another change holds its target.
                await store.items.end(tx, self.whole.id, free - {item.item_number for item in items}, Outcome.BUSY, "")
                await store.audit.append(tx, *map(_event_of_item, items))
            begun += items
        return begun

    async def stop(self) -> None:
        """End every item that was not begun."""
        async with self.journal.store.transaction() as tx:
            await self.journal.store.items.stop(tx, self.whole.id)

    async def give_up(self, numbers: Collection[int], why: str) -> None:
        """Mark items that were never begun as failed, because of *why*; raises LeaseLost."""
        store = self.journal.store
        async with store.transaction() as tx:
            free = await self._waiting_numbers(tx, numbers)
            await store.items.end(tx, self.whole.id, free, Outcome.FAILED, why)
            await store.outbox.enqueue(tx, self.whole.id, "card")
        self.journal.wake_outbox()

    async def _waiting_numbers(self, tx: AsyncConnection, numbers: Collection[int]) -> set[int]:
        """Return those of *numbers* that still wait; raises LeaseLost where another process has taken over the bulk change."""
        if not await self.journal.store.changes.is_applying(tx, self.whole, self.journal.owner):
            raise LeaseLost(self.whole.id)
        return await self.journal.store.items.waiting_numbers(tx, self.whole.id, numbers)

    async def _take_up(self, ids: Sequence[str]) -> Sequence[Change]:
        """Claim the changes of items that a process left while it applied them; return those that no other process still has."""
        store, taken = self.journal.store, list[Change | None]()
        for some in slices(ids):
            async with store.transaction() as tx:
                taken += [
                    await store.changes.take_up(tx, each, self.journal.owner, self.journal.lease) for each in some
                ]
        return [change for change in taken if change is not None]


def _event_of_item(item: Change) -> Event:
    edit = item.edit
    return event_of("begun", item, item.request.requester, before=edit.before, after=edit.after, set=item.set_id)


async def _run_each(work: Callable[[Change], Awaitable[Result]], changes: Iterable[Change]) -> list[Result]:
    """Do *work* with each of *changes*, several at a time; return the results in the order in which they were done."""
    left = iter(changes)
    results: list[Result] = []

    async def take() -> None:
        # All take from one iterator, so each change is taken once.
        for change in left:
            came = await work(change)
            results.append(came)

    async with asyncio.TaskGroup() as group:
        for _ in range(ITEMS_AT_ONCE):
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
        """Execute bulk changes until cancelled, several at a time, so that a long one doesn't hold up a short one."""
        claim = partial(self.journal.claim_due, bulk=True)
        await work_off("sets", SERVICES, claim, self._do, width=BULK_CHANGES_AT_ONCE, every=every, wake=self.wake)

    async def _do(self, whole: Change) -> None:
        """Execute one bulk change; where that fails, the change stays claimed until its lease ends, and is then taken over."""
        try:
            await self.carry_out(whole)
        # The chunks run in a TaskGroup, whose errors come as a group.
        except* LeaseLost:
            log.warning("set_lost", change=whole.id[:8])

    async def carry_out(self, whole: Change) -> None:
        """Execute every item of a bulk change that this process claimed, and end it; raises LeaseLost where another has it."""
        items = self.journal.store.items
        try:
            refusal = await self.executor.refusal(whole)
        except DirectoryUnavailable as error:
            if whole.run.attempt <= 1:  # else what was begun already is looked at again when the lease is over
                await self.executor.wait(whole, f"Slack does not say {error}")
            return
        async with keep_change_lease(self.journal, whole) as lease:
            batch = self.batch(whole, lease, refused=refusal is not None)
            if refusal is not None:
                await batch.stop()
            # Again while any is open: one that another process has, or whose answer was lost, is taken up later.
            while await items.find(whole.id, OPEN, 1):
                # It stays claimed: when the process ends, its lease is given back, and another process goes on.
                if self.journal.stopping.is_set():
                    return
                await batch.carry_out()
            self.executor.failpoint("end of bulk change")
            await self._end(whole, refusal)

    def batch(self, whole: Change, lease: ChangeLease, *, refused: bool = False) -> BatchExecutor:
        """Return the executor of a bulk change that this process claimed."""
        chunks = Chunks(self.journal.store.items, whole.id)
        return BatchExecutor(self, whole, lease, chunks, self.executor.with_lease(lease), refused)

    async def _end(self, whole: Change, refusal: Refused | LostRight | Frozen | None) -> None:
        """End *whole*: as done where any item was done, or may have been; the card has the outcome of each item."""
        tally = await self.journal.store.items.tally(whole.id)
        done = tally.of(DONE | {Outcome.UNKNOWN, Outcome.UNSETTLED}) > 0
        # Where it was begun, it came to its end too late, which is no refusal.
        if whole.run.attempt > 1 and isinstance(refusal, Refused):
            refusal = None
        await self.executor.end(whole, Finish(why=refusal) if done else Fail(why=refusal))
