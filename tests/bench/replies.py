"""The reply to a slash command: Gatehouse beside two peers and bare Bolt, as tables and charts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.bench.charts import Bar, Chart, Group
from tests.bench.load import Job
from tests.bench.processes import BARE, BOTS, CAREFUL, GATEHOUSE, TUTORIAL, Bot
from tests.bench.rounds import LIST, WHOAMI, Figures, Plan, Rounds, run
from tests.bench.sheets import Report, Sheet, compared, number
from tests.bench.standins import standing_in

COLUMNS: Final = (
    "bot, commands at once",
    "acknowledged p50",
    "p99",
    "reply posted p50",
    "p99",
    "replies per second",
    "CPU per reply",
    "lost",
)
ABOUT: Final = """\
Signed slash commands over kept-alive connections, in a closed loop: so many people at once, each of whom waits for the
reply before the next command. Every bot is a process of its own (uvicorn, HTTP, loopback) between the same stand-in
services and the same small receiver of replies.

- *Bare Bolt* has one listener, which acknowledges and does nothing else. Its acknowledgements count as replies.
- The *tutorial bot* does the same job as Gatehouse the way tutorials show it (`tests/bench/bolt_bots.py`): a new HTTP client
  for each request, and no rights, records or checks.
- The *careful bot* does it as quickly as Bolt lets it: it acknowledges first and answers by a task, with one HTTP client for all
  requests. It has no rights, records or checks either.
- Everybody gives each command once before it is measured: Gatehouse remembers who somebody is, and the rows of their last list.
- A reply is *lost* where none comes within 10 seconds.
- *CPU* is user and system time of the bot's process.
- In parentheses: the ratio to the careful bot, and for acknowledgements the ratio to bare Bolt, at the same load."""


def report(plan: Plan) -> Report:
    """Run all rounds of the *plan*."""
    with standing_in() as places, TemporaryDirectory() as folder:
        found = asyncio.run(run(places, Path(folder), plan))
    sheets = [
        _sheet(found, "A command that asks no service", WHOAMI),
        _sheet(found, "A page of rules, read from the service", LIST),
    ]
    charts = [_rate_chart(found), _time_chart(found), _process_chart(found)]
    return Report("Gatehouse beside two peers and bare Bolt", ABOUT, [*sheets, _process_sheet(found)], charts)


def _sheet(found: Rounds, title: str, job: Job) -> Sheet:
    rows = []
    for at_once in found.loads:
        bare, peer = (found.of(bot, job, at_once) for bot in (BARE, CAREFUL))
        rows += [_row(bot, at_once, found.of(bot, job, at_once), bare, peer) for bot in _bots(job)]
    return Sheet(f"{title}: `{job}`", COLUMNS, rows)


def _row(bot: Bot, at_once: int, own: Figures, bare: Figures, peer: Figures) -> list[str]:
    return [
        f"{bot.name}, {at_once}",
        compared(own.acknowledged, bare.acknowledged, "ms"),
        compared(own.acknowledged_p99, bare.acknowledged_p99, "ms"),
        compared(own.replied, peer.replied, "ms"),
        compared(own.replied_p99, peer.replied_p99, "ms"),
        compared(own.per_second, peer.per_second),
        compared(own.cpu, peer.cpu, "ms"),
        f"{own.lost:.0%}" if own.lost else "none",
    ]


def _process_sheet(found: Rounds) -> Sheet:
    base = found.processes[CAREFUL]
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
    note = "More is better. Bare Bolt only acknowledges. In parentheses: the ratio to the careful bot."
    groups = _groups(found, _rate, BOTS)
    return Chart("replies-per-second", "Replies per second", note, groups, has_one_scale=True)


def _groups(found: Rounds, bar: Callable[[Rounds, Bot, Job, int], Bar], bots: Sequence[Bot]) -> list[Group]:
    """The bars of *bots* for each job and each load."""
    return [
        Group(f"{job}, {at_once} at once", [bar(found, bot, job, at_once) for bot in _bots(job) if bot in bots])
        for job in (WHOAMI, LIST)
        for at_once in found.loads
    ]


def _bots(job: Job) -> Sequence[Bot]:
    """The bots that are shown beside each other for a job: bare Bolt lists no rules."""
    return BOTS if job == WHOAMI else (TUTORIAL, CAREFUL, GATEHOUSE)


def _rate(found: Rounds, bot: Bot, job: Job, at_once: int) -> Bar:
    own, base = (found.of(one, job, at_once).per_second for one in (bot, CAREFUL))
    return Bar(bot.name, own, compared(own, base, "/s"), BOTS.index(bot))


def _time_chart(found: Rounds) -> Chart:
    note = "Less is better. The bar ends at the median, the line at the 99th percentile. Each group has its own scale."
    groups = _groups(found, _time, (TUTORIAL, CAREFUL, GATEHOUSE))
    return Chart("command-to-reply", "From the command to the posted reply", note, groups)


def _time(found: Rounds, bot: Bot, job: Job, at_once: int) -> Bar:
    own, base = (found.of(one, job, at_once) for one in (bot, CAREFUL))
    words = f"{compared(own.replied, base.replied, 'ms')}, p99 {number(own.replied_p99, 'ms')}"
    return Bar(bot.name, own.replied, words, BOTS.index(bot), tail=own.replied_p99)


def _process_chart(found: Rounds) -> Chart:
    groups = [_process_group(found, "Start until ready", "start", "s")]
    groups += [_process_group(found, "Memory after the load", "after_load", "MiB")]
    at_once = found.loads[len(found.loads) // 2]
    groups += [_cpu_group(found, job, at_once) for job in (WHOAMI, LIST)]
    note = "Less is better. Each group has its own scale. In parentheses: the ratio to the careful bot."
    return Chart("process", "What a process takes", note, groups)


def _process_group(found: Rounds, title: str, name: str, unit: str) -> Group:
    base = getattr(found.processes[CAREFUL], name)
    own = {bot: getattr(process, name) for bot, process in found.processes.items()}
    return Group(title, [Bar(bot.name, own[bot], compared(own[bot], base, unit), BOTS.index(bot)) for bot in BOTS])


def _cpu_group(found: Rounds, job: Job, at_once: int) -> Group:
    own = {bot: found.of(bot, job, at_once).cpu for bot in _bots(job)}
    bars = [Bar(bot.name, cpu, compared(cpu, own[CAREFUL], "ms"), BOTS.index(bot)) for bot, cpu in own.items()]
    return Group(f"CPU per reply, {job}, {at_once} at once", bars)
