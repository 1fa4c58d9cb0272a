"""Every kind through every door: what was to change changed, all else survived to the byte, and a closed door says so."""

from __future__ import annotations

import asyncio
import copy
import secrets
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio

from bot.changes.model.states import State
from handlers.gatehouse.commands import GatehouseFreeze, GatehouseToken, GatehouseUnfreeze
from handlers.slack import registry
from sandbox.demo import Sandbox
from sandbox.services.database import Record
from sandbox.services.running import RULES_KEY
from sandbox.services.seed import GROUPS, seed
from tests.conftest import OPS, Clock, busy_sandbox
from tests.doors import groups, members, rules
from tests.doors.play import NON_ASCII, Door, Through, Visitor
from tests.harness.channels import watching_channels

registry.load()
MODULE: Final = pytest.mark.asyncio(loop_scope="module")
PATIENCE: Final = 30.0
"""Seconds: no service is slow here, so who waits is kept waiting by other tests alone."""
HOUR: Final = timedelta(hours=1)
"""Between two plays: what one person may do in an hour is limited."""


def cells(doors: list[Door], objects: Mapping[str, Record]) -> list[object]:
    """Each object at each door; first come some in which each object and each door is once."""
    table = [*product(range(len(doors)), range(len(objects)))]
    size = max(len(doors), len(objects))
    table.sort(key=lambda cell: (cell[0] - cell[1]) % min(len(doors), len(objects)))
    named = [*objects.items()]
    assert {at for at, _ in table[:size]} == {*range(len(doors))}
    assert {at for _, at in table[:size]} == {*range(len(objects))}
    return [pytest.param(doors[at], named[of][1], id=f"{doors[at].name}-{named[of][0]}") for at, of in table]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Sandbox, Clock]]:
    """One sandbox for all: what goes through a door has an id of its own, and time passes in between."""
    clock = Clock()
    folder: Path = tmp_path_factory.mktemp("doors")
    async with busy_sandbox(folder, clock=clock, patience=PATIENCE) as sandbox:
        with watching_channels(sandbox.slack.state):
            yield sandbox, clock


@pytest_asyncio.fixture(loop_scope="module")
async def play(house: tuple[Sandbox, Clock]) -> AsyncIterator[Players]:
    """The seed as it was, and two people who have seen nothing yet; in the end, nothing is under way any more."""
    sandbox, clock = house
    state, changes = sandbox.slack.state, sandbox.bot.gatehouse.store.changes
    clock.ahead += HOUR
    since = max((message.ts for message in state.messages), default="")
    about = secrets.token_hex(4)
    alice, cara = (
        Visitor(sandbox.slack, user, OPS, patience=PATIENCE, since=since, about=about)
        for user in ("U0ALICE01", "U0CARA001")
    )
    for stage in (sandbox.services.rules.stage, sandbox.services.members.stage):
        stage.calls.clear()
    yield sandbox, clock, alice, cara
    for person in (alice, cara):
        state.stack(person.id).clear()
    async with asyncio.timeout(PATIENCE):
        while any(change.state in UNDER_WAY for change in await changes.list_open()):  # noqa: ASYNC110  the end tells nobody
            await asyncio.sleep(0.01)
    sandbox.services.database.wipe()
    seed(sandbox.services.database, rules_key=RULES_KEY)


UNDER_WAY: Final = frozenset({State.APPROVED, State.APPLYING, State.UNKNOWN})
Players = tuple[Sandbox, Clock, Visitor, Visitor]


@MODULE
@pytest.mark.first(max(len(rules.DOORS), len(rules.OBJECTS)))
@pytest.mark.parametrize(("door", "rule"), cells(rules.DOORS, rules.OBJECTS))
async def test_every_rule_through_every_door(play: Players, door: Door, rule: Record) -> None:
    services = play[0].services.rules
    services.remove(rule["id"])
    own = {"id": f"{rule['ruleType']}_{play[2].about}", "name": f"{play[2].about} {rule['name']}"}
    rule = copy.deepcopy(rule) | own
    services.put(rule)
    await door.play(rules.RulePlay(*play, rule))


@MODULE
@pytest.mark.first(max(len(members.DOORS), len(members.OBJECTS)))
@pytest.mark.parametrize(("door", "member"), cells(members.DOORS, members.OBJECTS))
async def test_every_member_through_every_door(play: Players, door: Door, member: Record) -> None:
    services = play[0].services.members
    services.remove(members.SITE, member["email"])
    own = {"email": f"{play[2].about}.{member['email']}", "name": f"{play[2].about} {member['name']}"}
    member = copy.deepcopy(member) | own
    services.put(members.SITE, member)
    await door.play(members.MemberPlay(*play, member))


@MODULE
@pytest.mark.parametrize("door", groups.DOORS, ids=lambda door: door.name)
async def test_every_group_through_every_door(play: Players, door: Door) -> None:
    group = play[0].services.rules.group(GROUPS[0][0]) or {}
    group = group | {
        "id": f"Group_{play[2].about}",
        "name": f"{play[2].about} {NON_ASCII}",
        "unheardOf": [1, 1.5, {"ü": None}],
    }
    play[0].services.rules.put_group(group)
    await door.play(groups.GroupPlay(*play, group))


ELSEWHERE: Final[Mapping[Through, str]] = {
    **dict.fromkeys((GatehouseFreeze, GatehouseUnfreeze), "keep others away: tests/stories/test_frozen.py"),
    "v1.decision.break_glass": "needs a policy that allows it: tests/stories/test_break_glass.py",
    "v1.decide.form": "from a list: tests/stories/test_decide_from_lists.py",
    "decide.confirm": "the click of its own requester: tests/stories/test_requests.py",
    GatehouseToken: "lets an agent in: tests/stories/test_agents.py",
    "proposal.do": "what an agent proposed: tests/stories/test_agents.py",
    "decide.stop": "in the middle of a bulk change: tests/stories/test_sets.py",
}
"""What writes and is no way to change a rule, a member or a group, or only in a state that another test brings about."""


def test_every_command_form_and_button_that_writes_is_a_door() -> None:
    """Who adds one adds a door here."""
    commands = {kind for kind in registry.COMMANDS if kind.writes or any(map(_changes, kind.needs))}
    buttons = {name for name, route in registry.CLICKS.items() if route.stored}
    known = {each for door in (*rules.DOORS, *members.DOORS, *groups.DOORS) for each in door.through}

    writing = {*commands, *registry.FORMS, *buttons}
    assert writing - known - ELSEWHERE.keys() == set()
    assert {*ELSEWHERE} <= writing
    assert not known & ELSEWHERE.keys()


def _changes(operation: str) -> bool:
    return not operation.endswith(".read")
