"""One approval, one write: a change is held for as long as it is being carried out, and who lost it sends nothing more."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import chain, count, product, repeat
from typing import Any, Final

import pytest
import sqlalchemy as sa

from bot.changes.adapters import MemberAdapter, RuleAdapter
from bot.changes.consequences import SHOWN_WITHIN
from bot.changes.execute import HELD_FOR, MAX_SENDS, Executor
from bot.changes.journal import LEASE
from bot.changes.model.change import Change
from bot.changes.model.documents import Document
from bot.changes.model.edits import Kind, Target
from bot.changes.model.moves import Defer, Finish
from bot.changes.model.parts import ChangeRequest, Guard
from bot.changes.model.states import State
from bot.changes.proposals import Proposal
from bot.changes.rights import Decision
from bot.changes.targets import LOOKING, Snapshot
from bot.changes.verify import Reading, Verification
from bot.changes.worker import ChangeLease, LeaseLost, keep_change_lease
from bot.clients.gate import Priority
from bot.clients.http import Service
from bot.clients.members import MembersClient
from bot.store.audit import Filters
from bot.store.tables import changes
from sandbox.services.running import MEMBERS_KEY
from tests.changes.world import (
    ALICE,
    BOB,
    EMAILS,
    OPS,
    POLICIES,
    RULE,
    RULE_IDS,
    SITE,
    Replica,
    Watched,
    World,
    place_of,
    replica,
)
from tests.changes.world import rename as proposed_rename
from tests.drills.fleet import until
from tests.harness.clocks import EPOCH
from tests.harness.databases import BOTH
from tests.harness.proposing import with_fields

pytestmark = pytest.mark.parametrize("database_url", BOTH, indirect=True)
OVER: Final = LEASE + timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Paused(Watched):
    """An adapter that waits at one step, as a service that is slow or a process that is stopped does."""

    step: str = ""
    there: asyncio.Event = field(default_factory=asyncio.Event)
    free: asyncio.Event = field(default_factory=asyncio.Event)
    looks: Iterator[str] = field(default_factory=lambda: chain(["look"], repeat("read back")))

    async def _at(self, step: str) -> None:
        if step == self.step:
            self.there.set()
            await self.free.wait()

    async def snapshot(self, targets: Sequence[Target]) -> Snapshot:
        found = await Watched.snapshot(self, targets)
        await self._at(next(self.looks))
        return found

    async def write(self, change: Change) -> Document | None:
        answer = await Watched.write(self, change)
        await self._at("write")
        return answer


def paused(world: World, mine: Replica, step: str) -> tuple[Executor, Paused]:
    """The executor of that process, which comes to a stand at *step*."""
    watched = mine.pipeline.executor.adapter(Target(service="rules"), LOOKING)
    assert isinstance(watched, Watched)
    slow = Paused(watched.inner, world, watched.owner, step=step)
    return replace(mine.pipeline.executor, adapter=lambda _, context: replace(slow, context=context)), slow


def rename(world: World, **more: Any) -> Change:
    """An approved change of a rule, of which nothing was done yet."""
    change = proposed_rename(world).change(f"{next(world.names):032x}", world.clock())
    approved = {"state": State.APPROVED, "guard": Guard.CONFIRM, "decided_at": world.clock()}
    return with_fields(change, **approved | more)


async def kept(world: World, change: Change) -> Change:
    async with world.store.transaction() as tx:
        return await world.store.changes.add(tx, change, change.id)


async def columns(world: World, change: Change) -> Any:
    async with world.store.session.reading() as connection:
        return (await connection.execute(sa.select(changes).where(changes.c.id == change.id))).one()


STEPS: Final = ["look", "write", "read back"]


@pytest.mark.parametrize("step", STEPS)
async def test_what_is_still_being_done_here_is_not_taken_over_by_the_same_process(
    world: World, mine: Replica, step: str
) -> None:
    executor, slow = paused(world, mine, step)
    change = await kept(world, rename(world))
    doing = asyncio.create_task(executor.go_on(change))
    await slow.there.wait()
    world.clock.moment += OVER

    assert not await mine.recover_one()
    slow.free.set()

    assert (await doing).state is State.APPLIED
    assert world.calls_that_write() == 1
    assert not await mine.recover_one()


@pytest.mark.threat("D8")
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("clock", ["runs on", "stands still"])
async def test_who_lost_a_change_sends_and_records_nothing_more(world: World, step: str, clock: str) -> None:
    """Also where the clock by which it judges its lease stood still, with a machine that was suspended."""
    mine, other = (replica(world, owner, count(1)) for owner in ("mine", "other"))
    executor, slow = paused(world, mine, step)
    if clock == "stands still":
        moment = world.clock()
        executor = replace(executor, journal=replace(executor.journal, now=lambda: moment))
    change = await kept(world, rename(world))
    doing = asyncio.create_task(executor.go_on(change))
    await slow.there.wait()
    world.clock.moment += OVER
    assert await other.recover_one()
    done = await columns(world, change)
    slow.free.set()

    assert (await doing).state is State.APPLIED
    assert await columns(world, change) == done
    assert world.calls_that_write() == 1
    events = [entry.event for entry in await world.store.audit.find(Filters(ref=change.id))]
    assert events.count("applying") == 2, "each that began it is on record"


@pytest.mark.threat("D8")
async def test_who_lost_a_change_does_not_go_on_with_one_of_several_requests(world: World) -> None:
    mine, other = (replica(world, owner, count(1)) for owner in ("mine", "other"))
    live = world.truth()["members", EMAILS[0]]
    change = with_fields(
        rename(world),
        kind=Kind.MEMBER_UPDATE,
        target=Target(service="members", site="blog", key=EMAILS[0]),
        before=live,
        after=live | {"name": "Anna", "allowedSegments": ["premium"]},
    )
    await kept(world, change)

    async def lost() -> None:
        world.clock.moment += OVER
        assert await other.recover_one()

    headers = {"Authorization": f"Bearer {MEMBERS_KEY}"}
    async with Service("members", world.services.members_url, headers) as service:
        interrupted = Interrupted(service, SITE, lost)
        executor = replace(
            mine.pipeline.executor, adapter=lambda _, context: MemberAdapter(interrupted.with_context(context))
        )
        left = await executor.go_on(change)

    assert [call.method for call in world.services.members.calls() if call.method != "GET"] == ["PATCH"]
    assert left.state is State.UNKNOWN
    assert (await columns(world, change)).owner == "other"


class Interrupted(MembersClient):
    """After the first request of an edit, something happens."""

    def __init__(self, service: Service, site: str, happens: Callable[[], Awaitable[None]]) -> None:
        super().__init__(service, site)
        self._happens = happens

    async def update(self, email: str, *, name: str | None, segments: Iterable[str]) -> None:
        await super().update(email, name=name, segments=segments)
        await self._happens()


async def test_a_lease_is_renewed_for_as_long_as_the_change_is_being_carried_out(world: World) -> None:
    mine, other = (replica(world, owner, count(1)) for owner in ("mine", "other"))
    executor, slow = paused(world, mine, "look")
    change = await kept(world, rename(world))
    short = replace(executor.journal, lease=timedelta(seconds=0.3))
    doing = asyncio.create_task(replace(executor, journal=short).go_on(change))
    await slow.there.wait()

    for _ in range(3):
        before = (await columns(world, change)).lease
        world.clock.moment += timedelta(seconds=0.2)

        async def renewed(before: int = before) -> bool:
            return bool((await columns(world, change)).lease > before)

        await until(renewed, "the lease is renewed", 30)
        assert not await other.recover_one()
    slow.free.set()

    assert (await doing).state is State.APPLIED
    assert world.calls_that_write() == 1


@dataclass(frozen=True, slots=True)
class Slow(Watched):
    """A service that takes most of a lease for every look; *after* the first one, something happens there."""

    after: Callable[[], None] = lambda: None
    takes: timedelta = LEASE * 0.7
    looks: list[Target] = field(default_factory=list)

    async def snapshot(self, targets: Sequence[Target]) -> Snapshot:
        found = await Watched.snapshot(self, targets)
        self.looks.extend(targets)
        self.world.clock.moment += self.takes
        if len(self.looks) == 1:
            self.after()
        return found


@pytest.mark.parametrize(("share", "looks"), [(0.5, 1), (0.7, 2)])
async def test_a_service_that_is_slow_to_read_is_written_to_all_the_same(
    world: World, mine: Replica, share: float, looks: int
) -> None:
    watched = mine.pipeline.executor.adapter(Target(service="rules"), LOOKING)
    assert isinstance(watched, Watched)
    slow = Slow(watched.inner, world, "mine", takes=LEASE * share)

    done = await replace(mine.pipeline.executor, adapter=lambda _, context: replace(slow, context=context)).go_on(
        await kept(world, rename(world))
    )

    assert (done.state, len(slow.looks)) == (State.APPLIED, looks + 1), "and one to read back"


async def test_a_lease_is_asked_for_before_a_write_and_where_less_than_half_is_left(
    world: World, mine: Replica
) -> None:
    for left, ask, in_bulk in product((LEASE / 2, LEASE / 2 - timedelta(microseconds=1)), (False, True), (False, True)):
        lease = ChangeLease(mine.pipeline.journal, rename(world), world.clock() + left, in_bulk)
        is_asked = (ask and not in_bulk) or left < LEASE / 2
        with pytest.raises(LeaseLost) if is_asked else nullcontext():
            await lease.require(ask)


@pytest.mark.parametrize(
    ("kind", "target", "fields"),
    [
        (Kind.RULE_UPDATE, RULE, {"name": "Ours"}),
        (Kind.MEMBER_GRANT, Target(service="members", site=SITE, key=EMAILS[0]), {"allowedSegments": ["free", "vip"]}),
    ],
)
async def test_a_look_that_took_long_is_taken_again_before_anything_is_sent(
    world: World, mine: Replica, kind: Kind, target: Target, fields: Document
) -> None:
    watched = mine.pipeline.executor.adapter(target, LOOKING)
    assert isinstance(watched, Watched)
    live = world.live(target) or {}
    slow = Slow(watched.inner, world, "mine", after=lambda: world.edit(place_of(target), live | {"name": "Theirs"}))
    change = rename(world, kind=kind, target=target, before=live, after=live | fields)

    done = await replace(mine.pipeline.executor, adapter=lambda _, context: replace(slow, context=context)).go_on(
        await kept(world, change)
    )

    assert done.state is State.STALE
    assert world.calls_that_write() == 0


async def test_a_fencing_token_never_comes_again_though_the_count_of_attempts_begins_anew(world: World) -> None:
    store, change = world.store, await kept(world, rename(world))
    async with store.transaction() as tx:
        first = await store.changes.claim(tx, change.id, "mine", LEASE)
    world.clock.moment += OVER
    async with store.transaction() as tx:
        second = await store.changes.claim_due(tx, "other", LEASE)
        assert second is not None
        await store.changes.finish(tx, [(second, Defer(waits="", due=EPOCH))], "other", EPOCH)
        third = await store.changes.claim(tx, change.id, "mine", LEASE)
    assert first is not None
    assert third is not None
    assert first.run.token < second.run.token < third.run.token
    assert (first.run.attempt, second.run.attempt, third.run.attempt) == (1, 2, 1)

    async with store.transaction() as tx:
        assert not await store.changes.finish(tx, [(first, Finish())], "mine", EPOCH)
        assert not await store.changes.renew(tx, first, [], "mine", LEASE)
        assert await store.changes.renew(tx, third, [], "mine", LEASE)


@pytest.mark.threat("D8")
async def test_who_lost_a_change_that_its_successor_has_not_sent_yet_sends_nothing(world: World) -> None:
    """Both find the target as it was shown: nothing but the lease tells them apart."""
    mine, other = (replica(world, owner, count(1)) for owner in ("mine", "other"))
    (executor, slow), (theirs, slower) = paused(world, mine, "look"), paused(world, other, "look")
    change = await kept(world, rename(world))
    unwatched = replace(
        executor,
        adapter=lambda _, context: Unwatched(replace(slow, inner=RuleAdapter(world.rules.with_context(context)))),
    )
    doing = asyncio.create_task(unwatched.go_on(change))
    await slow.there.wait()
    world.clock.moment += OVER
    taken = await other.pipeline.journal.claim_due()
    assert taken is not None
    taking_over = asyncio.create_task(theirs.carry_out(taken))
    await slower.there.wait()

    slow.free.set()
    assert (await doing).state is State.APPLYING
    assert world.calls_that_write() == 0
    slower.free.set()
    assert (await taking_over).state is State.APPLIED
    assert world.calls_that_write() == 1


@dataclass(frozen=True, slots=True)
class Unwatched:
    """Looks as *paused* does, and writes with nothing between the executor and the client."""

    paused: Paused

    async def snapshot(self, targets: Sequence[Target]) -> Snapshot:
        return await self.paused.snapshot(targets)

    async def write(self, change: Change) -> Document | None:
        return await self.paused.inner.write(change)


async def test_what_may_be_sent_now_is_not_taken_over_while_it_is_being_sent(world: World) -> None:
    mine, other = (replica(world, owner, count(1)) for owner in ("mine", "other"))
    change = await kept(world, rename(world))
    held = await mine.pipeline.journal.claim(change.id)
    assert held is not None
    lease = ChangeLease(mine.pipeline.journal, held, held.run.leased_until or EPOCH)

    world.clock.moment += LEASE * 0.6
    await lease.require()
    world.clock.moment += LEASE * 0.45

    assert not await other.recover_one()


@pytest.mark.threat("D8")
async def test_who_lost_a_change_notes_nothing_on_it(world: World) -> None:
    mine, other = (replica(world, owner, count(1)) for owner in ("mine", "other"))
    change = await kept(world, rename(world))
    held = await mine.pipeline.journal.claim(change.id)
    assert held is not None
    world.clock.moment += OVER
    assert await other.pipeline.journal.claim_due() is not None

    await mine.pipeline.journal.remember([held], lambda held: with_fields(held, resends=3))

    assert (await mine.pipeline.journal.get(change.id)).run.resends == 0


@pytest.mark.parametrize(
    ("fields", "reading", "again"),
    [
        ({}, Verification.NOT_DONE, True),
        ({}, Verification.UNREADABLE, False),
        ({}, Verification.DIVERGED, False),
        ({}, Verification.DONE, False),
        ({"attempt": 1}, Verification.NOT_DONE, False),
        ({"state": State.UNKNOWN}, Verification.NOT_DONE, False),
        ({"kind": Kind.RULE_CREATE}, Verification.NOT_DONE, False),
        ({"resends": MAX_SENDS - 2}, Verification.NOT_DONE, True),
        ({"resends": MAX_SENDS - 1}, Verification.NOT_DONE, False),
        ({"decided_at": EPOCH - HELD_FOR}, Verification.NOT_DONE, True),
        ({"decided_at": EPOCH - HELD_FOR - timedelta(seconds=1)}, Verification.NOT_DONE, False),
    ],
)
async def test_only_what_is_known_not_to_be_done_is_sent_again(
    world: World, fields: dict[str, Any], reading: Verification, again: bool
) -> None:
    executor = replica(world, "mine", count(1)).pipeline.executor
    taken = with_fields(await kept(world, rename(world)), state=State.APPLYING, attempt=2, decided_at=EPOCH)
    world.clock.moment = EPOCH

    assert executor.may_be_resent(with_fields(taken, **fields), Reading(reading)) is again


@pytest.mark.parametrize("of", [{}, {"set_id": "f" * 32}, {"size": 2}], ids=str)
async def test_what_a_bulk_change_sends_gives_way_to_others(world: World, mine: Replica, of: dict[str, Any]) -> None:
    async with keep_change_lease(mine.pipeline.journal, rename(world, **of)) as lease:
        assert lease.context.priority is (Priority.BULK if of else Priority.CHANGE)


async def test_the_card_of_one_change_is_drawn_again_once_it_is_done_or_takes_long(world: World, mine: Replica) -> None:
    await world.begin(POLICIES["approve"])
    slow, stopped = paused(world, mine, "look")
    live = world.truth()["rules", RULE_IDS[0]]
    edit = replace(rename(world).edit, before=live)
    proposal = Proposal.of(edit=edit, request=ChangeRequest(requester=ALICE, channel=OPS))
    change = await mine.pipeline.proposer.submit(proposal, idempotency_key="request")
    while await mine.outbox.deliver_one():
        pass

    deciding = asyncio.create_task(
        replace(mine.pipeline.decisions, executor=slow).decide(change, Decision.APPROVE, BOB)
    )
    await stopped.there.wait()
    assert not await mine.outbox.deliver_one(), "within a moment it may be done"
    world.clock.moment += SHOWN_WITHIN
    assert await mine.outbox.deliver_one()
    assert world.cards[change.id].state is State.APPLYING

    stopped.free.set()
    await deciding
    while await mine.outbox.deliver_one():
        pass
    assert world.cards[change.id].state is State.APPLIED
