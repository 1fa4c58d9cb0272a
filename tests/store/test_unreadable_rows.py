"""A row that can't be read stops that row, and never the process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterable, Callable, Coroutine
from datetime import timedelta
from typing import Any, Final, cast

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from bot.changes.freezing import FREEZES, Freezes
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.items import Item, Outcome
from bot.changes.model.moves import Deny
from bot.changes.model.states import State
from bot.health import Level
from bot.policy.access import Access
from bot.policy.freezes import ChatFreeze
from bot.store.audit import Event, Filters
from bot.store.db import UnreadableRow
from bot.store.engine import Store
from bot.store.items import rows_of
from bot.store.outbox import Purpose
from bot.store.tables import changes, metadata
from tests.harness.clocks import StandingClock
from tests.harness.databases import BOTH
from tests.harness.workers import ONE_TIMER
from tests.store.test_store import LEASE, added, change

pytestmark = pytest.mark.parametrize("database_url", BOTH, indirect=True)
SECRET = "nobody@x.example"
"""Short enough for the shortest column."""


async def spoil(store: Store, change_id: str, document: str | None = None) -> None:
    """Put a wrong value into a field of a stored change, or other text in place of all of it."""
    async with store.transaction() as tx:
        stored = await tx.scalar(sa.select(changes.c.document).where(changes.c.id == change_id))
        wrong = json.loads(stored or "")
        wrong["decision"]["decided_at"] = SECRET
        text = json.dumps(wrong) if document is None else document
        await tx.execute(sa.update(changes).where(changes.c.id == change_id).values(document=text))


@pytest.mark.parametrize("document", [None, "", "[]", f'{{"id": "{SECRET}'])
async def test_it_is_refused_by_itself_counted_and_told_without_its_values(
    store: Store, clock: StandingClock, document: str | None
) -> None:
    wrong = await added(store, change(clock, "Redirect_wrong"))
    right = await added(store, change(clock, "Redirect_right"))
    await spoil(store, wrong.id, document)

    with capture_logs() as logs:
        for _ in range(2):
            with pytest.raises(UnreadableRow):
                await store.changes.get(wrong.id)
    (line,) = logs

    assert (line["event"], line["record"]) == ("unreadable_row", f"change {wrong.id[:8]}")
    assert SECRET not in str(line)
    assert [each.id for each in await store.changes.list_open()] == [right.id]
    health = (await store.health())["store"]
    assert (health.level, wrong.id[:8] in health.detail) == (Level.NEEDS_ATTENTION, True)
    async with store.transaction() as tx:
        assert await store.changes.move(tx, right, Deny(), right.created) is not None


@pytest.mark.parametrize("state", [State.APPLYING, State.UNKNOWN, State.APPROVED])
async def test_what_is_due_behind_it_is_claimed(store: Store, clock: StandingClock, state: State) -> None:
    wrong = await added(store, change(clock, "Redirect_wrong", state))
    clock.moment += timedelta(seconds=1)
    right = await added(store, change(clock, "Redirect_right", state))
    await spoil(store, wrong.id)
    clock.moment += LEASE * 2

    claimed = []
    for _ in range(3):
        async with store.transaction() as tx:
            claimed.append(await store.changes.claim_due(tx, "me", LEASE))

    assert [each.id for each in claimed if each is not None] == [right.id]


TEXTS: Final = [
    column for table in metadata.tables.values() for column in table.columns if isinstance(column.type, sa.String)
]
"""Every column whose text may not be what this release writes."""


async def filled(store: Store, clock: StandingClock) -> str:
    """Put a row into each table; return the id that all of them have."""
    one = await added(store, change(clock))
    edit = Edit(kind=Kind.RULE_DELETE, target=Target(service="rules", key="Redirect_x"), before={}, after=None)
    now, later = clock(), clock() + timedelta(hours=1)
    freeze = ChatFreeze(starts=now, until=later, made=now, id="f", title="", why="sale", by="U1", channel="C1")
    await store.inbox.take_in(one.id, "command", {"text": "x"}, owner="dead", lease=-LEASE)
    await store.lists.put("U1", "rules", ["Redirect_x"])
    rows = await rows_of(one.id, [Item.of(0, edit)])
    async with store.transaction() as tx:
        await store.items.add(tx, rows)
        await store.outbox.enqueue(tx, one.id, Purpose.CARD)
        await store.cards.put(tx, one.id, "C1", "1.2", Purpose.CARD)
        await store.outbox.enqueue(tx, "another", Purpose.EXPIRE, due=clock() - LEASE)
        await store.former_ids.put(tx, "Redirect_old", "Redirect_x")
        await store.changes.note_decision(tx, one.id, "U2", "approve")
        await store.changes.note_seen(tx, one, "U2")
        await store.audit.append(tx, Event("requested", "U1", "C1", change_id=one.id, detail={"name": "x"}))
        await store.values.put(tx, *FREEZES, json.dumps([freeze.model_dump_json(by_alias=True)]))
    return one.id


def readings(store: Store, clock: StandingClock, key: str) -> dict[str, Callable[[], Coroutine[Any, Any, Any]]]:
    async def drain(found: AsyncIterable[Any]) -> list[Any]:
        return [each async for each in found]

    return {
        "change": lambda: store.changes.get(key),
        "open": store.changes.list_open,
        "items": lambda: store.items.find(key, tuple(Outcome), 9),
        "all items": lambda: drain(store.items.all(key)),
        "one item": lambda: store.items.get(key, 0),
        "tally": lambda: store.items.tally(key),
        "inbox": lambda: store.inbox.claim("me", LEASE),
        "request": lambda: store.inbox.get(key),
        "outbox": lambda: store.outbox.claim("me", LEASE),
        "card": lambda: store.cards.link(key),
        "timers": lambda: store.outbox.claim("me", LEASE, ONE_TIMER),
        "planned": lambda: store.outbox.pending_change_ids(Purpose.EXPIRE),
        "list": lambda: store.lists.get("U1", "rules"),
        "former ids": lambda: store.former_ids.resolve("Redirect_old"),
        "audit": lambda: store.audit.find(Filters()),
        "whole audit": lambda: drain(store.audit.all(Filters())),
        "names": lambda: store.audit.find_targets("x"),
        "freezes": Freezes(store, cast("Access", None), clock).chat_freezes,
    }


@pytest.mark.parametrize("column", TEXTS, ids=str)
async def test_no_text_of_a_row_does_more_than_refuse_that_row(
    store: Store, clock: StandingClock, column: sa.Column[str]
) -> None:
    readers = readings(store, clock, await filled(store, clock))
    async with store.transaction() as tx:
        await tx.execute(sa.update(column.table).values({column: SECRET}))

    with capture_logs() as logs:
        outcomes = {name: (await asyncio.gather(read(), return_exceptions=True))[0] for name, read in readers.items()}
    refused = {name: error for name, error in outcomes.items() if isinstance(error, BaseException)}
    told = {each["record"] for each in logs if each["event"] == "unreadable_row"}

    assert {name: str(error) for name, error in refused.items() if not isinstance(error, UnreadableRow)} == {}
    assert {error.record for error in refused.values() if isinstance(error, UnreadableRow)} <= told
    assert SECRET not in f"{logs} {refused}"
