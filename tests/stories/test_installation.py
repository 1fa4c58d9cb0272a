"""From a clone to the first answer in somebody's own workspace, by the commands of docs/operating.md and in their order."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

import pydantic
import pytest

from sandbox.gatehouse import ALICE, SHOP
from sandbox.services.running import running_services
from sandbox.slack.running import TOKEN, LocalSlack, running_slack
from sandbox.slack.story import Person
from tests.harness.documented import clone, run_in_shell, section, words, write_settings
from tests.harness.programs import environment, free_ports, running_server

pytestmark = pytest.mark.slow

PACKAGES: Final = Path(pydantic.__file__).parent.parent
"""Where the packages of this test run are."""
OPS: Final = "C0OPS0001"


@asynccontextmanager
async def created(manifest: str) -> AsyncIterator[tuple[LocalSlack, str]]:
    """A Slack with an app made *from a manifest*, and its bot token."""
    async with running_slack(json.loads(manifest), SHOP) as slack:
        yield slack, TOKEN


async def worked(command: str, folder: Path, **environment: str) -> str:
    """What a command says that exits with 0."""
    code, said = await run_in_shell(command, folder, **environment)
    assert code == 0, f"{command}\n{said}"
    return said


async def test_the_commands_of_the_docs_lead_to_an_answer_in_a_workspace_of_ones_own(tmp_path: Path) -> None:
    folder = tmp_path / "gatehouse"
    clone(folder)
    make, install, copy, protect, manifest, check, serve = section("docs/operating.md", "Install it").commands

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
        assert "signed in as gatehouse in Example Shop" in said
        assert "✗" not in said

        await stack.enter_async_context(running_server(*words(serve), port=port, log=folder / "bot.log", folder=folder))
        slack.delivery.url = f"http://127.0.0.1:{port}/slack/events"
        alice = Person(slack, ALICE.id, OPS)
        assert "rules" in alice.slack_text(await alice.says("/rules list"))
        assert "Gatehouse" in alice.slack_text(await alice.says("/gatehouse status"))
