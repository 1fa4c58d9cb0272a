"""One service that hangs delays nothing of the other: neither what is taken over, nor sets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import count
from typing import Any, Final

import pytest

from bot.changes.journal import LEASE
from bot.changes.model.change import Change
from bot.changes.model.edits import Target
from bot.changes.model.states import State
from bot.changes.proposals import combine
from bot.changes.targets import Snapshot
from bot.clients.gate import CallContext
from tests.changes.world import EMAILS, SITE, Replica, Watched, World, rename, replica, rule
from tests.drills.fleet import until
from tests.harness.databases import BOTH
from tests.harness.proposing import CHANGES, record_only

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("database_url", BOTH, indirect=True)]
MEMBER: Final = Target(service="members", site=SITE, key=EMAILS[0])
MANY: Final = range(14)
"""More than are done at a time, in all lanes together."""


@pytest.fixture
async def world(world: World) -> World:
    for number in MANY:
        world.edit(("rules", f"Redirect_many{number}"), rule(f"Number {number}"))
    return world


@dataclass(frozen=True, slots=True)
class Hanging(Watched):
    """An adapter of a service that never answers."""

    async def snapshot(self, targets: Sequence[Target]) -> Snapshot:
        await asyncio.Event().wait()
        return await Watched.snapshot(self, targets)


def with_rules_hanging(world: World) -> Replica:
    mine = replica(world, "mine", count(1))
    plain = mine.pipeline.executor.adapter

    def adapter(target: Target, context: CallContext) -> Watched:
        found = plain(target, context)
        assert isinstance(found, Watched)
        return Hanging(found.inner, world, "mine", context=context) if target.service == "rules" else found

    executor = replace(mine.pipeline.executor, adapter=adapter)
    mine.pipeline.executor = executor
    return replace(mine, sets=replace(mine.sets, executor=executor))


def rules() -> list[Target]:
    return [Target(service="rules", key=f"Redirect_many{number}") for number in MANY]


@asynccontextmanager
async def at_work(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def ends_as(mine: Replica, change: Change, state: State) -> None:
    async def so() -> bool:
        return (await mine.pipeline.journal.get(change.id)).state is state

    await until(so, f"it is {state}", 30)


async def test_what_is_taken_over_at_one_service_waits_for_no_other(world: World) -> None:
    mine = with_rules_hanging(world)
    for target in rules():
        await record_only(mine.pipeline, rename(world, target=target), idempotency_key=target.key or "")
    member = await record_only(mine.pipeline, rename(world, target=MEMBER), idempotency_key="a member")
    world.clock.moment += LEASE * 2

    async with at_work(mine.pipeline.recover(every=0.05)):
        await ends_as(mine, member, State.APPLIED)


async def test_a_set_at_one_service_waits_for_no_set_at_another(world: World) -> None:
    mine = with_rules_hanging(world)
    for target in rules():
        await mine.pipeline.proposer.submit(
            combine(CHANGES, [rename(world, target=target)]), idempotency_key=target.key or ""
        )
    whole = await mine.pipeline.proposer.submit(
        combine(CHANGES, [rename(world, target=MEMBER)]), idempotency_key="a member"
    )
    world.clock.moment += timedelta(seconds=1)

    async with at_work(mine.sets.run(every=0.05)):
        await ends_as(mine, whole, State.APPLIED)


async def test_what_was_looked_at_the_longest_ago_is_taken_over_first(world: World, mine: Replica) -> None:
    changes = []
    for target in rules()[:3]:
        changes.append(await record_only(mine.pipeline, rename(world, target=target), idempotency_key=target.key or ""))
        world.clock.moment += timedelta(seconds=1)
    world.clock.moment += LEASE * 2
    first = await mine.pipeline.journal.claim_due()
    assert first is not None
    world.clock.moment += LEASE * 2

    taken = [await mine.pipeline.journal.claim_due() for _ in changes]

    assert first.id == changes[0].id
    assert [each.id for each in taken if each is not None] == [changes[1].id, changes[2].id, changes[0].id]
