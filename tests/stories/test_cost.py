"""What a change costs: commits and reads of the database, and calls of our own functions. They are counted: no clock is asked."""

from __future__ import annotations

import dis
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import pytest
import sqlalchemy as sa

from bot.server.app import Timing
from bot.store.engine import Store
from bot.store.tables import inbox
from sandbox.demo import Sandbox, running_sandbox
from sandbox.slack.story import Person
from tests.conftest import OPS
from tests.drills.fleet import until

OLD: Final = "Redirect_x1old"
ROOT: Final = Path(__file__).parent.parent.parent
OURS: Final = (f"{ROOT}/bot/", f"{ROOT}/handlers/")
DRIVER: Final = f"{ROOT}/bot/store/sqlite_connection.py"
"""It has the place of a driver of the database, whose calls aren't counted."""
SELDOM: Final = Timing(pace=0.0, look_every=3600.0, recover_every=3600.0)
"""Workers look when they are woken, and not besides: what is counted is what the change needs."""


@pytest.fixture
async def quiet(tmp_path: Path) -> AsyncIterator[Sandbox]:
    """A sandbox whose clock stands still: however busy the machine is, no lease is renewed and no card becomes late."""
    moment = datetime.now(UTC)
    for event, note in NOTED.items():
        sa.event.listen(sa.Engine, event, note)
    try:
        async with running_sandbox(tmp_path, timing=SELDOM, now=lambda: moment) as sandbox:
            yield sandbox
    finally:
        for event, note in NOTED.items():
            sa.event.remove(sa.Engine, event, note)


@cache
def _begins(code: CodeType) -> int:
    """Where a call of *code* begins: each time that a coroutine goes on looks like a call, too, but from further on."""
    return next(each.offset for each in dis.get_instructions(code) if each.opname == "RESUME")


@dataclass(slots=True)
class Cost:
    """*commits* and *reads* until nothing is left to do; *calls* until what was waited for is seen."""

    commits: int = 0
    reads: int = 0
    calls: int = 0

    def note_call(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        ours = code.co_filename.startswith(OURS) and code.co_filename != DRIVER
        is_call = event == "call" and not code.co_name.endswith("comp>")  # which Python 3.12 doesn't call
        self.calls += is_call and ours and frame.f_lasti <= _begins(code)

    def within(self, most: Cost) -> bool:
        """Whether it commits and reads as often as *most* says, and calls no more often."""
        return (self.commits, self.reads) == (most.commits, most.reads) and self.calls <= most.calls


REQUEST: Final = Cost(commits=6, reads=6, calls=1_380)
APPROVAL: Final = Cost(commits=8, reads=9, calls=1_520)
SWITCH: Final = Cost(commits=8, reads=5, calls=1_660)
"""Measured: 1,280, 1,410 and 1,550 calls, a twentieth of which turns texts that came as numbers back into those.

Each time that a worker is woken once more before the end is seen, it looks once more for what is due, in some 20 calls: on a
machine that other tests keep busy, up to three times. How many pieces random ids are read in makes up to 20 calls more or less.
"""
LOOKED: Final = ("FROM inbox", "FROM outbox")
"""Where workers look for what is due. How often depends on when they are woken, so it isn't counted."""


async def idle(store: Store) -> None:
    """Return once every request is done, and Slack was told all that it is owed."""
    left = sa.select(sa.func.count()).select_from(inbox).where(inbox.c.done.is_(False))

    async def nothing_left() -> bool:
        async with store.session.reading() as connection:
            requests = await connection.scalar(left)
        return not requests and not (await store.outbox.backlogs())["message"][0]

    await until(nothing_left, "all is done")


COUNTED: Final[dict[sa.Pool, Cost]] = {}
"""What is counted at this moment, by the connections that it is about."""


def _note_commit(connection: sa.Connection) -> None:
    if (cost := COUNTED.get(connection.engine.pool)) is not None:
        cost.commits += 1


def _note_read(connection: sa.Connection, cursor: object, statement: str, *_: object) -> None:
    if (cost := COUNTED.get(connection.engine.pool)) is not None and connection.dialect.skip_autocommit_rollback:
        cost.reads += not any(each in statement for each in LOOKED)


NOTED: Final[Mapping[str, Callable[..., None]]] = {"commit": _note_commit, "before_cursor_execute": _note_read}
"""From the start of a sandbox on: an engine at work takes no new listener, for it may be walking through those it has."""


async def cost_of(sandbox: Sandbox, doing: Awaitable[object]) -> Cost:
    store = sandbox.bot.gatehouse.store
    cost = Cost()
    pools = [each.sync_engine.pool for each in (store.session.reader, store.session.writer)]
    COUNTED.update(dict.fromkeys(pools, cost))
    sys.setprofile(cost.note_call)
    try:
        await doing
    finally:
        sys.setprofile(None)
    try:
        await idle(store)
    finally:
        for pool in pools:
            del COUNTED[pool]
    return cost


async def test_a_deletion_that_was_asked_for_and_approved(quiet: Sandbox) -> None:
    """Commits of the request: it is stored, opened and done; its card is claimed, and its place noted twice.

    Of the approval: the click, the approval, its lease right before the write, the outcome, that the click is done; the
    edit of the card and the message to its requester, begun together, and that each is done.
    """
    alice, cara = Person(quiet.slack, "U0ALICE01", OPS), Person(quiet.slack, "U0CARA001", OPS)
    await alice.says("/rules delete Redirect_login")
    await idle(quiet.bot.gatehouse.store)

    requested = await cost_of(quiet, alice.says(f"/rules delete {OLD}"))
    card = await alice.sees("Old shop to new shop")

    async def approves() -> None:
        await cara.clicks(card, "v1.decide.approve", confirm=True)
        await cara.sees("[Undo]")

    approved = await cost_of(quiet, approves())

    assert requested.within(REQUEST)
    assert approved.within(APPROVAL)


async def test_switching_a_rule_off(quiet: Sandbox) -> None:
    """It commits what an approval does, without a message to its requester, and once more for where the new card is."""
    alice = Person(quiet.slack, "U0ALICE01", OPS)
    await alice.says("/rules off Redirect_login")
    await idle(quiet.bot.gatehouse.store)

    async def switches_off() -> None:
        await alice.types(f"/rules off {OLD}")
        await alice.sees("Old shop to new shop")

    cost = await cost_of(quiet, switches_off())

    assert cost.within(SWITCH)
