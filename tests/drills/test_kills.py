"""kill -9 at random moments: of replicas that apply changes, and of replicas that take clicks."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.changes.model.change import Change
from bot.changes.model.states import State
from bot.store.tables import inbox
from sandbox.gatehouse import BOB, CARA
from sandbox.slack.message import Message
from tests.drills.fleet import AT_LEAST_POSTGRES, AT_LEAST_SQLITE, Fleet, Replica, running_fleet, sized, spread, until
from tests.drills.wire import Signed, click, delivered

pytestmark = [pytest.mark.drill, pytest.mark.timeout(7200)]
EACH = 10
"""Deletes for every kill."""
CLICKS_A_SECOND = 50


def named(database_url: str) -> tuple[str, int]:
    """What the database is called, and how many replicas may share it."""
    return ("SQLite", 1) if database_url.startswith("sqlite") else ("PostgreSQL", 3)


async def insisted(fleet: Fleet, chance: random.Random, card: Message) -> int:
    """Cara approves; where Slack says that it did not work she clicks again. How often she clicked."""
    clicks = 0

    async def clicked() -> bool:
        nonlocal clicks
        clicks += 1
        one = chance.choice(fleet.replicas)
        return one.alive and await delivered(one.port, click(fleet.slack, CARA.id, card, "approve"))

    await until(clicked, "a click is acknowledged")
    return clicks


async def killed_once(chance: random.Random, one: Replica) -> None:
    await asyncio.sleep(chance.uniform(0.0, 0.8))  # the moment is what is random here
    await one.killed()
    one.start()
    await one.ready()


@pytest.mark.threat("B1")
@pytest.mark.parametrize("database_url", AT_LEAST_POSTGRES, indirect=True)
async def test_killed_at_random_moments_every_delete_is_done_once(
    database_url: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    database, many = named(database_url)
    kills, chance = sized(2, 20, 300) if many == 1 else sized(3, 40, 700), random.Random(1)
    async with running_fleet(database_url, tmp_path, replicas=many, lease=3.0) as fleet:
        for _ in range(kills * EACH):
            fleet.services.rules.stage.faults.add("delay", method="DELETE", value=chance.uniform(0.0, 0.2))
        await fleet.start()
        asked = await fleet.deletions(kills * EACH)
        cards = await fleet.cards(asked)
        for number in range(kills):
            chunk = asked[number * EACH : (number + 1) * EACH]
            approvals = [insisted(fleet, chance, cards[change.id]) for change in chunk]
            await asyncio.gather(killed_once(chance, chance.choice(fleet.replicas)), *approvals)
        await fleet.settled(patience=120)

        assert sum(one.starts for one in fleet.replicas) == many + kills
        lost, twice, unrecorded = await bad_outcomes(fleet, asked)
        assert (lost, twice, unrecorded) == (0, 0, 0)
    record_property(
        "figure",
        f"G1 {database}: {kills} kill -9 of {many} replica{'s' if many > 1 else ''} during {len(asked)} deletes: {lost} "
        f"lost, {twice} done twice, {unrecorded} done without audit",
    )


async def bad_outcomes(fleet: Fleet, asked: list[Change]) -> tuple[int, int, int]:
    """How many deletes were approved and not done, sent twice, or done without a word in the audit."""
    events, now = await fleet.events(), {change.id: change for change in await fleet.all_changes()}
    gone = {change.id for change in asked if fleet.services.rules.get(change.edit.target.key or "") is None}
    lost = sum(now[change.id].state is not State.APPLIED or change.id not in gone for change in asked)
    twice = sum(many > 1 for many in fleet.deletes().values())
    return lost, twice, sum(events[name].count("applied") != 1 for name in gone)


@pytest.mark.threat("A5")
@pytest.mark.parametrize("database_url", AT_LEAST_SQLITE, indirect=True)
async def test_what_was_acknowledged_is_stored_whenever_the_process_dies(
    database_url: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    database, many = named(database_url)
    kills, chance = sized(2, 8, 100), random.Random(7)
    async with running_fleet(database_url, tmp_path, replicas=many, lease=3.0) as fleet:
        await fleet.start()
        asked = await fleet.deletions(3)
        cards = list((await fleet.cards(asked)).values())
        quiet = await clicking(fleet, chance, cards, lambda sent: sent < 4 * CLICKS_A_SECOND)
        storm = asyncio.create_task(killed_often(fleet, chance, kills))
        taken = await clicking(fleet, chance, cards, lambda _: not storm.done())
        await storm
        await fleet.settled(patience=120)

        async with fleet.store.session.reading() as connection:
            stored = set(await connection.scalars(sa.select(inbox.c.id)))
        acknowledged = [key for key, (ok, _) in (quiet | taken).items() if ok]
        lost = sum(key not in stored for key in acknowledged)
        assert lost == 0
        assert {change.state for change in await fleet.all_changes()} == {State.PROPOSED}, "nobody else may withdraw"
    calm, stormy = (spread([seconds for ok, seconds in found.values() if ok]) for found in (quiet, taken))
    record_property(
        "figure",
        f"G7 {database}: {kills} kill -9 of {many} replica{'s' if many > 1 else ''} at {CLICKS_A_SECOND} clicks a "
        f"second, {len(taken)} clicks: {sum(ok for ok, _ in taken.values())} acknowledged, {lost} of them not stored",
    )
    record_property(
        "figure",
        f"G8 {database}: acknowledged in {calm[0] * 1000:.0f} ms (median), {calm[1] * 1000:.0f} ms (p99) of "
        f"{len(quiet)} clicks; under kills {stormy[0] * 1000:.0f} ms and {stormy[1] * 1000:.0f} ms",
    )


Taken = dict[str, tuple[bool, float]]
"""Of each click, by the key under which it is stored: whether it was acknowledged, and after how many seconds."""


async def killed_often(fleet: Fleet, chance: random.Random, kills: int) -> None:
    for _ in range(kills):
        await killed_once(chance, chance.choice(fleet.replicas))


async def clicking(fleet: Fleet, chance: random.Random, cards: list[Message], goes_on: Callable[[int], bool]) -> Taken:
    """People who may not withdraw a request click on Withdraw, so many times a second, whatever comes back."""
    taken: Taken = {}

    async def one(signed: Signed, port: int) -> None:
        began = time.perf_counter()
        ok = await delivered(port, signed)
        taken[signed.key] = (ok, time.perf_counter() - began)

    began = time.perf_counter()
    async with asyncio.TaskGroup() as clicks:
        sent = 0
        while goes_on(sent):
            signed = click(fleet.slack, chance.choice((BOB, CARA)).id, chance.choice(cards), "keep")
            clicks.create_task(one(signed, chance.choice(fleet.replicas).port))
            sent += 1
            await asyncio.sleep(max(0.0, began + sent / CLICKS_A_SECOND - time.perf_counter()))
    return taken
