"""An approval, from the click to the edited card, beside the tutorial bot's."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from bot.server.manifest import document
from sandbox.gatehouse import ALICE, CARA, SHOP
from sandbox.services.running import Services, running_services
from sandbox.slack.message import Message
from sandbox.slack.running import LocalSlack, running_slack
from sandbox.slack.story import Person
from sandbox.slack.watching import watching
from tests.bench.processes import GATEHOUSE, TUTORIAL, Bot, running
from tests.bench.sites import plain_rule
from tests.bench.standins import Places
from tests.bench.table import Row

OPS: Final = "C0OPS0001"
PATIENCE_SECONDS: Final = 60.0
QUIET_SECONDS: Final = 0.6
"""Before each approval, so that what a bot still records of the question is not counted."""


def measure(approvals: int) -> list[Row]:
    """So many *approvals* with each bot, of which the median counts."""
    with TemporaryDirectory() as folder:
        took = asyncio.run(_measure_both(approvals, Path(folder)))
    return [Row("an approval, from the click to the card", took[GATEHOUSE], TUTORIAL.name, took[TUTORIAL], "ms")]


async def _measure_both(approvals: int, folder: Path) -> dict[Bot, float]:
    took = {}
    async with (
        running_services() as services,
        running_slack(document("http://127.0.0.1"), SHOP) as slack,
    ):
        places = Places(services.rules_url, services.members_url, slack.api_url)
        for bot in (TUTORIAL, GATEHOUSE):
            async with running(bot, places, folder) as process:
                slack.delivery.url = f"http://127.0.0.1:{process.port}/slack/events"
                await _approve(services, slack, 0)  # makes connections, and asks who people are
                each = [await _approve(services, slack, number) for number in range(1, approvals + 1)]
                took[bot] = median(each) * 1000
    return took


async def _approve(services: Services, slack: LocalSlack, number: int) -> float:
    """Ask for a deletion, approve it as somebody else, and return the seconds from that click to the edited card."""
    deleted = plain_rule(number)
    services.rules.put(deleted)
    alice, cara = (Person(slack, one.id, OPS, patience=PATIENCE_SECONDS) for one in (ALICE, CARA))
    card = await alice.says(f"/rules delete {deleted['id']}")
    await asyncio.sleep(QUIET_SECONDS)
    began = time.perf_counter()
    edited = asyncio.create_task(_edited(alice, card))
    await cara.clicks(card, "v1.decide.approve", confirm="confirm" in str(card.blocks))
    return await edited - began


async def _edited(person: Person, card: Message) -> float:
    """When the card says that the rule is deleted."""
    async with watching(person.slack.state, PATIENCE_SECONDS, lambda: person.slack_text(card)) as watch:
        await watch.until(lambda: "deleted" in person.slack_text(card) or None, "the edited card")
        return time.perf_counter()
