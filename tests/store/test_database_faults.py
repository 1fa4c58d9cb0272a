"""D1 and D3: the database is locked or damaged. Nothing is half written, and nothing is acted on."""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from bot.store.audit import Event, Filters
from bot.store.db import StoreError
from bot.store.engine import Store, open_store
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
