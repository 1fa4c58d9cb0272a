"""The store keeps its promises on both databases: once, in order, to one claimant only."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

import pytest
import sqlalchemy as sa

from bot.changes.model import moves
from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.moves import Approve, Cancel, Deny, Finish, Move, Withdraw
from bot.changes.model.parts import ChangeRequest
from bot.changes.model.states import State
from bot.health import WORKS
from bot.store.db import StoreError, TargetBusy
from bot.store.engine import Store
from bot.store.inbox import MAX_ATTEMPTS
from bot.store.tables import inbox
from tests.harness.clocks import EPOCH, StandingClock
from tests.harness.databases import BOTH

pytestmark = pytest.mark.parametrize("database_url", BOTH, indirect=True)
LEASE = timedelta(seconds=60)
ids = itertools.count(1)


def change(clock: StandingClock, key: str | None = "Redirect_x", state: State = State.PROPOSED) -> Change:
    return Change(
        id=f"{next(ids):032x}",
        created=clock(),
        state=state,
        edit=Edit(
            kind=Kind.RULE_DELETE, target=Target(service="rules", key=key), before={"name": "é\u202e"}, after=None
        ),
        request=ChangeRequest(requester="U1", channel="C1"),
    )


GIVEN: Final[Mapping[str, Any]] = {
    "Replan": {"starts_at": None, "as_typed": "", "expires": EPOCH},
    "Claim": {"lease": LEASE},
    "Defer": {"waits": "", "due": EPOCH},
}
MOVES: Final = [kind(**GIVEN.get(name, {})) for name, kind in vars(moves).items() if hasattr(kind, "event")]


async def added(store: Store, one: Change, idempotency_key: str | None = None) -> Change:
    async with store.transaction() as tx:
        return await store.changes.add(tx, one, idempotency_key or one.id)


async def moved(store: Store, one: Change, move: Move) -> Change | None:
    async with store.transaction() as tx:
        return await store.changes.move(tx, one, move, one.created)


async def test_what_is_added_is_read_back_whole(store: Store, clock: StandingClock) -> None:
    one = await added(store, change(clock))

    assert await store.changes.get(one.id) == one


async def test_one_origin_makes_one_change(store: Store, clock: StandingClock) -> None:
    first = await added(store, change(clock), "request")
    second = await added(store, change(clock, "Redirect_y"), "request")

    assert second == first


async def test_what_was_approved_holds_its_target(store: Store, clock: StandingClock) -> None:
    first = await moved(store, await added(store, change(clock)), Approve())
    with pytest.raises(TargetBusy) as caught:
        await added(store, change(clock))
    assert caught.value.change == first

    await moved(store, first, Withdraw())
    await added(store, change(clock))


@pytest.mark.threat("B15")
async def test_a_request_holds_nothing_until_it_is_approved(store: Store, clock: StandingClock) -> None:
    first, second = await added(store, change(clock)), await added(store, change(clock))

    approved = await moved(store, first, Approve())

    with pytest.raises(TargetBusy) as caught:
        await moved(store, second, Approve())
    assert caught.value.change == approved
    assert (await store.changes.get(second.id)) == second


async def test_creations_do_not_hold_each_other_up(store: Store, clock: StandingClock) -> None:
    await added(store, change(clock, None))
    await added(store, change(clock, None))


@pytest.mark.slow
@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("move", MOVES, ids=lambda move: move.event)
async def test_a_change_moves_from_where_its_move_starts_and_not_otherwise(
    store: Store, clock: StandingClock, state: State, move: Move
) -> None:
    one = await added(store, change(clock, state=state))

    made = await moved(store, one, move)

    wanted = move.to if state in move.starts else None
    assert (None if made is None else made.state) == wanted
    kept = await store.changes.get(one.id)
    assert kept is not None
    assert kept.state == (wanted or state)


@pytest.mark.threat("A9")
async def test_of_many_who_decide_at_once_one_wins(store: Store, clock: StandingClock) -> None:
    one = await added(store, change(clock))

    made = await asyncio.gather(*(moved(store, one, move) for move in (Approve(), Cancel(), Deny()) * 10))

    assert sum(result is not None for result in made) == 1


@pytest.mark.threat("D8")
async def test_an_approved_change_is_claimed_once_and_taken_over_when_its_lease_is_over(
    store: Store, clock: StandingClock
) -> None:
    one = await added(store, change(clock))
    await moved(store, one, Approve())
    async with store.transaction() as tx:
        mine = await store.changes.claim(tx, one.id, "me", LEASE)
    async with store.transaction() as tx:
        assert await store.changes.claim(tx, one.id, "you", LEASE) is None
    assert mine is not None
    assert (mine.state, mine.run.attempt) == (State.APPLYING, 1)
    assert not await store.changes.any_due()

    clock.moment += LEASE * 2
    async with store.transaction() as tx:
        yours = await store.changes.claim_due(tx, "you", LEASE)
    assert yours is not None
    assert yours.run.attempt == 2
    async with store.transaction() as tx:
        late = await store.changes.finish(tx, [(mine, Finish())], "me", clock.moment)
        done = await store.changes.finish(tx, [(yours, Finish())], "you", clock.moment)
    assert (len(late), len(done)) == (0, 1)


@pytest.mark.threat("A3")
async def test_a_request_is_taken_in_once_for_as_long_as_slack_may_tell_it_again(
    store: Store, clock: StandingClock
) -> None:
    async def take() -> bool:
        return await store.inbox.take_in("k", "click", {"a": 1}, owner="me", lease=LEASE) is not None

    taken = await asyncio.gather(*(take() for _ in range(10)))
    await store.inbox.mark_done("k")
    for minutes in (1, 10, 49, 23 * 60):  # after 1 min, 11 min, 1 h and 24 h
        clock.moment += timedelta(minutes=minutes)
        await store.inbox.forget()
        taken.append(await take())

    assert sum(taken) == 1


async def test_a_request_left_behind_is_taken_up_until_it_is_done(store: Store, clock: StandingClock) -> None:
    await store.inbox.take_in("k", "click", {"a": "ü"}, owner="me", lease=LEASE)
    assert await store.inbox.claim("you", LEASE) is None

    clock.moment += LEASE * 2
    again = await store.inbox.claim("you", LEASE)
    assert again is not None
    assert (again.payload, again.attempts) == ({"a": "ü"}, 1)
    await store.inbox.mark_done("k")
    clock.moment += LEASE * 2
    assert await store.inbox.claim("you", LEASE) is None


async def test_an_attempt_at_a_request_counts_when_it_begins_and_not_when_it_is_handed_back(
    store: Store, clock: StandingClock
) -> None:
    await store.inbox.take_in("k", "click", {}, owner="0", lease=LEASE)
    clock.moment += LEASE * 2
    dead = await store.inbox.claim("1", LEASE)
    assert dead is not None, "and it dies before it is its turn"
    clock.moment += LEASE * 2
    waiting = await store.inbox.claim("2", LEASE)
    assert waiting is not None
    assert waiting.attempts == 1

    assert await store.inbox.begin(waiting)
    assert not await store.inbox.begin(dead), "it is another's now"
    clock.moment += LEASE * 2
    begun = await store.inbox.claim("3", LEASE)
    assert begun is not None
    assert begun.attempts == 2
    await store.inbox.begin(begun)
    await store.inbox.give_back(begun)

    again = await store.inbox.claim("4", LEASE)
    assert again is not None
    assert again.attempts == 2


async def test_a_restart_hands_out_at_once_what_was_left_but_not_what_was_left_again_and_again(
    store: Store, clock: StandingClock
) -> None:
    """Or processes that die one right after the other would use up its attempts within seconds."""
    await store.inbox.take_in("k", "click", {}, owner="0", lease=LEASE)
    waits = []
    for owner in map(str, range(MAX_ATTEMPTS)):
        await store.end_leases()
        began = clock.moment
        while (taken := await store.inbox.claim(owner, LEASE)) is None:
            clock.moment += timedelta(milliseconds=500)
            assert clock.moment < began + LEASE
        await store.inbox.begin(taken)
        waits.append((clock.moment - began).total_seconds())

    assert waits == [0, 0.5, 1, 2, 4, 8, 16, 32, 32, 32]


async def test_what_was_left_a_day_ago_is_not_taken_up_and_is_forgotten(store: Store, clock: StandingClock) -> None:
    await store.inbox.take_in("old", "click", {}, owner="me", lease=LEASE)
    clock.moment += timedelta(hours=27)
    await store.inbox.take_in("new", "click", {}, owner="me", lease=LEASE)
    assert await store.inbox.claim("you", LEASE) is None

    await store.inbox.forget()

    async with store.session.reading() as connection:
        assert list(await connection.scalars(sa.select(inbox.c.id))) == ["new"]


async def test_an_edit_that_may_wait_is_owed_once_in_that_time_and_never_later(
    store: Store, clock: StandingClock
) -> None:
    one, second = change(clock), timedelta(seconds=1)
    for _ in range(3):
        async with store.transaction() as tx:
            await store.outbox.enqueue(tx, one.id, "card", within=2 * second)
        assert not await store.outbox.claim("me", LEASE)
        clock.moment += second * 0.9

    (owed,) = await store.outbox.claim("me", LEASE)
    async with store.transaction() as tx:
        await store.outbox.enqueue(tx, one.id, "card", within=2 * second)
    await store.outbox.mark_delivered(owed)
    assert not await store.outbox.claim("me", LEASE), "what came while it was told waits its own time"

    async with store.transaction() as tx:
        await store.outbox.enqueue(tx, one.id, "card")
    assert await store.outbox.claim("me", LEASE), "the end does not wait"


async def test_cards_and_lists_are_replaced(store: Store) -> None:
    for ts in ("1.0", "2.0"):
        async with store.transaction() as tx:
            await store.cards.put(tx, "c", "C1", ts, "card")
        await store.lists.put("U1", "rules", [ts])

    assert await store.cards.get("c", "card") == ("C1", "2.0")
    assert (await store.lists.get("U1", "rules")).refs == ["2.0"]
    assert (await store.lists.get("U2", "rules")).refs == []


async def test_a_failed_transaction_leaves_nothing(store: Store, clock: StandingClock) -> None:
    one = change(clock)
    with suppress(RuntimeError):
        async with store.transaction() as tx:
            await store.changes.add(tx, one, one.id)
            raise RuntimeError
    assert await store.changes.get(one.id) is None


async def test_many_writers_all_get_through(store: Store, clock: StandingClock) -> None:
    await asyncio.gather(*(added(store, change(clock, f"Redirect_{number}")) for number in range(100)))

    assert await store.health() == {"store": WORKS}


async def test_a_database_that_only_reads_is_not_ready_until_it_writes_again(
    store: Store, clock: StandingClock
) -> None:
    is_read_only = True
    engine = store.session.writer.sync_engine

    def begin(connection: sa.Connection) -> None:
        if is_read_only:
            connection.exec_driver_sql("PRAGMA query_only=1" if store.session.sqlite else "SET TRANSACTION READ ONLY")

    def let_write(connection: sa.Connection) -> None:
        if store.session.sqlite:
            connection.exec_driver_sql("PRAGMA query_only=0")

    sa.event.listen(engine, "begin", begin)
    sa.event.listen(engine, "rollback", let_write)
    with pytest.raises(StoreError):
        await added(store, change(clock))
    assert "read" in (await store.health())["store"].detail

    is_read_only = False
    assert await store.health() == {"store": WORKS}

    is_read_only = True
    clock.moment += timedelta(minutes=2)
    assert "read" in (await store.health())["store"].detail, "also where nobody has written since"
