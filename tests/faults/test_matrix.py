"""Every fault against every operation: 30 x 13 cases, each of which must end as the table below says.

A read ends in the answer, or in an error of the clients. A write ends in a state of its change, and in so many effects
at the service: what the product itself sent is never more than one write, whatever the network makes of it. And the
state tells the truth: applied means that the service holds what was asked for, failed that it does not, and stale that
nothing was sent.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pytest

from bot.changes.execute import MAX_SENDS
from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.parts import ChangeRequest
from bot.changes.model.states import State
from bot.changes.proposals import Proposal
from bot.clients.errors import ClientError
from sandbox.services.database import Record
from tests.faults.plays import PLAYS
from tests.faults.world import GROUP, MEMBER, RULE, Strike, World

pytestmark = pytest.mark.slow

TABLE: Final = """
fault                list         get          members      create       update     delete       add          edit         grant        revoke       remove       group      pair
refuse               Unreachable  Unreachable  Unreachable  failed:0     failed:0   failed:0     failed:0     failed:0     failed:0     failed:0     failed:0     failed:0   failed+failed:0
reset_before         Unreachable  Unreachable  Unreachable  unsettled:0  failed:0   failed:0     failed:0     failed:0     failed:0     failed:0     failed:0     failed:0   applied+applied:2
reset_after          Unreachable  Unreachable  Unreachable  applied:1    applied:1  applied:1    applied:1    applied:1    applied:1    applied:1    applied:1    applied:1  applied+applied:2
reset_after_headers  Unreachable  Unreachable  Unreachable  applied:1    applied:1  applied:1    applied:1    applied:1    applied:1    applied:1    applied:1    applied:1  applied+applied:2
cut_mid_body         Unreachable  Unreachable  Unreachable  applied:1    applied:1  applied:1    applied:1    applied:1    applied:1    applied:1    applied:1    applied:1  applied+applied:2
drip                 Unreachable  Unreachable  Unreachable  applied:1    applied:1  applied:1    applied:1    applied:1    applied:1    applied:1    applied:1    applied:1  applied+applied:2
never                Unreachable  Unreachable  Unreachable  unsettled:0  failed:0   failed:0     failed:0     failed:0     failed:0     failed:0     failed:0     failed:0   applied+applied:2
delay                answer       answer       answer       applied:1    applied:1  applied:1    applied:1    applied:1    applied:1    applied:1    applied:1    applied:1  applied+applied:2
500                  Failing      Failing      Failing      unsettled:0  failed:0   failed:0     failed:0     failed:0     failed:0     failed:0     failed:0     failed:0   applied+applied:2
429                  RateLimited  RateLimited  RateLimited  failed:0     failed:0   failed:0     failed:0     failed:0     failed:0     failed:0     failed:0     failed:0   applied+applied:2
3xx                  Unreadable   Unreadable   Unreadable   unsettled:0  failed:0   failed:0     failed:0     failed:0     failed:0     failed:0     failed:0     failed:0   applied+applied:2
html                 Unreadable   Unreadable   Unreadable   unsettled:0  failed:0   failed:0     failed:0     failed:0     failed:0     failed:0     failed:0     failed:0   applied+applied:2
empty                Unreadable   Unreadable   Unreadable   unsettled:0  failed:0   failed:0     unsettled:0  unsettled:0  unsettled:0  unsettled:0  unsettled:0  failed:0   applied+applied:2
page_404             WrongAddress WrongAddress WrongAddress applied:1    applied:1  applied:1    applied:1    applied:1    applied:1    applied:1    applied:1    applied:1  applied+applied:2
page_403             Unauthorized Unauthorized Unauthorized applied:1    applied:1  applied:1    applied:1    applied:1    applied:1    applied:1    applied:1    applied:1  applied+applied:2
bad_json             Unreadable   Unreadable   Unreadable   applied:1    applied:1  applied:1    applied:1    applied:1    applied:1    applied:1    applied:1    applied:1  applied+applied:2
wrong_type           Unreadable   Unreadable   Unreadable   applied:1    applied:1  applied:1    applied:1    applied:1    applied:1    applied:1    applied:1    applied:1  applied+applied:2
duplicate_keys       Unreadable   Unreadable   Unreadable   applied:1    applied:1  applied:1    applied:1    applied:1    applied:1    applied:1    applied:1    applied:1  applied+applied:2
huge                 TooLarge     TooLarge     TooLarge     applied:1    applied:1  applied:1    applied:1    applied:1    applied:1    applied:1    applied:1    applied:1  applied+applied:2
gzip_bomb            TooLarge     TooLarge     TooLarge     applied:1    applied:1  applied:1    applied:1    applied:1    applied:1    applied:1    applied:1    applied:1  applied+applied:2
strip_body           answer       answer       answer       applied:1    failed:0   applied:1    failed:0     failed:0     failed:0     failed:0     applied:1    failed:0   applied+failed:1
duplicate_request    answer       answer       answer       unknown:2    applied:2  applied:1    applied:1    applied:2    applied:2    applied:2    applied:1    applied:2  applied+applied:3
edit_between         answer       answer       answer       applied:1    stale:0    stale:0      applied:1    stale:0      stale:0      stale:0      stale:0      stale:0    applied+stale:1
readd_member         answer       NotFound     answer       applied:1    stale:0    stale:0      stale:0      stale:0      stale:0      stale:0      stale:0      stale:0    applied+stale:1
wrong_id             told         Unreadable   told         applied:1    applied:1  applied:1    applied:1    applied:1    applied:1    applied:1    applied:1    applied:1  applied+applied:2
stale_read           old          old          old          applied:1    applied:1  applied:1    applied:1    applied:1    applied:1    applied:1    applied:1    applied:1  applied+applied:2
flapping             answer       answer       answer       unsettled:0  failed:0   failed:0     failed:0     failed:0     failed:0     failed:0     failed:0     failed:0   applied+failed:1
half_success         Unreadable   Unreadable   Unreadable   altered:1    altered:1  unsettled:0  altered:1    altered:1    altered:1    altered:1    unsettled:0  altered:1  altered+applied:2
refused_200          Refused      Refused      Refused      failed:0     failed:0   failed:0     failed:0     failed:0     failed:0     failed:0     failed:0     failed:0   applied+failed:1
success_500          Failing      Failing      Failing      applied:1    applied:1  applied:1    applied:1    applied:1    applied:1    applied:1    applied:1    applied:1  applied+applied:2
"""  # noqa: E501  a table is as wide as it is
"""What each case ends in.

Reads: the *answer* as the service has it, the *old* one from before the last edit, what was *told* where nothing in it
could show that it is wrong; or an error. Writes: the state, and the effects at the service. *altered* is applied, with
a result that shows what the service made of it, which is not what was asked for. The two effects of *duplicate_request*
are the network's: a repeated edit changes nothing more, but a repeated creation makes two rules, which somebody must
look at.
"""


AROUND_A_WRITE: Final = {
    "refuse": Strike(".*", after=1),
    "edit_between": Strike("GET", meanwhile=World.edited),
    "readd_member": Strike("GET", meanwhile=World.replaced),
    "stale_read": Strike("GET", after=1),
    "flapping": Strike(".*", times=99),
}
"""Faults that do not strike the write itself. All others do, once: a second one would go through."""

ON_A_READ: Final = {
    "edit_between": Strike("GET", meanwhile=World.edited),
    "readd_member": Strike("GET", meanwhile=World.replaced),
    "stale_read": Strike("GET", meanwhile=World.edited),
}
"""Reads that something happens to. All other faults strike every time, however often it is tried."""


@dataclass(frozen=True, slots=True)
class Write:
    """A write as a change: its request's method, and what the target is before and is to be afterwards."""

    kind: Kind
    method: str
    before: Record | None
    after: Record | None


WRITES: Final = {
    "create": Write(Kind.RULE_CREATE, "POST", None, RULE),
    "update": Write(Kind.RULE_UPDATE, "PUT", RULE, RULE | {"name": "Summer sale", "description": "From July on."}),
    "delete": Write(Kind.RULE_DELETE, "DELETE", RULE, None),
    "add": Write(Kind.MEMBER_ADD, "POST", None, {"name": "Zoe Young", "allowedSegments": ["beta"]}),
    "edit": Write(Kind.MEMBER_UPDATE, "PATCH", MEMBER, MEMBER | {"name": "Zoe Old"}),
    "grant": Write(Kind.MEMBER_GRANT, "POST", MEMBER, MEMBER | {"allowedSegments": ["free", "vip", "beta", "staff"]}),
    "revoke": Write(Kind.MEMBER_REVOKE, "DELETE", MEMBER, MEMBER | {"allowedSegments": []}),
    "remove": Write(Kind.MEMBER_REMOVE, "DELETE", MEMBER, None),
    "group": Write(Kind.GROUP_UPDATE, "PUT", GROUP, GROUP | {"status": "Inactive", "description": "Till May."}),
}


AROUND_A_SET: Final = AROUND_A_WRITE | {"refuse": Strike(".*", after=2), "stale_read": Strike("GET", after=4)}
"""Of a bulk change of two rules, which are both read before either is sent, and each again right before it is."""


@dataclass(frozen=True, slots=True)
class Read:
    """A read: what it brings, and what the service has to bring."""

    service: str
    ask: Callable[[World], Awaitable[Any]]
    truth: Callable[[World], Any]
    told: Callable[[Any], Any]
    """What becomes of the truth under another's key, where that cannot show."""


async def _listed(world: World) -> list[Record]:
    world.rules.drop()
    listing = await world.rules.all()
    assert listing.gap is None
    return [rule.document() for rule in listing.known]


async def _got(world: World) -> Record:
    return (await world.rules.get(world.rule_id)).document()


async def _members(world: World) -> list[Record]:
    world.members.drop()
    return [member.document() for member in (await world.members.all()).known]


READS: Final = {
    "list": Read(
        "rules",
        _listed,
        lambda world: world.services.rules.all(),
        lambda truth: [truth[0] | {"id": "Redirect_other"}, *truth[1:]],
    ),
    "get": Read("rules", _got, lambda world: world.services.rules.get(world.rule_id), lambda truth: truth),
    "members": Read(
        "members",
        _members,
        lambda world: world.services.members.all("site_1"),
        lambda truth: [truth[0] | {"email": "other@example.com"}, *truth[1:]],
    ),
}


def predicted(names: Mapping[str, object]) -> list[tuple[str, str, str]]:
    """Fault, operation and end, of the operations *names*, as the table has them."""
    heads, *rows = (line.split() for line in TABLE.strip().splitlines())
    cases = [(row[0], name, end) for row in rows for name, end in zip(heads[1:], row[1:], strict=True)]
    return [case for case in cases if case[1] in names]


ROUNDS: Final = range(5 if os.environ.get("RELIABILITY") == "long" else 1)
"""With RELIABILITY=long every case is played five times: cut at other places, late by other times."""


@pytest.mark.threat("B4")
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("turn", ROUNDS)
@pytest.mark.parametrize(("fault", "operation", "end"), predicted(READS))
async def test_a_read_ends_as_predicted(world: World, fault: str, operation: str, end: str, turn: int) -> None:
    read = READS[operation]
    proxy = world.proxies[read.service]
    world.put(Target(service="rules", key=world.rule_id), RULE)
    world.put(Target(service="members", key=world.email), MEMBER)
    old = await read.ask(world)
    assert old == read.truth(world)
    world.script(proxy, fault, ON_A_READ.get(fault, Strike("GET", times=99)), seed=(operation, turn))

    try:
        came: Any = await read.ask(world)
    except ClientError as error:
        came = type(error).__name__

    now = read.truth(world)
    ends = {"answer": now, "old": old, "told": read.told(now)}
    assert came == ends.get(end, end)
    assert end != "old" or came != now
    assert set(proxy.asked) == {"GET"}
    assert proxy.struck


@pytest.mark.threat("B2", "B3", "B4", "B9", "B10", "B11", "B12")
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("turn", ROUNDS)
@pytest.mark.parametrize(("fault", "operation", "end"), predicted(WRITES))
async def test_a_write_ends_as_predicted(world: World, fault: str, operation: str, end: str, turn: int) -> None:
    write = WRITES[operation]
    target = world.target(write.kind)
    proxy = world.proxy(target)
    before = None if write.before is None else world.hold(target, write.before)
    world.script(proxy, fault, AROUND_A_WRITE.get(fault, Strike(write.method)), seed=(operation, turn))

    change = await world.submit(write.kind, before, write.after)
    if change.state is State.UNKNOWN:
        change = await world.later(change)

    assert ended(change, write, world) == end.partition(":")[0]
    assert proxy.effects == int(end.partition(":")[2])
    again = write.kind is Kind.RULE_CREATE and fault == "strip_body"
    assert proxy.asked[write.method] <= 1 + again, "sent again only where the service refused the body"
    assert proxy.struck


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("turn", ROUNDS)
@pytest.mark.parametrize(("fault", "operation", "end"), predicted({"pair": "two rules are edited"}))
async def test_a_set_of_two_ends_as_predicted(world: World, fault: str, operation: str, end: str, turn: int) -> None:
    write, proxy = WRITES["update"], world.proxies["rules"]
    targets = [Target(service="rules", key=key) for key in (world.rule_id, world.other_id)]
    wanted = [
        Proposal.of(
            edit=Edit(kind=write.kind, target=target, before=world.hold(target, RULE), after=write.after),
            request=ChangeRequest(requester="U1", channel="C1"),
        )
        for target in targets
    ]
    world.script(proxy, fault, AROUND_A_SET.get(fault, Strike(write.method)), seed=(operation, turn))

    changes = await world.submit_set(wanted)

    assert "+".join(sorted(ended(change, write, world) for change in changes)) == end.partition(":")[0]
    assert proxy.effects == int(end.partition(":")[2])
    assert proxy.asked[write.method] <= 1 + MAX_SENDS, "sent again only where nothing was done, and not for ever"
    assert proxy.struck


def ended(change: Change, write: Write, world: World) -> str:
    """The state of *change*, which must tell the truth: applied and what came of it, or failed and that none did."""
    live = world.made(change.edit.target)
    came = holds(live, write.after)
    if change.state is State.APPLIED:
        assert change.run.result == live
        return "applied" if came else "altered"
    assert not came or change.state is not State.FAILED
    return change.state.value


def holds(live: Record | None, after: Record | None) -> bool:
    if live is None or after is None:
        return live is after
    return all(live.get(name) == value for name, value in after.items())


def test_the_table_has_every_fault_and_every_operation(record_property: Callable[[str, object], None]) -> None:
    cases = [*predicted(READS), *predicted(WRITES), *predicted({"pair": ...})]

    assert {fault for fault, _, _ in cases} == set(PLAYS)
    assert len(PLAYS) == 30
    assert len(set(cases)) == len(cases) == 30 * 13
    record_property(
        "figure", f"G2: 30 faults x 13 operations: {len(cases) * len(ROUNDS)} cases, each in its predicted state"
    )
