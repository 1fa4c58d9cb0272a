"""Replies to slash commands beside those of the careful bot; and what either takes to start, and of memory."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from tests.bench.load import Job, replies_per_second, warm_up
from tests.bench.processes import CAREFUL, GATEHOUSE, running
from tests.bench.receiver import receiving
from tests.bench.standins import Places, standing_in
from tests.bench.table import Row

JOBS: Final = (
    Job("/gatehouse", "whoami", expected=(b"U0BENCH", 1)),
    Job("/rules", "list", expected=(b"example.com", 20)),
)


TURNS: Final = 3
"""How often the bots take turns: a machine that gets slower in the meantime, or busier, does so for both."""


def measure(*, seconds: float, at_once: Sequence[int]) -> list[Row]:
    """Give each command for so many *seconds* to each bot, so many *at_once*."""
    with standing_in() as places, TemporaryDirectory() as folder:
        return asyncio.run(_measure(places, Path(folder), seconds, at_once))


async def _measure(places: Places, folder: Path, seconds: float, at_once: Sequence[int]) -> list[Row]:
    async with receiving() as receiver, AsyncExitStack() as stack:
        places = places._replace(slack=f"{receiver.address}/api/")
        async with running(GATEHOUSE, places, folder):
            pass  # its first start, which alone makes the database
        ours = await stack.enter_async_context(running(GATEHOUSE, places, folder))
        peer = await stack.enter_async_context(running(CAREFUL, places, folder))
        start = Row("from start to ready", ours.start_seconds, CAREFUL.name, peer.start_seconds, "s")
        idle = Row("memory when idle", ours.resident_mebibytes(), CAREFUL.name, peer.resident_mebibytes(), "MiB")
        rows = []
        for job in JOBS:
            # Everybody gives it once before: a bot may remember people, and the rows of their last list.
            for bot in (ours, peer):
                await warm_up(bot, receiver, job)
            for many in at_once:
                rates = {bot: list[float]() for bot in (ours, peer)}
                for _ in range(TURNS):
                    for bot, found in rates.items():
                        found.append(await replies_per_second(bot, receiver, job, many, seconds / TURNS))
                what = f"`{job}`, {many} at once"
                rows.append(Row(what, median(rates[ours]), CAREFUL.name, median(rates[peer]), "/s"))
        return [*rows, start, idle]
