"""Our own database fails at each step of each operation: nobody hears that nothing was changed where it was, or will be."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from bot.changes.model.change import Change
from bot.changes.model.states import State
from bot.store.db import Session
from bot.store.tables import changes, inbox
from bot.text.documents import load
from handlers.explain.table import says_unchanged
from sandbox.demo import Sandbox
from tests.conftest import OPS, QUICK, Clock, busy_sandbox
from tests.drills.fleet import RULE
from tests.harness.colleague import Colleague

STEPS: Final = (
    *("store", "acknowledge", "run", "propose", "claim", "begin", "look", "write", "sent", "read back", "record"),
    *("end of bulk change", "post", "posted", "edit", "finish"),
)
"""Every failpoint. An operation that doesn't come by one meets no fault there."""


@dataclass(slots=True)
class Trouble:
    """What our database does to writers from a failpoint on, so many times."""

    at: str = ""
    kind: str = ""
    left: int = 0
    begun: bool = False

    def arm(self, at: str, kind: str, times: int) -> None:
        self.at, self.kind, self.left, self.begun = at, kind, times, False

    def failpoint(self, step: str) -> None:
        self.begun = self.begun or step == self.at

    async def watch(self, session: Session) -> None:
        """Watch from a moment on at which nobody writes: a transaction that begins goes through the same list."""
        engine = session.writer.sync_engine
        async with session._writers:
            sa.event.listen(engine, "begin", self._on_begin)
            sa.event.listen(engine, "commit", self._on_commit)
            sa.event.listen(engine, "rollback", self._let_write)

    def _strikes(self, kinds: Sequence[str]) -> bool:
        if not self.begun or self.kind not in kinds or not self.left:
            return False
        self.left -= 1
        return True

    def _on_begin(self, connection: sa.Connection) -> None:
        """SQLite's own refusals, for this transaction."""
        if self._strikes(["read only"]):
            self._set_read_only(connection, on=True)
        pages = 1 if self._strikes(["full"]) else 1_000_000
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

    def _let_write(self, connection: sa.Connection) -> None:
        """At the end of a transaction: the next one of this connection would not even begin."""
        self._set_read_only(connection, on=False)

    @staticmethod
    def _set_read_only(connection: sa.Connection, *, on: bool) -> None:
        cursor = connection.connection.cursor()
        cursor.execute(f"PRAGMA query_only = {int(on)}")
        cursor.close()

    def _on_commit(self, connection: sa.Connection) -> None:
        """It is committed, and nobody hears of it."""
        self._let_write(connection)
        if self._strikes(["commit lost"]):
            connection.connection.dbapi_connection.commit()  # type: ignore[union-attr]  # it is open
            raise ConnectionResetError("the answer to COMMIT was lost")


@dataclass(slots=True)
class Scene:
    """A sandbox in which our database fails, and things that nobody has touched yet."""

    sandbox: Sandbox
    clock: Clock
    trouble: Trouble
    numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def rule(self) -> str:
        """The id of a new rule."""
        number = next(self.numbers)
        self.sandbox.services.rules.put({**RULE, "id": f"Redirect_o{number:04d}", "name": f"Ours {number}"})
        return f"Redirect_o{number:04d}"

    def person(self, user: str, channel: str = OPS) -> Colleague:
        return Colleague(self.sandbox, user, channel)

    @property
    def alice(self) -> Colleague:
        return self.person("U0ALICE01")

    def writes(self) -> int:
        services = self.sandbox.services
        return sum(call.method != "GET" for call in [*services.rules.calls(), *services.members.calls()])

    def claims(self) -> int:
        """How many messages and forms say that nothing was changed."""
        state = self.sandbox.slack.state
        views = [view["blocks"] for user in state.users for view in state.stack(user)]
        return sum(map(says_unchanged, [*(message.blocks for message in state.messages), *views]))

    async def changes(self) -> list[Change]:
        query = sa.select(changes.c.document).where(changes.c.set_id == "").order_by(changes.c.created)
        async with self.sandbox.bot.gatehouse.store.session.reading() as connection:
            return [load(Change, text) for text in await connection.scalars(query)]

    async def settle(self) -> None:
        """Let time go on until nothing is left to do: leases end, and what was left is taken up.

        It stands still while a change is carried out, and goes the slower the longer it takes: on a busy machine no lease
        would last for as long as a request takes.
        """
        at_work = self.sandbox.bot.gatehouse.changes.journal.at_work
        pause = 0.05
        async with asyncio.timeout(90):
            while await self._is_busy():
                if not at_work:
                    self.clock.ahead += timedelta(seconds=10)
                    pause = min(1.1 * pause, 1.0)
                await asyncio.sleep(pause)

    async def _is_busy(self) -> bool:
        store = self.sandbox.bot.gatehouse.store
        counts = await store.changes.count_by_state()
        open_ = sa.select(sa.func.count()).select_from(inbox).where(inbox.c.done.is_(False))
        async with store.session.reading() as connection:
            requests = await connection.scalar(open_)
        busy = [counts.get(state, 0) for state in (State.APPROVED, State.APPLYING, State.UNKNOWN)]
        return any([*busy, requests, (await store.outbox.backlogs())["message"][0]])


ENDS: Final = {State.APPLIED, State.FAILED, State.STALE, State.UNSETTLED}
"""Where a change comes to rest; the last one where nobody can know whether a creation was sent."""

Act = Callable[[], Awaitable[object]]
"""What is done while the database fails."""


async def _off(scene: Scene) -> Act:
    rule = scene.rule()
    return lambda: scene.alice.types(f"/rules off {rule}")


async def _made(scene: Scene) -> Act:
    url = f"https://shop.example.com/made{next(scene.numbers)}"
    return lambda: scene.alice.types(f'/rules make redirect {url} to https://shop.example.com/x named "{url[-8:]}"')


async def _approved(scene: Scene) -> Act:
    rule = scene.rule()
    await scene.alice.types(f"/rules delete {rule} because nobody uses it")
    card = await scene.alice.sees_change(of=rule, state=State.PROPOSED)
    await scene.settle()
    return lambda: scene.person("U0CARA001").clicks(card, "Approve deletion", confirm=True)


OPERATIONS: Final = {
    "switch off": _off,
    "create": _made,
    "approve": _approved,
}
CASES: Final = [
    pytest.param("switch off", ("read only", 1), ("propose", "sent", "record"), id="a refusal, some steps"),
    pytest.param("switch off", ("commit lost", 1), ("store", "look", "finish"), id="a lost answer, some steps"),
    pytest.param("switch off", ("full", 3), STEPS, marks=pytest.mark.slow, id="a refusal, disk full"),
    pytest.param("create", ("full", 3), STEPS, marks=pytest.mark.slow, id="create, disk full"),
    pytest.param("create", ("commit lost", 1), STEPS, marks=pytest.mark.slow, id="create, a lost answer"),
    pytest.param("create", ("read only", 3), STEPS, marks=pytest.mark.slow, id="create, read only"),
    pytest.param("approve", ("read only", 3), STEPS, marks=pytest.mark.slow, id="approve, read only"),
    pytest.param("approve", ("full", 3), STEPS, marks=pytest.mark.slow, id="approve, disk full"),
    pytest.param("approve", ("commit lost", 1), STEPS, marks=pytest.mark.slow, id="approve, a lost answer"),
]


@pytest.mark.threat("D1", "D2")
@pytest.mark.parametrize(("operation", "fault", "steps"), CASES)
async def test_nobody_is_told_that_nothing_was_changed_where_it_was(
    operation: str, fault: tuple[str, int], steps: Sequence[str], tmp_path: Path
) -> None:
    trouble, clock, struck = Trouble(), Clock(), 0
    timing = replace(QUICK, failpoint=trouble.failpoint, look_every=0.1, recover_every=0.1)
    async with AsyncExitStack() as stack:
        stack.enter_context(capture_logs())  # a traceback that is drawn takes seconds
        sandbox = await stack.enter_async_context(busy_sandbox(tmp_path, timing=timing, clock=clock))
        await trouble.watch(sandbox.bot.gatehouse.store.session)
        scene = Scene(sandbox, clock, trouble)
        for step in steps:
            act = await OPERATIONS[operation](scene)
            await scene.settle()
            writes, claims, known = scene.writes(), scene.claims(), len(await scene.changes())

            trouble.arm(step, *fault)
            await act()
            await scene.settle()
            struck += trouble.left < fault[1]
            trouble.arm("", "", 0)

            made, where = (await scene.changes())[known:], f"{operation}, {fault} at {step}"
            claimed, sent = scene.claims() - claims, scene.writes() - writes
            assert len(made) <= 1, f"recorded twice: {where}"
            assert not (claimed and sent), f"“Nothing was changed”, and {sent} writes: {where}"
            assert sent <= 1, f"done {sent} times: {where}"
            for change in made:
                assert change.state in ENDS, where
                is_true = change.state is State.UNSETTLED or (sent > 0) == (change.state is State.APPLIED)
                assert is_true, f"{change.state} after {sent} writes: {where}"
    assert struck, "our database never failed"
