"""An import beside a bare loop that sends the same bodies: what records, reading back and the card cost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import httpx
from pydantic import SecretStr

from bot.changes.batch import ITEMS_AT_ONCE
from bot.changes.model.change import Change
from bot.changes.model.edits import Kind, Target
from bot.changes.model.items import Item
from bot.changes.model.parts import BulkAct, ChangeRequest, Purpose
from bot.changes.model.states import State
from bot.changes.proposals import Proposal
from bot.gatehouse import Gatehouse
from bot.server import logs
from bot.server.app import running
from bot.settings import Settings
from sandbox.gatehouse import ALICE
from sandbox.services.running import MEMBERS_KEY, RULES_KEY
from sandbox.slack.running import SECRET, TOKEN
from tests.bench.processes import BenchFailed
from tests.bench.sites import Record, new_member
from tests.bench.standins import Places, standing_in
from tests.bench.table import Row

SITE: Final = "site_1"
DELAYS: Final = {"at once": 0.0, "in 20 ms": 0.02}
"""Seconds after which the services answer: at once compares processor time and nothing else."""


def measure(rows: int) -> list[Row]:
    """Import so many members."""
    wanted = [new_member(number) for number in range(rows)]
    return [_compare(wanted, answered, delay) for answered, delay in DELAYS.items()]


def _compare(wanted: Sequence[Record], answered: str, delay: float) -> Row:
    """The loop runs before and after, so that a machine that gets busier is on both sides."""
    with standing_in(delay) as places:
        first = asyncio.run(_loop(places, wanted))
    with standing_in(delay) as places, TemporaryDirectory() as folder:
        ours = asyncio.run(_import(places, wanted, Path(folder)))
    with standing_in(delay) as places:
        second = asyncio.run(_loop(places, wanted))
    rows = len(wanted)
    return Row(
        f"import of {rows:,} members, answered {answered}", rows / ours, "bare loop", 2 * rows / (first + second), "/s"
    )


async def _loop(places: Places, wanted: Sequence[Record]) -> float:
    """Send the bodies, as many at once as Gatehouse does, look at nothing but the status, and return the seconds."""
    left, url = iter(wanted), f"{places.members}/sites/{SITE}/members/"
    headers = {"Authorization": f"Bearer {MEMBERS_KEY}"}
    async with httpx.AsyncClient(headers=headers, trust_env=False, timeout=60) as client:

        async def send() -> None:
            for each in left:
                (await client.post(url, json=each)).raise_for_status()

        began = time.perf_counter()
        await asyncio.gather(*(send() for _ in range(ITEMS_AT_ONCE)))
    return time.perf_counter() - began


async def _import(places: Places, wanted: Sequence[Record], folder: Path) -> float:
    """Carry out the change with its card in the local Slack, and return the seconds."""
    logs.configure("ERROR", "text")
    items = [
        Item(
            number=number,
            kind=Kind.MEMBER_ADD,
            target=Target(service="members", site="blog", key=each["email"]),
            after=each,
        )
        for number, each in enumerate(wanted, 1)
    ]
    proposal = Proposal(
        purpose=Purpose(act=BulkAct.IMPORT, about="a bench"),
        items=items,
        request=ChangeRequest(requester=ALICE.id, channel="C0OPS0001", reason="a bench", agreed=True),
    )
    async with running(_settings(places, folder / "gatehouse.db")) as bot:
        change = await bot.gatehouse.changes.proposer.submit(proposal, idempotency_key="bench")
        began = time.perf_counter()
        await _until_ended(bot.gatehouse, change)
        took = time.perf_counter() - began
        if (tally := await bot.gatehouse.store.items.tally(change.id)) != {"applied": len(items)}:
            raise BenchFailed(f"the import did not end as it should: {tally}")
    return took


async def _until_ended(gatehouse: Gatehouse, change: Change) -> None:
    now: Change | None = change
    while now is not None and now.state in {State.APPROVED, State.APPLYING}:
        await asyncio.sleep(0.02)
        now = await gatehouse.store.changes.get(change.id)


def _settings(places: Places, database: Path) -> Settings:
    return Settings(
        _env_file=None,
        slack_bot_token=SecretStr(TOKEN),
        slack_signing_secret=SecretStr(SECRET),
        slack_api_url=places.slack,
        rules_base_url=places.rules,
        rules_api_key=SecretStr(RULES_KEY),
        members_base_url=places.members,
        members_api_key=SecretStr(MEMBERS_KEY),
        members_sites={"blog": SITE, "docs": "site_2"},
        database_url=f"sqlite:///{database}",
    )
