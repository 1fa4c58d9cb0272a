"""Slack's own first steps, in Python and JavaScript, run unchanged: each as a process that knows but an address."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from sandbox.demo import Transport
from sandbox.slack.running import APP_TOKEN, SECRET, TOKEN, LocalSlack, running_slack
from sandbox.slack.story import Person
from tests.harness.documented import section, words
from tests.harness.programs import free_ports
from tests.sandbox.slack.conftest import PAGE, ROOT, served

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parent / "examples"
GWEN, LAB = "U0GWEN001", "C0LABOPS1"
READY = "Bolt app is running!"
STARTS_IN = 60.0
INSTALL, START = section("docs/local-slack.md", "Run a Bolt app for JavaScript").commands
BOLT = words(INSTALL)[-1]


def manifest(transport: Transport) -> dict[str, Any]:
    made: dict[str, Any] = yaml.safe_load((EXAMPLES / "manifest.yml").read_text())
    return {**made, "settings": {**made["settings"], "socket_mode_enabled": transport == "socket"}}


@pytest.fixture(scope="session")
def bolt_js(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where Node finds Bolt for JavaScript."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("there is no Node here")
    folder = tmp_path_factory.mktemp("npm")
    quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    installed = subprocess.run(  # noqa: S603  the one package, into a folder of its own
        [npm, *words(INSTALL)[1:], *quiet, "--prefix", str(folder)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    if installed.returncode and _is_away(npm):
        pytest.skip("no npm registry can be reached from here")
    assert installed.returncode == 0, installed.stderr
    return folder / "node_modules"


def _is_away(npm: str) -> bool:
    asked = [npm, "view", BOLT, "version"]
    return subprocess.run(asked, capture_output=True, timeout=60, check=False).returncode != 0  # noqa: S603


@asynccontextmanager
async def example(slack: LocalSlack, transport: Transport, *command: str, **more: str) -> AsyncIterator[None]:
    """The example as a process, once it says that it runs."""
    [port] = free_ports(1)
    given = {"SLACK_BOT_TOKEN": TOKEN, "SLACK_API_URL": slack.api_url, "PORT": str(port)}
    proof = {"SLACK_APP_TOKEN": APP_TOKEN} if transport == "socket" else {"SLACK_SIGNING_SECRET": SECRET}
    async with program(*command, **given, **proof, **more):
        if transport == "http":
            slack.delivery.url = f"http://127.0.0.1:{port}/slack/events"
        yield


@asynccontextmanager
async def program(*command: str, **variables: str) -> AsyncIterator[None]:
    """A Bolt app as a process, once it says that it runs."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT") if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, env={**kept, "PYTHONUNBUFFERED": "1", **variables}, stdout=PIPE, stderr=STDOUT
    )
    try:
        await _says(process, READY)
        yield
    finally:
        process.kill()
        await process.communicate()


async def _says(process: Process, words: str) -> None:
    assert process.stdout is not None
    said = ""
    async with asyncio.timeout(STARTS_IN):
        while words not in said:
            line = (await process.stdout.readline()).decode()
            assert line, f"it ended before it ran:\n{said}"
            said += line


async def story(slack: LocalSlack) -> None:
    """Gwen says hello, presses the button, and files a ticket at the second try."""
    gwen = Person(slack, GWEN, LAB)
    hello = await gwen.says("hello")
    assert hello.text == "Hey there <@U0GWEN001>!"
    await gwen.clicks(hello, "Click me")
    await gwen.sees("clicked the button")

    await gwen.opens("/ticket")
    await gwen.sees("One moment")
    gwen.fills(**{"What is wrong?": "No"})
    assert await gwen.submits() == {"What is wrong?": "Say a little more"}
    gwen.fills(**{"What is wrong?": "The shop is slow"})
    assert await gwen.submits() == {}
    filed = await gwen.sees_dm("Filed: The shop is slow")

    assert filed.channel == gwen.dm
    assert gwen.modal is None
    refused = [one for one in slack.state.traffic if one["status"] not in {"ok", 200}]
    assert refused == []


@pytest.mark.parametrize("transport", ["http", "socket"])
async def test_bolt_for_python(transport: Transport) -> None:
    python = sys.executable, str(EXAMPLES / "hello.py")
    async with running_slack(manifest(transport)) as slack, example(slack, transport, *python):
        await story(slack)


@pytest.mark.xdist_group("node")
@pytest.mark.parametrize("transport", ["http", "socket"])
async def test_bolt_for_javascript(transport: Transport, bolt_js: Path) -> None:
    node = shutil.which("node") or "", *words(START)[1:]
    async with (
        running_slack(manifest(transport)) as slack,
        example(slack, transport, *node, NODE_PATH=str(bolt_js)),
    ):
        await story(slack)


async def test_the_first_steps_of_the_docs_lead_to_an_answer() -> None:
    slack, *exports, app = section("docs/local-slack.md", "Run a Bolt app for Python").commands
    variables = dict(line.removeprefix("export ").split("=", 1) for line in exports)
    gwen = {"user": GWEN, "channel": LAB}
    async with (
        served(*words(slack)[4:]) as printed,
        httpx.AsyncClient(base_url=printed["page"], headers=PAGE, trust_env=False) as http,
        program(*words(app), **{name: printed[name] for name in variables}),
        http.stream("GET", "/_local/live", params=gwen, timeout=STARTS_IN) as live,
    ):
        assert {
            name: printed[name].replace(printed["page"], "http://127.0.0.1:8800") for name in variables
        } == variables
        lines = live.aiter_lines()
        await anext(lines)
        await http.post("/_local/say", json={**gwen, "text": "hello"})
        async for line in lines:
            if f"Hey there <@{GWEN}>!" in line:
                return
    pytest.fail("nothing was answered")
