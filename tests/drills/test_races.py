"""Several people click at once, at several replicas on one database: one decision each, one delete for each approval."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from bot.changes.model.change import Change
from bot.changes.model.states import State
from sandbox.gatehouse import ALICE, BOB, CARA
from sandbox.slack.message import Message
from tests.drills.fleet import Fleet, running_fleet, sized
from tests.drills.wire import NoButton, Signed, click, connected, denial

pytestmark = [
    pytest.mark.drill,
    pytest.mark.postgres,
    pytest.mark.timeout(3600),
    pytest.mark.parametrize("database_url", ["postgres"], indirect=True),
]
DECISIONS = {"approved", "denied", "cancelled"}
Act = Callable[[], Signed]
AT_ONCE = 4
"""Requests that are raced for at the same time."""


async def sent_at_once(fleet: Fleet, signed: list[Signed]) -> tuple[list[bool], float]:
    """Send each over a line of its own, to one replica after the other, all written before anything is read.

    Return which were acknowledged, and the seconds between the first and the last that were sent.
    """
    async with AsyncExitStack() as stack:
        ports = [fleet.replicas[number % len(fleet.replicas)].port for number in range(len(signed))]
        lines = [await stack.enter_async_context(connected(port)) for port in ports]
        began = time.perf_counter()
        for line, one in zip(lines, signed, strict=True):
            line.send(one)
        apart = time.perf_counter() - began
        return await asyncio.gather(*(line.acknowledged() for line in lines)), apart


@dataclass(slots=True)
class Race:
    """What was raced: the clicks that were sent, how far apart those for one request were, how the requests ended."""

    clicks: int = 0
    apart: list[float] = field(default_factory=list)
    ended: list[Change] = field(default_factory=list)

    async def run(self, fleet: Fleet, many: int, clicks: Callable[[Change, Message], list[Act]]) -> None:
        """Ask for so many deletes, and let *clicks* race for each."""
        await fleet.start()
        for chunk in range(0, many, 250):
            asked = await fleet.deletions(min(250, many - chunk), first=chunk)
            cards = await fleet.cards(asked)
            turns = asyncio.Semaphore(AT_ONCE)
            await asyncio.gather(*(self._one(fleet, clicks(change, cards[change.id]), turns) for change in asked))
            await fleet.settled()
            found = [await fleet.store.changes.get(one.id) for one in asked]
            self.ended += [change for change in found if change is not None]

    async def _one(self, fleet: Fleet, acts: list[Act], turns: asyncio.Semaphore) -> None:
        """All at once. Whom Slack tells that it did not work clicks again, while there is something to click."""
        async with turns:
            while acts:
                open_ = [(act, signed) for act in acts if (signed := made(act)) is not None]
                taken, seconds = await sent_at_once(fleet, [signed for _, signed in open_])
                self.clicks += len(open_)
                self.apart.append(seconds)
                acts = [act for (act, _), ok in zip(open_, taken, strict=True) if not ok]


def made(act: Act) -> Signed | None:
    try:
        return act()
    except NoButton:
        return None


async def check(fleet: Fleet, ended: list[Change]) -> int:
    """One decision each, and a delete for each that was approved and for no other; how many those are."""
    events = await fleet.events()
    for change in ended:
        assert len([one for one in events[change.id] if one in DECISIONS]) == 1, events[change.id]
    applied = {change.edit.target.key for change in ended if change.state is State.APPLIED}
    odd = [change for change in ended if change.state not in {State.APPLIED, State.DENIED, State.CANCELLED}]
    assert not odd, [(change.state, change.run.attempt, change.run.why_not) for change in odd]
    assert fleet.deletes() == {key: 1 for key in applied if key}
    assert all(
        (fleet.services.rules.get(change.edit.target.key or "") is None) == (change.edit.target.key in applied)
        for change in ended
    )
    return len(applied)


@pytest.mark.threat("A7", "A9")
async def test_of_many_clicks_at_once_one_decides(
    database_url: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    many, chance = sized(25, 500, 3_750), random.Random(3)
    async with running_fleet(database_url, tmp_path, replicas=3, more_people=4) as fleet:
        approvers = fleet.people[-4:]

        def clicks(change: Change, card: Message) -> list[Act]:
            found: list[Act] = [
                *(partial(click, fleet.slack, who, card, "approve") for who in (*approvers, ALICE.id)),
                partial(denial, fleet.slack, CARA.id, change, "not now"),
                partial(click, fleet.slack, ALICE.id, card, "keep"),
                partial(click, fleet.slack, BOB.id, card, "keep"),
            ]
            return chance.sample(found, len(found))

        race = Race()
        await race.run(fleet, many, clicks)
        ended = race.ended
        applied = await check(fleet, ended)

    assert len(ended) == many
    assert all(change.decision.decided_by != ALICE.id for change in ended if change.state is State.APPLIED)
    kinds = ", ".join(
        f"{sum(one.state == state for one in ended)} {state}" for state in ("applied", "denied", "cancelled")
    )
    record_property(
        "figure",
        f"G3: {race.clicks} clicks on {many} requests, 8 at once over 3 replicas on one PostgreSQL: "
        f"{len(ended)} decisions ({kinds}), {applied} deletes at the service, 0 approved by the one who asked",
    )


@pytest.mark.threat("A9")
async def test_two_approvers_within_a_millisecond_make_one_delete(
    database_url: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    many = sized(50, 1_000, 10_000)
    async with running_fleet(database_url, tmp_path, replicas=2) as fleet:

        def clicks(_: Change, card: Message) -> list[Act]:
            return [partial(click, fleet.slack, who.id, card, "approve") for who in (BOB, CARA)]

        race = Race()
        await race.run(fleet, many, clicks)
        applied = await check(fleet, race.ended)

    assert applied == many
    near = sum(seconds < 0.001 for seconds in race.apart)
    record_property(
        "figure",
        f"G3b: {many} requests, each approved by two people at two replicas at once ({near} of them sent within a "
        f"millisecond): {applied} deletes, 0 second ones",
    )
