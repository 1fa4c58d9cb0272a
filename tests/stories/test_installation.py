"""From a clone to the first answer in somebody's own workspace, by the commands of the README and in their order."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlsplit

import httpx
import pydantic
import pytest

from sandbox.gatehouse import SHOP
from sandbox.services.running import running_services
from sandbox.slack.configuration import load_workspaces
from sandbox.slack.oauth import CLIENT_ID, CLIENT_SECRET
from sandbox.slack.running import LocalSlack, running_slack
from sandbox.slack.story import Person
from tests.harness.documented import clone, run_in_shell, section, words, write_settings
from tests.harness.programs import environment, free_ports, running_server

pytestmark = pytest.mark.slow

PACKAGES: Final = Path(pydantic.__file__).parent.parent
"""Where the packages of this test run are."""
(LABS,) = load_workspaces()
GWEN, LAB = "U0GWEN001", "C0LABOPS1"
BACK: Final = "https://gatehouse.example.com/installed"
"""Where the local Slack sends a person who installed an app: it has no page of an app's settings with a button for it."""


async def installed(slack: LocalSlack, scopes: list[str]) -> str:
    """The bot token of the app, once Gwen has installed it in her workspace."""
    asked = {"client_id": CLIENT_ID, "scope": ",".join(scopes), "redirect_uri": BACK}
    async with httpx.AsyncClient(base_url=slack.page_url, trust_env=False) as http:
        form = {**asked, "answer": "allow", "team": LABS.id}
        sent_back = (await http.post("/oauth/v2/authorize", data=form)).headers["location"]
        code = dict(parse_qsl(urlsplit(sent_back).query))["code"]
        proof = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "code": code}
        return str((await http.post("/api/oauth.v2.access", data=proof)).json()["access_token"])


@asynccontextmanager
async def created(manifest: str) -> AsyncIterator[tuple[LocalSlack, str]]:
    """A Slack of two workspaces with an app made *from a manifest*, and its bot token in the second of them."""
    app = json.loads(manifest)
    app["oauth_config"]["redirect_urls"] = [BACK]
    async with running_slack(app, (SHOP, LABS)) as slack:
        yield slack, await installed(slack, app["oauth_config"]["scopes"]["bot"])


async def worked(command: str, folder: Path, **environment: str) -> str:
    """What a command says that exits with 0."""
    code, said = await run_in_shell(command, folder, **environment)
    assert code == 0, f"{command}\n{said}"
    return said


async def test_the_commands_of_the_readme_lead_to_an_answer_in_a_workspace_of_ones_own(tmp_path: Path) -> None:
    folder = tmp_path / "gatehouse"
    clone(folder)
    make, install, copy, protect, manifest, check, serve = section(
        "README.md", "Install it in a real workspace"
    ).commands

    await worked(make, folder)
    (site,) = (folder / ".venv").glob("lib/python*/site-packages")
    (site / "packages.pth").write_text(f"{PACKAGES}\n")  # pip finds them installed, and compares their versions
    said = await worked(install, folder, PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
    assert "Successfully installed" not in said
    await worked(copy, folder)
    await worked(protect, folder)
    assert (folder / ".env").stat().st_mode & 0o777 == 0o600

    async with AsyncExitStack() as stack:
        services = await stack.enter_async_context(running_services())
        slack, token = await stack.enter_async_context(created(await worked(manifest, folder)))
        code, said = await run_in_shell(check, folder)
        assert code == 2
        placeholders = re.findall(r"✗ (\w+) \(\.env\): is still the placeholder", said)
        assert placeholders == ["SLACK_BOT_TOKEN", "SLACK_SIGNING_SECRET", "RULES_API_KEY", "MEMBERS_API_KEY"]

        [port] = free_ports(1)
        chosen = environment(slack, services, "", port) | {"SLACK_BOT_TOKEN": token}
        write_settings(folder, {name: chosen[name] for name in chosen.keys() - {"PATH", "DATABASE_URL"}})
        said = await worked(check, folder)
        assert "signed in as gatehouse in Example Labs" in said
        assert "✗" not in said

        await stack.enter_async_context(running_server(*words(serve), port=port, log=folder / "bot.log", folder=folder))
        slack.delivery.url = f"http://127.0.0.1:{port}/slack/events"
        gwen = Person(slack.with_workspace(LABS), GWEN, LAB)
        assert "rules" in gwen.slack_text(await gwen.says("/rules list"))
        assert "Gatehouse" in gwen.slack_text(await gwen.says("/gatehouse status"))
