"""Where several machines share a database, its clock counts and theirs do not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from bot.store.db import Session, make_engine
from bot.store.engine import DatabaseClock


@pytest.fixture
async def session(database_url: str) -> AsyncIterator[Session]:
    engine = make_engine(database_url)
    yield Session(engine, lambda: datetime.now(UTC))
    await engine.dispose()


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
