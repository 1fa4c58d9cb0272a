"""kill -9 while a long bulk change is carried out: it ends as if nobody had, and nothing of it is done twice."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import pytest

from bot.changes.batch import ITEMS_PER_CHUNK
from bot.changes.model.change import Change
from bot.changes.model.edits import Kind, Target
from bot.changes.model.items import OPEN, Item, Outcome
from bot.changes.model.parts import BulkAct, ChangeRequest, Purpose
from bot.changes.model.states import State
from bot.changes.proposals import Proposal
from sandbox.gatehouse import ALICE
from tests.drills.fleet import AT_LEAST_SQLITE, OPS, Fleet, in_turn, running_fleet, sized, until
from tests.drills.test_kills import named
from tests.harness.databases import BOTH

pytestmark = [pytest.mark.drill, pytest.mark.timeout(7200)]

MANY: Final = ITEMS_PER_CHUNK + 20
"""Items that take two chunks: some of STEPS come in the second."""
STEPS: Final = (
    "begin:1",
    f"look:{ITEMS_PER_CHUNK + 1}",
    "write:9",
    "sent:7",
    "read back:1",
    "record:2",
    "end of bulk change:1",
)

SHARED: Final = BOTH[1:]
"""Where a set can be taken over while the process that had it still lives: SQLite has one process."""


def additions(many: int) -> list[Item]:
    return [
        Item(
            number=number,
            kind=Kind.MEMBER_ADD,
            target=Target(service="members", site="blog", key=f"person{number}@example.net"),
            after={"name": f"Person {number}", "email": f"person{number}@example.net", "allowedSegments": ["free"]},
        )
        for number in range(1, many + 1)
    ]


async def submitted(fleet: Fleet, items: Sequence[Item]) -> Change:
    proposal = Proposal(
        purpose=Purpose(act=BulkAct.IMPORT, about="a drill"),
        items=items,
        request=ChangeRequest(requester=ALICE.id, channel=OPS, reason="a drill"),
    )
    return await fleet.process.proposer.submit(proposal, idempotency_key="drill")


async def as_if_never_killed(fleet: Fleet, whole: Change, many: int) -> None:
    """Every part is done, once, and the records say so."""
    ended = await fleet.store.changes.get(whole.id)
    assert ended is not None
    assert ended.state is State.APPLIED
    tally = await fleet.store.items.tally(whole.id)
    assert tally == {Outcome.APPLIED: many}
    added = [each["email"] for each in fleet.services.members.all("site_1") if each["email"].endswith("example.net")]
    assert len(added) == len(set(added)) == many
    assert len(await fleet.all_changes()) == many + 1, "each part has one change"
    assert set(Counter(events_of(await fleet.events(), "applied")).values()) == {1}


def events_of(events: dict[str, list[str]], name: str) -> list[str]:
    return [change for change, told in events.items() for event in told if event == name]


@pytest.mark.threat("B13")
@pytest.mark.parametrize("database_url", AT_LEAST_SQLITE, indirect=True)
async def test_killed_at_random_moments_each_part_is_done_once(
    database_url: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    database, replicas = named(database_url)
    many, kills, chance = sized(120, 2_000, 10_000), sized(2, 10, 10), random.Random(7)
    async with running_fleet(database_url, tmp_path, replicas=replicas, lease=3.0) as fleet:
        await fleet.start()
        whole = await submitted(fleet, additions(many))
        moments = sorted(chance.sample(range(many), kills))
        for moment in moments:

            async def far_enough(wanted: int = moment) -> bool:
                tally = await fleet.store.items.tally(whole.id)
                return many - tally.of(OPEN) >= wanted

            await until(far_enough, f"{moment} parts are done", 600)
            for one in fleet.replicas:
                await one.killed()
            for one in fleet.replicas:
                one.start()
            for one in fleet.replicas:
                await one.ready()
        await fleet.settled(patience=900)

        await as_if_never_killed(fleet, whole, many)
    deaths = f"{kills} times kill -9 of {'all ' * (replicas > 1)}{replicas} replica{'s' * (replicas > 1)}"
    record_property("figure", f"G1 sets, {database}: {deaths} during a set of {many:,} members: each added once")


@pytest.mark.threat("B13")
@pytest.mark.parametrize(("database_url", "step"), in_turn(STEPS), indirect=["database_url"])
async def test_killed_at_any_step_each_part_is_done_once(database_url: str, step: str, tmp_path: Path) -> None:
    async with running_fleet(database_url, tmp_path) as fleet:
        (only,) = fleet.replicas
        only.start(die_at=step)
        await only.ready()
        whole = await submitted(fleet, additions(MANY))
        await only.dead()
        only.start()
        await fleet.settled()

        assert only.starts == 2, "it died once"
        await as_if_never_killed(fleet, whole, MANY)


@pytest.mark.threat("D8")
@pytest.mark.parametrize("database_url", SHARED, indirect=True)
async def test_a_process_that_was_stopped_sends_nothing_more_once_it_was_replaced(
    database_url: str, tmp_path: Path
) -> None:
    async with running_fleet(database_url, tmp_path, replicas=2) as fleet:
        first, second = fleet.replicas
        first.start(stop_at="sent:5")
        await first.ready()
        whole = await submitted(fleet, additions(40))
        await first.stopped()
        second.start()

        async def taken_over() -> bool:
            return (await fleet.store.items.tally(whole.id))[Outcome.APPLIED] == 40

        await until(taken_over, "the second one has done it all", 120)
        first.signal(18)
        await fleet.settled()

        await as_if_never_killed(fleet, whole, 40)
        sent = Counter(call.path for call in fleet.services.members.calls("POST"))
        assert sum(sent.values()) <= 40 + 8, "no more than what was under way when it was stopped"
