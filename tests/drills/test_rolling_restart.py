"""Two replicas of one release, restarted one after the other while people go on working."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from itertools import count, cycle
from pathlib import Path
from typing import Any, Final

import pytest

from bot.changes.model.change import Change
from bot.changes.model.states import State
from sandbox.gatehouse import CARA
from sandbox.slack.message import Message
from sandbox.slack.tickets import ResponseUrl
from tests.drills.fleet import OPS, RULE, TIMING, Fleet, running_fleet, sized
from tests.drills.wire import NoButton, Signed, click, command, connected

pytestmark = [
    pytest.mark.drill,
    pytest.mark.postgres,
    pytest.mark.timeout(1800),
    pytest.mark.parametrize("empty_database", ["postgres"], indirect=True),
]
COMMANDS_A_SECOND: Final = sized(20, 50, 50)
APPROVALS_A_SECOND: Final = sized(4, 10, 10)
EVERY: Final = 5
"""Of so many commands one switches a rule off, the others only ask."""
ROUNDS: Final = sized(1, 10, 40)
COMMANDS: Final = sized(150, 1_500, 5_000)
REQUESTS: Final = sized(30, 300, 1_000)
"""At most so many: the traffic ends with the last restart. Each needs a rule, and of many more, lists would take the time."""
PEOPLE: Final = COMMANDS // sized(5, 10, 40)
"""Enough of them that nobody is told to be slower."""
LEASE: Final = 10.0
"""Seconds: on a busy machine nothing that still waits for its turn is taken for a dead replica's."""
TIMES: Final = {"DRILL_TIMING": json.dumps(TIMING | {"lease": LEASE})}


@dataclass(slots=True)
class Traffic:
    """What was sent, by way of a proxy that takes the other replica where one takes no connection."""

    fleet: Fleet
    asked: list[tuple[bool, ResponseUrl]] = field(default_factory=list)
    """Of each command that only asks: whether it was acknowledged, and where its answer goes."""
    switched: dict[str, bool] = field(default_factory=dict)
    """Of each rule that was to be switched off: whether the command was acknowledged."""
    approved: dict[str, Change] = field(default_factory=dict)
    again: int = 0
    """Approvals that were clicked once more."""
    _turns: count[int] = field(default_factory=count)

    async def sent(self, signed: Signed) -> bool:
        """Whether the replica that took the connection acknowledged it."""
        replicas = self.fleet.replicas
        for turn in (next(self._turns), next(self._turns)):
            with contextlib.suppress(OSError):
                async with connected(replicas[turn % len(replicas)].port) as line:
                    line.send(signed)
                    return await line.acknowledged()
        return False

    async def ask(self, person: str) -> None:
        signed, answer = command(self.fleet.slack, person, OPS, "/gatehouse whoami")
        self.asked.append((await self.sent(signed), answer))

    async def switch(self, person: str, number: int) -> None:
        signed, _ = command(self.fleet.slack, person, OPS, f"/rules off {switched(number)} because of a drill")
        self.switched[switched(number)] = await self.sent(signed)

    async def approve(self, change: Change, card: Message) -> None:
        """Cara approves; where Slack says that it did not work she clicks again, while the card has the button."""
        with contextlib.suppress(NoButton):
            while not await self.sent(click(self.fleet.slack, CARA.id, card, "approve")):
                self.again += 1
        self.approved[change.id] = change


def switched(number: int) -> str:
    return f"Redirect_s{number:05d}"


async def paced(a_second: int, acts: Iterator[Coroutine[Any, Any, None]], goes_on: Callable[[], bool]) -> None:
    """Begin so many *acts* a second, whatever becomes of them, and wait for their ends."""
    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number, act in enumerate(acts, 1):
            group.create_task(act)
            await asyncio.sleep(max(0.0, began + number / a_second - time.perf_counter()))
            if not goes_on():
                return


async def restarted(fleet: Fleet) -> None:
    """One replica after the other, each once the one before it is ready again."""
    for _ in range(ROUNDS):
        for one in fleet.replicas:
            await one.ended()
            one.start(**TIMES)
            await one.ready()


@pytest.mark.threat("B1")
async def test_a_rolling_restart_under_load_loses_nothing_and_does_nothing_twice(
    empty_database: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    async with running_fleet(empty_database, tmp_path, replicas=2, more_people=PEOPLE, lease=LEASE) as fleet:
        for number in range(0, COMMANDS, EVERY):
            fleet.services.rules.put({**RULE, "id": switched(number), "name": f"Switched {number}"})
        await fleet.start()
        requested = await fleet.deletions(REQUESTS)
        cards = await fleet.cards(requested)
        traffic, people = Traffic(fleet), cycle(fleet.people[-PEOPLE:])

        def commands() -> Iterator[Coroutine[Any, Any, None]]:
            for number in range(COMMANDS):
                person = next(people)
                yield traffic.ask(person) if number % EVERY else traffic.switch(person, number)

        def approvals() -> Iterator[Coroutine[Any, Any, None]]:
            return (traffic.approve(change, cards[change.id]) for change in requested)

        restarts = asyncio.create_task(restarted(fleet))
        await asyncio.gather(
            restarts,
            paced(COMMANDS_A_SECOND, commands(), lambda: not restarts.done()),
            paced(APPROVALS_A_SECOND, approvals(), lambda: not restarts.done()),
        )
        await fleet.settled()
        await asyncio.gather(*(one.ended() for one in fleet.replicas))  # after what is still being answered
        lost, twice = await outcome(traffic)
        assert (lost, twice) == (0, 0)
        assert [one.starts for one in fleet.replicas] == [1 + ROUNDS] * 2
    commands_sent = len(traffic.asked) + len(traffic.switched)
    untaken = [taken for taken, _ in traffic.asked].count(False) + [*traffic.switched.values()].count(False)
    record_property(
        "figure",
        f"G12 PostgreSQL: {2 * ROUNDS} restarts of 2 replicas, one after the other, at "
        f"{COMMANDS_A_SECOND} commands and {APPROVALS_A_SECOND} approvals a second: {commands_sent} commands and "
        f"{len(traffic.approved)} approvals, {lost} lost, {twice} done or answered twice; {untaken} commands and "
        f"{traffic.again} approvals were not taken at once",
    )


async def outcome(traffic: Traffic) -> tuple[int, int]:
    """How much that was acknowledged was not done, and how much was done or answered twice."""
    fleet = traffic.fleet
    states = {change.id: change.state for change in await fleet.all_changes()}
    puts = Counter(call.path.rpartition("/")[2] for call in fleet.services.rules.calls("PUT"))
    deletes = fleet.deletes()
    lost = sum(
        states[change.id] is not State.APPLIED or change.edit.target.key not in deletes
        for change in traffic.approved.values()
    )
    lost += sum(taken and not puts[rule] for rule, taken in traffic.switched.items())
    lost += sum(taken and not answer.uses for taken, answer in traffic.asked)
    twice = sum(many > 1 for done in (deletes, puts) for many in done.values())
    twice += sum(answer.uses > 1 for _, answer in traffic.asked)
    assert deletes.keys() <= {change.edit.target.key for change in traffic.approved.values()}
    return lost, twice
