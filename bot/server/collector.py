"""Python's garbage collector in a process that must not pause: it walks over everything only while nobody waits.

With a hundred thousand rules in memory one such walk takes half a second, and reading them set off ten.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable
from typing import Final

NEVER: Final = 1_000_000
"""Walks over what is young until Python makes one over everything of its own accord."""
WORTH: Final = 20
"""Walks over what is young from which on one over everything is worth its time: some 140,000 new objects."""
EVERY: Final = 60.0
"""Seconds from one look whether that is so to the next."""
QUIET: Final = 0.05
"""Share of a processor below which the process is said to do nothing."""
LOOKS: Final = 600
"""Seconds that a walk waits for a quiet one, and is then made all the same: memory is finite."""


def pause() -> None:
    """Make no walks during the start: hardly anything that imports build is garbage. `take_over` ends the pause."""
    gc.disable()


def take_over() -> None:
    """Leave what the start built alone from now on, and everything else until `run` finds a quiet moment."""
    gc.freeze()
    gc.enable()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, NEVER)


async def run(*, every: float = EVERY, quiet: Callable[[], Awaitable[bool]] | None = None) -> None:
    """Make the walks over everything that `take_over` put off, until cancelled. *quiet* takes a second to say so."""
    while True:
        await asyncio.sleep(every)
        if gc.get_count()[2] >= WORTH:
            await _wait_for(quiet or idle)
            gc.collect()


async def idle() -> bool:
    """Whether this process had next to nothing to do for the second that this takes."""
    before = time.process_time()
    await asyncio.sleep(1)
    return time.process_time() - before < QUIET


async def _wait_for(quiet: Callable[[], Awaitable[bool]]) -> None:
    for _ in range(LOOKS):
        if await quiet():
            return
