"""What is compared, each as a process of its own: the bots, and the stand-in services. Needs Linux's /proc."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bot.server.manifest import document
from sandbox.gatehouse import ALICE, CARA, SHOP
from sandbox.services.running import running_services
from sandbox.slack.running import SECRET, TOKEN, running_slack
from sandbox.slack.story import Person
from tests.bench.sites import Record, fill
from tests.harness.programs import free_ports, running_server, service_variables

OPS: Final = "C0OPS0001"
PATIENCE_SECONDS: Final = 60.0
UVICORN: Final = ("uvicorn", "--factory", "--http", "h11", "--loop", "asyncio", "--log-level", "warning", "--port")
PROCESSES: Final = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([__name__])


@dataclass(frozen=True, slots=True)
class Bot:
    """*module*: what `python -m` runs, with its arguments. *ends*: its exit code after SIGTERM."""

    name: str
    module: Sequence[str]
    ends: int = -signal.SIGTERM


TUTORIAL: Final = Bot("tutorial bot", (*UVICORN, "{port}", "tests.bench.bolt_bots:tutorial"))
CAREFUL: Final = Bot("careful bot", (*UVICORN, "{port}", "tests.bench.bolt_bots:careful"))
GATEHOUSE: Final = Bot("Gatehouse", ("bot", "serve"), ends=0)


@dataclass(frozen=True, slots=True)
class Running:
    """A bot that is ready."""

    pid: int
    port: int
    start_seconds: float

    def resident_mebibytes(self) -> float:
        """Memory of the process that is in RAM now."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@asynccontextmanager
async def running(bot: Bot, services: dict[str, str], slack_api_url: str, folder: Path) -> AsyncIterator[Running]:
    """Start *bot* with its files in *folder*; it is stopped at the end of the block. *services*: the variables about them."""
    [port] = free_ports(1)
    variables = {
        "SLACK_BOT_TOKEN": TOKEN,
        "SLACK_SIGNING_SECRET": SECRET,
        "SLACK_API_URL": slack_api_url,
        "DATABASE_URL": f"sqlite:///{folder / 'gatehouse.db'}",
        "PORT": str(port),
    }
    command = (sys.executable, "-m", *(each.format(port=port) for each in bot.module))
    log, began = folder / f"{bot.name}.log", time.perf_counter()
    async with running_server(*command, port=port, log=log, environment=services | variables, ends=bot.ends) as process:
        yield Running(process.pid, port, time.perf_counter() - began)


@contextmanager
def standing_in(database: Path, *, delay: float = 0.0) -> Iterator[dict[str, str]]:
    """Services over *database* that answer after *delay* seconds: the variables about them; gone at the end of the block."""
    ours, theirs = PROCESSES.Pipe()
    process = PROCESSES.Process(target=_stand_in, args=(theirs, str(database), delay), daemon=True)
    process.start()
    theirs.close()
    try:
        yield service_variables(*ours.recv())
    finally:
        ours.close()  # which ends it
        process.join()


def _stand_in(driver: Connection, database: str, delay: float) -> None:
    asyncio.run(_serve(driver, database, delay))


async def _serve(driver: Connection, database: str, delay: float) -> None:
    gone = asyncio.Event()
    asyncio.get_running_loop().add_reader(driver.fileno(), gone.set)
    async with running_services(database) as services:
        if delay:
            for stage in (services.rules.stage, services.members.stage):
                stage.faults.add("delay", times=sys.maxsize, value=delay)
        driver.send((services.rules_url, services.members_url))
        await gone.wait()


@asynccontextmanager
async def people_with(
    bot: Bot, *, rules: Iterable[Record] = (), members: Iterable[Record] = (), delay: float = 0.0
) -> AsyncIterator[tuple[Person, Person]]:
    """Two people in a local Slack with *bot*, whose services have *rules* and *members* beside the sample data."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        fill(folder / "services.db", rules=rules, members=members)
        services = stack.enter_context(standing_in(folder / "services.db", delay=delay))
        slack = await stack.enter_async_context(running_slack(document("http://127.0.0.1"), SHOP))
        process = await stack.enter_async_context(running(bot, services, slack.api_url, folder))
        slack.delivery.url = f"http://127.0.0.1:{process.port}/slack/events"
        slack.delivery.patience = slack.state.trigger_life = PATIENCE_SECONDS
        alice, cara = (Person(slack, one.id, OPS, patience=PATIENCE_SECONDS) for one in (ALICE, CARA))
        yield alice, cara
