"""kill -9 at every step of a start, at many starts: each change begins once, and none before its time."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest

from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.parts import ChangeRequest
from bot.changes.model.states import State
from bot.changes.proposals import Proposal
from sandbox.gatehouse import ALICE
from tests.drills.fleet import OPS, RULE, Fleet, now, running_fleet, sized, until
from tests.harness.databases import BOTH

pytestmark = [pytest.mark.drill, pytest.mark.timeout(1800)]

STEPS: Final = ("claim:1", "look:1", "write:1", "sent:1", "read back:1", "record:1")
"""Where a process dies, one after the other: when it begins what was planned, and on the way to its end."""
SOON: Final = timedelta(seconds=3)


@pytest.mark.threat("B17")
@pytest.mark.parametrize("database_url", BOTH, indirect=True)
async def test_killed_at_any_step_each_planned_change_begins_once_and_none_early(
    database_url: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    many, chance = sized(12, 1_000, 1_000), random.Random(17)
    is_sqlite = database_url.startswith("sqlite")
    async with running_fleet(database_url, tmp_path, replicas=1 if is_sqlite else 2, look_every=0.5) as fleet:
        planned = [await plan(fleet, number, chance) for number in range(many)]
        deaths = asyncio.create_task(dying(fleet))

        async def all_over() -> bool:
            counts = await fleet.store.changes.count_by_state()
            return not {State.PLANNED, State.APPROVED, State.APPLYING, State.UNKNOWN} & {
                State(state) for state, count in counts.items() if count
            }

        await until(all_over, "all are over", 600)
        deaths.cancel()
        await asyncio.gather(deaths, return_exceptions=True)

        ended = await fleet.store.changes.get_many([change.id for change in planned])
        writes = Counter(call.path for call in fleet.services.rules.calls("PUT"))
        begun = [change.run.started_at - change.request.starts_at for change in ended.values()]  # type: ignore[operator]
        assert {change.state for change in ended.values()} == {State.APPLIED}
        assert min(begun) >= timedelta(0), "begun before its time"
        assert (len(writes), set(writes.values())) == (many, {1})
        starts = sum(one.starts for one in fleet.replicas)
    latest = max(begun).total_seconds()
    record_property(
        "figure",
        f"G13 {'SQLite' if is_sqlite else 'PostgreSQL'}: {many} planned changes, {starts - len(fleet.replicas)} kill -9 in the"
        f" steps of their starts: each begun once, 0 early, the latest {latest:.1f} s after its time",
    )


async def plan(fleet: Fleet, number: int, chance: random.Random) -> Change:
    """A rule that is to be switched off within some seconds."""
    rule = {**RULE, "id": f"Redirect_p{number:05d}", "name": f"Plan {number}"}
    fleet.services.rules.put(rule)
    after = {name: value for name, value in rule.items() if name != "id"} | {"status": "Inactive"}
    target = Target(service="rules", key=rule["id"])
    starts = now() + SOON + timedelta(seconds=chance.uniform(0, SOON.total_seconds()))
    proposal = Proposal.of(
        edit=Edit(kind=Kind.RULE_UPDATE, target=target, before=rule, after=after),
        request=ChangeRequest(requester=ALICE.id, channel=OPS, reason="a drill", starts_at=starts),
    )
    made = await fleet.process.proposer.submit(proposal, idempotency_key=uuid4().hex)
    assert made.state is State.PLANNED
    return made


async def dying(fleet: Fleet) -> None:
    """Keep the replicas up, each start of one to die at another step; the last ones live."""

    async def lives(number: int) -> None:
        one = fleet.replicas[number]
        for step in [*STEPS, ""]:
            one.start(die_at=step)
            await one.dead(patience=3600)

    async with asyncio.TaskGroup() as group:
        for number in range(len(fleet.replicas)):
            group.create_task(lives(number))
