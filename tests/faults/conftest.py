"""What every test of faults may ask for: a world, begun anew."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from bot.clients.http import Service
from bot.store.engine import open_store
from sandbox.services.running import MEMBERS_KEY, RULES_KEY, running_services
from tests.faults.proxy import faults_before
from tests.faults.world import LIMITS, World


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """One world for all cases: what takes time is made once, and every case begins it anew."""
    database = f"sqlite:///{tmp_path_factory.mktemp('faults') / 'store.db'}"
    async with AsyncExitStack() as stack:
        services = await stack.enter_async_context(running_services())
        world = World(services, {}, {})
        world.store = await stack.enter_async_context(open_store(database, now=world.now))
        for name, url, headers in (
            ("rules", services.rules_url, {"x-api-key": RULES_KEY}),
            ("members", services.members_url, {"Authorization": f"Bearer {MEMBERS_KEY}"}),
        ):
            parts = urlsplit(url)
            proxy = world.proxies[name] = await stack.enter_async_context(faults_before(parts.port or 0))
            service = Service(name, f"http://127.0.0.1:{proxy.port}{parts.path}", headers, limits=LIMITS)
            world.clients[name] = await stack.enter_async_context(service)
        yield world


@pytest_asyncio.fixture(loop_scope="module")
async def world(house: World) -> World:
    await house.begin()
    return house
