"""What /readyz says of what is down or was left out: no reason to take a replica out."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from bot.server.manifest import EMAIL_SCOPE, OPTIONAL
from sandbox.demo import Sandbox, running_sandbox
from sandbox.slack.story import Person
from tests.harness.scraping import read_readiness, scrape_metrics

ENOUGH = 9
"""More than a read has tries."""


async def test_a_service_that_is_down_costs_no_readiness(workspace: Sandbox, alice: Person) -> None:
    workspace.services.rules.stage.faults.add("cut_before", times=ENOUGH)
    await alice.says("/rules list checkout")

    status, parts = await read_readiness(workspace.bot_url)

    assert (status, {*parts} - {"socket mode"}) == (200, {"slack", "clock", "store"})


async def test_readiness_calls_no_service(workspace: Sandbox) -> None:
    await read_readiness(workspace.bot_url)

    assert workspace.services.rules.calls() == workspace.services.members.calls() == []


@pytest.mark.parametrize("scopes", [OPTIONAL.keys(), {EMAIL_SCOPE}], ids=["optional", "required"])
async def test_scopes_that_the_app_lacks_are_named_and_cost_no_readiness(
    tmp_path: Path, scopes: Collection[str]
) -> None:
    async with running_sandbox(tmp_path, without_scopes=scopes) as workspace:
        status, parts = await read_readiness(workspace.bot_url)

        assert status == 200
        assert all(scope in parts["scopes"] for scope in scopes)
        assert (await scrape_metrics(workspace.bot_url))['gatehouse_ready{part="scopes"}'] == 1
