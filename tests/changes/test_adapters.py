"""What a look at the rules service costs, in requests."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.changes.adapters import FEW, RuleAdapter
from bot.changes.model import Target
from bot.changes.verify import read_live
from bot.clients.cache import one_command
from tests.changes.world import POLICIES, RULE_IDS, World, a_world

NEW = Target(service="rules")


@pytest.fixture
async def world(database_url: str) -> AsyncIterator[World]:
    async with a_world(database_url) as world:
        await world.begin(POLICIES["free"])
        yield world


def paths(world: World) -> list[str]:
    return [call.path.rpartition("/")[2] for call in world.services.rules.calls()]


async def test_one_rule_is_read_alone_and_many_as_a_list(world: World) -> None:
    known = Target(service="rules", key=RULE_IDS[0])

    assert await read_live(RuleAdapter(world.rules), known) == world.live(known)
    assert paths(world) == [RULE_IDS[0]]

    await RuleAdapter(world.rules).snapshot([known] * (FEW + 1))
    assert paths(world) == [RULE_IDS[0], "rules"]


async def test_a_rule_to_be_created_is_not_looked_for_and_what_it_must_not_look_like_is_read_once(world: World) -> None:
    adapter = RuleAdapter(world.rules)

    assert await read_live(adapter, NEW) is None
    assert paths(world) == []

    with one_command():
        await world.rules.all()
        await adapter.snapshot([NEW], shared=True)
        assert paths(world) == ["rules"]
        await adapter.snapshot([NEW])
    assert paths(world) == ["rules", "rules"]
