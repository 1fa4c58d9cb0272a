"""Two releases on one database: the older one ends what it does, stands still, and lets nothing through any more."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from typing import Any, Final

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.parts import ChangeRequest
from bot.changes.model.states import State
from bot.changes.proposals import Proposal
from bot.changes.rights import Decision, OfRequest
from bot.changes.targets import LOOKING, Answer
from bot.health import WORKS
from bot.store.db import StoreError
from bot.store.engine import Store, check, go_back, open_store
from bot.store.outbox import Purpose
from bot.store.queues import KINDS, TimerKind
from bot.store.tables import DATA_VERSION, OtherRelease, changes, inbox, items, micros, outbox, timers
from tests.changes.test_leases import kept, rename
from tests.changes.world import (
    ALICE,
    BOB,
    DAN,
    OPS,
    POLICIES,
    RULE_IDS,
    Replica,
    Watched,
    World,
    a_world,
    renames,
    replica,
)
from tests.harness.databases import BOTH
from tests.harness.proposing import record_only
from tests.harness.workers import recover_one
from tests.store.test_migrations import content

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("database_url", BOTH, indirect=True)]
LEASE: Final = timedelta(seconds=60)

GUARDS: Final[Mapping[str, dict[str, Any]]] = {
    "a kind": {"edit": {"kind": "rule.archive"}},
    "a guard": {"decision": {"guard": "sealed"}},
    "a field": {"second_factor": "webauthn"},
    "a field of its run": {"run": {"halted": "U9"}},
    "a field of its target": {"edit": {"target": {"service": "rules", "key": RULE_IDS[0], "tenant": "acme"}}},
    "a field of an approval": {
        "decision": {"approvals": [{"by": BOB, "at": "2026-11-21T03:00:00Z", "factor": "webauthn"}]}
    },
}
"""What a newer release may add to a change, of which this one can't know whether it guards it."""


@pytest.fixture
async def world(database_url: str) -> AsyncIterator[World]:
    async with a_world(database_url) as world:
        await world.begin(POLICIES["confirm"])
        yield world


@asynccontextmanager
async def newer(world: World, database_url: str) -> AsyncIterator[Store]:
    """The store as a process of the next release has it."""
    async with open_store(database_url, now=world.clock, data_version=DATA_VERSION + 1) as store:
        yield store


async def take_over(world: World, database_url: str) -> None:
    """Let a process of the next release start."""
    async with newer(world, database_url) as store:
        await store.take_over()


def merged(document: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """*document* with *more*, where the parts of a change keep what *more* doesn't name."""
    parts = {name: document[name] | value for name, value in more.items() if isinstance(document.get(name), dict)}
    return document | more | parts


async def of_newer(world: World, more: dict[str, Any], state: State = State.PROPOSED) -> Change:
    """A change as a newer release wrote it: in this release's words, and *more*."""
    change = await kept(world, rename(world))
    document = merged(json.loads(change.model_dump_json()), {"state": state} | more)
    async with world.store.transaction() as tx:
        values = {"document": json.dumps(document), "state": state}
        await tx.execute(sa.update(changes).where(changes.c.id == change.id).values(values))
    return change


async def row_of(world: World, change: Change) -> Any:
    async with world.store.session.reading() as connection:
        return (await connection.execute(sa.select(changes).where(changes.c.id == change.id))).one()


def proposal(world: World, key: str = RULE_IDS[0]) -> Proposal:
    live, target = world.truth()["rules", key], Target(service="rules", key=key)
    edit = Edit(kind=Kind.RULE_UPDATE, target=target, before=live, after=live | {"name": "Ours"})
    return Proposal.of(edit=edit, request=ChangeRequest(requester=ALICE, channel=OPS))


# What is decided


Begin = Callable[[World, Replica], Awaitable[Change]]
Act = Callable[[World, Replica, Change], Awaitable[object]]


async def requested(world: World, mine: Replica) -> Change:
    return await record_only(mine.pipeline, proposal(world), idempotency_key="a")


async def done(world: World, mine: Replica) -> Change:
    return await mine.pipeline.proposer.submit(proposal(world), idempotency_key="a")


async def left(world: World, mine: Replica) -> Change:
    return await kept(world, rename(world))


def decide(decision: OfRequest, by: str) -> Act:
    return lambda world, mine, change: mine.pipeline.decisions.decide(change, decision, by, reason="it has to be now")


def propose(world: World, mine: Replica, _: Change) -> Awaitable[object]:
    return mine.pipeline.proposer.submit(proposal(world, RULE_IDS[1]), idempotency_key="b")


DECIDED: Final[Mapping[OfRequest, tuple[str, str]]] = {
    Decision.CONFIRM: ("confirm", ALICE),
    Decision.APPROVE: ("approve", BOB),
    Decision.DENY: ("approve", BOB),
    Decision.WITHDRAW: ("confirm", ALICE),
    Decision.BREAK_GLASS: ("two", DAN),
}
"""The policy under which each decision about a request is somebody's, and whose."""
WAYS: Final[Mapping[str, tuple[str, Begin, Act]]] = {
    **{each.value: (policy, requested, decide(each, by)) for each, (policy, by) in DECIDED.items()},
    "the first of two approvals": ("two", requested, decide(Decision.APPROVE, BOB)),
    "ask": ("approve", requested, lambda _, mine, one: mine.pipeline.decisions.ask(one, by=BOB, text="Why?")),
    "look": ("approve", requested, lambda _, mine, one: mine.pipeline.decisions.note_look(one, BOB)),
    "propose": ("confirm", requested, propose),
    "propose what nothing stands before": ("free", requested, propose),
    "propose a set": (
        "free",
        done,
        lambda world, mine, _: mine.pipeline.proposer.submit(renames(world, "Set"), idempotency_key="b"),
    ),
    "undo": ("free", done, lambda _, mine, one: mine.pipeline.followups.undo(one, by=ALICE, channel=OPS)),
    "take over": ("free", left, lambda _, mine, __: mine.recover_one()),
    "set": ("free", left, lambda world, *_: world.store.channel_settings.change(OPS, {}, {"site": "blog"}, by=ALICE)),
}
"""Every way of letting something through: the policy under which it would be, and what comes before it."""


@pytest.mark.threat("D6")
@pytest.mark.parametrize("has_started", [False, True], ids=["alone", "beside a newer release"])
@pytest.mark.parametrize(("policy", "begin", "act"), WAYS.values(), ids=WAYS)
async def test_nothing_is_let_through_from_the_moment_at_which_a_newer_release_starts(
    world: World, database_url: str, policy: str, begin: Begin, act: Act, has_started: bool
) -> None:
    world.policy = POLICIES[policy]
    mine = replica(world, "mine", count(1))
    change = await begin(world, mine)
    if has_started:
        await take_over(world, database_url)  # which nothing has told this process yet
    before, truth = await content(database_url), world.truth()

    if not has_started:
        await act(world, mine, change)
        assert await content(database_url) != before
        return
    with pytest.raises(OtherRelease):
        await act(world, mine, change)

    assert await content(database_url) == before
    assert world.truth() == truth
    assert f"data version {DATA_VERSION + 1}" in (await world.store.health())["release"].detail


# What falls due


async def fall_due(world: World, *, kinds: list[str], purposes: list[str], requests: list[str]) -> None:
    """A timer of each of *kinds*, a message of each of *purposes*, and a stored request of each of *requests*."""
    waiting = await of_newer(world, {})
    due = micros(world.clock() - timedelta(hours=1))
    message = {"change_id": waiting.id, "version": 1, "delivered": 0, "attempt": 0, "last_error": ""}
    request = {"payload": "{}", "done": False, "attempt": 1, "owner": "dead", "lease": 1}
    async with world.store.transaction() as tx:
        for number, kind in enumerate(kinds):
            await tx.execute(sa.insert(timers).values(change_id=waiting.id, kind=kind, due=due + number, number=0))
        for number, purpose in enumerate(purposes):
            await tx.execute(sa.insert(outbox).values(message | {"purpose": purpose, "due": due + number}))
        for number, kind in enumerate(requests):
            named = {"id": kind, "natural_key": kind, "kind": kind, "received": due + number}
            await tx.execute(sa.insert(inbox).values(request | named))


async def test_what_the_release_before_set_timers_for_is_a_message_now(world: World) -> None:
    await fall_due(world, kinds=["remind", "offer", "review"], purposes=[], requests=[])
    mine = replica(world, "mine", count(1))
    while await mine.fire_one():
        pass

    async with world.store.session.reading() as connection:
        purposes = set(
            await connection.scalars(sa.select(outbox.c.purpose).where(outbox.c.delivered < outbox.c.version))
        )
    assert {"remind", "offer", "review"} <= purposes


async def work_off(world: World, mine: Replica) -> None:
    """What the workers of a process do, until nothing is left for them."""
    while await mine.fire_one() or await mine.outbox.deliver_one() or await mine.recover_one():
        pass
    while await world.store.inbox.claim("mine", LEASE):
        pass
    assert not await mine.carry_out_a_set()


@pytest.mark.parametrize("has_started", [False, True], ids=["alone", "beside a newer release"])
@pytest.mark.parametrize(
    "due",
    [
        *({"kinds": [kind]} for kind in TimerKind),
        *({"purposes": [purpose, f"{purpose}-1"]} for purpose in Purpose),
        *({"requests": [kind]} for kind in KINDS),
    ],
    ids=str,
)
async def test_what_falls_due_is_left_to_the_newer_release(
    world: World, database_url: str, due: dict[str, list[str]], has_started: bool
) -> None:
    await fall_due(world, **{"kinds": [], "purposes": [], "requests": []} | due)
    mine = replica(world, "mine", count(1))
    if has_started:
        await take_over(world, database_url)
    before = await content(database_url)
    await world.store.outbox.next_due()  # as the worker asks every second

    await work_off(world, mine)

    assert (await content(database_url) == before) is has_started
    assert not (has_started and world.told)


@pytest.mark.parametrize(
    "due",
    [{"kinds": ["archive", "expire"]}, {"purposes": ["poll-1", "remind-1"]}, {"requests": ["vote", "command"]}],
    ids=str,
)
async def test_a_name_that_only_a_newer_release_knows_makes_this_one_stand_still(
    world: World, database_url: str, due: dict[str, list[str]]
) -> None:
    await fall_due(world, **{"kinds": [], "purposes": [], "requests": []} | due)
    before = await content(database_url)

    await work_off(world, replica(world, "mine", count(1)))

    assert await content(database_url) == before
    assert "a newer release" in (await world.store.health())["release"].detail
    with pytest.raises(OtherRelease):
        await world.store.inbox.take_in("a", "a", "command", {}, owner="mine", lease=LEASE)


@pytest.mark.threat("D6")
@pytest.mark.parametrize("state", [State.PROPOSED, State.APPROVED, State.APPLYING, State.UNKNOWN])
@pytest.mark.parametrize("more", GUARDS.values(), ids=GUARDS)
async def test_a_change_that_may_be_guarded_makes_this_release_stand_still_and_stays_as_it_is(
    world: World, database_url: str, more: dict[str, Any], state: State
) -> None:
    theirs = await of_newer(world, more, state)
    before = await content(database_url)
    mine = replica(world, "mine", count(1)).pipeline

    with capture_logs() as logged:
        for attempt in (
            lambda: mine.journal.get(theirs.id),
            lambda: recover_one(mine),
            lambda: mine.journal.claim(theirs.id),
        ):
            with suppress(OtherRelease):
                assert not await attempt()

    assert await content(database_url) == before
    assert [entry["event"] for entry in logged] == ["stands_still"]


@pytest.mark.parametrize("more", [{"document": '{"number": 2, "kind": "rule.archive"}'}, {"outcome": "paused"}, {}])
async def test_nothing_more_is_begun_of_a_set_with_an_item_that_only_a_newer_release_knows(
    world: World, more: Mapping[str, Any]
) -> None:
    world.policy = POLICIES["free"]
    mine = replica(world, "mine", count(1))
    theirs = await mine.pipeline.proposer.submit(renames(world, "Theirs"), idempotency_key="theirs")
    async with world.store.transaction() as tx:
        last = sa.and_(items.c.set_id == theirs.id, items.c.number == len(RULE_IDS))
        document = json.loads(await tx.scalar(sa.select(items.c.document).where(last)) or "")
        values = more or {"document": json.dumps(document | {"second_factor": "webauthn"})}
        await tx.execute(sa.update(items).where(last).values(values))
    truth = world.truth()
    world.clock.moment += timedelta(milliseconds=1)

    claimed = await mine.sets.journal.claim_due(bulk=True)
    assert claimed is not None
    await mine.sets._do(claimed)

    assert world.truth() == truth
    assert world.store.session.stands_still


# What is done already


@dataclass(frozen=True, slots=True)
class Overtaken(Watched):
    """While this release writes, a newer one starts, and gives the change a field."""

    start: Callable[[], Awaitable[None]] = field(kw_only=True)

    async def write(self, change: Change) -> Answer:
        answer = await Watched.write(self, change)
        held = json.loads((await row_of(self.world, change)).document) | {"second_factor": "webauthn"}
        async with self.world.store.transaction() as tx:
            query = sa.update(changes).where(changes.c.id == change.id)
            await tx.execute(query.values(document=json.dumps(held)))
        await self.start()
        return answer


def overtaken(world: World, mine: Replica, database_url: str) -> None:
    watched = mine.pipeline.executor.adapter(Target(service="rules"), LOOKING)
    assert isinstance(watched, Watched)
    slow = Overtaken(watched.inner, world, "mine", start=lambda: take_over(world, database_url))
    object.__setattr__(mine.pipeline.executor, "adapter", lambda _, context: replace(slow, context=context))


async def test_what_was_begun_is_ended_and_recorded_with_what_a_newer_release_added(
    world: World, database_url: str
) -> None:
    mine = replica(world, "mine", count(1))
    overtaken(world, mine, database_url)
    change = await kept(world, rename(world))

    await mine.recover_one()

    row = await row_of(world, change)
    assert row.state == "applied"
    assert json.loads(row.document)["second_factor"] == "webauthn"
    assert world.store.session.stands_still


async def test_a_set_that_was_begun_is_done_to_its_end(world: World, database_url: str) -> None:
    world.policy = POLICIES["free"]
    mine = replica(world, "mine", count(1))
    whole = await mine.pipeline.proposer.submit(renames(world, "Ours"), idempotency_key="ours")
    overtaken(world, mine, database_url)

    assert await mine.carry_out_a_set()

    assert (await row_of(world, whole)).state == "applied"
    assert [world.truth()["rules", key]["name"] for key in RULE_IDS] == ["Ours", "Ours"]
    assert world.store.session.stands_still
    assert await world.store.audit.verify() is None


# Going back


async def test_an_older_release_takes_over_only_where_somebody_says_so_and_the_newer_one_stands_still_then(
    world: World, database_url: str
) -> None:
    async with newer(world, database_url) as theirs:
        await theirs.take_over()
        before = await content(database_url)
        for starting in (world.store.take_over(), check(database_url)):
            with pytest.raises(StoreError, match=r"newer release .* go-back"):
                await starting
        assert await content(database_url) == before

        await go_back(database_url)

        assert "release" in await theirs.health()
    async with open_store(database_url, now=world.clock) as ours:
        await ours.take_over()
        assert await ours.health() == {"store": WORKS}


async def test_after_going_back_empty_fields_of_the_newer_release_stop_nothing_and_stay(world: World) -> None:
    target = {"service": "rules", "site": None, "key": RULE_IDS[0], "tenant": None}
    more: dict[str, Any] = {"second_factor": None, "vetoes": []}
    theirs = await of_newer(world, more | {"edit": {"target": target}, "decision": {"guard": "confirm"}})
    mine = replica(world, "mine", count(1)).pipeline

    done = await mine.decisions.decide(await mine.journal.get(theirs.id), Decision.CONFIRM, ALICE)

    assert done.state is State.APPLIED
    document = json.loads((await row_of(world, theirs)).document)
    assert {name: document[name] for name in more} == more
    assert document["edit"]["target"] == target


async def test_what_would_make_this_very_release_stand_still_is_not_even_stored(world: World) -> None:
    change = await kept(world, rename(world))
    with pytest.raises(ValueError, match="poll"):
        async with world.store.transaction() as tx:
            await world.store.outbox.enqueue(tx, change.id, "poll-1")
    with pytest.raises(ValueError, match="vote"):
        await world.store.inbox.take_in("vote", "vote", "vote", {}, owner="mine", lease=LEASE)
