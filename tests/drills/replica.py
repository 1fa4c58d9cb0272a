"""One replica as a process of its own: the real bot, with shorter leases, and a step at which it dies or stops.

``python -m tests.drills.replica``, with the variables of the contract and these: DRILL_TIMING, numbers of
`bot.server.app.Timing` as JSON; DRILL_DIE_AT, DRILL_STOP_AT and DRILL_END_AT, ``step:n``: at the n-th time that this step
is reached the process kills or stops itself, without warning, as a power cut would; or is told to end, as by systemd.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import uvicorn

from bot.changes.execute import Failpoint
from bot.server import logs
from bot.server.app import Timing, running
from bot.settings import CannotStart, Settings
from tests.harness.failpoints import failing

STRIKES: Final = {"DRILL_DIE_AT": signal.SIGKILL, "DRILL_STOP_AT": signal.SIGSTOP, "DRILL_END_AT": signal.SIGTERM}


def checkpoint(environment: Mapping[str, str]) -> Failpoint:
    """Counts the steps that are reached, and strikes this process at the one that *environment* names."""
    wanted = {name: environment[name].rpartition(":") for name in STRIKES if environment.get(name)}
    seen: dict[str, int] = {}

    def failpoint(step: str) -> None:
        seen[step] = seen.get(step, 0) + 1
        for name, (struck, _, number) in wanted.items():
            if (step, seen[step]) == (struck, int(number)):
                os.kill(os.getpid(), STRIKES[name])

    return failpoint


def timing(environment: Mapping[str, str], failpoint: Failpoint) -> Timing:
    numbers = json.loads(environment.get("DRILL_TIMING") or "{}")
    return Timing(**numbers, failpoint=failpoint)


class _Server(uvicorn.Server):
    """Leaves signals to us, as the bot's own does."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop(self) -> None:
        self.should_exit = True


async def serve(settings: Settings, timing: Timing) -> None:
    """Run until SIGTERM; at once no longer when the process that drills it is gone."""
    loop = asyncio.get_running_loop()
    if (driller := multiprocessing.parent_process()) is not None:
        loop.add_reader(driller.sentinel, os._exit, 3)
    async with running(settings, timing=timing) as gatehouse:
        server = _Server(uvicorn.Config(gatehouse.web, host=settings.host, port=settings.port, log_config=None))
        loop.add_signal_handler(signal.SIGTERM, server.stop)
        await server.serve()


def main() -> int:
    settings = Settings()
    logs.configure(settings.log_level, settings.log_format)
    strikes = checkpoint(os.environ)
    try:
        with failing(strikes):
            asyncio.run(serve(settings, timing(os.environ, strikes)))
    except CannotStart as error:
        print(f"Gatehouse cannot start: {error}", file=sys.stderr)
        return 1
    return 0


def forked(environment: Mapping[str, str], log: Path) -> None:
    """The same in a process that has the imports behind it, which take longer than all else of a start."""
    os.environ.clear()
    os.environ.update(environment)
    with log.open("ab") as kept:
        os.dup2(kept.fileno(), 1)
        os.dup2(kept.fileno(), 2)
    sys.exit(main())


if __name__ == "__main__":
    sys.exit(main())
