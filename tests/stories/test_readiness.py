"""What /readyz says of the services: named where they are down, and no reason to take a replica out."""

from __future__ import annotations

import httpx
import pytest

from bot.clients.http import LastCall
from sandbox.demo import Sandbox
from sandbox.slack.story import Person
from tests.harness.scraping import scrape_metrics

ENOUGH = 9
"""More than a read has tries."""


async def ready(workspace: Sandbox) -> tuple[int, dict[str, str]]:
    async with httpx.AsyncClient(trust_env=False) as http:
        answer = await http.get(f"{workspace.bot_url}/readyz")
    return answer.status_code, answer.json()


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [("cut_before", "unreachable"), ("500", "failing"), ("429", "rate-limiting"), ("403", "ok")],
)
async def test_a_service_that_is_down_is_named_and_costs_no_readiness(
    workspace: Sandbox, alice: Person, fault: str, outcome: str
) -> None:
    faults = workspace.services.rules.stage.faults
    faults.add(fault, times=ENOUGH)
    await alice.says("/rules list checkout")

    status, parts = await ready(workspace)
    assert (status, parts["rules"].partition(" (")[0]) == (200, outcome)
    assert parts["members"] == "not called yet"
    assert 'gatehouse_ready{part="rules"}' not in await scrape_metrics(workspace.bot_url)

    faults.clear()
    await alice.says("/members list")
    status, parts = await ready(workspace)
    assert (status, parts["members"].partition(" (")[0]) == (200, "ok")


async def test_readiness_calls_no_service(workspace: Sandbox) -> None:
    await ready(workspace)

    assert workspace.services.rules.calls() == workspace.services.members.calls() == []


def test_an_outcome_has_its_age() -> None:
    now = 100.0
    last = LastCall(lambda: now)
    assert last.health() == "not called yet"

    last.note("unreachable")
    now += 40
    assert last.health() == "unreachable (40 s ago)"
