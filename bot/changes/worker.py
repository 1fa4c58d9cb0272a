"""Loops that work something off for as long as Gatehouse runs, the leases they hold, and how they back off."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import Token
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import TracebackType
from typing import Final, Self, TypeVar

import structlog

from bot.changes.journal import LEASE, Journal
from bot.changes.model import Change
from bot.clients.errors import ClientError, RateLimited, Unreachable
from bot.clients.http import Fence, fence
from bot.store.db import StoreError

log = structlog.get_logger(__name__)

MAX_BACKOFF: Final = 10.0
"""Seconds between two tries while they fail; a database that is back should not be kept waiting."""


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
        self._event.clear()


async def repeated(
    name: str, work: Callable[[], Awaitable[float]], rest: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> None:
    """Do *work* until cancelled; between two times *rest* for as many seconds as it returned.

    Where it raises, the waits double.
    """
    trouble = Trouble(name)
    while True:
        try:
            wait = await work()
        except Exception as error:  # noqa: BLE001  it is logged, and tried again
            trouble.note(error)
            wait = min(MAX_BACKOFF, 2.0 ** min(trouble.failures, 9) / 10)
        else:
            trouble.end()
        await rest(wait)


async def worked_off(
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
    """Claim jobs and do them until cancelled, up to *width* of each lane at a time: what hangs in one delays no other.

    A job that fails is logged; its lease says when it is claimed again. *due_in*: seconds until the next look, where
    that may be sooner than *every*, which it is given.
    """
    busy: dict[str, set[asyncio.Task[None]]] = {lane: set() for lane in lanes}
    trouble = Trouble(f"{name} jobs")

    async def logged(job: Job) -> None:
        try:
            await do(job)
        except Exception as error:  # noqa: BLE001  it is logged, and claimed again
            trouble.note(error)
        else:
            trouble.end()
        wake()

    async def work() -> float:
        for lane, tasks in busy.items():
            while len(tasks) < width and (job := await claim(lane)) is not None:
                task = asyncio.create_task(logged(job))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
        return every if due_in is None else await due_in(every)

    try:
        await repeated(name, work, wake.wait)
    finally:
        tasks = [task for lane in busy.values() for task in lane]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


RENEWALS: Final = 3
"""How often in the time of a lease it is renewed."""
CALLS_PER_LEASE: Final = 4
"""Service calls that fit into a lease: a look and its retries, a write, and the look after it."""


def lease_for(service_timeout: float) -> timedelta:
    """Return the lease for services that may take *service_timeout* seconds to answer."""
    return max(LEASE, timedelta(seconds=CALLS_PER_LEASE * service_timeout))


async def renewed(change_id: str, lease: timedelta, renew: Callable[[], Awaitable[None]]) -> None:
    """Call *renew* in time, again and again, until cancelled; what it raises ends this, but for a StoreError."""
    while True:
        await asyncio.sleep(lease.total_seconds() / RENEWALS)
        try:
            await renew()
        except StoreError as error:
            log.warning("lease_not_renewed", change=change_id[:8], error=str(error))


@asynccontextmanager
async def leased(what: str, lease: timedelta, renew: Callable[[], Awaitable[bool]]) -> AsyncIterator[None]:
    """Keep a lease while the block lasts. *renew* returns False where somebody else has it.

    Raises TimeoutError in place of the block's work where the lease is somebody else's, or could not be renewed in time.
    """
    loop = asyncio.get_running_loop()

    async def hold() -> None:
        held = await renew()
        working.reschedule(loop.time() + (lease.total_seconds() if held else 0))

    async with asyncio.timeout(lease.total_seconds()) as working:
        renewing = asyncio.create_task(renewed(what, lease, hold))
        try:
            yield
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)


class LeaseLost(Exception):
    """Another process holds the change: this one may send nothing more for it."""


@dataclass(slots=True)
class HeldLease:
    """The lease on a claimed change, and on those of its parts that are at work, renewed while the block lasts.

    Within the block, nothing is sent to a service without `sure`, and this process does not take the change over.
    """

    journal: Journal
    change: Change
    parts: set[str] = field(default_factory=set)
    _until: datetime = field(init=False)
    _renewing: asyncio.Task[None] = field(init=False)
    _fence: Token[Fence | None] = field(init=False)

    async def __aenter__(self) -> Self:
        self._until = self.change.held_until or self.journal.now()
        self.journal.at_work.add(self.change.id)
        self._fence = fence.set(self.sure)
        self._renewing = asyncio.create_task(renewed(self.change.id, self.journal.lease, self._renew))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        fence.reset(self._fence)
        self.journal.at_work.discard(self.change.id)
        self._renewing.cancel()
        await asyncio.gather(self._renewing, return_exceptions=True)  # that it is lost, `sure` says

    @contextmanager
    def also(self, parts: Iterable[Change]) -> Iterator[None]:
        """Hold these parts as well while the block lasts."""
        ids = {part.id for part in parts}
        self.parts |= ids
        try:
            yield
        finally:
            self.parts -= ids

    async def sure(self) -> None:
        """Return where this process still holds the change, and for long enough to send something; raises Lost."""
        if self.journal.now() + self.journal.lease / 2 > self._until:
            await self._renew()

    async def _renew(self) -> None:
        until = self.journal.now() + self.journal.lease
        async with self.journal.store.transaction() as tx:
            held = await self.journal.store.changes.renew(
                tx, self.change, sorted(self.parts), self.journal.owner, self.journal.lease
            )
        if not held:
            raise LeaseLost(self.change.id)
        self._until = until


LONGEST: Final = 120.0
"""Seconds of trouble, since anything last went well, after which it is given up."""
FIRST, MOST = 0.5, 15.0
"""Seconds of the first pause, and of the longest that the service did not ask for."""


class Backoff:
    """Shared by all who send to one service: when one of them is told to wait, they all do."""

    def __init__(
        self,
        longest: float = LONGEST,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._longest = longest
        self._clock = clock
        self._sleep = sleep
        self._next = 0.0
        self._pause = FIRST
        self._waited = 0.0

    async def retry(self, call: Callable[[], Awaitable[Result]]) -> Result:
        """Make a *call* that does nothing where the service doesn't take it, until it does; raises after too long."""
        while True:
            if (wait := self._next - self._clock()) > 0:
                await self._sleep(wait)
            try:
                result = await call()
            except (RateLimited, Unreachable) as error:
                if not self._goes_on(error):
                    raise
            else:
                self._pause, self._waited = FIRST, 0.0
                return result

    def _goes_on(self, error: ClientError) -> bool:
        asked = error.retry_after if isinstance(error, RateLimited) else None
        now = self._clock()
        if self._next > now:
            return True  # the others were told the same
        pause = asked or self._pause  # "after 0 seconds" would be at once, for ever
        if self._waited + pause > self._longest:
            return False
        self._waited += pause
        self._pause = min(self._pause * 2, MOST)
        self._next = now + pause
        return True
