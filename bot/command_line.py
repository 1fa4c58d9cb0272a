"""The command line: ``python -m bot serve / check / manifest / audit / db``.

Each command imports what it needs itself, so that wrong settings and ``--help`` answer at once, without Bolt or a database.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Coroutine
from enum import StrEnum
from typing import Annotated, Any, TypeVar

import typer

from bot import __version__
from bot.environment import read_setting
from bot.server import start

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")
db = typer.Typer(no_args_is_help=True, help="The database.")
app.add_typer(db, name="db")
audit = typer.Typer(no_args_is_help=True, help="What was asked, decided, done and refused.")
app.add_typer(audit, name="audit")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"gatehouse {__version__}")
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Gatehouse: traffic rules and members, from Slack.

    Fill in .env (see .env.example), run `check` until all is well, then `serve`. For example:

    - `gatehouse manifest --url https://gatehouse.example.com`
    - `gatehouse check`
    - `gatehouse audit verify --head 92:2f01…`
    """


ADDRESS = re.compile(r"https://[^\s/?#@]+(/[^\s?#]*)?")
"""The URLs to which Slack may send requests: only https."""


T = TypeVar("T")


def _with_database(work: Coroutine[Any, Any, T]) -> T:
    """Return what *work* returns; on a StoreError, print one sentence and exit with status 1."""
    from bot.store.db import StoreError  # noqa: PLC0415

    try:
        return asyncio.run(work)
    except StoreError as error:
        print(f"Gatehouse can't use its database: {error.advice()}", file=sys.stderr)
        raise typer.Exit(1) from None


def _database_url() -> str:
    return str(start.read_or_exit(read_setting, "database_url"))


@app.command()
def serve() -> None:
    """Run Gatehouse: take Slack's requests on HOST:PORT, or by Socket Mode."""
    start.serve()


@app.command()
def check(
    *,
    online: Annotated[
        bool | None,
        typer.Option(
            "--online/--offline",
            help="Whether to ask Slack and both services. Without either: on a terminal.",
            show_default=False,
        ),
    ] = None,
    verbose: Annotated[bool, typer.Option(help="Also what it would run with: settings and policy, as tables.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for programs.")] = False,
) -> None:
    """Say of everything that serve needs whether it works, and how to mend it; nothing is changed.

    Exit status: 0 where all is well, 2 where a setting is wrong, 1 where anything else is.
    """
    from rich.console import Console  # noqa: PLC0415

    from bot.server import logs  # noqa: PLC0415
    from bot.server.check import check as checked  # noqa: PLC0415

    logs.configure("ERROR", "text")
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # it is a stream of text; ✓ is not in ASCII
    report = asyncio.run(checked(online=sys.stdout.isatty() if online is None else online))
    if as_json:
        print(json.dumps(report.document(), indent=2))
    else:
        print(*report.findings, sep="\n")
        for table in report.tables() if verbose else ():
            Console().print("\n", table)
    raise typer.Exit(report.status)


@db.command("upgrade")
def upgrade() -> None:
    """Bring the database to this release's schema."""
    from bot.store.engine import upgrade as run  # noqa: PLC0415

    _with_database(run(_database_url()))


@db.command("go-back")
def go_back() -> None:
    """Let this release work with the database again after a newer one, which stands still from then on."""
    from bot.store.engine import go_back as run  # noqa: PLC0415

    _with_database(run(_database_url()))


class Format(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"


@audit.command("export")
def export(
    *,
    form: Annotated[Format, typer.Option("--format", help="One JSON object a line, or a table.")] = Format.JSONL,
    since: Annotated[str, typer.Option(help="How far back, such as 24h or 30d. Empty: all of it.")] = "",
) -> None:
    """Print the audit, oldest first."""
    from bot.server.audit_export import write_entries  # noqa: PLC0415
    from bot.text.times import seconds_of  # noqa: PLC0415

    if since and not seconds_of(since):
        print(f"--since {since}: write a duration such as 24h or 30d.", file=sys.stderr)
        raise typer.Exit(2)
    _with_database(
        write_entries(
            _database_url(),
            form.value,
            seconds_of(since) if since else None,
            sys.stdout,
        )
    )


@audit.command("verify")
def verify(
    *,
    head: Annotated[str, typer.Option(help="Number:hash of an entry, as an earlier verify printed it.")] = "",
) -> None:
    """Walk the chain of hashes; names the first entry that was altered, dropped, added or moved."""
    from bot.server.audit_export import HEAD, verify_chain  # noqa: PLC0415

    if head and not HEAD.fullmatch(head):
        print(
            f"--head {head}: write NUMBER:HASH as verify printed it, such as 92:2f01… with all 64 digits.",
            file=sys.stderr,
        )
        raise typer.Exit(2)
    words, sound = _with_database(verify_chain(_database_url(), head))
    print(words)
    raise typer.Exit(0 if sound else 1)


@app.command()
def manifest(
    url: Annotated[
        str, typer.Option(help="Public address of this deployment, such as https://gatehouse.example.com")
    ] = "",
    *,
    socket: Annotated[bool, typer.Option(help="For Socket Mode: no address is needed, nor used.")] = False,
) -> None:
    """Print the app manifest to create the Slack app from; its commands begin with COMMAND_PREFIX."""
    from bot.server.manifest import manifest as made  # noqa: PLC0415

    if not socket and not ADDRESS.fullmatch(url):
        print("Say where Slack reaches Gatehouse: --url https://…, or --socket.", file=sys.stderr)
        raise typer.Exit(2)
    prefix = start.read_or_exit(read_setting, "command_prefix")
    sys.stdout.write(made(None if socket else url, prefix))
