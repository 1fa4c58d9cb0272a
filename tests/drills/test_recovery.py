"""How soon: from start to ready, from a death to the next replica's takeover, from due to done. Measured, not promised."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from uuid import uuid4

import pytest

from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.parts import ChangeRequest
from bot.changes.model.states import State
from bot.changes.proposals import Proposal
from bot.store.outbox import Purpose
from sandbox.gatehouse import ALICE, CARA
from tests.drills.fleet import OPS, RULE, TIMING, Fleet, now, running_fleet, sized, spread, until
from tests.drills.wire import click, delivered
from tests.harness.databases import BOTH
from tests.harness.programs import ROOT

pytestmark = [pytest.mark.drill, pytest.mark.timeout(1800)]
TEMPORARY_A_SECOND = 6
POSTGRES = pytest.mark.parametrize(
    "database_url", [pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True
)


@pytest.mark.parametrize("database_url", BOTH, indirect=True)
async def test_from_start_to_ready(
    database_url: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    seconds = []
    async with running_fleet(database_url, tmp_path) as fleet:
        (only,) = fleet.replicas
        for _ in range(sized(1, 5, 20)):
            began = time.perf_counter()
            program = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tests.drills.replica"), cwd=ROOT, env={**os.environ, **only.environment}
            )
            await until(only.answers, "it is ready")
            seconds.append(time.perf_counter() - began)
            program.kill()
            await program.wait()
    database = "SQLite" if database_url.startswith("sqlite") else "PostgreSQL"
    record_property(
        "figure", f"G10 {database}: {spread(seconds)[0]:.1f} s from start to ready (median of {len(seconds)})"
    )


@POSTGRES
async def test_from_a_death_to_the_takeover(
    database_url: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    seconds = []
    async with running_fleet(database_url, tmp_path, replicas=2) as fleet:
        doomed, other = fleet.replicas
        other.start()
        await other.ready()
        asked = await fleet.deletions(sized(1, 5, 20))
        cards = await fleet.cards(asked)
        for change in asked:
            doomed.start(die_at="write:1")
            await doomed.ready()
            # Stopped for that long: on a busy machine it would take the request over before the other one gets to its write.
            other.signal(signal.SIGSTOP)
            await delivered(doomed.port, click(fleet.slack, CARA.id, cards[change.id], "approve"))
            await doomed.dead()
            other.signal(signal.SIGCONT)
            died = now()
            await fleet.settled()
            found = await fleet.store.changes.get(change.id)
            assert found is not None
            assert found.state is State.APPLIED
            assert found.run.finished_at is not None
            seconds.append((found.run.finished_at - died).total_seconds())
        assert set(fleet.deletes().values()) == {1}
    record_property(
        "figure",
        f"G10 takeover: {spread(seconds)[0]:.1f} s (median of {len(seconds)}) from the death of a replica in the middle "
        f"of a delete to the delete done by another, with a lease of {TIMING['lease']} s",
    )


@pytest.mark.threat("B14")
@POSTGRES
async def test_temporary_changes_end_late_rather_than_early(
    database_url: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    many, chance = sized(10, 100, 1_000), random.Random(11)
    async with running_fleet(database_url, tmp_path, replicas=2, look_every=1.0) as fleet:
        await fleet.start()
        live = await taken_back(fleet, await temporary(fleet, many, chance))
        outage = [one.killed() for one in fleet.replicas]
        await asyncio.gather(*outage)
        made = await temporary(fleet, many, chance, first=many)

        async def all_due() -> bool:
            return all(change.request.reverts_at is not None and change.request.reverts_at < now() for change in made)

        await until(all_due, "all are due while nobody runs", 120)
        began = now()
        await fleet.start()
        after = await taken_back(fleet, made)
        caught_up = (max(at for _, at in after) - began).total_seconds()

        late = [
            (at - change.request.reverts_at).total_seconds()
            for change, at in live
            if change.request.reverts_at is not None
        ]
        early = sum(
            at < change.request.reverts_at for change, at in [*live, *after] if change.request.reverts_at is not None
        )
        assert early == 0
        assert len(fleet.services.rules.calls("PUT")) == 4 * many, "each switched off once, and on once"
    record_property(
        "figure",
        f"G11: {2 * many} temporary changes, {TEMPORARY_A_SECOND} a second: {early} ended early; "
        f"{spread(late)[0]:.1f} s late (median), {spread(late)[1]:.1f} s (p99); {many} that were due while nobody ran ended "
        f"within {caught_up:.1f} s of the start",
    )


async def temporary(fleet: Fleet, many: int, chance: random.Random, *, first: int = 0) -> list[Change]:
    """So many rules that are switched off for some seconds, at a pace: else a faster machine has to end more at a time."""
    made: list[Change] = []
    began = time.perf_counter()
    for number in range(first, first + many):
        await asyncio.sleep(max(0.0, began + len(made) / TEMPORARY_A_SECOND - time.perf_counter()))
        rule = {**RULE, "id": f"Redirect_t{number:05d}", "name": f"Timer {number}"}
        fleet.services.rules.put(rule)
        after = {name: value for name, value in rule.items() if name != "id"} | {"status": "Inactive"}
        target = Target(service="rules", key=rule["id"])
        proposal = Proposal.of(
            edit=Edit(kind=Kind.RULE_UPDATE, target=target, before=rule, after=after),
            request=ChangeRequest(requester=ALICE.id, channel=OPS, reason="a drill", revert_after=chance.randint(2, 5)),
        )
        made.append(await fleet.process.proposer.submit(proposal, idempotency_key=uuid4().hex))
        assert made[-1].state is State.APPLIED, made[-1].run.why_not
    return made


async def taken_back(fleet: Fleet, made: list[Change]) -> list[tuple[Change, datetime]]:
    """When the end of each was begun, once all have ended."""

    async def all_ended() -> bool:
        return not await fleet.store.outbox.pending_change_ids(Purpose.REVERT) and not await fleet.left()

    await until(all_ended, "all have ended", 300)
    undone = {change.request.undoes: change.created for change in await fleet.all_changes() if change.request.undoes}
    return [(change, undone[change.id]) for change in made]
