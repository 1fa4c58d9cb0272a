"""D1 to D3: the database is locked, full, read-only or damaged. Nothing is half written, and nothing is acted on."""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
import sqlalchemy as sa

from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.parts import ChangeRequest, Guard
from bot.changes.model.states import State
from bot.changes.proposals import Proposal
from bot.changes.refusals import Unrecorded
from bot.changes.rights import Decision
from bot.health import WORKS
from bot.store.audit import Event, Filters
from bot.store.db import StoreError
from bot.store.engine import Store, open_store
from tests.changes.world import BOB, OPS, POLICIES, RULE_IDS, World, a_world, replica
from tests.harness.clocks import StandingClock
from tests.store.test_store import added, change

pytestmark = pytest.mark.slow

# D1: the file is locked


@pytest.mark.threat("D1")
async def test_a_lock_of_another_process_is_waited_for(tmp_path: Path) -> None:
    file, clock = tmp_path / "store.db", StandingClock()
    async with open_store(f"sqlite:///{file}", now=clock) as store:
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        one = change(clock)
        writing = asyncio.create_task(added(store, one))
        waiting, _ = await asyncio.wait({writing}, timeout=0.3)
        assert not waiting
        assert await store.changes.get(one.id) is None  # readers wait for nobody

        other.execute("ROLLBACK")
        other.close()

        assert await writing == one
        assert await store.changes.get(one.id) == one


@pytest.mark.threat("D1")
async def test_four_processes_write_at_once_and_none_is_turned_away(tmp_path: Path) -> None:
    clock = StandingClock()

    async def write(store: Store, number: int) -> None:
        for turn in range(200):
            async with store.transaction() as tx:
                await store.audit.append(tx, Event("applied", "U1", "C1", detail={"turn": [number, turn]}))

    async with AsyncExitStack() as stack:
        stores = [
            await stack.enter_async_context(open_store(f"sqlite:///{tmp_path / 'store.db'}", now=clock))
            for _ in range(4)
        ]
        await asyncio.gather(*(write(store, number) for number, store in enumerate(stores)))

        assert len([entry async for entry in stores[0].audit.all(Filters())]) == 800


# D2: the disk is full, or takes no writes


@dataclass(slots=True)
class Disk:
    """What becomes of the so manieth transaction that writes, and of all after it."""

    fault: str
    at: int
    begun: int = 0

    def begin(self, connection: sa.Connection) -> None:
        if connection.get_execution_options().get("reading"):
            return
        self.begun += 1
        struck = self.begun >= self.at
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages if struck and self.fault == 'full' else 1_000_000}")
        connection.exec_driver_sql(f"PRAGMA query_only={int(struck and self.fault == 'read-only')}")


@asynccontextmanager
async def on_a_disk(tmp_path: Path, fault: str, at: int) -> AsyncIterator[tuple[World, Disk]]:
    """A world with room for everything up to transaction number *at*."""
    async with a_world(f"sqlite:///{tmp_path / 'store.db'}") as world:
        await world.begin(POLICIES["confirm"])
        disk = Disk(fault, at)
        engine = world.store.session.writer.sync_engine
        sa.event.listen(engine, "begin", disk.begin)
        sa.event.listen(engine, "rollback", lambda connection: connection.exec_driver_sql("PRAGMA query_only=0"))
        yield world, disk


LONG: Final = "because " * 5000
"""A reason that stands in every event, so that no transaction of the change fits into the pages that there are."""


def proposed(world: World, kind: Kind) -> Proposal:
    key = None if kind is Kind.RULE_CREATE else RULE_IDS[0]
    target = Target(service="rules", key=key)
    live = None if key is None else world.live(target)
    body: dict[str, Any] = {name: value for name, value in world.services.rules.all()[0].items() if name != "id"}
    after = None if kind is Kind.RULE_DELETE else body | {"name": "New"}
    return Proposal.of(
        guard=Guard.CONFIRM,
        edit=Edit(kind=kind, target=target, before=live, after=after),
        request=ChangeRequest(requester=BOB, channel=OPS, reason=LONG),
    )


STEPS: Final = {Kind.RULE_DELETE: 4, Kind.RULE_UPDATE: 4, Kind.RULE_CREATE: 5}
"""Transactions of a change: asked, confirmed and claimed, (what looks alike noted,) its lease renewed, finished."""
SAYS: Final = ("full", "readonly")
"""A word of what SQLite says of each fault."""


@pytest.mark.threat("D2")
@pytest.mark.parametrize("fault", ["full", "read-only"])
@pytest.mark.parametrize(("kind", "at"), [(kind, at) for kind, last in STEPS.items() for at in range(1, last + 2)])
async def test_a_disk_that_takes_no_more_stops_a_change_before_its_effect_or_is_made_up_for_later(
    tmp_path: Path, kind: Kind, at: int, fault: str
) -> None:
    async with on_a_disk(tmp_path, fault, at) as (world, disk):
        mine = replica(world, "mine", count(1))
        proposal, before = proposed(world, kind), world.truth()
        struck = False
        try:
            asked = await mine.pipeline.proposer.submit(proposal, idempotency_key="request")
            await mine.pipeline.decisions.decide(asked, Decision.CONFIRM, BOB)
        except (StoreError, Unrecorded) as error:
            struck = any(word in str(error if isinstance(error, StoreError) else error.__cause__) for word in SAYS)
            assert struck
        row, effect = await world.store.changes.find_by_key("request"), world.truth() != before
        assert struck == (at <= STEPS[kind]) or (fault == "full" and at > 2)  # the last pages may do for a rule's end
        assert (row is None) == (at == 1)
        assert effect == (at >= STEPS[kind]) or (fault == "full" and at > 2)
        if row is not None:
            assert row.state in ({State.APPLYING, State.APPLIED} if effect else {*State} - {State.APPLIED})
            assert (row.state is State.APPLIED) != struck
        if fault == "read-only":
            works = disk.begun < disk.at
            assert (await world.store.health() == {"store": WORKS}) == works

        disk.at = 1_000_000
        world.clock.moment += timedelta(seconds=61)
        asked = await mine.pipeline.proposer.submit(proposal, idempotency_key="request")
        while await mine.recover_one():
            pass
        if (asked := await mine.pipeline.journal.get(asked.id)).state is State.PROPOSED:
            asked = await mine.pipeline.decisions.decide(asked, Decision.CONFIRM, BOB)

        if kind is Kind.RULE_CREATE and at == STEPS[kind] - 1 and struck:
            # What looks alike was noted, so it may have been sent: one that was is not sent again.
            assert (asked.state, effect) == (State.UNKNOWN, False)
            return
        assert asked.state is State.APPLIED
        assert world.sent[asked.id].effects == 1
        while await mine.outbox.deliver_one():
            pass
        assert world.cards[asked.id].state is State.APPLIED


# D3: the file is damaged


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database in which something is of every table."""
    file, clock = tmp_path_factory.mktemp("whole") / "store.db", StandingClock()

    async def fill() -> None:
        async with open_store(f"sqlite:///{file}", now=clock) as store:
            for number in range(40):
                one = await added(store, change(clock, f"Redirect_{number}"))
                async with store.transaction() as tx:
                    await store.outbox.enqueue(tx, one.id, "card")
                    await store.cards.put(tx, one.id, "C1", "1.0", "card")
                    await store.former_ids.put(tx, f"old{number}", f"new{number}")
                    await store.audit.append(tx, Event("requested", "U1", "C1", one.id))

    asyncio.run(fill())
    assert not file.with_name("store.db-wal").exists()
    return file


@pytest.mark.threat("D3")
@pytest.mark.parametrize("seed", range(4))
async def test_a_damaged_file_is_refused_or_good_enough_to_open(whole: Path, tmp_path: Path, seed: int) -> None:
    """50 places a seed, some of them in the first page. What opens can be read, or says so with an error of ours."""
    chance, refused = random.Random(seed), 0
    raw = whole.read_bytes()
    for turn in range(50):
        file = tmp_path / f"{turn}.db"
        shutil.copy(whole, file)
        place = chance.randrange(4096 if turn % 5 == 0 else len(raw))
        length = chance.choice((1, 1, 16, 512))
        file.write_bytes(
            raw[:place] + bytes(chance.randrange(256) for _ in raw[place : place + length]) + raw[place + length :]
        )
        try:
            async with open_store(f"sqlite:///{file}", now=StandingClock()) as store:
                await store.audit.find(Filters())
        except StoreError:
            refused += 1
    assert 0 < refused < 50


@pytest.mark.threat("D3")
async def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    file.write_bytes(text := b"Dear diary, " * 500)

    with pytest.raises(StoreError):
        async with open_store(f"sqlite:///{file}", now=StandingClock()):
            pass

    assert file.read_bytes() == text
