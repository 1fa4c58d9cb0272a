"""What every test of the store may ask for: a clock that stands still, and a store that goes by it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.store.engine import Store, open_store
from tests.harness.clocks import StandingClock


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock()


@pytest.fixture
async def store(database_url: str, clock: StandingClock) -> AsyncIterator[Store]:
    async with open_store(database_url, now=clock) as opened:
        yield opened
