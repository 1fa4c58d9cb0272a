"""Addresses that channels keep."""

from __future__ import annotations

import asyncio

from bot.store.channel_settings import MAX_TEST_URLS
from bot.store.engine import Store

A, B = "https://a.example/", "https://b.example/"


async def test_a_channel_keeps_its_own(store: Store) -> None:
    assert await store.test_urls.add("C1", [A, B, A]) == [A, B]
    assert await store.test_urls.add("C1", [B]) == []

    assert await store.test_urls.get("C1") == [A, B]
    assert await store.test_urls.get("C2") == []
    assert await store.test_urls.remove("C1", A)
    assert not await store.test_urls.remove("C1", A)
    assert await store.test_urls.get("C1") == [B]


async def test_there_is_an_end(store: Store) -> None:
    await store.test_urls.add("C1", [f"{A}{number}" for number in range(MAX_TEST_URLS + 9)])

    assert len(await store.test_urls.get("C1")) == MAX_TEST_URLS
    assert await store.test_urls.add("C1", [B]) == []


async def test_two_at_once_lose_nothing(store: Store) -> None:
    await store.test_urls.add("C1", [A])

    await asyncio.gather(*(store.test_urls.add("C1", [f"{A}{number}"]) for number in range(20)))

    assert len(await store.test_urls.get("C1")) == 21
