"""A service that takes sixty requests a minute, a busy channel, and a rule that has to be switched off now."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
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
from tests.clocks import StandingClock
from tests.conftest import OPS, QUICK, until
from tests.databases import BOTH
from tests.scraping import scraped

LIMIT = 60
OLD = "Redirect_x1old"
USED_UP = "reached its limit of requests a minute"


@dataclass(slots=True)
class Fleet:
    """Replicas on one database, behind a balancer that takes turns."""

    slack: LocalSlack
    services: Services
    clock: StandingClock
    bots: list[Running] = field(default_factory=list)
    urls: list[str] = field(default_factory=list)
    _turn: int = 0

    def turn(self) -> None:
        """Let the next request of Slack reach the next replica."""
        self._turn += 1
        self.slack.delivery.url = f"{self.urls[self._turn % len(self.urls)]}/slack/events"


@pytest.fixture
async def fleet(database_url: str, tmp_path: Path) -> AsyncIterator[Fleet]:
    async with AsyncExitStack() as stack:
        services = await stack.enter_async_context(running_services(str(tmp_path / "services.db")))
        slack = await stack.enter_async_context(running_slack(document("http://127.0.0.1"), WORKSPACES))
        fleet = Fleet(slack, services, StandingClock())
        chosen = settings(slack, services, database_url).model_copy(update={"rules_requests_per_minute": LIMIT})
        for _ in range(1 if database_url.startswith("sqlite") else 2):
            bot = await stack.enter_async_context(running(chosen, now=fleet.clock, timing=QUICK))
            fleet.bots.append(bot)
            fleet.urls.append(await stack.enter_async_context(serving(bot.web)))
        yield fleet


async def flood(fleet: Fleet) -> None:
    """Two people look things up until they are told that there were too many requests."""
    alice, cara = Person(fleet.slack, "U0ALICE01", OPS), Person(fleet.slack, "U0CARA001", OPS)
    answers = []
    for number in range(LIMIT):
        fleet.turn()
        person = (alice, cara)[number % 2]
        text = ("/rules list checkout", f"/rules show {OLD}", "/rules which https://shop.example.com/old")[number % 3]
        answers.append(person.slack_text(await person.says(text)))
    assert USED_UP not in answers[0]
    assert USED_UP in answers[-1]


@pytest.mark.parametrize("database_url", BOTH, indirect=True)
async def test_no_flood_of_reads_keeps_a_rule_from_being_switched_off(fleet: Fleet) -> None:
    stage = fleet.services.rules.stage
    stage.busy = lambda: 30.0 if len(stage.calls) > LIMIT else None
    cara = Person(fleet.slack, "U0CARA001", OPS)
    await flood(fleet)

    fleet.turn()
    await cara.says("/rules disable Old shop")
    await cara.sees("is off")

    assert (fleet.services.rules.get(OLD) or {})["status"] == "Inactive"
    assert len(stage.calls) <= LIMIT
    now = await scraped(fleet.urls[0])
    assert now['gatehouse_service_budget_left{service="rules"}'] == LIMIT - len(stage.calls)
    assert now['gatehouse_held_requests_total{outcome="refused",priority="read",service="rules"}'] > 0


async def test_no_flood_of_reads_keeps_a_temporary_change_from_its_end(fleet: Fleet) -> None:
    fleet.turn()
    alice = Person(fleet.slack, "U0ALICE01", OPS)
    await alice.says("/rules disable Old shop for 5m")
    await alice.sees("is off")

    fleet.clock.moment += timedelta(minutes=4, seconds=40)
    await flood(fleet)
    fleet.clock.moment += timedelta(seconds=20)
    for bot in fleet.bots:
        bot.wake_workers()

    await until(lambda: (fleet.services.rules.get(OLD) or {})["status"] == "Active")


async def test_a_menu_says_why_it_has_nothing_to_offer(fleet: Fleet) -> None:
    alice = Person(fleet.slack, "U0ALICE01", OPS)
    fleet.turn()
    while USED_UP not in alice.slack_text(await alice.says(f"/rules show {OLD}")):
        pass

    home = await alice.opens_home("rules is at Gatehouse’s limit of requests a minute")
    (said,) = await alice.offered(home, "v1.pick.rule.home", "check")

    assert said.startswith("Gatehouse has reached its limit of requests a minute")
