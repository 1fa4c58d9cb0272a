"""Worker loops that claim work and do it as long as Gatehouse runs, the renewal of their leases, and their backoff."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

import structlog

from bot.changes.journal import LEASE, Journal
from bot.changes.model.change import Change
from bot.clients.errors import ClientError, RateLimited, Unreachable
from bot.clients.gate import CallContext, Priority
from bot.store.db import StoreError

log = structlog.get_logger(__name__)

MAX_BACKOFF_SECONDS: Final = 10.0
"""At most between two failing tries: once the database is back, work should go on soon."""


DRAIN_SECONDS: Final = 10.0
"""How long work under way may take once this process is told to stop; what takes longer is cancelled, and taken over."""


Job = TypeVar("Job")
Result = TypeVar("Result")


@dataclass(slots=True)
class Trouble:
    """Failures of one kind of work, in a log that stays readable: an hour without the database must not fill the disk.

    One traceback for each kind of error, and then a line whenever the number of failures has doubled.
    """

    name: str
    failures: int = 0
    _kinds: set[type[Exception]] = field(default_factory=set)

    def note(self, error: Exception) -> None:
        self.failures += 1
        if type(error) not in self._kinds:
            log.error("loop_failed", loop=self.name, error=type(error).__name__, exc_info=error)
        # True for powers of two.
        elif self.failures & (self.failures - 1) == 0:
            log.warning("loop_still_fails", loop=self.name, error=str(error)[:200], failures=self.failures)
        self._kinds.add(type(error))

    def end(self) -> None:
        if self.failures:
            log.info("loop_works_again", loop=self.name, failures=self.failures)
        self.failures = 0
        self._kinds.clear()


class Wake:
    """Says that there may be work, so that a worker need not poll for what this process made itself."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def __call__(self) -> None:
        self._event.set()

    async def wait(self, seconds: float) -> None:
        """Return at once if there may be work, else when there may be, at the latest after *seconds*."""
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            pass
        # Cleared before the worker looks for work: a call during its look wakes it once more, so nothing is missed.
        self._event.clear()


async def repeat(
    name: str, work: Callable[[], Awaitable[float]], rest: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> None:
    """Do *work* until cancelled; between two runs, *rest* for as many seconds as it returned.

    While it raises, the waits double, up to MAX_BACKOFF_SECONDS.
    """
    trouble = Trouble(name)
    while True:
        try:
            wait = await work()
        except Exception as error:  # noqa: BLE001  it is logged, and tried again
            trouble.note(error)
            # The exponent is bounded, for after a long outage the power would be too large for a float.
            wait = min(MAX_BACKOFF_SECONDS, 2.0 ** min(trouble.failures, 9) / 10)
        else:
            trouble.end()
        await rest(wait)


async def work_off(
    name: str,
    lanes: Iterable[str],
    claim: Callable[[str], Awaitable[Job | None]],
    do: Callable[[Job], Awaitable[object]],
    *,
    width: int,
    every: float,
    wake: Wake,
    due_in: Callable[[float], Awaitable[float]] | None = None,
) -> None:
    """Claim jobs and do them until cancelled, up to *width* of each lane at a time: a lane that hangs delays no other.

    Once cancelled, nothing more is claimed, and jobs under way have DRAIN_SECONDS to end. A job that fails is logged, and
    claimed again when its lease ends. *every*: seconds between two looks for work. *due_in*: is given *every*, and returns the
    seconds until the next look, which may be sooner.
    """
    busy: dict[str, set[asyncio.Task[None]]] = {lane: set() for lane in lanes}
    trouble = Trouble(f"{name} jobs")

    async def do_logged(job: Job) -> None:
        try:
            await do(job)
        except Exception as error:  # noqa: BLE001  it is logged, and claimed again
            trouble.note(error)
        else:
            trouble.end()

    async def work() -> float:
        for lane, tasks in busy.items():
            while len(tasks) < width and (job := await claim(lane)) is not None:
                task = asyncio.create_task(do_logged(job))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
                # Last, once its place is free: a look before that would still find it taken.
                task.add_done_callback(lambda _: wake())
        return every if due_in is None else await due_in(every)

    try:
        await repeat(name, work, wake.wait)
    finally:
        await drain([task for lane in busy.values() for task in lane])


async def drain(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Wait for *tasks*, at most DRAIN_SECONDS; what is left is cancelled."""
    if tasks:
        _, late = await asyncio.wait(tasks, timeout=DRAIN_SECONDS)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)


RENEWALS: Final = 3
"""How many times a lease is renewed within its duration: a renewal may fail, and there is another before the lease ends."""
CALLS_PER_LEASE: Final = 4
"""Service calls that fit into a lease: a look and its retries, a write, and the look after it."""


def lease_for(service_timeout: float) -> timedelta:
    """Return the lease for services that may take *service_timeout* seconds to answer."""
    return max(LEASE, timedelta(seconds=CALLS_PER_LEASE * service_timeout))


@asynccontextmanager
async def keep_renewing(what: str, lease: timedelta, renew: Callable[[], Awaitable[object]]) -> AsyncIterator[None]:
    """Call *renew* RENEWALS times per *lease* while the block lasts. A StoreError is logged; any other error ends renewing."""

    async def renew_in_time() -> None:
        while True:
            await asyncio.sleep(lease.total_seconds() / RENEWALS)
            try:
                await renew()
            except StoreError as error:
                # The lease still runs, and there is another try before it ends.
                log.warning("lease_not_renewed", of=what[:8], error=str(error))

    task = asyncio.create_task(renew_in_time())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def keep_lease(what: str, lease: timedelta, renew: Callable[[], Awaitable[bool]]) -> AsyncIterator[None]:
    """Keep a lease while the block lasts. *renew* returns False where another process has it.

    Cancels the block and raises TimeoutError where another process has the lease, or it could not be renewed in time.
    """
    loop = asyncio.get_running_loop()

    async def renew_or_stop() -> None:
        renewed = await renew()
        # A deadline of now cancels the block at once.
        working.reschedule(loop.time() + (lease.total_seconds() if renewed else 0))

    async with asyncio.timeout(lease.total_seconds()) as working, keep_renewing(what, lease, renew_or_stop):
        yield


class LeaseLost(Exception):
    """Another process has the change: this one must not send anything more for it."""


@dataclass(slots=True)
class ChangeLease:
    """The lease on a claimed change, and on those of its items that are being executed."""

    journal: Journal
    change: Change
    until: datetime
    in_bulk: bool = False
    items: set[str] = field(default_factory=set)

    @property
    def context(self) -> CallContext:
        """Return the context for clients that send for the change: nothing is written once the lease is lost."""
        return CallContext(Priority.BULK if self.in_bulk else Priority.CHANGE, fence=self.require)

    @contextmanager
    def renewing(self, items: Iterable[Change]) -> Iterator[None]:
        """Renew the leases on these items as well while the block lasts."""
        ids = {item.id for item in items}
        self.items |= ids
        try:
            yield
        finally:
            self.items -= ids

    async def require(self, ask: bool = False) -> None:
        """Require that this process still has the change, and for long enough to send something; raises LeaseLost.

        *ask*: check with the database, unless it is a bulk change or an item: if the machine was suspended, its clock can't tell.
        """
        # Half a lease must be left, for the request that follows takes its time.
        if (ask and not self.in_bulk) or self.journal.now() + self.journal.lease / 2 > self.until:
            await self.renew()

    async def renew(self) -> None:
        """Renew the leases on the change and on its items that are at work; raises LeaseLost."""
        # Taken before the transaction, which may wait: the end is better assumed too early than too late.
        until = self.journal.now() + self.journal.lease
        async with self.journal.store.transaction() as tx:
            renewed = await self.journal.store.changes.renew(
                tx, self.change, sorted(self.items), self.journal.owner, self.journal.lease
            )
        if not renewed:
            raise LeaseLost(self.change.id)
        self.until = until


@asynccontextmanager
async def keep_change_lease(journal: Journal, change: Change) -> AsyncIterator[ChangeLease]:
    """Keep the lease on a claimed change while the block lasts.

    Within the block, this process does not claim the change again.
    """
    in_bulk = change.is_bulk or change.set_id is not None
    lease = ChangeLease(journal, change, change.run.leased_until or journal.now(), in_bulk)
    journal.at_work.add(change.id)
    try:
        async with keep_renewing(change.id, journal.lease, lease.renew):
            yield lease
    finally:
        journal.at_work.discard(change.id)


MAX_TROUBLE_SECONDS: Final = 120.0
"""How long calls to one service wait in all, since one last succeeded, before they are given up."""
FIRST_PAUSE_SECONDS: Final = 0.5
MAX_PAUSE_SECONDS: Final = 15.0
"""The longest pause that the service did not ask for."""


class Backoff:
    """The pauses between calls to one service, shared by all its callers: when one of them is told to wait, all do."""

    def __init__(
        self,
        max_trouble: float = MAX_TROUBLE_SECONDS,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._max_trouble = max_trouble
        self._clock = clock
        self._sleep = sleep
        self._next = 0.0
        self._pause = FIRST_PAUSE_SECONDS
        self._waited = 0.0

    async def retry(self, call: Callable[[], Awaitable[Result]]) -> Result:
        """Retry *call* while the service is rate-limiting or unreachable, and return its result.

        *call* must have done nothing where it raises RateLimited or Unreachable. After too long, its last error is raised.
        """
        while True:
            if (wait := self._next - self._clock()) > 0:
                await self._sleep(wait)
            try:
                result = await call()
            except (RateLimited, Unreachable) as error:
                if not self._goes_on(error):
                    raise
            else:
                self._pause, self._waited = FIRST_PAUSE_SECONDS, 0.0
                return result

    def _goes_on(self, error: ClientError) -> bool:
        asked = error.retry_after if isinstance(error, RateLimited) else None
        now = self._clock()
        if self._next > now:
            return True  # the others were told the same
        pause = asked or self._pause  # "after 0 seconds" would be at once, for ever
        if self._waited + pause > self._max_trouble:
            return False
        self._waited += pause
        self._pause = min(self._pause * 2, MAX_PAUSE_SECONDS)
        self._next = now + pause
        return True
