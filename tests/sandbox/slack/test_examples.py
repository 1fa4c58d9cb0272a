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

import pytest

from sandbox.demo import Transport
from sandbox.serving import listening
from sandbox.slack.running import APP_TOKEN, SECRET, TOKEN, LocalSlack, running_slack
from sandbox.slack.story import Person

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parent / "examples"
OPS = "C0OPS0001"
READY = "Bolt app is running!"
STARTS_IN = 60.0
BOLT = "@slack/bolt@4"


def manifest(transport: Transport) -> dict[str, Any]:
    return {
        "display_information": {"name": "Tickets"},
        "features": {"slash_commands": [{"command": "/ticket", "description": "File a ticket"}]},
        "oauth_config": {"scopes": {"bot": ["chat:write", "commands", "channels:history", "im:write"]}},
        "settings": {
            "event_subscriptions": {"request_url": "https://app.example.com/", "bot_events": ["message.channels"]},
            "socket_mode_enabled": transport == "socket",
        },
    }


@pytest.fixture(scope="session")
def bolt_js(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where Node finds Bolt for JavaScript."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        pytest.skip("there is no Node here")
    folder = tmp_path_factory.mktemp("npm")
    quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    installed = subprocess.run(  # noqa: S603  the one package, into a folder of its own
        [npm, "install", *quiet, "--prefix", str(folder), BOLT],
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
    with listening(0) as free:
        port = free.getsockname()[1]
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "SYSTEMROOT") if name in os.environ}
    given = {"SLACK_BOT_TOKEN": TOKEN, "SLACK_API_URL": slack.api_url, "PORT": str(port), "PYTHONUNBUFFERED": "1"}
    proof = {"SLACK_APP_TOKEN": APP_TOKEN} if transport == "socket" else {"SLACK_SIGNING_SECRET": SECRET}
    process = await asyncio.create_subprocess_exec(
        *command, env={**kept, **given, **proof, **more}, stdout=PIPE, stderr=STDOUT
    )
    try:
        await _says(process, READY)
        if transport == "http":
            slack.delivery.url = f"http://127.0.0.1:{port}/slack/events"
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
    """Alice says hello, presses the button, and files a ticket at the second try."""
    alice = Person(slack, "U0ALICE01", OPS)
    hello = await alice.says("hello")
    assert hello.text == "Hey there <@U0ALICE01>!"
    await alice.clicks(hello, "Click me")
    await alice.sees("clicked the button")

    await alice.opens("/ticket")
    await alice.sees("One moment")
    alice.fills(**{"What is wrong?": "No"})
    assert await alice.submits() == {"What is wrong?": "Say a little more"}
    alice.fills(**{"What is wrong?": "The shop is slow"})
    assert await alice.submits() == {}
    filed = await alice.sees("Filed: The shop is slow")

    assert filed.channel == alice.dm
    assert alice.modal is None
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
    node = shutil.which("node") or "", str(EXAMPLES / "hello.js")
    async with running_slack(manifest(transport)) as slack, example(slack, transport, *node, NODE_PATH=str(bolt_js)):
        await story(slack)
