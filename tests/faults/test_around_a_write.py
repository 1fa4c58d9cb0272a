"""Faults between the calls of one change: what its reads meet after the write, and what its later steps meet."""

from __future__ import annotations

import asyncio

import pytest

from bot.changes.model.edits import Kind, Target
from bot.changes.model.states import State
from tests.faults.plays import PLAYS
from tests.faults.proxy import faults_before
from tests.faults.world import MEMBER, RULE, Strike, World

RENAMED = RULE | {"name": "Summer sale"}
AFTERWARDS = list(PLAYS)
AFTER_THE_WRITE = {
    "refuse": Strike(".*", after=2),
    "readd_member": Strike("GET", after=1, meanwhile=World.replaced),
}
"""Faults that don't strike just every read that comes after the write."""

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]


@pytest.mark.threat("B2")
@pytest.mark.parametrize("fault", AFTERWARDS)
async def test_an_update_that_cannot_be_read_back_is_never_called_failed(world: World, fault: str) -> None:
    target = Target(service="rules", key=world.rule_id)
    before, proxy = world.hold(target, RULE), world.proxies["rules"]
    world.script(proxy, fault, AFTER_THE_WRITE.get(fault, Strike("GET", after=1, times=99)))

    change = await world.submit(Kind.RULE_UPDATE, before, RENAMED)

    assert (proxy.effects, proxy.asked["PUT"], proxy.struck) == (1, 1, True)
    assert change.state in {State.APPLIED, State.UNKNOWN}
    assert change.state is State.UNKNOWN or change.run.result == world.live(target)


@pytest.mark.parametrize("fault", AFTERWARDS)
async def test_a_removal_is_applied_only_where_the_list_can_show_it(world: World, fault: str) -> None:
    target = Target(service="members", site="site_1", key=world.email)
    before, proxy = world.hold(target, MEMBER), world.proxies["members"]
    world.script(proxy, fault, AFTER_THE_WRITE.get(fault, Strike("GET", after=1, times=99)))

    change = await world.submit(Kind.MEMBER_REMOVE, before, None)

    assert (proxy.effects, proxy.asked["DELETE"], proxy.struck) == (1, 1, True)
    assert change.state in {State.APPLIED, State.UNKNOWN}
    assert change.state is State.UNKNOWN or world.live(target) is None


@pytest.mark.parametrize("fault", ["refuse", "reset_before", "never", "500", "429", "3xx", "html", "refused_200"])
async def test_an_edit_whose_second_step_fails_is_half_done_and_says_so(world: World, fault: str) -> None:
    target = Target(service="members", site="site_1", key=world.email)
    before, proxy = world.hold(target, MEMBER), world.proxies["members"]
    world.script(proxy, fault, AFTER_THE_WRITE.get(fault, Strike("POST")))

    after = MEMBER | {"name": "Zoe Old", "allowedSegments": ["free", "vip", "beta"]}
    change = await world.submit(Kind.MEMBER_UPDATE, before, after)

    assert proxy.effects == 1
    assert world.live(target) == before | {"name": "Zoe Old"}
    assert change.state is State.UNKNOWN
    assert change.run.refusal.words.startswith("half done")


@pytest.mark.threat("B2")
async def test_a_write_that_lands_late_is_seen_by_a_later_look(world: World) -> None:
    target = Target(service="rules", key=world.rule_id)
    before, proxy = world.hold(target, RULE), world.proxies["rules"]
    proxy.next("never", method="PUT")
    proxy.next("edit_between", method="GET", after=2, meanwhile=lambda: world.services.rules.put(before | RENAMED))

    change = await world.submit(Kind.RULE_UPDATE, before, RENAMED)

    assert change.state is State.APPLIED
    assert proxy.asked["PUT"] == 1


async def test_the_member_that_somebody_else_added_in_the_same_moment_is_not_ours(world: World) -> None:
    target = Target(service="members", site="site_1", key=world.email)
    proxy = world.proxies["members"]
    proxy.next("edit_between", method="POST", meanwhile=world.replaced)

    change = await world.submit(Kind.MEMBER_ADD, None, {"name": "Zoe", "allowedSegments": ["beta"]})

    assert (change.state, change.run.refusal.code) == (State.FAILED, "AlreadyExists")
    assert (world.live(target) or {})["allowedSegments"] == MEMBER["allowedSegments"]


async def test_a_shut_door_refuses_connections_until_it_is_opened() -> None:
    async with faults_before(upstream=9) as proxy:
        proxy.next("refuse")
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", proxy.port)

        await proxy.honest_again()
        _, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.close()
        await writer.wait_closed()
