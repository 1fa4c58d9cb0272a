"""Groups: read where the service has them, never an error where it has none."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.clients import errors
from bot.clients.http import CallLimits, Service
from bot.clients.lists import Incomplete
from bot.clients.rules import GroupsClient
from bot.rules.model import Group, Groups
from sandbox.services.faults import KINDS
from sandbox.services.running import RULES_KEY, Services
from tests.clients.conftest import EVERY_SWITCH

SEEDED = Groups(
    {"Group_sales": "Sales campaigns", "Group_trial": "Experiments"},
    frozenset({"Group_sales"}),
)


@pytest.fixture
async def client(services: Services) -> AsyncIterator[GroupsClient]:
    limits = CallLimits(deadline=1.0, max_bytes=1_000_000)
    async with Service("rules", services.rules_url, {"x-api-key": RULES_KEY}, limits=limits) as service:
        yield GroupsClient(service, wait=5.0)


@pytest.mark.parametrize(("name", "choice"), EVERY_SWITCH)
async def test_groups_are_read_under_every_switch(
    services: Services, client: GroupsClient, name: str, choice: str
) -> None:
    services.switch(**{name: choice})

    assert await client.groups() == (None if choice == "off" and name == "groups" else SEEDED)


@pytest.mark.parametrize("odd", [{"ruleType": "Redirect"}, {"objectType": "rule"}])
async def test_what_is_no_group_in_the_list_of_groups_is_left_out(
    services: Services, client: GroupsClient, odd: dict[str, str]
) -> None:
    services.rules.put_group({"id": "Odd_x1", "name": "Odd", "status": "Active", "objectType": "group"} | odd)

    assert await client.groups() == SEEDED


@pytest.mark.parametrize(("name", "choice"), EVERY_SWITCH)
async def test_a_group_is_switched_and_keeps_what_nobody_knows(
    services: Services, client: GroupsClient, name: str, choice: str
) -> None:
    services.switch(**{name: choice})
    if (name, choice) == ("groups", "off"):
        with pytest.raises(errors.WrongAddress):
            await client.find("Group_sales")
        return
    services.rules.put_group({**(services.rules.group("Group_sales") or {}), "mood": "sunny"})
    group = await client.find("Group_sales")
    assert group is not None

    await client.update(Group.model_validate({"id": group.id} | group.with_status(on=False)))

    stored = services.rules.group("Group_sales")
    assert stored is not None
    assert (stored["status"], stored["mood"], stored["name"]) == ("Inactive", "sunny", "Sales campaigns")
    known = await client.groups()
    assert known is not None
    assert known.active == frozenset()


async def test_pages_are_followed(services: Services, client: GroupsClient) -> None:
    for number in range(100):
        services.rules.put_group({"id": f"Group_{number}", "name": str(number), "status": "Active"})
    services.switch(paging="pages")

    assert len((await client.fresh()).whole()) == 102


async def test_of_half_a_list_only_what_is_in_it_is_known(services: Services, client: GroupsClient) -> None:
    services.switch(paging="pages")
    services.rules.stage.alter_page = lambda page: {**page, "total": 99}

    assert await client.find("Group_sales")
    with pytest.raises(Incomplete):
        await client.find("Group_gone")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"delay", "never", "bodiless"}])
async def test_no_fault_of_the_groups_reaches_people(services: Services, client: GroupsClient, kind: str) -> None:
    services.rules.stage.faults.add(kind, path="/v1/groups", times=9)

    assert await client.groups() is None


async def test_a_service_that_does_not_answer_is_not_waited_for(services: Services) -> None:
    services.rules.stage.faults.add("never", path="/v1/groups", times=9)
    async with Service(
        "rules", services.rules_url, {"x-api-key": RULES_KEY}, limits=CallLimits(deadline=0.5)
    ) as service:
        client = GroupsClient(service, wait=0.01)
        assert await client.groups() is None
        with pytest.raises(errors.Unreachable):
            await client.fresh()  # joins the read that the answer didn't wait for


async def test_what_is_no_group_is_not_asked_for_again_at_once(services: Services, client: GroupsClient) -> None:
    services.switch(groups="off")

    assert [await client.groups() for _ in range(5)] == [None] * 5

    assert len(services.rules.calls("GET")) == 1


@pytest.mark.threat("B7")
@pytest.mark.parametrize("group_id", ["", "..", "../rules/x", "a/b", "a b"])
async def test_what_cannot_be_an_id_is_refused_before_anything_is_sent(
    services: Services, client: GroupsClient, group_id: str
) -> None:
    group = Group.model_construct(id=group_id, name="x", status="Active")
    with pytest.raises(errors.BadIdentifier):
        await client.update(group)
    assert services.rules.calls() == []
