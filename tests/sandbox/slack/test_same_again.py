"""Two runs in which the same happens, with the same ids and times; and the local Slack on the command line."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from bot.server.manifest import document
from sandbox.gatehouse import FILE, WORKSPACES
from sandbox.slack.configuration import DEFAULT
from sandbox.slack.ids import StandingClock
from sandbox.slack.running import APP_TOKEN, TOKEN, running_slack
from tests.harness.programs import run_module
from tests.sandbox.slack.conftest import PAGE, App, client, served
from tests.sandbox.slack.desk import MANIFEST
from tests.sandbox.slack.link import linked, opened

pytestmark = pytest.mark.slow

START = 1_800_000_000.0


async def told(seed: int) -> list[Any]:
    """What an app gets to see in a run with *seed*: times, triggers, envelopes, addresses."""
    manifest = document(None)
    async with (
        running_slack(manifest, WORKSPACES, seed=seed, clock=StandingClock(START)) as slack,
        client(slack) as http,
    ):
        app = App(slack, http)
        posted = [await app.post(), await app.post()]
        async with linked(slack) as link:
            await link.hears()
            typing = asyncio.create_task(slack.acting.say("U0ALICE01", "C0OPS0001", "/rules list"))
            envelope = await link.hears()
            await link.answers(envelope)
            await typing
        command = envelope["payload"]
        url = (await opened(slack))["url"].partition("?")[2]
        answered = command["response_url"].removeprefix(slack.page_url)
        return [posted, envelope["envelope_id"], command["trigger_id"], answered, url]


async def test_two_runs_with_one_seed_are_the_same_and_with_another_are_not() -> None:
    first, again, other = await told(7), await told(7), await told(8)

    assert first == again
    assert first[0] == ["1800000000.000000", "1800000000.000001"]
    assert first[1] != other[1]


async def test_a_clock_that_stands_is_set_forward_by_hand() -> None:
    async with (
        running_slack(MANIFEST, WORKSPACES, clock=StandingClock(START)) as slack,
        client(slack) as http,
    ):
        url = f"{slack.page_url}/_local/clock"
        answer = await http.post(url, json={"seconds": 90}, headers=PAGE)
        assert answer.json() == {"ok": True, "now": START + 90}
        assert await App(slack, http).post() == "1800000090.000000"

        back = await http.post(url, json={"seconds": -1}, headers=PAGE)
        assert back.status_code == 400
    async with running_slack(MANIFEST, WORKSPACES) as slack, httpx.AsyncClient(trust_env=False) as http:
        answer = await http.post(f"{slack.page_url}/_local/clock", json={"seconds": 90}, headers=PAGE)
        assert answer.json() == {"ok": False, "error": "clock_runs_by_itself"}


async def test_an_app_of_somebody_else_is_served_by_websocket(tmp_path: Path) -> None:
    file = tmp_path / "manifest.yml"
    file.write_text(yaml.safe_dump({"display_information": {"name": "Desk"}}))

    async with served("--socket", "--manifest", str(file), "--seed", "7", "--clock", "2027-01-15T08:00:00") as told:
        assert (told["SLACK_BOT_TOKEN"], told["SLACK_APP_TOKEN"]) == (TOKEN, APP_TOKEN)
        async with httpx.AsyncClient(base_url=told["SLACK_API_URL"], trust_env=False) as http:
            answer = await http.post("apps.connections.open", headers={"Authorization": f"Bearer {APP_TOKEN}"})
            assert answer.json()["url"].startswith("ws://127.0.0.1:")
            moved = await http.post(f"{told['page']}/_local/clock", json={"seconds": 0}, headers=PAGE)
    assert moved.json()["now"] == START


async def test_a_second_workspace_is_there_where_the_file_has_one(tmp_path: Path) -> None:
    people = tmp_path / "people.toml"
    people.write_text("\n".join(one.read_text().replace('icon = "gatehouse.svg"', "") for one in (FILE, DEFAULT)))
    async with served("--people", str(people)) as told, httpx.AsyncClient(trust_env=False) as http:
        assert told["install page"] == f"{told['page']}/oauth/v2/authorize"
        gwen = await http.get(f"{told['page']}/_local/state", params={"user": "U0GWEN001"})

    assert gwen.json()["team"]["name"] == "Example Labs"


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("display_information: {name: ''}", 1, "/display_information/name"),
        ("- a list", 2, "no manifest in it"),
        ("{", 2, "--manifest"),
    ],
)
async def test_a_wrong_manifest_is_refused_with_a_word(tmp_path: Path, text: str, code: int, words: str) -> None:
    file = tmp_path / "manifest.yml"
    file.write_text(text)
    exit_code, _, errors = await run_module("sandbox", "slack", "--port", "0", "--manifest", str(file))

    assert exit_code == code
    assert words in errors
