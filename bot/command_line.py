"""The command line: ``python -m bot serve / check / manifest / audit / db``.

Each command imports what it needs itself, so that wrong settings and ``--help`` answer at once, without Bolt or a database.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Coroutine
from functools import partial
from typing import Any, Final, TypeVar

import click

from bot import __version__
from bot.environment import read_some
from bot.server import start
from bot.settings import LocalSettings


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="gatehouse %(version)s")
def app() -> None:
    r"""Gatehouse: traffic rules and members, from Slack.

    Fill in .env (see .env.example), run `check` until all is well, then `serve`. For example:

    \b
      gatehouse manifest --url https://gatehouse.example.com
      gatehouse check
      gatehouse audit export --since 24h
    """


@app.group()
def db() -> None:
    """The database."""


@app.group()
def audit() -> None:
    """What was asked, decided, done and refused."""


ADDRESS: Final = re.compile(r"https://[^\s/?#@]+(/[^\s?#]*)?")
"""The URLs to which Slack may send requests: only https."""


T = TypeVar("T")


def _with_database(work: Coroutine[Any, Any, T]) -> T:
    """Return what *work* returns; on a StoreError, print one sentence and exit with status 1."""
    from bot.store.db import StoreError  # noqa: PLC0415

    try:
        return asyncio.run(work)
    except StoreError as error:
        print(f"Gatehouse can't use its database: {error.advice()}", file=sys.stderr)
        sys.exit(1)


def _database_url() -> str:
    return _read_local().database_url


def _read_local() -> LocalSettings:
    return start.read_or_exit(partial(read_some, LocalSettings))


@app.command()
def serve() -> None:
    """Run Gatehouse until it is stopped.

    It takes Slack's requests on HOST:PORT, or by Socket Mode.
    """
    start.serve()


@app.command()
@click.option(
    "--online/--offline", default=None, help="Whether to ask Slack and both services. Without either: on a terminal."
)
@click.option("--verbose", is_flag=True, help="Also what it would run with: settings, roles and guards.")
def check(*, online: bool | None, verbose: bool) -> None:
    """Say what works, and how to mend what doesn't.

    Everything that serve needs is looked at, and nothing is changed.

    Exit status: 0 where all is well, 2 where a setting is wrong, 1 where anything else is.
    """
    from bot.server import logs  # noqa: PLC0415
    from bot.server.check import check as checked  # noqa: PLC0415

    logs.configure("ERROR", "text")
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # it is a stream of text; ✓ is not in ASCII
    report = asyncio.run(checked(online=sys.stdout.isatty() if online is None else online))
    print(*report.findings, sep="\n")
    for title, rows in report.details() if verbose else ():
        shown = click.HelpFormatter()
        with shown.section(f"\n{title}"):
            shown.write_dl(rows)
        print(shown.getvalue(), end="")
    sys.exit(report.status)


@db.command()
def upgrade() -> None:
    """Bring the database to this release's schema."""
    from bot.store.engine import upgrade as run  # noqa: PLC0415

    _with_database(run(_database_url()))


@audit.command()
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "csv"]),
    default="jsonl",
    show_default=True,
    help="One JSON object a line, or a table.",
)
@click.option("--since", default="", help="How far back, such as 24h or 30d. Empty: all of it.")
def export(*, form: str, since: str) -> None:
    """Print the audit, oldest first."""
    from bot.server.audit_export import write_entries  # noqa: PLC0415
    from bot.text.times import seconds_of  # noqa: PLC0415

    if since and not seconds_of(since):
        print(f"--since {since}: write a duration such as 24h or 30d.", file=sys.stderr)
        sys.exit(2)
    _with_database(write_entries(_database_url(), form, seconds_of(since) if since else None, sys.stdout))


@app.command()
@click.option("--url", default="", help="Public address of this deployment, such as https://gatehouse.example.com")
@click.option("--socket", is_flag=True, help="For Socket Mode: no address is needed, nor used.")
@click.option("--agents", is_flag=True, help="Let Slackbot ask and propose at /mcp.")
def manifest(*, url: str, socket: bool, agents: bool) -> None:
    """Print the manifest to create the Slack app from, as JSON.

    Its commands begin with COMMAND_PREFIX.
    """
    from bot.server.manifest import document  # noqa: PLC0415

    if (socket and agents) or not (socket or ADDRESS.fullmatch(url)):
        print("Say where Slack reaches Gatehouse: --url https://…, or --socket, without agents.", file=sys.stderr)
        sys.exit(2)
    prefix = _read_local().command_prefix
    print(json.dumps(document(None if socket else url, prefix, agents=agents), indent=2, ensure_ascii=False))
