"""The command line: ``python -m bot serve / check / manifest / audit / db / workspace``.

What a command works with is imported in it: wrong settings and ``--help`` answer at once, without Bolt and a database.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Callable, Coroutine
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from bot import __version__
from bot.environment import BadSettings
from bot.server import start
from bot.settings import OF_A_WORKSPACE, DatabaseSettings, DirectorySettings, ManifestSettings

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode="markdown")
db = typer.Typer(no_args_is_help=True, help="The database.")
app.add_typer(db, name="db")
audit = typer.Typer(no_args_is_help=True, help="What was asked, decided, done and refused.")
app.add_typer(audit, name="audit")
workspace = typer.Typer(no_args_is_help=True, help="The workspaces of a Gatehouse that serves several.")
app.add_typer(workspace, name="workspace")


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
"""Where Slack may send requests: https alone."""


T = TypeVar("T")


def _with_database(work: Coroutine[Any, Any, T]) -> T:
    """What *work* returns, or an end with one sentence where the database refuses."""
    from bot.store.db import StoreError  # noqa: PLC0415

    try:
        return asyncio.run(work)
    except StoreError as error:
        print(f"Gatehouse can't use its database: {error.advice()}", file=sys.stderr)
        raise typer.Exit(1) from None


Team = Annotated[str, typer.Argument(metavar="TEAM", help="Slack's id of the workspace, such as T0123ABCD.")]
OfWorkspace = Annotated[
    str, typer.Option("--workspace", metavar="TEAM", help="Of this one of several workspaces; its id in Slack.")
]


def _database_url(team: str) -> str:
    """The URL of the database, or of the part of it that is the workspace's; exits where *team* is no id."""
    from bot.store.db import StoreError, workspace_url  # noqa: PLC0415

    url = start.settings_of(DatabaseSettings).database_url
    try:
        return workspace_url(url, team) if team else url
    except StoreError as error:
        print(f"--workspace: {error.advice()}", file=sys.stderr)
        raise typer.Exit(2) from None


def _with_directory(work: Callable[[DirectorySettings], Coroutine[Any, Any, T]]) -> T:
    """What *work* with the directory returns, or an end that says everything that is wrong."""
    from bot.policy.file import BadPolicy  # noqa: PLC0415
    from bot.server import logs  # noqa: PLC0415
    from bot.server.workspace_commands import NoSuchWorkspace  # noqa: PLC0415

    logs.configure("ERROR", "text")
    try:
        return _with_database(work(start.settings_of(DirectorySettings)))
    except BadSettings as error:
        print("The workspace can't work with these settings:", *error.problems, sep="\n  ", file=sys.stderr)
    except BadPolicy as error:
        print("The policy is wrong:", *error.wrong, sep="\n  ", file=sys.stderr)
    except NoSuchWorkspace as error:
        print(f"Nothing is known of {error}. `gatehouse workspace list` shows those that are.", file=sys.stderr)
    raise typer.Exit(2)


@workspace.command("set")
def set_workspace(
    team: Team,
    *,
    env: Annotated[
        Path | None, typer.Option(help="File with RULES_… and MEMBERS_… variables. Left out: they stay as they are.")
    ] = None,
    policy: Annotated[Path | None, typer.Option(help="TOML file with its policy. Left out: it stays as it is.")] = None,
    no_policy: Annotated[bool, typer.Option("--no-policy", help="Remove its policy: the defaults hold.")] = False,
) -> None:
    """Check what a workspace is to work with, and keep it, encrypted. A Gatehouse that runs takes it over."""
    from bot.server.workspace_commands import set_up  # noqa: PLC0415

    if env is None and policy is None and not no_policy:
        print("Say what to set: --env FILE, --policy FILE or --no-policy.", file=sys.stderr)
        raise typer.Exit(2)
    print(_with_directory(lambda settings: set_up(settings, team, env, policy, without_policy=no_policy)))


@workspace.command("list")
def list_workspaces() -> None:
    """Print the workspaces: id, name, whether each is installed and set up, and since when."""
    from bot.server.workspace_commands import listed  # noqa: PLC0415

    for row in _with_directory(listed):
        print(*filter(None, row), sep="  ")


@workspace.command("show")
def show_workspace(team: Team) -> None:
    """Print what a workspace works with, secrets cut."""
    from rich.console import Console  # noqa: PLC0415

    from bot.server.check import policy_tables, settings_table  # noqa: PLC0415
    from bot.server.workspace_commands import configured  # noqa: PLC0415

    settings, policy = _with_directory(lambda known: configured(known, team))
    for table in (settings_table(settings, OF_A_WORKSPACE), *policy_tables(policy())):
        Console().print(table)


@workspace.command("remove")
def remove_workspace(team: Team) -> None:
    """Forget the tokens and settings of a workspace; its record stays."""
    from bot.server.workspace_commands import removed  # noqa: PLC0415

    print(_with_directory(lambda settings: removed(settings, team)))


@workspace.command("rotate")
def rotate_keys() -> None:
    """Encrypt everything with the first of ENCRYPTION_KEYS; then the others can be removed."""
    from bot.server.workspace_commands import encrypted_again  # noqa: PLC0415

    print(_with_directory(encrypted_again))


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
        for table in report.tables():
            Console().print(table)
        print(*report.findings, sep="\n")
    raise typer.Exit(report.status)


@db.command("upgrade")
def upgrade(*, team: OfWorkspace = "") -> None:
    """Bring the database to this release's schema."""
    from bot.store.engine import upgrade as run  # noqa: PLC0415

    _with_database(run(_database_url(team)))


class Format(StrEnum):
    JSONL = "jsonl"
    CSV = "csv"


@audit.command("export")
def export(
    *,
    form: Annotated[Format, typer.Option("--format", help="One JSON object a line, or a table.")] = Format.JSONL,
    since: Annotated[str, typer.Option(help="How far back, such as 24h or 30d. Empty: all of it.")] = "",
    team: OfWorkspace = "",
) -> None:
    """Print the audit, oldest first."""
    from bot.server.audit_export import exported  # noqa: PLC0415
    from bot.text.times import seconds_of  # noqa: PLC0415

    if since and not seconds_of(since):
        print(f"--since {since}: write a duration such as 24h or 30d.", file=sys.stderr)
        raise typer.Exit(2)
    _with_database(
        exported(
            _database_url(team),
            form.value,
            seconds_of(since) if since else None,
            sys.stdout,
        )
    )


@audit.command("verify")
def verify(
    *,
    head: Annotated[str, typer.Option(help="Number:hash of an entry, as an earlier verify printed it.")] = "",
    team: OfWorkspace = "",
) -> None:
    """Walk the chain of hashes; names the first entry that was altered, dropped, added or moved."""
    from bot.server.audit_export import HEAD, verified  # noqa: PLC0415

    if head and not HEAD.fullmatch(head):
        print(
            f"--head {head}: write NUMBER:HASH as verify printed it, such as 92:2f01… with all 64 digits.",
            file=sys.stderr,
        )
        raise typer.Exit(2)
    words, sound = _with_database(verified(_database_url(team), head))
    print(words)
    raise typer.Exit(0 if sound else 1)


@app.command()
def manifest(
    url: Annotated[
        str, typer.Option(help="Public address of this deployment, such as https://gatehouse.example.com")
    ] = "",
    *,
    socket: Annotated[bool, typer.Option(help="For Socket Mode: no address is needed, nor used.")] = False,
    workspaces: Annotated[
        bool, typer.Option("--workspaces", help="For several workspaces: also with --socket, the address is needed.")
    ] = False,
) -> None:
    """Print the app manifest to create the Slack app from; its commands begin with COMMAND_PREFIX."""
    from bot.server.manifest import manifest as made  # noqa: PLC0415

    if (workspaces or not socket) and not ADDRESS.fullmatch(url):
        print("Say where Slack reaches Gatehouse: --url https://…, or --socket.", file=sys.stderr)
        raise typer.Exit(2)
    prefix = start.settings_of(ManifestSettings).command_prefix
    sys.stdout.write(made(None if socket else url, prefix, install_url=url if workspaces else None))
