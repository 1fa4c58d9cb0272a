"""The stand-ins in a process of their own, so that they do not share the loop that is measured."""

from __future__ import annotations

import asyncio
import multiprocessing
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Final, NamedTuple

from bot.server.manifest import document
from sandbox.gatehouse import SHOP
from sandbox.services.running import running_services
from sandbox.slack.running import running_slack

PROCESSES: Final = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([__name__])


class Places(NamedTuple):
    """Where the stand-ins are."""

    rules: str
    members: str
    slack: str


@contextmanager
def standing_in(delay: float = 0.0) -> Iterator[Places]:
    """Fresh stand-ins with the sample data, gone at the end of the block; the services answer after *delay* seconds."""
    ours, theirs = PROCESSES.Pipe()
    process = PROCESSES.Process(target=_run, args=(theirs, delay), daemon=True)
    process.start()
    theirs.close()
    try:
        yield ours.recv()
    finally:
        ours.close()  # which ends it
        process.join()


def _run(driver: Connection, delay: float) -> None:
    asyncio.run(_serve(driver, delay))


async def _serve(driver: Connection, delay: float) -> None:
    gone = asyncio.Event()
    asyncio.get_running_loop().add_reader(driver.fileno(), gone.set)
    async with (
        running_services() as services,
        running_slack(document("http://127.0.0.1"), SHOP) as slack,
    ):
        if delay:
            for stage in (services.rules.stage, services.members.stage):
                stage.faults.add("delay", times=sys.maxsize, value=delay)
        driver.send(Places(services.rules_url, services.members_url, slack.api_url))
        await gone.wait()
