"""Gatehouse beside bare Bolt and a tutorial bot: the same commands, services and Slack, in turn and several times over.

Each round starts each bot again, lets everybody give a command once, and then measures. The medians of the rounds are
reported, so that a machine that is busy for a moment is so for all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final, TypeVar

from tests.bench.charts import Bar, Chart, Group
from tests.bench.load import WARM_UP_AT_ONCE, Job, Taken, loaded, warm_up
from tests.bench.processes import BARE, BOTS, GATEHOUSE, TUTORIAL, Bot, Running, running
from tests.bench.receiver import Receiver, receiving
from tests.bench.sheets import Report, Sheet, compared, number
from tests.bench.standins import Places, standing_in

WHOAMI: Final = Job("/gatehouse", "whoami", expected=(b"U0BENCH", 1))
LIST: Final = Job("/rules", "list", expected=(b'"section"', 10))
ACKNOWLEDGED: Final = Job("/gatehouse", "whoami", has_reply=False)
JOBS: Final[Mapping[Bot, Sequence[Job]]] = {BARE: [ACKNOWLEDGED], TUTORIAL: [WHOAMI, LIST], GATEHOUSE: [WHOAMI, LIST]}
COLUMNS: Final = (
    "bot, commands at once",
    "acknowledged p50",
    "p99",
    "reply posted p50",
    "p99",
    "replies per second",
    "CPU per reply",
)
ABOUT: Final = """\
Signed slash commands over kept-alive connections, in a closed loop: so many people at once, each of whom waits for the
reply before the next command. Every bot is a process of its own (uvicorn, HTTP, loopback) between the same stand-in
services and the same small receiver of replies.

- *Bare Bolt* has one listener, which acknowledges and does nothing else. Its acknowledgements count as replies.
- The *tutorial bot* does the same job as Gatehouse the way tutorials show it (`tests/bench/bolt_bots.py`): a new HTTP client
  for each request, and no rights, records or checks.
- *CPU* is user and system time of the bot's process.
- In parentheses: the ratio to the tutorial bot, and for acknowledgements the ratio to bare Bolt, at the same load."""


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


T = TypeVar("T", Figures, Process)


@dataclass(frozen=True, slots=True)
class Plan:
    """How often and how long: *seconds* of each case, commands *at_once*, and commands to *warm_up* each bot with."""

    rounds: int
    seconds: float
    at_once: Sequence[int]
    warm_up: int


def report(plan: Plan) -> Report:
    """Run all rounds of the *plan*."""
    with standing_in() as places, TemporaryDirectory() as folder:
        found = asyncio.run(_rounds(places, Path(folder), plan))
    sheets = [_sheet(found, "A command without I/O", WHOAMI), _sheet(found, "Ten rules, read from the service", LIST)]
    charts = [_rate_chart(found), _time_chart(found), _process_chart(found)]
    return Report("Gatehouse beside a tutorial bot and bare Bolt", ABOUT, [*sheets, _process_sheet(found)], charts)


async def _rounds(places: Places, folder: Path, plan: Plan) -> Rounds:
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
    """One round of one bot. Everybody gives a command first, so that a bot that remembers people knows them."""
    found = []
    for position, job in enumerate(JOBS[process.bot]):
        receiver.expected = job.expected
        await warm_up(process, receiver, job, plan.warm_up if position == 0 else WARM_UP_AT_ONCE)
        for at_once in plan.at_once:
            taken = await loaded(process, receiver, job, at_once, plan.seconds)
            found.append((Case(process.bot, job, at_once), _figures(taken)))
    return found


def _figures(taken: Taken) -> Figures:
    acknowledged, replied = (_milliseconds(times) for times in (taken.acknowledged, taken.replied))
    return Figures(*acknowledged, *replied, taken.per_second, taken.cpu_per_command * 1000)


def _milliseconds(seconds: Sequence[float]) -> tuple[float, float]:
    """The median and the 99th percentile."""
    if not seconds:
        return nan, nan
    ordered = sorted(seconds)
    return median(ordered) * 1000, ordered[len(ordered) * 99 // 100] * 1000


def _medians(kind: type[T], found: Sequence[T]) -> T:
    return kind(*(median(getattr(one, name) for one in found) for name in kind.__slots__))


def _loads(found: Rounds) -> list[int]:
    return sorted({case.at_once for case in found.cases})


def _of(found: Rounds, bot: Bot, job: Job, at_once: int) -> Figures:
    return found.cases[Case(bot, ACKNOWLEDGED if bot == BARE else job, at_once)]


def _sheet(found: Rounds, title: str, job: Job) -> Sheet:
    rows = []
    for at_once in _loads(found):
        bare, tutorial, _ = (_of(found, bot, job, at_once) for bot in BOTS)
        rows += [_row(bot, at_once, _of(found, bot, job, at_once), bare, tutorial) for bot in _bots(job)]
    return Sheet(f"{title}: `{job.command} {job.text}`", COLUMNS, rows)


def _row(bot: Bot, at_once: int, own: Figures, bare: Figures, tutorial: Figures) -> list[str]:
    return [
        f"{bot.name}, {at_once}",
        compared(own.acknowledged, bare.acknowledged, "ms"),
        compared(own.acknowledged_p99, bare.acknowledged_p99, "ms"),
        compared(own.replied, tutorial.replied, "ms"),
        compared(own.replied_p99, tutorial.replied_p99, "ms"),
        compared(own.per_second, tutorial.per_second),
        compared(own.cpu, tutorial.cpu, "ms"),
    ]


def _process_sheet(found: Rounds) -> Sheet:
    base = found.processes[TUTORIAL]
    rows = [
        [
            bot.name,
            compared(own.start, base.start, "s"),
            compared(own.idle, base.idle, "MiB"),
            compared(own.after_load, base.after_load, "MiB"),
        ]
        for bot, own in found.processes.items()
    ]
    return Sheet("The process", ("bot", "start until ready", "memory when idle", "memory after the load"), rows)


def _rate_chart(found: Rounds) -> Chart:
    groups = [
        Group(f"{job.command} {job.text}, {at_once} at once", [_rate(found, bot, job, at_once) for bot in _bots(job)])
        for job in (WHOAMI, LIST)
        for at_once in _loads(found)
    ]
    note = "More is better. Bare Bolt only acknowledges. In parentheses: the ratio to the tutorial bot."
    return Chart("replies-per-second", "Replies per second", note, groups, has_one_scale=True)


def _bots(job: Job) -> Sequence[Bot]:
    """The bots that are shown beside each other for a job: bare Bolt lists no rules."""
    return BOTS if job == WHOAMI else (TUTORIAL, GATEHOUSE)


def _rate(found: Rounds, bot: Bot, job: Job, at_once: int) -> Bar:
    own, base = (_of(found, one, job, at_once).per_second for one in (bot, TUTORIAL))
    return Bar(bot.name, own, compared(own, base, "/s"), BOTS.index(bot))


def _time_chart(found: Rounds) -> Chart:
    groups = [
        Group(
            f"{job.command} {job.text}, {at_once} at once", [_time(found, bot, job, at_once) for bot in _bots(job)[-2:]]
        )
        for job in (WHOAMI, LIST)
        for at_once in _loads(found)
    ]
    note = "Less is better. The bar ends at the median, the line at the 99th percentile. Each group has its own scale."
    return Chart("command-to-reply", "From the command to the posted reply", note, groups)


def _time(found: Rounds, bot: Bot, job: Job, at_once: int) -> Bar:
    own, base = (_of(found, one, job, at_once) for one in (bot, TUTORIAL))
    words = f"{compared(own.replied, base.replied, 'ms')}, p99 {number(own.replied_p99, 'ms')}"
    return Bar(bot.name, own.replied, words, BOTS.index(bot), tail=own.replied_p99)


def _process_chart(found: Rounds) -> Chart:
    groups = [_process_group(found, "Start until ready", "start", "s")]
    groups += [_process_group(found, "Memory after the load", "after_load", "MiB")]
    at_once = _loads(found)[len(_loads(found)) // 2]
    groups += [_cpu_group(found, job, at_once) for job in (WHOAMI, LIST)]
    note = "Less is better. Each group has its own scale. In parentheses: the ratio to the tutorial bot."
    return Chart("process", "What a process takes", note, groups)


def _process_group(found: Rounds, title: str, name: str, unit: str) -> Group:
    base = getattr(found.processes[TUTORIAL], name)
    own = {bot: getattr(process, name) for bot, process in found.processes.items()}
    return Group(title, [Bar(bot.name, own[bot], compared(own[bot], base, unit), BOTS.index(bot)) for bot in BOTS])


def _cpu_group(found: Rounds, job: Job, at_once: int) -> Group:
    own = {bot: _of(found, bot, job, at_once).cpu for bot in _bots(job)}
    bars = [Bar(bot.name, cpu, compared(cpu, own[TUTORIAL], "ms"), BOTS.index(bot)) for bot, cpu in own.items()]
    return Group(f"CPU per reply, {job.command} {job.text}, {at_once} at once", bars)
