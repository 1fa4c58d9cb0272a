"""Programs of this tree as other people's scripts run them: processes of their own, with the variables of the contract."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final
from unittest.mock import patch

from click.testing import CliRunner, Result

from bot import command_line
from sandbox.services.running import MEMBERS_KEY, RULES_KEY, Services
from sandbox.slack.running import APP_TOKEN, SECRET, TOKEN, LocalSlack
from sandbox.slack.serving import bind_socket

ROOT: Final = Path(__file__).parent.parent.parent
PATIENCE: Final = 60.0
"""Seconds that a process may take until it answers, on a machine that is busy with other tests."""
MAX_SECONDS: Final = 100.0
"""That a command may take to its end: less than a test may, which would end without a word about it."""


async def run_command(*command: str | Path, folder: Path = ROOT, **variables: str) -> tuple[int, str, str]:
    """Run a command to its end, in *folder*, with PATH and *variables* alone; exit code, output, errors."""
    return await _run_to_end(command, folder, variables, MAX_SECONDS)


async def run_module(
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    folder: Path = ROOT,
    patience: float = MAX_SECONDS,
) -> tuple[int, str, str]:
    """Run a module of this tree to its end, in *folder*; exit code, output, errors."""
    variables = {"PYTHONPATH": str(ROOT), **(environment or {})}
    return await _run_to_end((sys.executable, "-m", *arguments), folder, variables, patience)


async def run_here(*arguments: str, environment: Mapping[str, str], folder: Path = ROOT) -> tuple[int, str, str]:
    """`run_module` of ``bot`` without a process of its own, whose start takes longer than most commands."""

    def run() -> Result:
        variables = {"PATH": os.environ["PATH"], **environment}
        with patch.dict(os.environ, variables, clear=True), contextlib.chdir(folder):
            return CliRunner().invoke(command_line.app, arguments)

    result = await asyncio.to_thread(run)  # each command has an event loop of its own
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


async def _run_to_end(
    command: Sequence[str | Path], folder: Path, variables: Mapping[str, str], patience: float
) -> tuple[int, str, str]:
    """Fails with what was said where it runs on after *patience* seconds, as a server does that should not have started."""
    process = await asyncio.create_subprocess_exec(
        *map(str, command),
        cwd=folder,
        env={"PATH": os.environ["PATH"], **variables},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    ends = asyncio.create_task(process.communicate())
    try:
        has_ended, _ = await asyncio.wait({ends}, timeout=patience)
    finally:
        if process.returncode is None:
            process.kill()
    out, err = (each.decode() for each in await ends)
    assert has_ended, f"{' '.join(map(str, command))} still runs after {patience:.0f} s\n{out[-2000:]}{err[-2000:]}"
    assert process.returncode is not None
    return process.returncode, out, err


def service_variables(rules_url: str, members_url: str) -> dict[str, str]:
    """The variables that say where both services are, with their keys."""
    return {
        "RULES_BASE_URL": rules_url,
        "RULES_API_KEY": RULES_KEY,
        "MEMBERS_BASE_URL": members_url,
        "MEMBERS_API_KEY": MEMBERS_KEY,
        "MEMBERS_SITES": "blog=site_1,docs=site_2",
    }


def environment(slack: LocalSlack, services: Services, database_url: str, port: int) -> dict[str, str]:
    """The variables that a deployment sets."""
    by_socket = slack.sockets.is_enabled
    return {
        "PATH": os.environ["PATH"],
        "SLACK_BOT_TOKEN": TOKEN,
        **({"SLACK_APP_TOKEN": APP_TOKEN} if by_socket else {"SLACK_SIGNING_SECRET": SECRET}),
        "SLACK_API_URL": slack.api_url,
        **service_variables(services.rules_url, services.members_url),
        "DATABASE_URL": database_url,
        "PORT": str(port),
    }


def free_ports(many: int) -> list[int]:
    """Ports that nobody listens at, and none of those from which a system lets connections begin: they stay free for
    a while, until a process has started or while a replica is dead.
    """
    held: dict[int, socket.socket] = {}
    while len(held) < many:
        port = 10_000 + secrets.randbelow(22_000)  # not by `random`, whose seed all workers of a run share
        if port not in held:
            with contextlib.suppress(OSError):
                held[port] = bind_socket(port)
    for one in held.values():
        one.close()
    return list(held)


async def is_ready(port: int) -> bool:
    """Whether somebody at *port* of this machine says on /readyz that it can work."""
    with contextlib.suppress(OSError):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /readyz HTTP/1.1\r\nHost: bot\r\nConnection: close\r\n\r\n")
        answer = await reader.read()
        writer.close()
        return answer.startswith(b"HTTP/1.1 200 ")
    return False


@asynccontextmanager
async def running_server(
    *command: str,
    port: int,
    log: Path,
    folder: Path = ROOT,
    environment: Mapping[str, str] | None = None,
    ends: int = 0,
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A server as a process of its own that says all to *log*, from when it can work at *port* to its end in good order.

    *ends*: its exit code after SIGTERM.
    """
    variables = {"PATH": os.environ["PATH"], **(environment or {})}
    with log.open("wb") as file:
        process = await asyncio.create_subprocess_exec(*command, cwd=folder, env=variables, stdout=file, stderr=file)
    try:
        async with asyncio.timeout(PATIENCE):
            while not await is_ready(port):
                assert process.returncode is None, _log_tail(log)
                await asyncio.sleep(0.01)  # no event tells of another process
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()
    assert process.returncode == ends, f"SIGTERM ends it in good order\n{_log_tail(log)}"


def _log_tail(log: Path) -> str:
    """The last that a process said: its error, where a report keeps only the beginning of what is long."""
    return log.read_text()[-4000:]


@asynccontextmanager
async def serving(
    slack: LocalSlack, services: Services, folder: Path, *, within: Sequence[str] = (), **variables: str
) -> AsyncIterator[tuple[str, Path]]:
    """``python -m bot serve`` for *slack*, ready: its address, and the file of all that it says.

    *within*: a command that becomes the one that follows it, in surroundings of its own.
    """
    log, [port] = folder / "bot.log", free_ports(1)
    own = environment(slack, services, f"sqlite:///{folder / 'served.db'}", port) | variables
    url = f"http://127.0.0.1:{port}"
    async with running_server(*within, sys.executable, "-m", "bot", "serve", port=port, log=log, environment=own):
        slack.delivery.url = "" if slack.sockets.is_enabled else f"{url}/slack/events"
        yield url, log
