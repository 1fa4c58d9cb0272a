"""``python -m sandbox``: everything on loopback, one address. ``try``, ``services``, ``slack`` and ``segment`` for parts."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import logging
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer
from rich.console import Console
from rich.table import Table

from bot.server.logs import configure
from bot.server.manifest import document
from bot.settings import CannotStart
from handlers.explain.table import is_problem
from sandbox.demo import SITES, Sandbox, announcing_url, running_sandbox, running_url
from sandbox.gatehouse import ALICE, SHOP
from sandbox.services.database import Database
from sandbox.services.faults import KINDS
from sandbox.services.running import MEMBERS_KEY, RULES_KEY, running_services
from sandbox.services.seed import seed
from sandbox.services.switches import CHOICES, Switches
from sandbox.slack import rendering
from sandbox.slack.message import Message
from sandbox.slack.running import APP_TOKEN, SECRET, TOKEN, LocalSlack, running_slack
from sandbox.slack.state import View
from sandbox.slack.story import Person
from sandbox.slack.watching import NothingHappened

app = typer.Typer(add_completion=False, help="Gatehouse with everything it needs, on this machine alone.")
segments = typer.Typer(no_args_is_help=True, help="The site's dashboard: the only place where segments are made.")
app.add_typer(segments, name="segment")

FOLDER = Path(os.environ.get("SANDBOX_FOLDER", "var/sandbox"))
PORTS = (8800, 8801, 8802, 8803)
Port = Annotated[int, typer.Option(min=0, max=65_535)]
OPS, SUPPORT = "C0OPS0001", "C0SUPPORT"
LOOKS, PAUSE_SECONDS = 60, 0.25
"""How often, and with what pause, a demo looks where another one runs that was started at the same time."""


def _print_moved_ports(wanted: Iterable[int], urls: Iterable[str]) -> None:
    """Say which of the *wanted* ports were another program's, so that these *urls* have other ones."""
    for port, url in zip(wanted, urls, strict=True):
        if urlsplit(url).port != port:
            print(f"Port {port} is taken; using another one.", file=sys.stderr)


async def _wait_for_stop() -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, stopped.set)
    await stopped.wait()


@app.callback(invoke_without_command=True)
def demo(
    context: typer.Context, *, fresh: Annotated[bool, typer.Option(help="Forget what was done before.")] = False
) -> None:
    """Start both services, a local Slack and the bot, unless they run already; print the URL of the page."""
    configure("WARNING", "text")
    logging.getLogger("stamina").setLevel(logging.ERROR)
    if context.invoked_subcommand is not None:
        if fresh:
            wanted = f"it is for the demo alone; {context.invoked_subcommand} would not forget anything."
            raise typer.BadParameter(wanted, context, param_hint="--fresh")
        return
    with _try_folder_lock() as is_alone:
        if not is_alone:
            _print_running(_wait_for_url(), fresh=fresh)
            return
        if fresh:
            for file in FOLDER.glob("*.db*"):
                file.unlink()
        try:
            asyncio.run(_run_demo())
        except CannotStart as error:
            print(f"The demo cannot start: {error}", file=sys.stderr)
            raise typer.Exit(1) from None


@contextlib.contextmanager
def _try_folder_lock() -> Iterator[bool]:
    """Lock the folder against other demos, also one that is starting; yields whether no other one has it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def _wait_for_url() -> str:
    """Return the URL of the demo of this folder, as soon as it has one."""
    for _ in range(LOOKS):
        if url := running_url(FOLDER):
            return url
        time.sleep(PAUSE_SECONDS)
    print(f"Another demo in {FOLDER} has started, and doesn't answer. Stop it, and try again.", file=sys.stderr)
    raise typer.Exit(1)


def _print_running(url: str, *, fresh: bool) -> None:
    """Say where the demo of this folder is; with *fresh*, that it must end before its data can be deleted."""
    if fresh:
        print(f"The demo is running at {url}. Stop it with Ctrl-C, then start it again with --fresh.", file=sys.stderr)
        raise typer.Exit(1)
    print(f"\n  Gatehouse is already running at  {url}\n\n  Press Ctrl-C in its terminal to stop it.\n")


async def _run_demo() -> None:
    async with running_sandbox(FOLDER, ports=PORTS, agents=find_spec("mcp") is not None) as sandbox:
        at = sandbox.services
        _print_moved_ports(PORTS, (sandbox.slack.page_url, at.rules_url, at.members_url, sandbox.bot_url))
        with announcing_url(FOLDER, sandbox.slack.page_url):
            _print_urls(sandbox)
            await _wait_for_stop()


def _print_urls(sandbox: Sandbox) -> None:
    print(f"\n  Gatehouse is at  {sandbox.slack.page_url}\n")
    print("  A local Slack with five people. Type /rules list, or press a suggestion.")
    print(f"  Rules    {sandbox.services.rules_url}   (x-api-key: {RULES_KEY})")
    print(f"  Members  {sandbox.services.members_url}   (Bearer {MEMBERS_KEY})")
    if sandbox.bot.gatehouse.agents:
        print(f"  Agents   {sandbox.bot_url}/mcp   (for a token, type /gatehouse token Claude)")
    print(f"  Bot      {sandbox.bot_url}\n\n  Ctrl-C stops it; what you did stays in {FOLDER}.\n", flush=True)


@app.command("try")
def try_one(text: Annotated[str, typer.Argument(help='A command, such as "/rules list".')]) -> None:
    """Run one command in a fresh sandbox and print the reply; the exit code is 1 when the reply is an error."""
    raise typer.Exit(asyncio.run(_try_command(text)))


async def _try_command(text: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        async with running_sandbox(Path(folder)) as sandbox:
            alice = Person(sandbox.slack, ALICE.id, SUPPORT if text.startswith("/members") else OPS)
            try:
                reply = await alice.replied(text)
            except NothingHappened as error:
                print(error, file=sys.stderr)
                return 1
    print(alice.slack_text(reply) if isinstance(reply, Message) else rendering.view(reply))
    return int(_is_problem(reply))


def _is_problem(reply: Message | View) -> bool:
    """Whether *reply* is Slack's own refusal, or one that Gatehouse made up as an answer to what did not work."""
    if isinstance(reply, Message) and reply.kind == "system":
        return True
    blocks = reply.blocks if isinstance(reply, Message) else reply["blocks"]
    return is_problem(blocks)


@app.command()
def services(
    rules_port: Port = PORTS[1],
    members_port: Port = PORTS[2],
    switch: Annotated[list[str] | None, typer.Option(help="NAME=CHOICE, as in `switches`; may be repeated.")] = None,
) -> None:
    """Run both services alone."""
    try:
        chosen = Switches.of(switch or ())
    except ValueError as error:
        print(f"--switch {error}. `python -m sandbox switches` lists them.", file=sys.stderr)
        raise typer.Exit(2) from None
    asyncio.run(_run_services(chosen, (rules_port, members_port)))


async def _run_services(switches: Switches, ports: tuple[int, int]) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    async with running_services(str(FOLDER / "services.db"), switches=switches, ports=ports) as both:
        _print_moved_ports(ports, (both.rules_url, both.members_url))
        print(f"RULES_BASE_URL={both.rules_url}\nRULES_API_KEY={RULES_KEY}")
        print(f"MEMBERS_BASE_URL={both.members_url}\nMEMBERS_API_KEY={MEMBERS_KEY}")
        print(f"MEMBERS_SITES={','.join(f'{name}={site}' for name, site in SITES.items())}", flush=True)
        await _wait_for_stop()


@app.command()
def switches() -> None:
    """List the switches and faults of the stand-in services."""
    table = Table("switch", "choices, the first is the default", "what it is about")
    for name, (choices, about) in CHOICES.items():
        table.add_row(name, ", ".join(choices), about)
    faults = Table("fault", "what happens")
    for name, about in KINDS.items():
        faults.add_row(name, about)
    console = Console()
    console.print(table)
    console.print(faults)


@app.command()
def slack(
    request_url: Annotated[
        str, typer.Option(help="Where the bot takes requests.")
    ] = "http://127.0.0.1:3000/slack/events",
    port: Port = PORTS[0],
    *,
    socket: Annotated[bool, typer.Option("--socket", help="For a bot that uses Socket Mode.")] = False,
) -> None:
    """Run the local Slack alone, for a Gatehouse that runs elsewhere; print what that needs to know."""
    manifest = document(None if socket else request_url)
    asyncio.run(_run_slack(running_slack(manifest, SHOP, port=port), port, "" if socket else request_url))


async def _run_slack(chosen: AbstractAsyncContextManager[LocalSlack], port: int, request_url: str) -> None:
    """Serve until stopped; *request_url* is empty for an app that uses Socket Mode."""
    async with chosen as local:
        _print_moved_ports([port], [local.page_url])
        local.delivery.url = request_url
        print(f"page            {local.page_url}")
        print(f"SLACK_API_URL={local.api_url}\nSLACK_BOT_TOKEN={TOKEN}")
        print(f"SLACK_SIGNING_SECRET={SECRET}" if request_url else f"SLACK_APP_TOKEN={APP_TOKEN}", flush=True)
        await _wait_for_stop()


@segments.command("add")
def add_segment(site: str, name: str) -> None:
    """Make the segment NAME on SITE (its name or its id)."""
    site_id = SITES.get(site, site)
    FOLDER.mkdir(parents=True, exist_ok=True)
    database = Database(str(FOLDER / "services.db"))
    try:
        if database.empty:
            seed(database, rules_key=RULES_KEY)
        if site_id not in database.sites():
            print(f"There is no site {site}; there are {', '.join(SITES)}.", file=sys.stderr)
            raise typer.Exit(1)
        database.add_segment(site_id, name)
    finally:
        database.close()
    print(f"{site} has the segment {name} now.")


if __name__ == "__main__":
    app()
