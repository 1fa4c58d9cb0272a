"""What every test of faults may ask for: a world, begun anew."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from tests.conftest import Clock
from tests.faults.proxy import FaultProxy, faults_before
from tests.faults.world import LIMITS, World
from tests.harness.ground import open_ground


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """One world for all cases: what takes time is made once, and every case begins it anew."""
    database = f"sqlite:///{tmp_path_factory.mktemp('faults') / 'store.db'}"
    clock, proxies = Clock(), dict[str, FaultProxy]()
    async with AsyncExitStack() as stack:

        async def by_proxy(name: str, url: str) -> str:
            proxies[name] = await stack.enter_async_context(faults_before(port := urlsplit(url).port or 0))
            return url.replace(f":{port}/", f":{proxies[name].port}/")

        ground = await stack.enter_async_context(open_ground(database, now=clock, limits=LIMITS, way=by_proxy))
        yield World(*ground, clock, proxies)


@pytest_asyncio.fixture(loop_scope="module")
async def world(house: World) -> World:
    await house.begin()
    return house
