"""Garbage collection without pauses: full collections run only while the process is idle.

With a hundred thousand members in memory, one full collection takes a tenth of a second.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable
from typing import Final

MAX_WALKS: Final = 1_000_000
"""The threshold of the oldest generation: so large that Python never starts a full collection on its own."""
MIN_WALKS: Final = 20
"""Collections of the middle generation after which a full one is worth its time: some 140,000 new objects."""
CHECK_SECONDS: Final = 60.0
"""Seconds between two checks whether a full collection is due."""
IDLE_SHARE: Final = 0.05
"""Share of a processor below which the process counts as idle."""
QUIET_SECONDS: Final = 12
"""Idle seconds in a row before a full collection: by then the cache of the services (`cache.KEPT_SECONDS`) is dropped, so
little is left to walk over."""
MAX_WAIT_SECONDS: Final = 600
"""Seconds that a full collection waits for these; then it runs anyway, since memory is finite."""


def pause() -> None:
    """Disable collection during the start: hardly anything that imports build is garbage. `take_over` enables it again."""
    gc.disable()


def take_over() -> None:
    """Exclude all objects of the start from collection, and leave full collections of the others to `run`."""
    gc.freeze()
    gc.enable()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, MAX_WALKS)


async def run(*, every: float = CHECK_SECONDS, quiet: Callable[[], Awaitable[bool]] | None = None) -> None:
    """Run full collections in idle moments, until cancelled. *quiet* takes a second to say whether the process is idle."""
    while True:
        await asyncio.sleep(every)
        # The third count is of collections of the middle generation since the last full one.
        if gc.get_count()[2] >= MIN_WALKS:
            await _wait_for(quiet or is_idle)
            gc.collect()


async def is_idle() -> bool:
    """Whether this process was idle for the second that this call takes."""
    before = time.process_time()
    await asyncio.sleep(1)
    return time.process_time() - before < IDLE_SHARE


async def _wait_for(quiet: Callable[[], Awaitable[bool]]) -> None:
    in_a_row = 0
    for _ in range(MAX_WAIT_SECONDS):
        in_a_row = in_a_row + 1 if await quiet() else 0
        if in_a_row == QUIET_SECONDS:
            return
