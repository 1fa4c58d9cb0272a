"""What commands take where a service has much, beside the same with little: time, the longest stall, and memory."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bot.server.manifest import document
from sandbox.gatehouse import ALICE, SHOP
from sandbox.services.running import running_services
from sandbox.slack.running import running_slack
from sandbox.slack.story import Person
from tests.bench.processes import Bot, Running, running
from tests.bench.sites import member, rule
from tests.bench.standins import Places
from tests.bench.table import Row

WATCHED: Final = Bot("Gatehouse", ("tests.bench.watched",))
OPS: Final = "C0OPS0001"
PATIENCE_SECONDS: Final = 60.0
MEMBER: Final = "person42@company42.example.com"
MENU: Final = "v1.pick.member.menu"
TYPED: Final = "persno421@company"
COMMANDS: Final = (
    "/rules list",
    "/rules which https://shop5.example.com/campaign/5",
    "/rules campaign 42 of shop",
    "/rules off Redirect_00002a",
    "/rules check",
    "/members list",
    f"/members why {MEMBER}",
    f"/members grant {MEMBER} vip",
    "/gatehouse digest",
)


@dataclass(frozen=True, slots=True)
class Site:
    """How much there is."""

    rules: int
    members: int

    def __str__(self) -> str:
        return f"{self.rules:,} rules and {self.members:,} members"


@dataclass(frozen=True, slots=True)
class Costs:
    """*took*: each command, in milliseconds; *stall*: the longest work of the event loop in one go, in milliseconds of
    processor time; *peak* and *after*: MiB, at most and once it is quiet again.
    """

    took: Mapping[str, float]
    stall: float
    peak: float
    after: float


def measure(large: Site, *, few: Site, quiet_seconds: float) -> list[Row]:
    """What the process takes for a *large* site beside one with *few*; *quiet_seconds*: after which lists are let go of."""
    base, found = (asyncio.run(_measure_in_folder(site, quiet_seconds)) for site in (few, large))
    peer = f"with {few.rules}"
    rows = [Row(f"large site: {what}", took, peer, base.took[what], "ms") for what, took in found.took.items()]
    rows.append(Row("large site: longest stall", found.stall, peer, base.stall, "ms"))
    rows.append(Row("large site: memory at most", found.peak, peer, base.peak, "MiB"))
    return [*rows, Row("large site: memory once it is quiet", found.after, peer, base.after, "MiB")]


async def _measure_in_folder(site: Site, quiet_seconds: float) -> Costs:
    with TemporaryDirectory() as name:
        folder = Path(name)
        async with (
            running_services(str(folder / "services.db")) as services,
            running_slack(document("http://127.0.0.1"), SHOP) as slack,
        ):
            for number in range(site.rules):
                services.rules.put(rule(number))
            for number in range(site.members):
                services.members.put("site_1", member(number))
            places = Places(services.rules_url, services.members_url, slack.api_url)
            async with running(WATCHED, places, folder) as process:
                slack.delivery.url = f"http://127.0.0.1:{process.port}/slack/events"
                slack.delivery.patience = slack.state.trigger_life = PATIENCE_SECONDS
                alice = Person(slack, ALICE.id, OPS, patience=PATIENCE_SECONDS)
                return await _measure(process, alice, folder, quiet_seconds)


async def _measure(process: Running, alice: Person, folder: Path, quiet_seconds: float) -> Costs:
    log, took = folder / f"{process.bot.name}.log", {}
    await _ask_longest(process, log)
    for command in COMMANDS:
        began = time.perf_counter()
        await alice.replied(command)
        took[f"`{command}`"] = (time.perf_counter() - began) * 1000
    menu = await alice.opens("/members show")
    began = time.perf_counter()
    await alice.offered(menu, MENU, TYPED)
    took["type-ahead with a typo"] = (time.perf_counter() - began) * 1000
    stall, peak = await _ask_longest(process, log) * 1000, process.most_mebibytes()
    await asyncio.sleep(quiet_seconds)
    await alice.replied("/gatehouse whoami")
    return Costs(took, stall, peak, process.resident_mebibytes())


async def _ask_longest(process: Running, log: Path) -> float:
    """How long the loop of the process worked in one go at most, in seconds, since it was asked last."""
    said = len(log.read_text().splitlines())
    os.kill(process.pid, signal.SIGUSR1)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(lines := log.read_text().splitlines()) <= said:  # noqa: ASYNC110  a file tells nobody that it grew
            await asyncio.sleep(0.01)
    longest: float = json.loads(lines[-1])["longest"]
    return longest
