"""What a bench speaks to, in a process of its own, so that it does not share the loop that is measured."""

from __future__ import annotations

import asyncio
import multiprocessing
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from multiprocessing.connection import Connection
from typing import Any, Final, NamedTuple

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from bot.server.manifest import document
from sandbox.gatehouse import SHOP
from sandbox.services.running import running_services
from sandbox.slack.running import running_slack
from sandbox.slack.serving import serving

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
    with _apart(_everything, delay) as places:
        yield places


@contextmanager
def answering(body: bytes) -> Iterator[str]:
    """The address of a server that answers everything with *body*, as JSON."""
    with _apart(_always, body) as address:
        yield address


@contextmanager
def _apart(opened: Callable[..., AbstractAsyncContextManager[Any]], *arguments: object) -> Iterator[Any]:
    ours, theirs = PROCESSES.Pipe()
    process = PROCESSES.Process(target=_serve, args=(theirs, opened, arguments), daemon=True)
    process.start()
    theirs.close()
    try:
        yield ours.recv()
    finally:
        ours.close()  # which ends it
        process.join()


def _serve(
    driver: Connection, opened: Callable[..., AbstractAsyncContextManager[Any]], arguments: tuple[object, ...]
) -> None:
    asyncio.run(_served(driver, opened(*arguments)))


async def _served(driver: Connection, opened: AbstractAsyncContextManager[Any]) -> None:
    gone = asyncio.Event()
    asyncio.get_running_loop().add_reader(driver.fileno(), gone.set)
    async with opened as address:
        driver.send(address)
        await gone.wait()


@asynccontextmanager
async def _everything(delay: float) -> AsyncIterator[Places]:
    async with (
        running_services() as services,
        running_slack(document("http://127.0.0.1"), SHOP) as slack,
    ):
        if delay:
            for stage in (services.rules.stage, services.members.stage):
                stage.faults.add("delay", times=sys.maxsize, value=delay)
        yield Places(services.rules_url, services.members_url, slack.api_url)


@asynccontextmanager
async def _always(body: bytes) -> AsyncIterator[str]:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await Response(body, media_type="application/json")(scope, receive, send)

    async with serving(answer) as address:
        yield address
