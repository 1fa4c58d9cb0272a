"""Many who write the same thing for the first time, at once: there is no row yet that would make them wait for each other."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

import pytest
import sqlalchemy as sa

from bot.changes.model.change import Change
from bot.changes.model.moves import Approve
from bot.changes.model.states import State
from bot.store.db import MAX_READERS, TargetBusy
from bot.store.engine import Store, open_store
from bot.store.tables import cards, former_ids, named_values, outbox
from tests.harness.clocks import StandingClock
from tests.harness.databases import BOTH
from tests.harness.lock_order import watching_lock_order
from tests.store.test_store import LEASE, added, change, moved

pytestmark = pytest.mark.parametrize("database_url", BOTH, indirect=True)
MANY: Final = MAX_READERS
Write = Callable[[Store, int], Awaitable[Any]]
CLOCK: Final = StandingClock()


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    """A store whose connections are open already, so that nobody is ahead of the others by having one."""
    async with open_store(database_url, now=CLOCK) as opened:
        connected = asyncio.Barrier(MANY)

        async def connect() -> None:
            async with opened.session.reading():
                await connected.wait()

        await asyncio.gather(*(connect() for _ in range(MANY)))
        with watching_lock_order():
            yield opened


async def all_at_once(store: Store, write: Write) -> list[Any]:
    """What each of them gets, an exception among others."""
    return await asyncio.gather(*(write(store, number) for number in range(MANY)), return_exceptions=True)


def within(write: Callable[[Store, Any, int], Awaitable[Any]]) -> Write:
    """*write* in a transaction of its own."""

    async def written(store: Store, number: int) -> Any:
        async with store.transaction() as tx:
            return await write(store, tx, number)

    return written


REPLACED: Final[dict[str, tuple[sa.Table, Write]]] = {
    "list": (named_values, lambda store, number: store.lists.put("U1", "rules", [str(number)])),
    "former id": (former_ids, within(lambda store, tx, _: store.former_ids.put(tx, "old", "new"))),
    "card": (cards, within(lambda store, tx, number: store.cards.put(tx, "c", "C1", f"{number}.0", "card"))),
    "message": (outbox, within(lambda store, tx, _: store.outbox.enqueue(tx, "c", "card"))),
}
"""What takes the place of whatever is there."""


@pytest.mark.parametrize("case", REPLACED)
async def test_everybody_gets_through_and_one_row_is_left(store: Store, case: str) -> None:
    table, write = REPLACED[case]

    assert await all_at_once(store, write) == [None] * MANY

    async with store.session.reading() as connection:
        (row,) = await connection.execute(sa.select(table))
    assert table is not outbox or row.version == MANY


def taken(store: Store, _: int) -> Awaitable[Any]:
    return store.inbox.take_in("act", "click", {}, owner="me", lease=LEASE)


ONE_OF_THEM: Final[dict[str, tuple[Write, Counter[str]]]] = {
    "the same request": (taken, Counter(StoredRequest=1, NoneType=MANY - 1)),
    "the same decision": (
        within(lambda store, tx, _: store.changes.note_decision(tx, "c", "U1", "approve")),
        Counter({"True": 1, "False": MANY - 1}),
    ),
    "what holds the same target": (
        lambda store, _: added(store, change(CLOCK, state=State.APPROVED)),
        Counter({Change.__name__: 1, TargetBusy.__name__: MANY - 1}),
    ),
}
"""What only one may write: the others are told so, each in the way that its caller waits for."""


def outcome(got: object) -> str:
    return str(got) if isinstance(got, bool) else type(got).__name__


@pytest.mark.parametrize("case", ONE_OF_THEM)
async def test_one_is_first_and_the_others_are_told(store: Store, case: str) -> None:
    write, wanted = ONE_OF_THEM[case]

    assert Counter(map(outcome, await all_at_once(store, write))) == wanted


async def test_all_who_ask_for_the_same_get_the_same_change(store: Store) -> None:
    got = await all_at_once(store, lambda store, _: added(store, change(CLOCK), "undo:x:0"))

    assert len({each.id for each in got}) == 1
    assert await store.changes.count_by_state() == {"proposed": 1}


async def test_of_requests_of_one_target_that_are_approved_at_once_one_goes_on(store: Store) -> None:
    requests = [await added(store, change(CLOCK)) for _ in range(MANY)]

    got = await all_at_once(store, lambda store, number: moved(store, requests[number], Approve()))

    (first,) = [each for each in got if isinstance(each, Change)]
    assert [each.change.id for each in got if isinstance(each, TargetBusy)] == [first.id] * (MANY - 1)


async def test_parts_of_sets_with_the_same_targets_are_begun_once_each(store: Store) -> None:
    """Each set names the targets in an order of its own, and none waits for another that waits for it."""
    keys = [f"Redirect_{number}" for number in range(MANY)]

    async def begin(store: Store, tx: Any, number: int) -> Any:
        items = [change(CLOCK, key, State.APPLYING) for key in keys[number:] + keys[:number]]
        begun = await store.changes.begin(tx, items, f"owner {number}", LEASE)
        assert [item for item in items if item in begun] == list(begun)
        return begun

    got = await all_at_once(store, within(begin))

    assert sorted(item.edit.target.key for begun in got for item in begun) == keys
