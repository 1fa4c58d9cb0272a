"""The bots that are compared, each as a process of its own: started, timed, weighed and stopped. Needs Linux's /proc."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sandbox.slack.running import SECRET, TOKEN
from tests.bench.standins import Places
from tests.harness.programs import ROOT, free_ports, is_ready, service_variables

MAX_START_SECONDS: Final = 120
LOOK_SECONDS: Final = 0.005
"""Between two looks at whether a process is ready: how exact its start is measured."""
UVICORN: Final = ("uvicorn", "--factory", "--http", "h11", "--loop", "asyncio", "--log-level", "warning", "--port")


class BenchFailed(Exception):
    """A bot did not do what is measured, so there is no figure."""


@dataclass(frozen=True, slots=True)
class Bot:
    """*module*: what `python -m` runs, with its arguments; the port follows where it takes one."""

    name: str
    module: Sequence[str]


TUTORIAL: Final = Bot("tutorial bot", (*UVICORN, "{port}", "tests.bench.bolt_bots:tutorial"))
CAREFUL: Final = Bot("careful bot", (*UVICORN, "{port}", "tests.bench.bolt_bots:careful"))
GATEHOUSE: Final = Bot("Gatehouse", ("bot", "serve"))


@dataclass(frozen=True, slots=True)
class Running:
    """A bot that is ready."""

    bot: Bot
    pid: int
    port: int
    start_seconds: float

    def resident_mebibytes(self) -> float:
        """Memory of the process that is in RAM now."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def most_mebibytes(self) -> float:
        """The most memory that the process ever had in RAM."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024


@asynccontextmanager
async def running(bot: Bot, places: Places, folder: Path) -> AsyncIterator[Running]:
    """Start *bot* with its files in *folder*; it is stopped at the end of the block."""
    [port], log = free_ports(1), folder / f"{bot.name}.log"
    arguments = [each.format(port=port) for each in bot.module]
    began = time.perf_counter()
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", *arguments, cwd=ROOT, env=environment(places, folder, port),
            stdout=output, stderr=output,
        )  # fmt: skip
    try:
        await _until_ready(process, port)
        yield Running(bot, process.pid, port, time.perf_counter() - began)
    except BenchFailed as failure:
        raise BenchFailed(f"{bot.name}: {failure}\n{log.read_text(errors='replace')[-2000:]}") from failure
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


def environment(places: Places, folder: Path, port: int) -> Mapping[str, str]:
    """What a deployment sets, and nothing else: no proxies, no other settings of this machine."""
    return {
        "PATH": os.environ["PATH"],
        "SLACK_BOT_TOKEN": TOKEN,
        "SLACK_SIGNING_SECRET": SECRET,
        "SLACK_API_URL": places.slack,
        **service_variables(places.rules, places.members),
        "DATABASE_URL": f"sqlite:///{folder / 'gatehouse.db'}",
        "PORT": str(port),
    }


async def _until_ready(process: asyncio.subprocess.Process, port: int) -> None:
    """Return when ``/readyz`` answers 200; raises BenchFailed."""
    async with asyncio.timeout(MAX_START_SECONDS):
        while not await is_ready(port):
            if process.returncode is not None:
                raise BenchFailed("it ended at its start")
            await asyncio.sleep(LOOK_SECONDS)
