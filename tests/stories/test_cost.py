"""What a change costs: commits to the database, and calls of our own functions. Both are counted, so no clock is asked."""

from __future__ import annotations

import dis
import sys
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import pytest
import sqlalchemy as sa

from bot.server.workspace import Timing
from bot.store.engine import Store
from bot.store.tables import inbox
from sandbox.demo import Sandbox, running_sandbox
from sandbox.slack.story import Person
from tests.conftest import OPS
from tests.drills.fleet import until

OLD: Final = "Redirect_x1old"
ROOT: Final = Path(__file__).parent.parent.parent
OURS: Final = (f"{ROOT}/bot/", f"{ROOT}/handlers/")
SELDOM: Final = Timing(pace=0.0, look_every=3600.0, recover_every=3600.0)
"""Workers look when they are woken, and not besides: what is counted is what the change needs."""

MAX_CALLS_OF_APPROVAL: Final = 2_650
MAX_CALLS_OF_SWITCH: Final = 1_800
"""Measured: 2,384 to 2,401 and 1,521 to 1,530. Now and then a worker is woken once more before the end is seen: some 120."""


@pytest.fixture
async def quiet(tmp_path: Path) -> AsyncIterator[Sandbox]:
    """A sandbox whose clock stands still: however busy the machine is, no lease is renewed and no card becomes late."""
    moment = datetime.now(UTC)
    async with running_sandbox(tmp_path, timing=SELDOM, now=lambda: moment) as sandbox:
        yield sandbox


@cache
def _begins(code: CodeType) -> int:
    """Where a call of *code* begins: each time that a coroutine goes on looks like a call, too, but from further on."""
    return next(each.offset for each in dis.get_instructions(code) if each.opname == "RESUME")


@dataclass(slots=True)
class Cost:
    """*commits* until nothing is left to do, and *calls* until what was waited for is seen."""

    commits: int = 0
    calls: int = 0

    def note_commit(self, _: sa.Connection) -> None:
        self.commits += 1

    def note_call(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        self.calls += event == "call" and code.co_filename.startswith(OURS) and frame.f_lasti <= _begins(code)


async def idle(store: Store) -> None:
    """Return once every request is done, and Slack was told all that it is owed."""
    left = sa.select(sa.func.count()).select_from(inbox).where(inbox.c.done.is_(False))

    async def nothing_left() -> bool:
        async with store.session.reading() as connection:
            requests = await connection.scalar(left)
        return not requests and not await store.outbox.waiting()

    await until(nothing_left, "all is done")


async def cost_of(sandbox: Sandbox, doing: Awaitable[object]) -> Cost:
    cost, store = Cost(), sandbox.bot.gatehouse.store
    engine = store.session._engine.sync_engine
    sa.event.listen(engine, "commit", cost.note_commit)
    sys.setprofile(cost.note_call)
    try:
        await doing
    finally:
        sys.setprofile(None)
    await idle(store)
    sa.event.remove(engine, "commit", cost.note_commit)
    return cost


async def test_an_approval_commits_seven_times(quiet: Sandbox) -> None:
    """The click, the approval, the outcome, that the click is done; the edit of the card and the message to its requester,
    begun together, and that each is done."""
    alice, cara = Person(quiet.slack, "U0ALICE01", OPS), Person(quiet.slack, "U0CARA001", OPS)
    card = await alice.says(f"/rules delete {OLD}")
    await idle(quiet.bot.gatehouse.store)

    async def approves() -> None:
        await cara.clicks(card, "v1.decide.approve", confirm=True)
        await cara.sees("deleted")

    cost = await cost_of(quiet, approves())

    assert cost.commits == 7
    assert cost.calls <= MAX_CALLS_OF_APPROVAL


async def test_switching_a_rule_off_commits_seven_times(quiet: Sandbox) -> None:
    """The same without an approval or a message of its own, and one more for a card that is new: where it is."""
    alice = Person(quiet.slack, "U0ALICE01", OPS)
    await alice.says("/rules off Redirect_login")
    await idle(quiet.bot.gatehouse.store)

    async def switches_off() -> None:
        await alice.types(f"/rules off {OLD}")
        await alice.sees("Old shop to new shop is off")

    cost = await cost_of(quiet, switches_off())

    assert cost.commits == 7
    assert cost.calls <= MAX_CALLS_OF_SWITCH
