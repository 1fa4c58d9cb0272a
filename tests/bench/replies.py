"""Replies to slash commands beside those of the careful bot; and what either takes to start, and of memory."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.bench.load import Job, replies_per_second, warm_up
from tests.bench.processes import CAREFUL, GATEHOUSE, Bot, running
from tests.bench.receiver import Receiver, receiving
from tests.bench.standins import Places, standing_in
from tests.bench.table import Row

JOBS: Final = (
    Job("/gatehouse", "whoami", expected=(b"U0BENCH", 1)),
    Job("/rules", "list", expected=(b"example.com", 20)),
)


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one bot: seconds until it is ready, MiB before the first command, replies per second by what is measured."""

    start: float
    idle: float
    rates: Mapping[str, float]


def measure(*, seconds: float, at_once: Sequence[int]) -> list[Row]:
    """Give each command for so many *seconds*, so many *at_once*."""
    with standing_in() as places, TemporaryDirectory() as folder:
        ours, peer = asyncio.run(_measure_both(places, Path(folder), seconds, at_once))
    rows = [Row(what, rate, CAREFUL.name, peer.rates[what], "/s") for what, rate in ours.rates.items()]
    rows.append(Row("from start to ready", ours.start, CAREFUL.name, peer.start, "s"))
    return [*rows, Row("memory when idle", ours.idle, CAREFUL.name, peer.idle, "MiB")]


async def _measure_both(
    places: Places, folder: Path, seconds: float, at_once: Sequence[int]
) -> tuple[Figures, Figures]:
    async with receiving() as receiver:
        places = places._replace(slack=f"{receiver.address}/api/")
        peer = await _measure(CAREFUL, places, folder, receiver, seconds, at_once)
        return await _measure(GATEHOUSE, places, folder, receiver, seconds, at_once), peer


async def _measure(
    bot: Bot, places: Places, folder: Path, receiver: Receiver, seconds: float, at_once: Sequence[int]
) -> Figures:
    """Everybody gives each command once before it is measured: a bot may remember people, and the rows of their last list."""
    rates = {}
    async with running(bot, places, folder) as process:
        idle = process.resident_mebibytes()
        for job in JOBS:
            await warm_up(process, receiver, job)
            for many in at_once:
                rate = await replies_per_second(process, receiver, job, many, seconds)
                rates[f"`{job}`, {many} at once"] = rate
    return Figures(process.start_seconds, idle, rates)
