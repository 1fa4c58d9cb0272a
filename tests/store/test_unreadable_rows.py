"""A row that can't be read stops that row, and never the process."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from bot.changes.model.states import Move, State
from bot.health import Level
from bot.store.db import UnreadableRow
from bot.store.engine import Store
from bot.store.tables import changes
from tests.harness.clocks import StandingClock
from tests.harness.databases import BOTH
from tests.store.test_store import LEASE, added, change

pytestmark = pytest.mark.parametrize("database_url", BOTH, indirect=True)
SECRET = "nobody@example.com"


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

    assert (line["event"], line["change"]) == ("unreadable_row", wrong.id[:8])
    assert SECRET not in str(line)
    assert [each.id for each in await store.changes.list_open()] == [right.id]
    health = (await store.health())["store"]
    assert (health.level, wrong.id[:8] in health.detail) == (Level.NEEDS_ATTENTION, True)
    async with store.transaction() as tx:
        assert await store.changes.move(tx, right.id, Move.DENY) is not None


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
