"""What is looked up is found by an index, however much is on record: read off the plans of both databases, not off a clock."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any, Final

import pytest
import sqlalchemy as sa

from bot.changes.model.edits import Target
from bot.store.audit import Filters
from bot.store.engine import Store, open_store
from bot.store.outbox import Purpose
from bot.store.tables import audit, changes, former_ids, inbox, micros, outbox
from tests.harness.clocks import StandingClock
from tests.harness.databases import BOTH
from tests.harness.workers import ONE_TIMER
from tests.store.test_store import LEASE

pytestmark = pytest.mark.parametrize("database_url", BOTH, indirect=True)
CLOCK: Final = StandingClock()
MANY: Final = 3000
TARGETS: Final = 300


DOCUMENT: Final = json.dumps(
    {
        "id": "a",
        "created": "2026-11-21T03:00:00Z",
        "edit": {"kind": "rule.delete", "target": {"service": "rules"}, "before": {}, "after": None},
        "request": {"requester": "U1", "channel": "C1"},
    }
)


def rows(number: int) -> dict[sa.Table, dict[str, Any]]:
    """One row of each table that grows for ever: all done, as nearly all are."""
    then = micros(CLOCK() - timedelta(minutes=MANY - number))
    name, held = f"{number:032x}", {"attempt": 1, "owner": "me", "lease": then}
    change = {
        "idempotency_key": name,
        "target": f"rules/{number % TARGETS}",
        "state": "applied",
        "document": DOCUMENT,
        "created": then,
    }
    event = {"event": "applied", "actor": f"U{number % TARGETS}", "channel": "C1", "permalink": "", "detail": "{}"}
    return {
        changes: {
            "id": name,
            "requester": f"U{number % TARGETS}",
            "channel": "C1",
            **change,
            **held,
        },
        outbox: {
            "change_id": name,
            "purpose": "card",
            "version": 3,
            "delivered": 3,
            "due": then,
            "attempt": 1,
            "last_error": "",
        },
        inbox: {
            "id": name,
            "kind": "click",
            "payload": "{}",
            "received": then,
            "done": True,
            **held,
        },
        former_ids: {"old": name, "new": f"new{name}"},
        audit: {"seq": number, "at": then, "change_id": name, "target": change["target"], "hash": "", **event},
    }


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    async with open_store(database_url, now=CLOCK) as opened:
        async with opened.transaction() as tx:
            many = [rows(number) for number in range(1, MANY + 1)]
            for table in many[0]:
                await tx.execute(sa.insert(table), [each[table] for each in many])
        if not opened.session.sqlite:  # which plans by what it knows of the tables, and looks at them by itself
            async with opened.transaction() as tx:
                await tx.execute(sa.text("ANALYZE"))
        yield opened


LOOKS: Final[dict[str, Callable[[Store], Awaitable[object]]]] = {
    "outbox: the next": lambda store: store.outbox.claim("me", LEASE),
    "outbox: when": lambda store: store.outbox.next_due(),
    "outbox: backlogs": lambda store: store.outbox.backlogs(),
    "outbox: once more": lambda store: store.outbox.retry_given_up(),
    "inbox: what was left": lambda store: store.inbox.claim("me", LEASE),
    "inbox: how many are open": lambda store: store.inbox.backlog(),
    "outbox: what is to be done": lambda store: store.outbox.claim("me", LEASE, ONE_TIMER),
    "outbox: what will be done": lambda store: store.outbox.pending_change_ids(Purpose.REVERT),
    "changes: what was left": lambda store: store.changes.any_due(),
    "changes: what sets were left": lambda store: store.changes.any_due(bulk=True),
    "changes: how many are open": lambda store: store.changes.backlogs(),
    "changes: open ones": lambda store: store.changes.list_open(),
    "changes: of a target": lambda store: store.changes.list_by_targets(["rules/7"]),
    "changes: that made a rule": lambda store: store.changes.creations(Target(service="rules", key="7")),
    "changes: what was done to it last": lambda store: store.changes.last_applied_to(
        Target(service="rules", key="Redirect_7")
    ),
    "changes: called so": lambda store: store.changes.find_by_prefix("00000007"),
    "former_ids: older ids": lambda store: store.former_ids.all_of("new7"),
    "audit: since then": lambda store: store.audit.find(Filters(since=CLOCK() - timedelta(hours=1))),
    "audit: what a person did last": lambda store: store.audit.last_act("U7", "C1"),
    "audit: of a person": lambda store: store.audit.find(Filters(who="U7")),
}
WALK: Final = re.compile(r"(?:SCAN|Seq Scan on) (changes|outbox|inbox|former_ids|audit)\b(?! USING)")


async def plans_of(store: Store, look: Callable[[Store], Awaitable[object]]) -> list[str]:
    """The lines of the plans of the statements of *look*."""
    said: list[tuple[str, Any]] = []

    def note(connection: object, cursor: object, statement: str, given: Any, *_: object) -> None:
        said.append((statement, given))

    engines = [each.sync_engine for each in (store.session.reader, store.session.writer)]
    for engine in engines:
        sa.event.listen(engine, "before_cursor_execute", note)
    await look(store)
    for engine in engines:
        sa.event.remove(engine, "before_cursor_execute", note)
    explain = "EXPLAIN QUERY PLAN" if store.session.sqlite else "EXPLAIN"
    async with store.session.reading() as connection:
        plans = [
            await connection.exec_driver_sql(f"{explain} {statement}", given)
            for statement, given in said
            if not statement.startswith(("BEGIN", "COMMIT", "ROLLBACK"))
        ]
    assert plans
    return [str(line[-1]).strip() for plan in plans for line in plan]


async def test_no_look_walks_over_all_that_is_on_record(store: Store) -> None:
    plans = {name: await plans_of(store, look) for name, look in LOOKS.items()}

    walked = {name: [line for line in lines if WALK.search(line)] for name, lines in plans.items()}
    assert {name: lines for name, lines in walked.items() if lines} == {}


async def test_the_requests_of_a_day_are_not_searched_for_the_open_ones(store: Store) -> None:
    plan = await plans_of(store, LOOKS["inbox: what was left"])

    assert "inbox_open" in " ".join(plan)
