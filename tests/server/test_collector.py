"""When Python's garbage collector walks over everything: not while somebody waits, and not never."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from itertools import chain, repeat

import pytest

from bot.server import collector
from tests.conftest import until


class Node:
    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def old() -> Iterator[weakref.ref[Node]]:
    """What only a walk over everything finds to be garbage, in a process whose collector was taken over."""
    thresholds = gc.get_threshold()
    collector.take_over()
    node = Node()
    for _ in range(collector.MIN_WALKS):
        gc.collect(1)
    found = weakref.ref(node)
    del node
    yield found
    gc.set_threshold(*thresholds)
    gc.unfreeze()


@asynccontextmanager
async def collecting(old: weakref.ref[Node], moments: Iterable[bool]) -> AsyncIterator[list[bool]]:
    """The collector at work through *moments*, quiet or not; whether there was garbage at each."""
    left = iter(moments)
    seen: list[bool] = []

    async def quiet() -> bool:
        seen.append(old() is not None)
        await asyncio.sleep(0)
        return next(left)

    task = asyncio.create_task(collector.run(every=0, quiet=quiet))
    yield seen
    task.cancel()


async def test_old_garbage_goes_once_it_is_quiet_for_some_time(old: weakref.ref[Node]) -> None:
    nearly = [*repeat(True, collector.QUIET_SECONDS - 1), False]
    async with collecting(old, chain(nearly, repeat(True))) as seen:
        await until(lambda: old() is None)

    assert len(seen) == 2 * collector.QUIET_SECONDS


async def test_it_goes_in_the_end_where_no_moment_is_quiet(old: weakref.ref[Node]) -> None:
    async with collecting(old, repeat(False)) as seen:
        await until(lambda: old() is None)

    assert len(seen) == collector.MAX_WAIT_SECONDS


async def test_a_process_that_waits_is_idle_and_one_that_works_is_not() -> None:
    assert await collector.is_idle()

    looking = asyncio.create_task(collector.is_idle())
    while not looking.done():
        sum(range(10_000))
        await asyncio.sleep(0)
    assert not looking.result()
