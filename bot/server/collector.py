"""Python's garbage collector in a process that must not pause: it walks over everything only while nobody waits.

With a hundred thousand members in memory one such walk takes a tenth of a second.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable
from typing import Final

MAX_WALKS: Final = 1_000_000
"""Walks over what is young until Python makes one over everything of its own accord."""
MIN_WALKS: Final = 20
"""Walks over what is young from which on one over everything is worth its time: some 140,000 new objects."""
CHECK_SECONDS: Final = 60.0
"""Seconds from one look whether that is so to the next."""
IDLE_SHARE: Final = 0.05
"""Share of a processor below which the process is said to do nothing."""
QUIET_SECONDS: Final = 12
"""Quiet seconds until a walk: by then, what was read of the services is let go of (`cache.KEPT_SECONDS`), and little is left."""
MAX_WAIT_SECONDS: Final = 600
"""Seconds that a walk waits for these, and is then made all the same: memory is finite."""


def pause() -> None:
    """Make no walks during the start: hardly anything that imports build is garbage. `take_over` ends the pause."""
    gc.disable()


def take_over() -> None:
    """Leave what the start built alone from now on, and everything else until `run` finds a quiet moment."""
    gc.freeze()
    gc.enable()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, MAX_WALKS)


async def run(*, every: float = CHECK_SECONDS, quiet: Callable[[], Awaitable[bool]] | None = None) -> None:
    """Make the walks over everything that `take_over` put off, until cancelled. *quiet* takes a second to say so."""
    while True:
        await asyncio.sleep(every)
        # The third count is of walks over the middle generation since the last one over everything.
        if gc.get_count()[2] >= MIN_WALKS:
            await _wait_for(quiet or is_idle)
            gc.collect()


async def is_idle() -> bool:
    """Whether this process had next to nothing to do for the second that this takes."""
    before = time.process_time()
    await asyncio.sleep(1)
    return time.process_time() - before < IDLE_SHARE


async def _wait_for(quiet: Callable[[], Awaitable[bool]]) -> None:
    in_a_row = 0
    for _ in range(MAX_WAIT_SECONDS):
        in_a_row = in_a_row + 1 if await quiet() else 0
        if in_a_row == QUIET_SECONDS:
            return
