"""What changes take: an approval beside the tutorial bot's, and an import beside a bare loop that sends the same bodies."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

import httpx

from bot.changes.batch import ITEMS_AT_ONCE
from sandbox.services.running import MEMBERS_KEY
from sandbox.slack.message import Message
from sandbox.slack.story import Person
from sandbox.slack.watching import watching
from tests.bench.processes import GATEHOUSE, PATIENCE_SECONDS, TUTORIAL, Bot, people_with, standing_in
from tests.bench.sites import SITE, Record, fill, new_member, rule, rule_id
from tests.bench.table import Row

QUIET_SECONDS: Final = 0.6
"""Before each change, so that what a bot still records of the question is not counted."""
DELAYS: Final = {"at once": 0.0, "in 20 ms": 0.02}
"""Seconds after which the services answer: at once compares processor time and nothing else."""


async def approvals(many: int) -> list[Row]:
    """So *many* approvals with each bot, of which the median counts."""
    took = {bot: await _approvals(bot, many) for bot in (TUTORIAL, GATEHOUSE)}
    return [Row("an approval, from the click to the card", took[GATEHOUSE], TUTORIAL.name, took[TUTORIAL], "ms")]


async def _approvals(bot: Bot, many: int) -> float:
    """Milliseconds, without the first, which makes connections and asks who people are."""
    async with people_with(bot, rules=map(rule, range(many + 1))) as (alice, cara):
        took = [await _approval(alice, cara, number) for number in range(many + 1)]
    return median(took[1:]) * 1000


async def _approval(alice: Person, cara: Person, number: int) -> float:
    """Ask for a deletion, approve it as somebody else, and return the seconds from that click to the edited card."""
    card = await alice.says(f"/rules delete {rule_id(number)}")
    await asyncio.sleep(QUIET_SECONDS)
    began = time.perf_counter()
    edited = asyncio.create_task(_says(alice, card, "deleted"))
    await cara.clicks(card, "v1.decide.approve", confirm="confirm" in str(card.blocks))
    return await edited - began


async def _says(person: Person, card: Message, word: str) -> float:
    """When *card* says *word*."""
    async with watching(person.slack.state, PATIENCE_SECONDS, lambda: person.slack_text(card)) as watch:
        await watch.until(lambda: word in person.slack_text(card) or None, word)
        return time.perf_counter()


async def imports(many: int) -> list[Row]:
    """Import so *many* members."""
    return [await _import_row([new_member(number) for number in range(many)], *each) for each in DELAYS.items()]


async def _import_row(wanted: Sequence[Record], answered: str, delay: float) -> Row:
    """The loop runs before and after, so that a machine that gets busier is on both sides."""
    first, ours, second = await _loop(wanted, delay), await _import(wanted, delay), await _loop(wanted, delay)
    what = f"import of {len(wanted):,} members, answered {answered}"
    return Row(what, len(wanted) / ours, "bare loop", 2 * len(wanted) / (first + second), "/s")


async def _loop(wanted: Sequence[Record], delay: float) -> float:
    """Send the bodies, as many at once as Gatehouse does, look at nothing but the status, and return the seconds."""
    left, headers = iter(wanted), {"Authorization": f"Bearer {MEMBERS_KEY}"}
    with TemporaryDirectory() as folder:
        fill(database := Path(folder, "services.db"))
        with standing_in(database, delay=delay) as services:
            url = f"{services['MEMBERS_BASE_URL']}/sites/{SITE}/members/"
            async with httpx.AsyncClient(headers=headers, trust_env=False, timeout=PATIENCE_SECONDS) as client:

                async def send() -> None:
                    for each in left:
                        (await client.post(url, json=each)).raise_for_status()

                began = time.perf_counter()
                await asyncio.gather(*(send() for _ in range(ITEMS_AT_ONCE)))
                return time.perf_counter() - began


async def _import(wanted: Sequence[Record], delay: float) -> float:
    """Import a file in the local Slack, and return the seconds from the click to the card."""
    lines = (f'{each["email"]},{each["name"]},"{",".join(each["allowedSegments"])}"' for each in wanted)
    async with people_with(GATEHOUSE, delay=delay) as (alice, _):
        await alice.opens("/members import")
        alice.attaches("File", **{"members.csv": "\n".join(("email,name,segments", *lines)).encode()})
        assert await alice.submits() == {}
        await alice.sees_form("[Import]")
        await asyncio.sleep(QUIET_SECONDS)
        began = time.perf_counter()
        assert await alice.submits() == {}
        return await _says(alice, await alice.sees_new_card(0), f"{len(wanted):,} rows imported") - began
