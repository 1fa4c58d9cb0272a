"""The world that tests of changes start from. A test of another policy opens a world under that policy itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import count

import pytest

from tests.changes.world import POLICIES, Replica, World, a_world, replica


@pytest.fixture
async def world(database_url: str) -> AsyncIterator[World]:
    """The services and a database, where nothing needs anybody's approval."""
    async with a_world(database_url) as world:
        await world.begin(POLICIES["free"])
        yield world


@pytest.fixture
def mine(world: World) -> Replica:
    """A replica in the test's hands."""
    return replica(world, "mine", count(1))
