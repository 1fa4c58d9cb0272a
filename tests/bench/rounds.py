"""The same commands for bare Bolt, two peers and Gatehouse, in turn and several times over.

Each round starts each bot again, lets everybody give each command once, and then measures. The medians of the rounds are
reported, so that a machine that is busy for a moment is so for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path
from statistics import median
from typing import Final, TypeVar

from tests.bench.load import Job, Taken, loaded, warm_up
from tests.bench.processes import BARE, BOTS, CAREFUL, GATEHOUSE, TUTORIAL, Bot, Running, running
from tests.bench.receiver import Receiver, receiving
from tests.bench.standins import Places

WHOAMI: Final = Job("/gatehouse", "whoami", expected=(b"U0BENCH", 1))
LIST: Final = Job("/rules", "list", expected=(b"example.com", 20))
ACKNOWLEDGED: Final = Job("/gatehouse", "whoami", has_reply=False)
JOBS: Final[Mapping[Bot, Sequence[Job]]] = {
    BARE: [ACKNOWLEDGED],
    **dict.fromkeys((TUTORIAL, CAREFUL, GATEHOUSE), (WHOAMI, LIST)),
}


@dataclass(frozen=True, slots=True)
class Plan:
    """How often and how long: *seconds* of each case, commands *at_once*, and commands to *warm_up* each bot with."""

    rounds: int
    seconds: float
    at_once: Sequence[int]
    warm_up: int


@dataclass(frozen=True, slots=True)
class Case:
    """What is measured at a time."""

    bot: Bot
    job: Job
    at_once: int


@dataclass(frozen=True, slots=True)
class Figures:
    """What came of a case, times in milliseconds; the reply's are not a number where there is none."""

    acknowledged: float
    acknowledged_p99: float
    replied: float
    replied_p99: float
    per_second: float
    cpu: float
    lost: float
    """The share of the commands that had no reply."""


@dataclass(frozen=True, slots=True)
class Process:
    """What a bot's process took in one round: seconds to be ready, and MiB when idle and after all the load."""

    start: float
    idle: float
    after_load: float


@dataclass(frozen=True, slots=True)
class Rounds:
    """What all rounds brought."""

    cases: Mapping[Case, Figures]
    processes: Mapping[Bot, Process]

    @property
    def loads(self) -> Sequence[int]:
        """How many commands there were at once, the fewest first."""
        return sorted({case.at_once for case in self.cases})

    def of(self, bot: Bot, job: Job, at_once: int) -> Figures:
        """The figures of *bot*; bare Bolt does one job, which stands for all."""
        return self.cases[Case(bot, ACKNOWLEDGED if bot == BARE else job, at_once)]


T = TypeVar("T", Figures, Process)


async def run(places: Places, folder: Path, plan: Plan) -> Rounds:
    """Run all rounds of the *plan*, with the files of the bots in *folder*."""
    cases: dict[Case, list[Figures]] = {}
    processes: dict[Bot, list[Process]] = {}
    async with receiving() as receiver:
        places = places._replace(slack=f"{receiver.address}/api/")
        for bot in BOTS * plan.rounds:
            async with running(bot, places, folder) as process:
                idle = process.resident_mebibytes()
                for case, figures in await _measured(process, receiver, plan):
                    cases.setdefault(case, []).append(figures)
                weighed = Process(process.start_seconds, idle, process.resident_mebibytes())
                processes.setdefault(bot, []).append(weighed)
    return Rounds(
        {case: _medians(Figures, found) for case, found in cases.items()},
        {bot: _medians(Process, found) for bot, found in processes.items()},
    )


async def _measured(process: Running, receiver: Receiver, plan: Plan) -> list[tuple[Case, Figures]]:
    """One round of one bot. Everybody gives each command first, so that a bot that remembers people, and what the rows of
    their last list are, knows them.
    """
    found = []
    for job in JOBS[process.bot]:
        receiver.expected = job.expected
        await warm_up(process, receiver, job, plan.warm_up)
        for at_once in plan.at_once:
            taken = await loaded(process, receiver, job, at_once, plan.seconds)
            found.append((Case(process.bot, job, at_once), _figures(taken)))
    return found


def _figures(taken: Taken) -> Figures:
    acknowledged, replied = (_milliseconds(times) for times in (taken.acknowledged, taken.replied))
    return Figures(*acknowledged, *replied, taken.per_second, taken.cpu_per_reply * 1000, taken.lost_share)


def _milliseconds(seconds: Sequence[float]) -> tuple[float, float]:
    """The median and the 99th percentile."""
    if not seconds:
        return nan, nan
    ordered = sorted(seconds)
    return median(ordered) * 1000, ordered[len(ordered) * 99 // 100] * 1000


def _medians(kind: type[T], found: Sequence[T]) -> T:
    return kind(*(_median([getattr(one, name) for one in found]) for name in kind.__slots__))


def _median(figures: Sequence[float]) -> float:
    """The median of the rounds that brought a figure."""
    there = [one for one in figures if not isnan(one)]
    return median(there) if there else nan
