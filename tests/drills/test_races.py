"""Several people click at once, at several replicas on one database: one decision each, one delete for each approval."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from bot.domain.change import Change, State
from sandbox.slack.people import ALICE, BOB, CARA
from sandbox.slack.state import Message
from tests.drills.fleet import Fleet, running_fleet, sized
from tests.drills.wire import Signed, click, connected, denial

pytestmark = [
    pytest.mark.drill,
    pytest.mark.postgres,
    pytest.mark.timeout(3600),
    pytest.mark.parametrize("database_url", ["postgres"], indirect=True),
]
DECISIONS = {"approved", "denied", "cancelled"}
AT_ONCE = 4
"""Requests that are raced for at the same time."""


async def sent_at_once(fleet: Fleet, signed: list[Signed]) -> tuple[bool, float]:
    """Send each over a line of its own, to one replica after the other, all written before anything is read.

    Return whether all were acknowledged, and the seconds between the first and the last that were sent.
    """
    async with AsyncExitStack() as stack:
        ports = [fleet.replicas[number % len(fleet.replicas)].port for number in range(len(signed))]
        lines = [await stack.enter_async_context(connected(port)) for port in ports]
        began = time.perf_counter()
        for line, one in zip(lines, signed, strict=True):
            line.send(one)
        apart = time.perf_counter() - began
        return all(await asyncio.gather(*(line.acknowledged() for line in lines))), apart


async def raced(
    fleet: Fleet, many: int, clicks: Callable[[Change, Message], list[Signed]]
) -> tuple[list[Change], list[float]]:
    """Ask for so many deletes and let *clicks* race for each; how they ended, and how far apart the clicks were."""
    await fleet.start()
    ended: list[Change] = []
    apart: list[float] = []
    for portion in range(0, many, 250):
        asked = await fleet.deletions(min(250, many - portion), first=portion)
        cards = await fleet.cards(asked)
        turns = asyncio.Semaphore(AT_ONCE)

        async def race(change: Change, turns: asyncio.Semaphore = turns, cards: dict[str, Message] = cards) -> None:
            async with turns:
                taken, seconds = await sent_at_once(fleet, clicks(change, cards[change.id]))
            assert taken, "every click is acknowledged"
            apart.append(seconds)

        await asyncio.gather(*map(race, asked))
        await fleet.settled()
        ended += [change for change in [await fleet.store.changes.get(one.id) for one in asked] if change is not None]
    return ended, apart


async def check(fleet: Fleet, ended: list[Change]) -> int:
    """One decision each, and a delete for each that was approved and for no other; how many those are."""
    events = await fleet.events()
    for change in ended:
        assert len([one for one in events[change.id] if one in DECISIONS]) == 1, events[change.id]
    applied = {change.target.key for change in ended if change.state is State.APPLIED}
    assert {change.state for change in ended} <= {State.APPLIED, State.DENIED, State.CANCELLED}
    assert fleet.deletes() == {key: 1 for key in applied if key}
    assert all(
        (fleet.services.rules.get(change.target.key or "") is None) == (change.target.key in applied)
        for change in ended
    )
    assert await fleet.store.audit.verify() is None
    return len(applied)


async def test_of_many_clicks_at_once_one_decides(
    database_url: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    many, chance = sized(25, 500, 3_750), random.Random(3)
    async with running_fleet(database_url, tmp_path, replicas=3, more_people=4) as fleet:
        approvers = fleet.people[-4:]

        def clicks(change: Change, card: Message) -> list[Signed]:
            found = [
                *(click(fleet.slack, who, card, "approve") for who in (*approvers, ALICE.id)),
                denial(fleet.slack, CARA.id, change, "not now"),
                click(fleet.slack, ALICE.id, card, "keep"),
                click(fleet.slack, BOB.id, card, "keep"),
            ]
            return chance.sample(found, len(found))

        ended, _ = await raced(fleet, many, clicks)
        applied = await check(fleet, ended)

    assert len(ended) == many
    assert all(change.decided_by != ALICE.id for change in ended if change.state is State.APPLIED)
    kinds = ", ".join(
        f"{sum(one.state == state for one in ended)} {state}" for state in ("applied", "denied", "cancelled")
    )
    record_property(
        "figure",
        f"G3: {many * 8} clicks on {many} requests, 8 at once over 3 replicas on one PostgreSQL: "
        f"{len(ended)} decisions ({kinds}), {applied} deletes at the service, 0 approved by the one who asked",
    )


async def test_two_approvers_within_a_millisecond_make_one_delete(
    database_url: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    many = sized(50, 1_000, 10_000)
    async with running_fleet(database_url, tmp_path, replicas=2) as fleet:

        def clicks(_: Change, card: Message) -> list[Signed]:
            return [click(fleet.slack, who.id, card, "approve") for who in (BOB, CARA)]

        ended, apart = await raced(fleet, many, clicks)
        applied = await check(fleet, ended)

    assert applied == many
    near = sum(seconds < 0.001 for seconds in apart)
    record_property(
        "figure",
        f"G3b: {many} requests, each approved by two people at two replicas at once ({near} of them sent within a "
        f"millisecond): {applied} deletes, 0 second ones",
    )
