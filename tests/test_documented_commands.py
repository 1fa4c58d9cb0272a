"""Every command in the docs works: it is typed here as it stands there, or what can't run here is held against the tree."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import click.testing
import pytest
import typer.testing
import yaml

from bot import __version__, command_line
from bot.server.manifest import document
from sandbox import __main__ as sandbox
from sandbox.gatehouse import SHOP
from sandbox.services.running import running_services
from sandbox.slack.running import running_slack
from tests.harness.databases import BOTH, postgres_programs
from tests.harness.documented import Section, clone, pages, run_in_shell, section, sections, words, write_settings
from tests.harness.programs import ROOT, environment, run_module

PLAYED: Final = {
    ("docs/operating.md", "Install it"): "tests/stories/test_installation.py",
}
"""Sections that are a story of their own, and the file that plays it."""
HERE: Final = {".venv/bin/python", "echo", "pg_dump", "pg_restore", "sqlite3", "umask"}
"""The first words of commands that are typed here."""


def _objects() -> set[tuple[str, str]]:
    found = yaml.safe_load_all((ROOT / "docs" / "deploy" / "kubernetes.yaml").read_text())
    return {(each["kind"], each["metadata"]["name"]) for each in found}


def _takes(module: str, *arguments: str) -> None:
    """See that the command line of *module* takes *arguments*; options that it doesn't know come before its help."""
    typed = [*arguments, "--help"]
    answer = (
        click.testing.CliRunner().invoke(command_line.app, typed)
        if module == "bot"
        else typer.testing.CliRunner().invoke(sandbox.app, typed)
    )
    assert answer.exit_code == 0, f"{module} {arguments}\n{answer.output}"


def _targets() -> set[str]:
    return set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


async def _make(command: list[str], folder: Path) -> None:
    for word in command[1:]:
        if word.startswith("TEST="):
            await _pytest(f"{word.removeprefix('TEST=')} --ignore-glob=*")
        else:
            assert word in _targets()


async def _docker(command: list[str], folder: Path) -> None:
    match command[1:]:
        case ["build", "--tag", tag, "."]:
            assert tag == f"gatehouse:{__version__}"
            assert (ROOT / "Dockerfile").exists()
        case ["run", *options]:
            at = options.index(f"gatehouse:{__version__}")
            _takes("bot", *options[at + 1 :])
        case ["compose", "exec", service, "python", "-m", *arguments]:
            assert service in yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
            _takes(*arguments)
        case ["compose", "exec", "database", "createdb", "--username", "postgres", "--owner", owner, name]:
            assert f"//{owner}:${{POSTGRES_PASSWORD}}@database/{name}\n" in (ROOT / "compose.yaml").read_text()
        case other:
            assert other in (
                ["compose", "up", "--build", "--detach", "--wait"],
                ["compose", "up", "--detach", "--wait", "database"],
            )


async def _kubectl(command: list[str], folder: Path) -> None:
    match command[1:]:
        case ["create", "secret", "generic", name, _]:
            assert re.search(rf"secretRef:\s*{{?\s*name: {name}\b", (ROOT / "docs/deploy/kubernetes.yaml").read_text())
        case ["exec", where, "--", "python", "-m", *arguments]:
            assert ("Deployment", where.removeprefix("deploy/")) in _objects()
            _takes(*arguments)
        case other:
            assert other[:2] == ["apply", "--filename"]
            assert (ROOT / other[2]).exists()


async def _systemd(command: list[str], folder: Path) -> None:
    unit = Path(command[-1])
    if unit.is_absolute():
        assert (ROOT / unit.relative_to("/opt/gatehouse")).exists()
    else:
        assert (ROOT / "docs" / "deploy" / f"{unit}.service").exists()


async def _pytest(options: str) -> None:
    """Collect only: the options of ``TEST`` are there, and the tests that they name."""
    code, out, err = await run_module("pytest", *shlex.split(options), "--collect-only", "-q", "-p", "no:cacheprovider")
    assert code in {0, 5}, out + err  # 5: nothing was collected


SQLITE: Final = "import sqlite3, sys; sqlite3.connect(sys.argv[1], isolation_level=None).execute(sys.argv[2])\n"
"""What the program sqlite3 does with a file and a statement, for machines without it."""


async def _pip(command: list[str], folder: Path) -> None:
    assert command[1:3] == ["install", "--require-hashes"]
    assert command[3::2] == ["-r"] * len(command[4::2])
    assert all((ROOT / lock).exists() for lock in command[4::2])


async def _venv(command: list[str], folder: Path) -> None:
    assert command[1:] == ["-m", "venv", ".venv"]


async def _sandbox(command: list[str], folder: Path) -> None:
    _takes("sandbox", *command[3:])


Check = Callable[[list[str], Path], Awaitable[None]]
ELSEWHERE: Final[dict[str, tuple[str, Check]]] = {
    ".venv/bin/pip": ("it installs into the environment of the tests, where that is", _pip),
    "docker": ("a test may not expect a Docker that builds and runs", _docker),
    "journalctl": ("it reads the log of a unit that runs", _systemd),
    "kubectl": ("there is no cluster", _kubectl),
    "make": ("it sets up an environment in this tree; CI runs the targets, here they only have to be there", _make),
    "systemctl": ("it changes the machine; tests/test_deployment.py has systemd read the unit", _systemd),
    "python3": ("the environment of the tests is there already", _venv),
    ".venv/bin/python -m sandbox": ("it runs until it is stopped; tests/sandbox/test_demo.py starts it", _sandbox),
}
"""The commands that can't be typed here, by how they begin: why, and how far they are checked."""


def _elsewhere(command: str) -> Check | None:
    text = " ".join(words(command))
    return next((check for begin, (_, check) in ELSEWHERE.items() if f"{text} ".startswith(f"{begin} ")), None)


def _databases(part: Section) -> list[Any]:
    """The databases that the commands of a section are about; one of them where it makes no difference."""
    here = [command for command in part.commands if _elsewhere(command) is None]
    if any(words(command)[0] == "pg_dump" for command in here):
        return BOTH[1:]
    return BOTH if any("python -m bot" in command for command in here) else BOTH[:1]


def _cases() -> list[Any]:
    return [
        pytest.param(
            part, getattr(database, "values", (database,))[0], marks=getattr(database, "marks", ()), id=f"{part}"
        )
        for part in sections()
        if (part.page, part.heading) not in PLAYED
        for database in _databases(part)
    ]


def test_no_command_is_unknown_to_the_tests() -> None:
    found = sections()

    assert len(found) > 12
    for page, heading in PLAYED:
        assert f'"{heading}"' in (ROOT / PLAYED[page, heading]).read_text(), "the test takes the commands from the page"
        assert section(page, heading).commands
    others = [part for part in found if (part.page, part.heading) not in PLAYED]
    typed_here = {words(command)[0] for part in others for command in part.commands if _elsewhere(command) is None}
    assert typed_here == HERE
    begun = {begin for begin in ELSEWHERE for part in others for command in part.commands if command.startswith(begin)}
    assert begun == set(ELSEWHERE), "nothing stands in the table that no page has"


@asynccontextmanager
async def deployed(folder: Path, database_url: str) -> AsyncIterator[dict[str, str]]:
    """A clone in *folder* whose .env is filled in, with Slack and services that answer; variables for its commands."""
    async with running_services() as services, running_slack(document("http://127.0.0.1"), SHOP) as slack:
        settings = environment(slack, services, database_url, 3000)
        path = settings.pop("PATH")
        if database_url.startswith("sqlite"):
            settings["DATABASE_URL"] = "sqlite:///gatehouse.db"
        clone(folder)
        (folder / ".venv").symlink_to(sys.prefix)
        shutil.copy(ROOT / ".env.example", folder / ".env")
        write_settings(folder, settings)
        code, said = await run_in_shell(".venv/bin/python -m bot db upgrade", folder)
        assert code == 0, said
        if shutil.which("sqlite3") is None:
            (folder / "sqlite3").write_text(f"#!{sys.executable}\n{SQLITE}")
            (folder / "sqlite3").chmod(0o755)
        yield {"PATH": f"{postgres_programs()}:{path}:{folder}", "DATABASE_URL": settings["DATABASE_URL"]}


@pytest.mark.slow
@pytest.mark.parametrize(("part", "empty_database"), _cases(), indirect=["empty_database"])
async def test_the_commands_of_a_section_work(part: Section, empty_database: str, tmp_path: Path) -> None:
    folder = tmp_path / "gatehouse"
    async with deployed(folder, empty_database) as variables:
        for command in part.commands:
            if check := _elsewhere(command):
                await check(words(command), folder)
                continue
            code, said = await run_in_shell(command, folder, **variables)
            assert code == 0, f"{command}\n{said}"


INLINE: Final = re.compile(r"`(?:\S+/)?(?:python -m (?P<module>bot|sandbox)|make)(?P<rest>( [^`\n]*)?)`")


def test_commands_within_a_sentence_exist() -> None:
    """A sentence may leave out what its reader has to fill in; its verb and its options have to be there."""
    asked: set[tuple[str, ...]] = set()
    for page, text in pages().items():
        for found in INLINE.finditer(text):
            rest = found["rest"].split()
            if found["module"]:
                asked.add((found["module"], *rest))
            else:
                assert rest, page
                assert {word for word in rest if "=" not in word} <= _targets(), f"{page}: {found[0]}"
    assert len(asked) > 8
    for command in asked:
        _takes(*command)
