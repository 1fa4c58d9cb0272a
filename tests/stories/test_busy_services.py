"""A service that takes few requests a minute, a busy channel, and a rule that has to be switched off now."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from bot.server.app import Running, running
from bot.server.manifest import document
from sandbox.demo import settings
from sandbox.gatehouse import WORKSPACES
from sandbox.services.running import Services, running_services
from sandbox.slack.running import LocalSlack, running_slack
from sandbox.slack.serving import serving
from sandbox.slack.story import Person
from tests.conftest import OPS, QUICK, until
from tests.harness.clocks import StandingClock
from tests.harness.scraping import scrape_metrics

LIMIT = 36
OLD = "Redirect_x1old"
USED_UP = "reached its limit of requests a minute"


@dataclass(slots=True)
class Limited:
    """Gatehouse with a limit for the rules service."""

    slack: LocalSlack
    services: Services
    clock: StandingClock
    bot: Running
    url: str

    @property
    def alice(self) -> Person:
        return Person(self.slack, "U0ALICE01", OPS)

    @property
    def cara(self) -> Person:
        return Person(self.slack, "U0CARA001", OPS)


@pytest.fixture
async def limited(database_url: str, tmp_path: Path) -> AsyncIterator[Limited]:
    async with AsyncExitStack() as stack:
        services = await stack.enter_async_context(running_services(str(tmp_path / "services.db")))
        slack = await stack.enter_async_context(running_slack(document("http://127.0.0.1"), WORKSPACES))
        chosen = settings(slack, services, database_url).model_copy(update={"rules_requests_per_minute": LIMIT})
        clock = StandingClock()
        bot = await stack.enter_async_context(running(chosen, now=clock, timing=QUICK))
        url = await stack.enter_async_context(serving(bot.web))
        slack.delivery.url = f"{url}/slack/events"
        yield Limited(slack, services, clock, bot, url)


async def flood(limited: Limited) -> None:
    """Look a rule up until there were too many requests."""
    while USED_UP not in limited.alice.slack_text(await limited.alice.says(f"/rules show {OLD}")):
        pass


async def test_no_flood_of_reads_keeps_a_rule_from_being_switched_off(limited: Limited) -> None:
    await flood(limited)

    await limited.cara.says("/rules disable Old shop")

    await until(lambda: (limited.services.rules.get(OLD) or {})["status"] == "Inactive")
    held = (await scrape_metrics(limited.url))[
        'gatehouse_held_requests_total{outcome="refused",priority="read",service="rules"}'
    ]
    assert held > 0


async def test_no_flood_of_reads_keeps_a_temporary_change_from_its_end(limited: Limited) -> None:
    await limited.alice.says("/rules disable Old shop for 5m")
    await until(lambda: (limited.services.rules.get(OLD) or {})["status"] == "Inactive")
    await flood(limited)

    limited.clock.moment += timedelta(minutes=5)
    limited.bot.wake_workers()

    await until(lambda: (limited.services.rules.get(OLD) or {})["status"] == "Active")
