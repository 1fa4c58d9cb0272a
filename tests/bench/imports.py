"""A long bulk change, against a bare loop that sends the same bodies: what records, reading back and the card cost."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final

import httpx
from pydantic import SecretStr

from bot.changes.batch import ITEMS_AT_ONCE
from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind, Target
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
from tests.bench.measuring import Watching, run_watched
from tests.bench.sheets import Report, Sheet
from tests.bench.standins import Places, standing_in

SITE: Final = "site_1"
OPS: Final = "C0OPS0001"
ASIDE: Final = "Redirect_help1"
"""The rule that somebody on call switches off and on meanwhile."""
EVERY: Final = 2.0
"""Seconds between two such changes."""
ABOUT: Final = """A long bulk change, beside a loop over httpx that sends the same bodies and keeps no record. The services answer
at once, which compares processor time and nothing else, or in 20 ms, as a service may that is across a network."""
DELAYS: Final = {"at once": 0.0, "in 20 ms": 0.02}
"""Seconds after which the services answer."""

Record = dict[str, Any]


@dataclass(slots=True)
class Taken:
    """What a run took: seconds for all of it and for the asking, and the longest waits of others."""

    rows: int
    seconds: float = 0.0
    asked: float = 0.0
    stall: float = 0.0
    aside: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return self.rows / self.seconds


def report(rows: int) -> Report:
    """Import so many members, and a quarter of that of rules."""
    return Report("Import", ABOUT, [members(rows), rules(max(1, rows // 4))])


def members(rows: int) -> Sheet:
    """Additions of members: rows a second, and what share that is of the bare loop's."""
    wanted = [
        {"name": f"Person {number}", "email": f"person{number}@example.net", "allowedSegments": ["free"]}
        for number in range(1, rows + 1)
    ]
    items = [
        Item(
            number=number,
            kind=Kind.MEMBER_ADD,
            target=Target(service="members", site="blog", key=each["email"]),
            after=each,
        )
        for number, each in enumerate(wanted, 1)
    ]
    return _compared("Import of members", wanted, f"sites/{SITE}/members/", items)


def rules(rows: int) -> Sheet:
    """Creations of rules: each is read back, since an answer could name another's rule."""
    wanted = [_rule(number) for number in range(1, rows + 1)]
    items = [
        Item(number=number, kind=Kind.RULE_CREATE, target=Target(service="rules"), after=each)
        for number, each in enumerate(wanted, 1)
    ]
    return _compared("Import of rules", wanted, "rules", items)


def _rule(number: int) -> Record:
    pair = {
        "source": {"key": "Url", "operator": "Equals", "value": f"https://shop.example.com/campaign/{number}"},
        "destinationType": "url",
        "destination": f"https://shop.example.com/landing/{number}",
    }
    document = {"name": f"Campaign {number}", "description": "", "status": "Active", "ruleType": "Redirect"}
    return document | {"pairs": [pair]}


def _compared(title: str, wanted: Sequence[Record], path: str, items: Sequence[Item]) -> Sheet:
    """Both with services of each of the DELAYS."""
    columns = ("", "rows a second", "of the bare loop", "longest work in one go", "another change: median, longest")
    rows = list[tuple[str, ...]]()
    for answered, delay in DELAYS.items():
        bare, ours = _run_both(delay, wanted, path, items)
        rows += [
            (f"bare httpx, answered {answered}", f"{bare.rate:.0f}", "1.00", f"{bare.stall * 1000:.0f} ms", ""),
            (
                f"bulk change, answered {answered}",
                f"{ours.rate:.0f}",
                f"{ours.rate / bare.rate:.2f}",
                f"{ours.stall * 1000:.0f} ms",
                _aside(ours),
            ),
        ]
    rows.append(("to record what is asked", f"{ours.rows / ours.asked:.0f}", "", "", ""))
    return Sheet(f"{title}: {ours.rows:,} rows, {ITEMS_AT_ONCE} requests at a time", columns, rows)


def _run_both(delay: float, wanted: Sequence[Record], path: str, items: Sequence[Item]) -> tuple[Taken, Taken]:
    """Run the bare loop and the bulk change; the loop before and after, so that a machine that gets busier is on both sides."""
    with standing_in(delay) as places:
        first = run_watched(partial(_bare, places, path, wanted))
    with standing_in(delay) as places, TemporaryDirectory() as folder:
        ours = run_watched(partial(_set, places, items, Path(folder)))
    with standing_in(delay) as places:
        second = run_watched(partial(_bare, places, path, wanted))
    bare = Taken(first.rows + second.rows, first.seconds + second.seconds, stall=max(first.stall, second.stall))
    return bare, ours


def _aside(ours: Taken) -> str:
    """How long the changes of somebody else took in the meantime."""
    aside = sorted(ours.aside)
    return f"{median(aside):.2f} s, {aside[-1]:.2f} s of {len(aside)}" if aside else ""


async def _bare(places: Places, path: str, wanted: Sequence[Record], watching: Watching) -> Taken:
    """Send the bodies, as many at once as a bulk change does, and look at nothing but the status."""
    base, headers = (
        (places.rules, {"x-api-key": RULES_KEY})
        if path == "rules"
        else (places.members, {"Authorization": f"Bearer {MEMBERS_KEY}"})
    )
    left = iter(wanted)
    taken = Taken(len(wanted))
    async with httpx.AsyncClient(headers=headers, trust_env=False, timeout=60) as client:
        watching.longest = 0.0

        async def send() -> None:
            for each in left:
                (await client.post(f"{base}/{path}", json=each)).raise_for_status()

        with _timed(taken):
            await asyncio.gather(*(send() for _ in range(ITEMS_AT_ONCE)))
    taken.stall = watching.longest
    return taken


async def _set(places: Places, items: Sequence[Item], folder: Path, watching: Watching) -> Taken:
    """The whole bot with its card in the local Slack, and somebody on call who wants something else meanwhile."""
    logs.configure("ERROR", "text")
    taken = Taken(len(items))
    async with running(_settings(places, folder / "gatehouse.db")) as bot:
        watching.longest = 0.0
        await _carried_out(bot.gatehouse, items, taken)
    taken.stall = watching.longest
    return taken


async def _carried_out(gatehouse: Gatehouse, items: Sequence[Item], taken: Taken) -> None:
    """Let the set be carried out, and note how long that, and the change of another meanwhile, takes."""
    proposal = Proposal(
        purpose=Purpose(act=BulkAct.IMPORT, about="a bench"),
        items=items,
        request=ChangeRequest(requester=ALICE.id, channel=OPS, reason="a bench", agreed=True),
    )
    began = time.perf_counter()
    whole = await gatehouse.changes.proposer.submit(proposal, idempotency_key="bench")
    taken.asked = time.perf_counter() - began
    aside = asyncio.create_task(_others(gatehouse, taken))
    with _timed(taken):
        await _ended(gatehouse, whole)
    aside.cancel()
    await asyncio.gather(aside, return_exceptions=True)
    tally = await gatehouse.store.items.tally(whole.id)
    if tally != {"applied": len(items)}:
        raise RuntimeError(f"the set did not come to its end as it should: {tally}")


async def _ended(gatehouse: Gatehouse, whole: Change) -> None:
    while True:
        change = await gatehouse.store.changes.get(whole.id)
        if change is None or change.state not in {State.APPROVED, State.APPLYING}:
            return
        await asyncio.sleep(0.02)


async def _others(gatehouse: Gatehouse, taken: Taken) -> None:
    """Change a rule every so often, and note how long that takes from the asking to the end."""
    for number in range(1_000_000):
        await asyncio.sleep(EVERY)
        began = time.perf_counter()
        rule = await gatehouse.rules.get(ASIDE)
        after = rule.body() | {"status": "Inactive" if rule.status == "Active" else "Active"}
        target = Target(service="rules", key=rule.id)
        wanted = Proposal.of(
            edit=Edit(kind=Kind.RULE_UPDATE, target=target, before=rule.document(), after=after),
            request=ChangeRequest(requester=ALICE.id, channel=OPS, agreed=True),
        )
        change = await gatehouse.changes.proposer.submit(wanted, idempotency_key=f"aside {number}")
        if change.state is not State.APPLIED:
            raise RuntimeError(f"the change of another is {change.state}: {change.run.outcome}")
        taken.aside.append(time.perf_counter() - began)


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


@contextmanager
def _timed(taken: Taken) -> Iterator[None]:
    began = time.perf_counter()
    yield
    taken.seconds = time.perf_counter() - began
