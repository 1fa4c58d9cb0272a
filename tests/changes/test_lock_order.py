"""Transactions that lock several rows lock them in one order, so that none waits for another for ever. On PostgreSQL."""

from __future__ import annotations

import asyncio

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.changes.events import event_of
from bot.changes.journal import LEASE
from bot.changes.model.edits import Target
from bot.changes.model.moves import GATEHOUSE, Fail
from bot.changes.model.states import State
from tests.changes.test_leases import kept, rename
from tests.changes.world import World
from tests.drills.fleet import until
from tests.harness.clocks import EPOCH
from tests.harness.databases import BOTH
from tests.harness.proposing import with_fields

pytestmark = pytest.mark.parametrize("database_url", BOTH[1:], indirect=True)


async def is_waiting(world: World) -> bool:
    """Whether a transaction waits for another one's lock."""
    async with world.store.session.reading() as connection:
        return bool(await connection.scalar(sa.text("SELECT count(*) FROM pg_locks WHERE NOT granted")))


@pytest.mark.parametrize("step", ["renew", "finish"])
async def test_who_renews_a_set_and_who_records_its_parts_lock_them_in_one_order(world: World, step: str) -> None:
    store, whole = world.store, await kept(world, rename(world))
    items = [
        with_fields(rename(world), id=name * 32, target=Target(service="rules", key=name), state=State.APPLYING)
        for name in "dcba"  # as they lie in the table
    ]
    async with store.transaction() as tx:
        held = await store.changes.claim(tx, whole.id, "mine", LEASE)
        assert held is not None
        await store.changes.begin(tx, items, "mine", LEASE)

    async def other() -> None:
        async with store.transaction() as tx:
            if step == "renew":
                await store.changes.renew(tx, held, [item.id for item in items], "mine", LEASE)
            else:
                await store.changes.finish(tx, [(item, Fail()) for item in items], "mine", EPOCH)

    async with store.transaction() as tx:
        await store.changes.get_locked(tx, "a" * 32)
        waits = asyncio.create_task(other())
        await until(lambda: is_waiting(world), "it waits for the first of them", 30)
        assert await store.changes.get_locked(tx, "b" * 32), "in the other order, both would wait for ever"
    await waits


async def test_who_delivers_a_card_and_who_enqueues_it_anew_lock_it_and_the_audit_in_one_order(world: World) -> None:
    store, change = world.store, await kept(world, rename(world))
    event = event_of("announced", change, GATEHOUSE)
    async with store.transaction() as tx:
        await store.outbox.enqueue(tx, change.id, "card")
    (message,) = await store.outbox.claim("mine", LEASE)

    async def note(tx: AsyncConnection) -> None:
        await store.audit.append(tx, event)

    async with store.transaction() as tx:
        await store.outbox.enqueue(tx, change.id, "card")
        delivered = asyncio.create_task(store.outbox.mark_delivered(message, note))
        await until(lambda: is_waiting(world), "it waits for the message", 30)
        await store.audit.append(tx, event)
    await delivered
