"""A service that takes few requests a minute, a busy channel, and a rule that has to be switched off now."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

import pytest

from bot.server.app import running
from bot.server.manifest import document
from sandbox.demo import Sandbox, settings
from sandbox.gatehouse import SHOP
from sandbox.services.running import running_services
from sandbox.slack.running import running_slack
from sandbox.slack.serving import serving
from tests.conftest import QUICK, until
from tests.harness.clocks import StandingClock
from tests.harness.colleague import Colleague
from tests.harness.scraping import scrape_metrics

LIMIT = 36
OLD = "Redirect_x1old"
USED_UP = "reached its limit of requests a minute"


@pytest.fixture
def standing_clock() -> StandingClock:
    return StandingClock()


@pytest.fixture
async def workspace(database_url: str, tmp_path: Path, standing_clock: StandingClock) -> AsyncIterator[Sandbox]:
    """Gatehouse with a limit for the rules service."""
    async with AsyncExitStack() as stack:
        services = await stack.enter_async_context(running_services(str(tmp_path / "services.db")))
        slack = await stack.enter_async_context(running_slack(document("http://127.0.0.1"), SHOP))
        chosen = settings(slack, services, database_url).model_copy(update={"rules_requests_per_minute": LIMIT})
        bot = await stack.enter_async_context(running(chosen, now=standing_clock, timing=QUICK))
        url = await stack.enter_async_context(serving(bot.web))
        slack.delivery.url = f"{url}/slack/events"
        yield Sandbox(slack, services, bot, url)


async def flood(alice: Colleague) -> None:
    """Look a rule up until there were too many requests."""
    while USED_UP not in alice.slack_text(await alice.says(f"/rules show {OLD}")):
        pass


async def test_no_flood_of_reads_keeps_a_rule_from_being_switched_off(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    await flood(alice)

    await cara.says("/rules off Old shop")

    await until(lambda: (workspace.services.rules.get(OLD) or {})["status"] == "Inactive")
    held = (await scrape_metrics(workspace.bot_url))[
        'gatehouse_held_requests_total{outcome="refused",priority="read",service="rules"}'
    ]
    assert held > 0


async def test_no_flood_of_reads_keeps_a_temporary_change_from_its_end(
    workspace: Sandbox, alice: Colleague, standing_clock: StandingClock
) -> None:
    await alice.says("/rules off Old shop for 5m")
    await until(lambda: (workspace.services.rules.get(OLD) or {})["status"] == "Inactive")
    await flood(alice)

    standing_clock.moment += timedelta(minutes=5)
    workspace.bot.wake_workers()

    await until(lambda: (workspace.services.rules.get(OLD) or {})["status"] == "Active")
