"""Addresses that channels keep."""

from __future__ import annotations

import asyncio

from bot.store.engine import Store
from bot.store.settings import MOST

A, B = "https://a.example/", "https://b.example/"


async def test_a_channel_keeps_its_own(store: Store) -> None:
    assert await store.samples.add("C1", [A, B, A]) == [A, B]
    assert await store.samples.add("C1", [B]) == []

    assert await store.samples.of("C1") == [A, B]
    assert await store.samples.of("C2") == []
    assert await store.samples.remove("C1", A)
    assert not await store.samples.remove("C1", A)
    assert await store.samples.of("C1") == [B]


async def test_there_is_an_end(store: Store) -> None:
    await store.samples.add("C1", [f"{A}{number}" for number in range(MOST + 9)])

    assert len(await store.samples.of("C1")) == MOST
    assert await store.samples.add("C1", [B]) == []


async def test_two_at_once_lose_nothing(store: Store) -> None:
    await store.samples.add("C1", [A])

    await asyncio.gather(*(store.samples.add("C1", [f"{A}{number}"]) for number in range(20)))

    assert len(await store.samples.of("C1")) == 21
