"""Replicas as processes that may be killed at any moment, between a Slack and services that count what reaches them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from math import nan
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pytest
import sqlalchemy as sa

from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.parts import ChangeRequest, Guard
from bot.changes.model.states import State
from bot.changes.pipeline import Pipeline
from bot.changes.proposals import Proposal
from bot.server.manifest import document
from bot.store.audit import Filters
from bot.store.inbox import MAX_ATTEMPTS
from bot.store.tables import changes, inbox
from bot.text.documents import load
from sandbox.gatehouse import ALICE, SHOP, STAFF
from sandbox.services.database import Record
from sandbox.services.seed import redirect_pair
from sandbox.slack.message import Message
from sandbox.slack.people import User
from sandbox.slack.running import LocalSlack, running_slack
from tests.drills import replica as program
from tests.harness.databases import BOTH
from tests.harness.directories import Directory, access
from tests.harness.ground import Ground, open_ground
from tests.harness.programs import environment, free_ports, is_ready
from tests.harness.proposing import record_only

OPS: Final = "C0OPS0001"
PATIENCE: Final = 240.0
LOOK: Final = 0.03
"""Seconds between two looks at a condition that no event tells of: that of other processes."""

TIMING: Final = {
    "lease": 1.5,
    "recover_every": 0.2,
    "look_every": 0.2,
    "pace": 0.0,
    "reconcile_after": [0.05, 0.1, 0.2],
}
SIZES: Final = ("quick", "ci", "long")
SIZE: Final = SIZES.index(os.environ.get("RELIABILITY") or "quick")
"""``quick`` with all other tests, ``ci`` and ``long`` by `make reliability`: the columns of the table of goals."""

FORKS: Final = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload([program.__name__])


class NothingHappened(AssertionError):
    """What was waited for did not come."""


async def until(met: Callable[[], Awaitable[bool]], what: str, patience: float = PATIENCE) -> None:
    """Return once *met*; raises NothingHappened."""
    end = time.monotonic() + patience
    while not await met():
        if time.monotonic() > end:
            raise NothingHappened(f"waited {patience:.0f} s until {what}")
        await asyncio.sleep(LOOK)


@dataclass(slots=True)
class Replica:
    """One process of the bot, at a port of its own that stays the same."""

    environment: dict[str, str]
    port: int
    log: Path
    process: BaseProcess | None = None
    starts: int = 0

    def start(self, *, die_at: str = "", stop_at: str = "", **more: str) -> None:
        """Fork a process; `ready` tells when it serves."""
        environment = self.environment | {"DRILL_DIE_AT": die_at, "DRILL_STOP_AT": stop_at} | more
        self.process = FORKS.Process(target=program.forked, args=(environment, self.log), daemon=True)
        self.process.start()
        self.starts += 1

    async def ready(self) -> None:
        await until(self._is_ready, f"replica at {self.port} is ready\n{self.story()}")

    async def _is_ready(self) -> bool:
        assert self.alive, f"the replica ended at its start\n{self.story()}"
        return await self.answers()

    async def answers(self) -> bool:
        return await is_ready(self.port)

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.is_alive()

    def signal(self, number: int) -> None:
        assert self.process is not None
        assert self.process.pid is not None
        os.kill(self.process.pid, number)

    async def killed(self) -> None:
        """Kill -9, and wait for the end."""
        with contextlib.suppress(ProcessLookupError):
            self.signal(signal.SIGKILL)
        await self.dead()

    async def dead(self, patience: float = PATIENCE) -> None:
        """Wait for its end, whoever brings it."""
        assert self.process is not None
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self.process.sentinel, ended.set)
        try:
            async with asyncio.timeout(patience):
                await ended.wait()
        except TimeoutError:
            raise NothingHappened(f"waited {patience:.0f} s for a process to end\n{self.story()}") from None
        finally:
            loop.remove_reader(self.process.sentinel)
        self.process.join()

    async def stopped(self) -> None:
        """Wait until it has stopped itself."""

        async def is_stopped() -> bool:
            assert self.process is not None
            status = Path(f"/proc/{self.process.pid}/status").read_text()
            return "\nState:\tT" in status

        await until(is_stopped, "the replica stops itself")

    async def ended(self) -> None:
        """SIGTERM, and wait until it has finished what was under way."""
        self.signal(signal.SIGTERM)
        await self.dead()

    async def started_anew(self) -> bool:
        return self.starts > 1

    async def kept_up(self) -> None:
        """Start it again whenever it dies, as systemd or Kubernetes would; runs until cancelled."""
        while True:
            await self.dead(patience=3600)
            self.start()

    def story(self) -> str:
        return self.log.read_text(errors="replace")[-3000:] if self.log.exists() else ""


@dataclass(slots=True)
class Fleet(Ground):
    """The ground of some replicas, and their Slack, all still there when those are gone.

    *process*: a way for the test itself to ask for changes, as one replica more that owns nothing.
    """

    slack: LocalSlack
    process: Pipeline = field(init=False)
    replicas: Sequence[Replica] = ()
    people: Sequence[str] = field(default=STAFF)

    async def start(self) -> None:
        for one in self.replicas:
            one.start()
        await asyncio.gather(*(one.ready() for one in self.replicas))
        self.deliver_to(self.replicas[0])

    def deliver_to(self, one: Replica) -> None:
        """Where what people do in the local Slack goes."""
        self.slack.delivery.url = f"http://127.0.0.1:{one.port}/slack/events"

    async def deletions(self, many: int, *, first: int = 0) -> list[Change]:
        """So many rules, numbered from *first*, and a request of Alice's to delete each."""
        asked = []
        for number in range(first, first + many):
            rule = {**RULE, "id": f"Redirect_d{number:05d}", "name": f"Drill {number}"}
            self.services.rules.put(rule)
            target = Target(service="rules", key=rule["id"])
            proposal = Proposal.of(
                edit=Edit(kind=Kind.RULE_DELETE, target=target, before=rule, after=None),
                request=ChangeRequest(requester=ALICE.id, channel=OPS, reason="a drill"),
            )
            asked.append(await record_only(self.process, proposal, idempotency_key=uuid4().hex))
            assert asked[-1].decision.guard is Guard.APPROVE
        return asked

    async def cards(self, asked: Sequence[Change]) -> dict[str, Message]:
        """The card of each change, by the change's id, once Slack has them all."""

        async def told() -> bool:
            return (await self.store.outbox.backlogs())["message"][0] == 0

        await until(told, "all cards are posted", 120)
        by_ts = {message.ts: message for message in self.slack.state.messages}
        places = {change.id: await self.store.cards.get(change.id, "card") for change in asked}
        return {name: by_ts[place[1]] for name, place in places.items() if place is not None}

    async def settled(self, *, patience: float = PATIENCE) -> None:
        """Wait until nothing is left to do: no request, no change under way, no message owed."""

        async def idle() -> bool:
            return not await self.left()

        try:
            await until(idle, "all is settled", patience)
        except NothingHappened as error:
            stories = "\n".join(one.story() for one in self.replicas)
            raise NothingHappened(f"{error}; left: {await self.left()}\n{stories}") from None

    async def left(self) -> dict[str, int]:
        """What is under way or owed; empty where nothing is. A request that was given up is left alone."""
        counts = await self.store.changes.count_by_state()
        open_ = sa.and_(inbox.c.done.is_(False), inbox.c.attempt <= MAX_ATTEMPTS)
        query = sa.select(sa.func.count()).select_from(inbox).where(open_)
        async with self.store.session.reading() as connection:
            requests = int(await connection.scalar(query) or 0)
        busy = {state: counts.get(state, 0) for state in (State.APPROVED, State.APPLYING, State.UNKNOWN)}
        found = busy | {"requests": requests, "messages": (await self.store.outbox.backlogs())["message"][0]}
        return {str(name): many for name, many in found.items() if many}

    async def all_changes(self) -> list[Change]:
        """Every change there is, oldest first."""
        query = sa.select(changes.c.document).order_by(changes.c.created)
        async with self.store.session.reading() as connection:
            return [load(Change, text) for text in await connection.scalars(query)]

    async def events(self) -> dict[str, list[str]]:
        """What the audit says of each change, in order."""
        found: dict[str, list[str]] = {}
        async for entry in self.store.audit.all(NO_FILTER):
            found.setdefault(entry.change_id, []).append(entry.event)
        return found

    def deletes(self) -> dict[str, int]:
        """How often each rule was asked to be deleted, by its id."""
        paths = [call.path.rpartition("/")[2] for call in self.services.rules.calls("DELETE")]
        return {path: paths.count(path) for path in set(paths)}


def people(slack: LocalSlack, many: int) -> list[str]:
    """So many more full members, in the channel of the on-call engineers; their ids."""
    made = [
        User(f"U0DRILL{number:02d}", f"drill{number}", f"Drill {number}", "Lead", "#333333") for number in range(many)
    ]
    slack.state.users |= {user.id: user for user in made}
    channel = slack.state.channels[OPS]
    slack.state.channels[OPS] = replace(channel, members=(*channel.members, *(user.id for user in made)))
    return [user.id for user in made]


@asynccontextmanager
async def running_fleet(
    database_url: str, folder: Path, *, replicas: int = 1, more_people: int = 0, **timing: Any
) -> AsyncIterator[Fleet]:
    """Everything but the replicas' processes, which `Fleet.start` or `Replica.start` forks; none survives the block."""
    async with AsyncExitStack() as stack:
        ground = await stack.enter_async_context(open_ground(database_url, now=now))
        slack = await stack.enter_async_context(running_slack(document("http://127.0.0.1"), SHOP))
        fleet = Fleet(*ground, slack, people=[*STAFF, *people(slack, more_people)])
        made = []
        for number, port in enumerate(free_ports(replicas)):
            own = environment(slack, fleet.services, database_url, port)
            own |= {"LOG_LEVEL": "WARNING", "DRILL_TIMING": json.dumps(TIMING | timing)}
            made.append(Replica(own, port, folder / f"replica{number}.log"))
        fleet.replicas = made
        rights = access(Directory(members={OPS: slack.state.channels[OPS].members}))
        fleet.process = fleet.pipeline(rights, now, max_waiting=1_000_000)
        try:
            yield fleet
        finally:
            await asyncio.gather(*(one.killed() for one in made if one.alive))


def sized(quick: int, ci: int, long: int) -> int:
    """How many of something this run takes."""
    return (quick, ci, long)[SIZE]


AT_LEAST_SQLITE: Final = BOTH if SIZE else BOTH[:1]
AT_LEAST_POSTGRES: Final = BOTH if SIZE else BOTH[1:]
"""Databases for `parametrize`: the quick size leaves the other one out, which would take a minute more of two cores."""


def in_turn(cases: Sequence[Any]) -> list[Any]:
    """Each case with a database, for `parametrize`: with both, or in the quick size with one and the other in turn."""
    postgres = pytest.mark.postgres
    both = [
        (
            pytest.param("sqlite", case, id=f"{_called(case)}-sqlite"),
            pytest.param("postgres", case, marks=postgres, id=f"{_called(case)}-postgres"),
        )
        for case in cases
    ]
    return [each for number, pair in enumerate(both) for each in (pair if SIZE else pair[number % 2 : number % 2 + 1])]


def _called(case: Any) -> str:
    return "-".join(case if isinstance(case, tuple) else (case,)).replace(" ", "-")


def now() -> datetime:
    return datetime.now(UTC)


def spread(figures: Sequence[float]) -> tuple[float, float]:
    """The median and the 99th percentile; neither is a number where there is nothing to measure."""
    ordered = sorted(figures) or [nan]
    return ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]


NO_FILTER: Final = Filters()
RULE: Final[Record] = {
    "description": "",
    "status": "Active",
    "ruleType": "Redirect",
    "pairs": [redirect_pair("https://shop.example.com/drill", "https://shop.example.com/over")],
}
