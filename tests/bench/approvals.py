"""An approval, from the click to the edited card: how long it takes, and what it asks of others."""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
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
from tests.bench.charts import Bar, Chart, Group
from tests.bench.processes import BOTS, GATEHOUSE, TUTORIAL, Bot, running
from tests.bench.sheets import Report, Sheet, compared, number
from tests.bench.standins import Places

OPS: Final = "C0OPS0001"
PATIENCE_SECONDS: Final = 60.0
QUIET_SECONDS: Final = 0.6
"""Before and after each approval, so that what a bot still records is counted where it belongs."""
COMMITS_AT: Final = 8
"""Where the index of SQLite's write-ahead log has its count of transactions that wrote: a number of 32 bits."""
ABOUT: Final = """\
Somebody asks for a rule to be deleted, somebody else clicks *Approve*, the rule is deleted at the service, and the card
says so. The local Slack of the sandbox checks each payload as Slack does, for both bots. *Calls* and *commits* are those
from the click until all is quiet again; commits are SQLite transactions that wrote something. The tutorial bot deletes
and edits its message: it doesn't ask who clicked, does not look whether the rule is still the one that was shown or is
gone afterwards, and keeps no record. In parentheses: the ratio to the tutorial bot."""


@dataclass(frozen=True, slots=True)
class Approval:
    """What one took, and what it asked of others."""

    seconds: float
    service_calls: float
    slack_calls: float
    commits: float


def report(approvals: int) -> Report:
    """So many *approvals* with each bot; medians are reported."""
    with TemporaryDirectory() as folder:
        found = asyncio.run(_all(approvals, Path(folder)))
    base = found[TUTORIAL]
    columns = ("bot", "click to edited card", "calls of the service", "calls of Slack", "database commits")
    sheet = Sheet("A deletion, approved", columns, [_row(bot, own, base) for bot, own in found.items()])
    bars = [_bar(bot, own, base) for bot, own in found.items()]
    note = "Less is better. Gatehouse checks rights, looks at the rule before and after, and records each step."
    chart = Chart("approval", "From the click on Approve to the edited card", note, [Group("Median", bars)])
    return Report("An approval", ABOUT, [sheet], [chart])


def _row(bot: Bot, own: Approval, base: Approval) -> Sequence[str]:
    return [
        bot.name,
        compared(own.seconds * 1000, base.seconds * 1000, "ms"),
        compared(own.service_calls, base.service_calls),
        compared(own.slack_calls, base.slack_calls),
        number(own.commits),
    ]


def _bar(bot: Bot, own: Approval, base: Approval) -> Bar:
    return Bar(bot.name, own.seconds, compared(own.seconds * 1000, base.seconds * 1000, "ms"), BOTS.index(bot))


async def _all(approvals: int, folder: Path) -> dict[Bot, Approval]:
    found = {}
    async with (
        running_services() as services,
        running_slack(document("http://127.0.0.1"), SHOP) as slack,
    ):
        places = Places(services.rules_url, services.members_url, slack.api_url)
        for bot in (TUTORIAL, GATEHOUSE):
            async with running(bot, places, folder) as process:
                slack.delivery.url = f"http://127.0.0.1:{process.port}/slack/events"
                await _one(services, slack, folder, f"{bot.name[0]}first")  # makes connections, and asks who people are
                each = [await _one(services, slack, folder, f"{bot.name[0]}{n}") for n in range(approvals)]
                found[bot] = Approval(*(median(getattr(one, name) for one in each) for name in Approval.__slots__))
    return found


async def _one(services: Services, slack: LocalSlack, folder: Path, name: str) -> Approval:
    """Ask for a deletion, and measure its approval."""
    rule = _rule(f"Redirect_bench{name}")
    services.rules.put(rule)
    alice, cara = (Person(slack, one.id, OPS, patience=PATIENCE_SECONDS) for one in (ALICE, CARA))
    card = await alice.says(f"/rules delete {rule['id']}")
    await asyncio.sleep(QUIET_SECONDS)
    slack.state.traffic.clear()
    services.rules.stage.calls.clear()
    commits, began = _commits(folder), time.perf_counter()
    edited = asyncio.create_task(_edited(alice, card))
    await cara.clicks(card, "v1.decide.approve", confirm="confirm" in str(card.blocks))
    seconds = await edited - began
    await asyncio.sleep(QUIET_SECONDS)
    slack_calls = [one for one in slack.state.traffic if one["direction"] == "bot_to_slack"]
    return Approval(seconds, len(services.rules.calls()), len(slack_calls), _commits(folder) - commits)


async def _edited(person: Person, card: Message) -> float:
    """When the card says that the rule is deleted."""
    async with watching(person.slack.state, PATIENCE_SECONDS, lambda: person.slack_text(card)) as watch:
        await watch.until(lambda: "deleted" in person.slack_text(card) or None, "the edited card")
        return time.perf_counter()


def _commits(folder: Path) -> int:
    """How many transactions have written to the database in *folder* so far; 0 where there is none."""
    index = folder / "gatehouse.db-shm"
    if not index.exists():
        return 0
    (count,) = struct.unpack_from("=I", index.read_bytes(), COMMITS_AT)
    return int(count)


def _rule(rule_id: str) -> dict[str, object]:
    source = {"key": "Url", "operator": "Equals", "value": f"https://shop.example.com/{rule_id}"}
    pair = {"source": source, "destinationType": "url", "destination": "https://shop.example.com/over"}
    return {
        "id": rule_id,
        "name": rule_id,
        "description": "",
        "status": "Active",
        "ruleType": "Redirect",
        "pairs": [pair],
    }
