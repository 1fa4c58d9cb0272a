"""Figures that nobody counts while they change: what is open and how old it is, what is ready, how late the event loop runs."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from typing import Final

import structlog

from bot import metrics
from bot.server.edge import is_ready
from bot.store.budgets import Budget
from bot.store.db import StoreError
from bot.store.engine import Store

log = structlog.get_logger(__name__)

TIMEOUT: Final = 5.0
"""Seconds that the database has to say how much is open; Prometheus waits for ten."""


async def measure(
    stores: Iterable[Store],
    readiness: Callable[[], Awaitable[Mapping[str, str]]],
    policy_trouble: Callable[[], str | None],
    budgets: Iterable[Budget],
) -> None:
    """Set the metrics that are read when somebody asks for them; a backlog that can't be read now has no value.

    What is open in several *stores* is counted together; of several *budgets* of a service the smallest is said.
    """
    metrics.POLICY_BROKEN.set(policy_trouble() is not None)
    parts: Mapping[str, str] = {"store": "not read"}
    with suppress(TimeoutError):
        async with asyncio.timeout(TIMEOUT):
            parts = await readiness()
    found = await asyncio.gather(*(_read_in_time(store) for store in stores))
    if None in found and is_ready(parts.get("store", "")):
        parts = {**parts, "store": "not read"}
    left = await asyncio.gather(*(_left_in_time(budget) for budget in budgets))
    for gauge in (metrics.READY, metrics.BACKLOG, metrics.OLDEST, metrics.BUDGET_LEFT):
        gauge.clear()
    for service, requests in sorted(filter(None, left), reverse=True):  # the smallest last, which stays
        metrics.BUDGET_LEFT.labels(service).set(requests)
    for part, says in parts.items():
        metrics.READY.labels(part).set(is_ready(says))
    counts: Counter[str] = Counter()
    oldest: dict[str, float] = {}
    for backlogs in filter(None, found):
        for what, (count, seconds) in backlogs.items():
            counts[what] += count
            if seconds is not None:
                oldest[what] = max(seconds, oldest.get(what, 0.0))
    for what, count in counts.items():
        metrics.BACKLOG.labels(what).set(count)
    for what, seconds in oldest.items():
        metrics.OLDEST.labels(what).set(seconds)


async def _read_in_time(store: Store) -> dict[str, tuple[int, float | None]] | None:
    """How much is open in *store*; None where that can't be read now."""
    try:
        async with asyncio.timeout(TIMEOUT):
            return await _read_backlogs(store)
    except (StoreError, TimeoutError) as error:
        log.warning("backlogs_not_read", error=type(error).__name__)
        return None


async def _left_in_time(budget: Budget) -> tuple[str, int] | None:
    """What is left of *budget*, with its service; None where that can't be read now."""
    try:
        async with asyncio.timeout(TIMEOUT):
            return budget.service, await budget.left()
    except (StoreError, TimeoutError):
        return None


async def _read_backlogs(store: Store) -> dict[str, tuple[int, float | None]]:
    """How much of everything is open, and for how many seconds, where that is known; raises StoreError."""
    outbox = store.outbox
    return {
        **await store.changes.backlogs(),
        "review": (await store.timers.reviews(), None),
        "timer": await store.timers.overdue(),
        "message": (await outbox.waiting(), await outbox.seconds_overdue()),
        "late": (await outbox.late(), None),
        "given_up": (await outbox.undelivered(), None),
        "request": await store.inbox.backlog(),
    }


async def watch_loop(*, every: float = 1.0) -> None:
    """Measure by how much the event loop is late, until cancelled."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + every
        await asyncio.sleep(every)
        metrics.LOOP_LAG.observe(max(0.0, loop.time() - due))
