"""Two releases on one database: what the newer one wrote is passed over by this one, kept as it is, and holds nobody up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from bot.changes.decisions import Decision
from bot.changes.model import Change, State, Target
from bot.store.db import make_engine
from bot.store.engine import upgrade
from bot.store.outbox import Purpose
from bot.store.queues import KINDS, TimerKind
from bot.store.tables import NewerRelease, changes, inbox, items, micros, outbox, timers
from tests.changes.test_leases import kept, rename
from tests.changes.world import ALICE, BOB, POLICIES, RULE_IDS, Watched, World, a_world, renames, replica
from tests.databases import BOTH
from tests.drills.fleet import until
from tests.store.test_migrations import ADDS, execute, next_release

pytestmark = pytest.mark.slow

GUARDS: Final[Mapping[str, dict[str, Any]]] = {
    "a kind": {"edit": {"kind": "rule.archive"}},
    "a guard": {"decision": {"guard": "sealed"}},
    "a field": {"second_factor": "webauthn"},
    "a field of its run": {"run": {"halted": "U9"}},
    "a field of its target": {"edit": {"target": {"service": "rules", "key": RULE_IDS[0], "tenant": "acme"}}},
    "a field of an approval": {
        "decision": {"approvals": [{"by": BOB, "at": "2026-11-21T03:00:00Z", "factor": "webauthn"}]}
    },
    "one field that may be ignored, and one that may not": {"colour": "red", "veto": "U9", "ignorable": ["colour"]},
}
"""What a newer release may add to a change, of which this one can't know whether it guards it."""


@pytest.fixture
async def world(database_url: str) -> AsyncIterator[World]:
    async with a_world(database_url) as world:
        await world.begin(POLICIES["confirm"])
        yield world


def merged(document: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """*document* with *more*, where the parts of a change keep what *more* doesn't name."""
    parts = {name: document[name] | value for name, value in more.items() if isinstance(document.get(name), dict)}
    return document | more | parts


async def of_newer(world: World, more: dict[str, Any], **columns: Any) -> Change:
    """A change as a newer release wrote it: in this release's words, and *more*."""
    change = await kept(world, rename(world))
    document = merged(json.loads(change.model_dump_json()), more)
    values = {"document": json.dumps(document), "target": f"rules/{change.id}"} | columns
    async with world.store.transaction() as tx:
        await tx.execute(sa.update(changes).where(changes.c.id == change.id).values(values))
    return change


async def row_of(world: World, change: Change) -> Any:
    async with world.store.session.reading() as connection:
        return (await connection.execute(sa.select(changes).where(changes.c.id == change.id))).one()


def an_hour_ago(world: World) -> int:
    return micros(world.clock() - timedelta(hours=1))


@pytest.mark.parametrize("database_url", BOTH, indirect=True)
@pytest.mark.parametrize("state", ["approved", "applying", "unknown"])
@pytest.mark.parametrize("more", GUARDS.values(), ids=GUARDS)
async def test_a_change_that_may_be_guarded_is_passed_over_and_what_is_behind_it_is_done(
    world: World, more: dict[str, Any], state: str
) -> None:
    theirs = await of_newer(world, more | {"state": state}, state=state, owner="newer", lease=1)
    before = await row_of(world, theirs)
    ours = await kept(world, rename(world))
    mine = replica(world, "mine", count(1))

    with capture_logs() as logged:
        while await mine.pipeline.recover_one():
            pass
        assert await mine.pipeline.journal.claim(theirs.id) is None

    assert (await row_of(world, ours)).state == "applied"
    assert await row_of(world, theirs) == before
    assert len([entry for entry in logged if entry["event"] == "left_to_a_newer_release"]) == 1
    assert await world.store.left_to_newer_release() == 1
    assert await world.store.changes.open() == []
    assert [change.id for change in await world.store.changes.of_requester(ALICE, 5)] == [ours.id]


@pytest.mark.threat("D6")
@pytest.mark.parametrize("database_url", BOTH, indirect=True)
@pytest.mark.parametrize("more", GUARDS.values(), ids=GUARDS)
async def test_nobody_decides_about_it_by_way_of_this_release(world: World, more: dict[str, Any]) -> None:
    theirs = await of_newer(world, more | {"state": "proposed"}, state="proposed")
    before = await row_of(world, theirs)
    mine = replica(world, "mine", count(1)).pipeline

    for decision in Decision:
        with pytest.raises(NewerRelease):
            await mine.decisions.decide(await mine.journal.get(theirs.id), decision, ALICE, reason="it has to be now")

    assert await row_of(world, theirs) == before


@pytest.mark.parametrize("database_url", BOTH, indirect=True)
async def test_a_state_of_a_newer_release_is_left_alone_and_counted(world: World) -> None:
    await of_newer(world, {"state": "paused"}, state="paused")

    assert not await replica(world, "mine", count(1)).pipeline.recover_one()
    assert await world.store.changes.of_requester(ALICE, 5) == []
    assert await world.store.left_to_newer_release() == 1


async def _add_timers(world: World, *rows: tuple[Change, str]) -> None:
    async with world.store.transaction() as tx:
        for number, (change, kind) in enumerate(rows):
            due = an_hour_ago(world) + number
            await tx.execute(sa.insert(timers).values(change_id=change.id, kind=kind, due=due, number=0))


@pytest.mark.parametrize("database_url", BOTH, indirect=True)
async def test_timers_of_a_newer_release_are_left_to_it_and_those_behind_them_do_their_work(world: World) -> None:
    theirs = await of_newer(world, GUARDS["a field"] | {"state": "proposed"}, state="proposed")
    ours = await of_newer(world, {"state": "proposed"}, state="proposed")
    left = [(theirs, "archive"), (ours, "archive"), *((theirs, kind) for kind in TimerKind)]
    await _add_timers(world, *left, (ours, "expire"))

    while await replica(world, "mine", count(1)).timers.run_one():
        pass

    async with world.store.session.reading() as connection:
        rows = (await connection.execute(sa.select(timers))).all()
    assert {(row.change_id, row.kind) for row in rows} == {(change.id, kind) for change, kind in left}
    assert {row.owner for row in rows} == {""}
    assert (await row_of(world, theirs)).state == "proposed"
    assert (await row_of(world, ours)).state == "expired"
    assert await world.store.left_to_newer_release() == 2


@pytest.mark.parametrize("database_url", BOTH, indirect=True)
async def test_messages_of_a_newer_release_are_left_to_it_and_those_behind_them_are_delivered(world: World) -> None:
    theirs = await of_newer(world, GUARDS["a field"])
    ours = await kept(world, rename(world))
    owed = [(theirs, "card"), (ours, "poll"), (ours, "poll-1"), (ours, "card")]
    async with world.store.transaction() as tx:
        for number, (change, purpose) in enumerate(owed):
            row = {"change_id": change.id, "purpose": purpose, "version": 1, "delivered": 0, "attempt": 0}
            await tx.execute(sa.insert(outbox).values(row | {"due": an_hour_ago(world) + number, "last_error": ""}))

    while await replica(world, "mine", count(1)).outbox.deliver_one():
        pass

    assert set(world.told) == {(ours.id, "card")}
    async with world.store.session.reading() as connection:
        left = (await connection.execute(sa.select(outbox).where(outbox.c.delivered < outbox.c.version))).all()
    assert {(row.change_id, row.purpose, row.attempt, row.owner) for row in left} == {
        (change.id, purpose, 0, "") for change, purpose in owed[:3]
    }
    assert await world.store.outbox.next_due() is None
    assert await world.store.left_to_newer_release() == 2


@pytest.mark.parametrize("database_url", BOTH, indirect=True)
async def test_requests_of_a_newer_release_are_left_to_it(world: World) -> None:
    row = {"id": "theirs", "natural_key": "theirs", "kind": "vote", "payload": "{}", "received": micros(world.clock())}
    async with world.store.transaction() as tx:
        await tx.execute(sa.insert(inbox).values(row | {"done": False, "attempt": 1, "owner": "newer", "lease": 1}))

    assert await world.store.inbox.claim("mine", timedelta(seconds=60)) is None


@pytest.mark.parametrize("database_url", BOTH, indirect=True)
async def test_what_nobody_would_take_up_again_is_not_even_stored(world: World) -> None:
    change = await kept(world, rename(world))
    for purpose in Purpose:
        async with world.store.transaction() as tx:
            await world.store.outbox.enqueue(tx, change.id, f"{purpose}-1")
    with pytest.raises(ValueError, match="poll"):
        async with world.store.transaction() as tx:
            await world.store.outbox.enqueue(tx, change.id, "poll-1")
    for kind in KINDS:
        assert await world.store.inbox.take_in(kind, kind, kind, {}, owner="mine", lease=timedelta(seconds=60))
    with pytest.raises(ValueError, match="vote"):
        await world.store.inbox.take_in("vote", "vote", "vote", {}, owner="mine", lease=timedelta(seconds=60))


@pytest.mark.parametrize("database_url", BOTH, indirect=True)
async def test_fields_that_guard_nothing_do_not_stop_a_change_and_survive_it(world: World) -> None:
    target = {"service": "rules", "site": None, "key": RULE_IDS[0], "tenant": None}
    more = {"colour": "red", "ignorable": ["colour", "mood"], "second_factor": None, "vetoes": []}
    parts = {"edit": {"target": target}, "run": {"mood": "good"}}
    proposed = {"state": "proposed", "decision": {"guard": "confirm"}}
    theirs = await of_newer(world, more | parts | proposed, state="proposed")

    mine = replica(world, "mine", count(1)).pipeline

    done = await mine.decisions.decide(await mine.journal.get(theirs.id), Decision.CONFIRM, ALICE)

    assert done.state is State.APPLIED
    document = json.loads((await row_of(world, theirs)).document)
    assert {name: document[name] for name in more} == more
    assert (document["edit"]["target"], document["run"]["mood"]) == (target, "good")


async def _vetoes(database_url: str) -> dict[str, int]:
    """What the newer release keeps of each change in a column of its own."""
    engine = make_engine(database_url, read_only=True)
    async with engine.connect() as connection:
        found = {row.id: row.vetoes for row in await connection.execute(sa.text("SELECT id, vetoes FROM changes"))}
    await engine.dispose()
    return found


@pytest.mark.parametrize("empty_database", BOTH, indirect=True)
async def test_a_newer_replica_writes_a_column_and_a_field_more_beside_an_older_one(
    empty_database: str, tmp_path: Path
) -> None:
    async with a_world(empty_database) as world:
        await world.begin(POLICIES["confirm"])
        await upgrade(empty_database, next_release(tmp_path, *ADDS))
        live = world.truth()["rules", RULE_IDS[1]]
        target = {"service": "rules", "key": RULE_IDS[1]}
        other = {"edit": {"target": target, "before": live, "after": live | {"name": "Ours"}}}
        theirs = await of_newer(
            world, {"state": "proposed", "colour": "red", "ignorable": ["colour"]}, state="proposed"
        )
        ours = await of_newer(world, {"state": "proposed"} | other, state="proposed")
        await execute(empty_database, f"UPDATE changes SET vetoes = 3 WHERE id = '{theirs.id}'")  # noqa: S608  our own id

        for change in (theirs, ours):
            mine = replica(world, "older", count(1)).pipeline
            done = await mine.decisions.decide(await mine.journal.get(change.id), Decision.CONFIRM, ALICE)
            assert done.state is State.APPLIED

        assert await _vetoes(empty_database) == {theirs.id: 3, ours.id: 0}
        documents = {change.id: json.loads((await row_of(world, change)).document) for change in (theirs, ours)}
        assert documents[theirs.id]["colour"] == "red"
        assert "colour" not in documents[ours.id]
        assert {record["name"] for (service, _), record in world.truth().items() if service == "rules"} == {"Ours"}


@dataclass(frozen=True, slots=True)
class Joined(Watched):
    """While this release writes, a newer one gives the change a field."""

    async def write(self, change: Change) -> str:
        answer = await Watched.write(self, change)
        held = json.loads((await row_of(self.world, change)).document) | {"second_factor": "webauthn"}
        async with self.world.store.transaction() as tx:
            query = sa.update(changes).where(changes.c.id == change.id)
            await tx.execute(query.values(document=json.dumps(held)))
        return answer


@pytest.mark.parametrize("database_url", BOTH, indirect=True)
async def test_what_was_done_already_is_recorded_and_keeps_the_field_that_came_in_between(world: World) -> None:
    mine = replica(world, "mine", count(1))
    watched = mine.pipeline.executor.adapter(Target(service="rules"))
    assert isinstance(watched, Watched)
    object.__setattr__(mine.pipeline.executor, "adapter", lambda _: Joined(watched.inner, world, "mine"))
    change = await kept(world, rename(world))

    await mine.pipeline.recover_one()

    row = await row_of(world, change)
    assert row.state == "applied"
    assert json.loads(row.document)["second_factor"] == "webauthn"


@pytest.mark.parametrize("database_url", BOTH, indirect=True)
@pytest.mark.parametrize("more", [{"document": '{"number": 2, "kind": "rule.archive"}'}, {"outcome": "paused"}, {}])
async def test_a_set_with_a_part_of_a_newer_release_is_left_to_it_and_the_next_one_is_done(
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
    world.clock.moment += timedelta(milliseconds=1)
    ours = await mine.pipeline.proposer.submit(renames(world, "Ours"), idempotency_key="ours")
    world.clock.moment += timedelta(milliseconds=1)
    working = asyncio.create_task(mine.sets.run(every=0.05))

    async def done() -> bool:
        found = await world.store.changes.get(ours.id)
        return found is not None and found.state is State.APPLIED

    await until(done, "the set of this release is done", 30)
    working.cancel()
    with suppress(asyncio.CancelledError):
        await working

    assert theirs.id in world.store.newer.ids
    assert {record["name"] for (service, _), record in world.truth().items() if service == "rules"} == {"Ours"}
    while await mine.outbox.deliver_one():
        pass
    assert [key for key in world.told if key[0] == theirs.id] == []
