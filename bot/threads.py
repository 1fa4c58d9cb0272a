"""Run work over many items in a thread, so that the event loop gets its turns."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Sized
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

FEW: Final = 500
"""Items that are worked on at once, in a millisecond or two: a switch of threads takes as long, and far longer under load."""


async def run_over(items: Sized, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what *work* returns, which goes over *items*: called at once for a few, in a thread for more."""
    return work(*args, **kwargs) if len(items) <= FEW else await asyncio.to_thread(work, *args, **kwargs)


async def run_uncollected(work: Callable[[], T]) -> T:
    """Run *work*, which makes very many objects and no cycles, in a thread, while no garbage is collected.

    A collection would walk all of them again and again, and nothing else runs in the meantime: with 100,000 members, it takes
    as long as the work itself, and up to 140 ms in one go.
    """

    def run() -> T:
        gc.disable()
        try:
            return work()
        finally:
            gc.enable()

    return await asyncio.to_thread(run)
