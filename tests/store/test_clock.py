"""Where several machines share a database, its clock counts and theirs do not."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from bot.store.db import Session, open_engine
from bot.store.engine import DatabaseClock, steady_clock


@pytest.fixture
async def session(database_url: str) -> AsyncIterator[Session]:
    async with open_engine(database_url, read_only=True) as engine:
        yield Session(engine, engine, lambda: datetime.now(UTC))


@pytest.mark.threat("D7")
@pytest.mark.parametrize("database_url", [pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True)
async def test_the_database_is_read_and_carried_on(session: Session) -> None:
    ticks = [1000.0]
    clock = DatabaseClock(steady=lambda: ticks[0])
    ticks[0] += 3600  # an hour in which this machine knew nothing
    ahead = clock()

    await clock.read(session)

    assert abs(ahead - clock() - timedelta(hours=1)) < timedelta(minutes=1)
    read = clock()
    ticks[0] += 90
    assert clock() - read == timedelta(seconds=90)


@pytest.mark.skipif(
    not hasattr(time, "CLOCK_BOOTTIME"), reason="this system has no clock that runs while it is suspended"
)
def test_the_steady_clock_runs_on_while_the_machine_is_suspended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)  # as it stood when the machine was suspended
    monkeypatch.setattr(time, "clock_gettime", {time.CLOCK_BOOTTIME: 3700.0}.__getitem__)

    assert steady_clock() == 3700.0
