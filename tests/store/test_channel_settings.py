"""What a channel has set is swapped, never overwritten, and each swap is on record. On both databases."""

from __future__ import annotations

import asyncio

import pytest

from bot.store.audit import Filters
from bot.store.channel_settings import SettingsMoved
from bot.store.engine import Store, open_store
from tests.harness.clocks import StandingClock
from tests.harness.databases import BOTH

pytestmark = pytest.mark.parametrize("database_url", BOTH, indirect=True)
OPS, SUPPORT = "C0OPS0001", "C0SUPPORT"


async def recorded(store: Store) -> int:
    return len([entry async for entry in store.audit.all(Filters()) if entry.event == "settings"])


async def test_each_channel_has_its_own(store: Store) -> None:
    settings = store.channel_settings
    await settings.change(OPS, {}, {"site": "docs", "segments": "gold"}, by="U1")
    await settings.change(OPS, {"site": "docs", "segments": "gold"}, {"site": "", "segments": "gold,vip"}, by="U1")

    assert await settings.get(OPS) == {"segments": "gold,vip"}
    assert await settings.get(SUPPORT) == {}
    assert await recorded(store) == 2


async def test_nothing_different_is_not_on_record(store: Store) -> None:
    await store.channel_settings.change(OPS, {"site": ""}, {}, by="U1")

    assert await recorded(store) == 0


@pytest.mark.parametrize(("there", "seen"), [("docs", ""), ("docs", "blog"), ("", "blog")])
async def test_what_moved_is_left_alone(store: Store, there: str, seen: str) -> None:
    settings = store.channel_settings
    await settings.change(OPS, {}, {"site": there}, by="U1")
    was = await recorded(store)

    with pytest.raises(SettingsMoved):
        await settings.change(OPS, {"site": seen}, {"site": "shop", "segments": "gold"}, by="U2")

    assert (await settings.get(OPS)).get("site", "") == there
    assert "segments" not in await settings.get(OPS), "all or nothing"
    assert await recorded(store) == was


async def test_of_many_at_once_one_wins(store: Store, database_url: str) -> None:
    async with open_store(database_url, now=StandingClock()) as another:
        done = await asyncio.gather(
            *(
                (store, another)[number % 2].channel_settings.change(OPS, {}, {"site": f"s{number}"}, by="U1")
                for number in range(8)
            ),
            return_exceptions=True,
        )

    assert sorted(type(one).__name__ for one in done) == ["NoneType"] + ["SettingsMoved"] * 7
    assert await recorded(store) == 1
