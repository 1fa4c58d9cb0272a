"""What commands cost where a service has much: time, the longest stop of everything else, and memory."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from bot.server.manifest import document
from sandbox.gatehouse import ALICE, SHOP
from sandbox.services.running import Services, running_services
from sandbox.slack.running import LocalSlack, running_slack
from sandbox.slack.story import Person
from tests.bench import measuring
from tests.bench.processes import Bot, Running, running
from tests.bench.sheets import Report, Sheet, compared
from tests.bench.standins import Places

WATCHED: Final = Bot("Gatehouse", ("tests.bench.watched",))
OPS: Final = "C0OPS0001"
TYPED: Final = ("person42", "person421", "persno421@company")
PATIENCE_SECONDS: Final = 60.0
MENU: Final = "v1.pick.member.menu"
MEMBER: Final = "person42@company42.example.com"
ABOUT: Final = """\
Commands in a site with many rules and members, each given once to a process that starts with nothing read. In parentheses: the
ratio to the same process with a hundred of each.

- *In all* is the time from the command to its reply. The stand-in services give each list whole, and share the machine.
- *Longest work* is what the event loop did before it let others in, in processor time.
- *Memory* is what the process had in RAM after the command. What was read of the services is let go of after ten seconds."""

COMMANDS: Final[Sequence[str]] = (
    "/rules list",
    "/rules which https://shop5.example.com/campaign/5",
    "/rules show campaign 42 of shop",
    "/rules campaign 42 of shop",
    "/rules off Redirect_00002a",
    "/rules set Redirect_00002b name=Other",
    "/rules check",
    "/rules export here",
    "/members list",
    f"/members why {MEMBER}",
    "/members segments",
    "/members person 42 to vip",
    f"/members grant {MEMBER} vip",
    f"/members offboard {MEMBER}",
    "/members export",
    "/gatehouse digest",
)

EXTRA_OF_RULE: Final[dict[str, Any]] = {
    "description": "",
    "objectType": "rule",
    "creationDate": 1_700_000_000_000,
    "modificationDate": 1_700_000_000_000,
    "createdBy": "user_1",
    "currentOwner": "user_1",
    "lastModifiedBy": "user_1",
    "groupId": "",
}


class Cost(NamedTuple):
    """Of one command: seconds in all, seconds of the longest work in one go, and MiB in the end."""

    seconds: float
    longest: float
    memory: float


@dataclass(slots=True)
class Costs:
    """Of one run. *each*: by what was done; the others: MiB of the process."""

    each: dict[str, Cost] = field(default_factory=dict)
    idle: float = 0.0
    most: float = 0.0
    after: float = 0.0


def report(few: int, rules: int, members: int) -> Report:
    """What commands cost with so many *rules* and *members*, beside the same with a *few*."""
    with TemporaryDirectory() as folder:
        base = asyncio.run(_measure(Path(folder), few, few))
    with TemporaryDirectory() as folder:
        found = asyncio.run(_measure(Path(folder), rules, members))
    rows = [_row(what, found.each[what], base.each[what]) for what in found.each]
    columns = ("", "in all", "longest work", "memory")
    process = [
        ["memory when idle", compared(found.idle, base.idle, "MiB")],
        ["memory at most", compared(found.most, base.most, "MiB")],
        ["memory once it is quiet again", compared(found.after, base.after, "MiB")],
    ]
    return Report(
        "Large sites",
        ABOUT,
        [
            Sheet(f"Commands with {rules:,} rules and {members:,} members", columns, rows),
            Sheet("The process with so many", ("", "it takes"), process),
        ],
    )


def _row(what: str, own: Cost, base: Cost) -> Sequence[str]:
    return [
        f"`{what}`" if what.startswith("/") else what,
        compared(own.seconds * 1000, base.seconds * 1000, "ms"),
        compared(own.longest * 1000, base.longest * 1000, "ms"),
        compared(own.memory, base.memory, "MiB"),
    ]


async def _measure(folder: Path, rules: int, members: int) -> Costs:
    async with (
        running_services(str(folder / "services.db")) as services,
        running_slack(document("http://127.0.0.1"), SHOP) as slack,
    ):
        _fill(services, rules, members)
        places = Places(services.rules_url, services.members_url, slack.api_url)
        async with running(WATCHED, places, folder) as process:
            slack.delivery.url = f"http://127.0.0.1:{process.port}/slack/events"
            slack.delivery.patience = slack.state.trigger_life = PATIENCE_SECONDS
            return await _run(process, slack, folder)


def _fill(services: Services, rules: int, members: int) -> None:
    for rule in measuring.rules(rules):
        services.rules.put(rule.document() | EXTRA_OF_RULE)
    for number, member in enumerate(measuring.members(members)):
        own = {"allowedSegments": ["free", "vip"][: 1 + number % 2]}
        services.members.put("site_1", {"createdAt": 1_700_000_000_000 + number} | member.document() | own)


async def _run(process: Running, slack: LocalSlack, folder: Path) -> Costs:
    log = folder / f"{process.bot.name}.log"
    costs = Costs(idle=process.resident_mebibytes())
    alice = Person(slack, ALICE.id, OPS, patience=PATIENCE_SECONDS)

    async def cost(what: str, work: Callable[[], Awaitable[object]]) -> None:
        began = time.perf_counter()
        await work()
        seconds = time.perf_counter() - began
        longest = (await _ask(process, log))["longest"]
        costs.each[what] = Cost(seconds, longest, process.resident_mebibytes())

    await _ask(process, log)
    for command in COMMANDS:
        await cost(command, partial(alice.replied, command))
    menu = await alice.opens("/members show")
    for typed in TYPED:
        await cost(f"type-ahead: {typed}", partial(alice.offered, menu, MENU, typed))
    await cost("the app's home", lambda: alice.opens_home("Gatehouse"))
    costs.after, costs.most = process.resident_mebibytes(), process.most_mebibytes()
    return costs


async def _ask(process: Running, log: Path) -> dict[str, float]:
    """What the process says of itself since it was asked last."""
    said = len(log.read_text().splitlines())
    os.kill(process.pid, signal.SIGUSR1)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(lines := log.read_text().splitlines()) <= said:  # noqa: ASYNC110  a file tells nobody that it grew
            await asyncio.sleep(0.01)
    found: dict[str, float] = json.loads(lines[-1])
    return found
