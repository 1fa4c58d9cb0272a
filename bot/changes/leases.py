"""Leases on changes: how long one lasts, and how it is kept while its holder is at work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import Token
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import TracebackType
from typing import Final, Self

import structlog

from bot.changes.ledger import LEASE, Ledger
from bot.clients.http import Fence, fence
from bot.domain.change import Change
from bot.store.errors import StoreError

log = structlog.get_logger(__name__)

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


class Lost(Exception):
    """Another process holds the change: this one may send nothing more for it."""


@dataclass(slots=True)
class Hold:
    """The lease on a claimed change, and on those of its parts that are at work, renewed while the block lasts.

    Within the block, nothing is sent to a service without `sure`, and this process does not take the change over.
    """

    ledger: Ledger
    change: Change
    parts: set[str] = field(default_factory=set)
    _until: datetime = field(init=False)
    _renewing: asyncio.Task[None] = field(init=False)
    _fence: Token[Fence | None] = field(init=False)

    async def __aenter__(self) -> Self:
        self._until = self.change.held_until or self.ledger.now()
        self.ledger.at_work.add(self.change.id)
        self._fence = fence.set(self.sure)
        self._renewing = asyncio.create_task(renewed(self.change.id, self.ledger.lease, self._renew))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        fence.reset(self._fence)
        self.ledger.at_work.discard(self.change.id)
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
        if self.ledger.now() + self.ledger.lease / 2 > self._until:
            await self._renew()

    async def _renew(self) -> None:
        until = self.ledger.now() + self.ledger.lease
        async with self.ledger.store.transaction() as tx:
            held = await self.ledger.store.changes.renew(
                tx, self.change, sorted(self.parts), self.ledger.owner, self.ledger.lease
            )
        if not held:
            raise Lost(self.change.id)
        self._until = until
