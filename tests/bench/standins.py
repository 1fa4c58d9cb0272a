"""Both services and the local Slack in a process of their own, so that they do not share the loop that is measured."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Final, NamedTuple

from bot.manifest import document
from sandbox.services.running import running_services
from sandbox.slack.running import running_slack

PROCESSES: Final = multiprocessing.get_context("spawn")


class Places(NamedTuple):
    """Where the stand-ins are."""

    rules: str
    members: str
    slack: str


@contextmanager
def standing_in() -> Iterator[Places]:
    """Fresh stand-ins with the sample data, gone at the end of the block."""
    ours, theirs = PROCESSES.Pipe()
    process = PROCESSES.Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    try:
        yield ours.recv()
    finally:
        ours.close()  # which ends it
        process.join()


def _serve(driver: Connection) -> None:
    asyncio.run(_served(driver))


async def _served(driver: Connection) -> None:
    gone = asyncio.Event()
    asyncio.get_running_loop().add_reader(driver.fileno(), gone.set)
    async with running_services() as services, running_slack(document("http://127.0.0.1")) as slack:
        driver.send(Places(services.rules_url, services.members_url, slack.api_url))
        await gone.wait()
