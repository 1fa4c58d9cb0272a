"""Processes that are stopped, as a paused machine is, and wake up after another has taken their work."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from bot.changes.model.states import State
from sandbox.gatehouse import ALICE, CARA
from sandbox.slack.story import Person
from tests.drills.fleet import OPS, Fleet, now, running_fleet, until
from tests.drills.test_crash_points import STORIES, effects
from tests.drills.wire import click, delivered
from tests.harness.databases import BOTH

pytestmark = [
    pytest.mark.drill,
    pytest.mark.skipif(sys.platform != "linux", reason="whether a process is stopped is read in /proc"),
]
POSTGRES = pytest.mark.parametrize(
    "database_url", [pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True
)


async def approved(fleet: Fleet, many: int, port: int) -> list[str]:
    """So many deletes, asked for and approved; the ids of the changes."""
    asked = await fleet.deletions(many)
    cards = await fleet.cards(asked)
    clicks = [click(fleet.slack, CARA.id, cards[change.id], "approve") for change in asked]
    assert all(await asyncio.gather(*(delivered(port, one) for one in clicks)))
    return [change.id for change in asked]


@pytest.mark.threat("D8")
@POSTGRES
@pytest.mark.parametrize("step", ["look", "write", "read back", "record"])
async def test_a_stopped_process_that_wakes_up_changes_nothing_any_more(
    step: str, database_url: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    async with running_fleet(database_url, tmp_path, replicas=2) as fleet:
        zombie, other = fleet.replicas
        zombie.start(stop_at=f"{step}:1")
        await zombie.ready()
        (change_id,) = await approved(fleet, 1, zombie.port)
        await zombie.stopped()
        other.start()
        await other.ready()
        await fleet.settled()
        before = await fleet.store.changes.get(change_id)
        assert before is not None
        assert before.state is State.APPLIED

        zombie.signal(signal.SIGCONT)
        await zombie.ended()

        assert await fleet.store.changes.get(change_id) == before
        assert fleet.deletes()["Redirect_d00000"] == 1
        assert fleet.services.rules.get("Redirect_d00000") is None
        assert (await fleet.events())[change_id].count("applied") == 1
    record_property(
        "figure",
        "D8 a replica stopped in a delete and woken up: another took it over, and it changed nothing (1 delete, 1 record)",
    )


@pytest.mark.parametrize("database_url", BOTH, indirect=True)
async def test_a_process_that_was_stopped_for_long_before_it_sends_begins_anew(
    database_url: str, tmp_path: Path
) -> None:
    """Alone it keeps what it holds: a create of which nothing was sent is no failure."""
    story = STORIES["create a rule"]
    async with running_fleet(database_url, tmp_path, lease=6) as fleet:
        (only,) = fleet.replicas
        only.start(stop_at="look:1")
        await only.ready()
        fleet.deliver_to(only)
        await story.begin(fleet, Person(fleet.slack, ALICE.id, OPS))
        await only.stopped()
        woken = now() + timedelta(seconds=3.2)

        async def later() -> bool:
            return now() > woken

        await until(later, "more than half of the lease is over")
        only.signal(signal.SIGCONT)
        await fleet.settled()

        (change,) = await fleet.all_changes()
        assert change.state is State.APPLIED
        assert effects(fleet, story) == len(fleet.services.rules.calls("POST")) == 1
