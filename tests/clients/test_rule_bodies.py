"""Services that want more in a rule's body than is specified, or less than their own records hold."""

from __future__ import annotations

from typing import Any

import pytest

from bot.clients.errors import InvalidPayload, Refused
from bot.clients.rules import RuleBodies, RulesClient, documented_only
from bot.rules.model import BOOKKEEPING, RuleDraft
from sandbox.services.running import Services

OLD = "Redirect_x1old"


def sent(services: Services, method: str) -> list[Any]:
    """Which of the fields that are in question each request with *method* had."""
    return [
        sorted(call.body.keys() & {"objectType", "isFavourite", "version"}) for call in services.rules.calls(method)
    ]


async def new(services: Services) -> RuleDraft:
    old = services.rules.get(OLD) or {}
    return RuleDraft.model_validate({name: value for name, value in old.items() if name != "id"})


async def renamed(rules: RulesClient, name: str) -> None:
    rule = await rules.get(OLD)
    await rules.update(OLD, RuleDraft.model_validate(rule.body() | {"name": name}))


@pytest.mark.parametrize("codes", ["real", "always_200"])
async def test_the_type_of_the_object_is_sent_where_it_mends_a_refusal(
    services: Services, rules: RulesClient, codes: str
) -> None:
    services.switch(object_type="required", error_codes=codes)
    for _ in range(2):
        await rules.create(await new(services))

    assert sent(services, "POST") == [[], ["objectType"], ["objectType"]]


def test_no_field_is_left_out_that_a_service_does_not_keep_by_itself() -> None:
    body = {"name": "New"} | dict.fromkeys(BOOKKEEPING)

    assert documented_only(body) == {"name": "New"}
    assert documented_only(body | {"theirs": 1}) == body | {"theirs": 1}


@pytest.mark.parametrize(("status", "is_mended"), [(400, True), (422, False)])
async def test_only_a_refusal_of_the_whole_body_is_mended(status: int, *, is_mended: bool) -> None:
    bodies: list[Any] = []

    async def refuses(body: dict[str, Any]) -> dict[str, Any]:
        bodies.append(body)
        raise Refused("rules", "There are too many rules", status)

    with pytest.raises(Refused):
        await RuleBodies().send_with_mends(refuses, {"name": "New"}, new=True)

    assert (len(bodies) > 1) is is_mended


async def test_the_type_of_the_object_is_sent_where_the_services_own_records_have_it(
    services: Services, rules: RulesClient
) -> None:
    services.switch(object_type="required")
    services.rules.put({**(services.rules.get(OLD) or {}), "id": "Redirect_typed", "objectType": "rule"})
    await rules.all()
    await rules.create(await new(services))

    assert sent(services, "POST") == [["objectType"]]


async def test_a_service_that_knows_the_specification_alone_gets_no_more(
    services: Services, rules: RulesClient
) -> None:
    await rules.all()
    await rules.create(await new(services))
    await renamed(rules, "Renamed")

    assert sent(services, "POST") + sent(services, "PUT") == [[], []]


async def test_what_a_service_keeps_by_itself_is_left_out_where_it_refuses_that(
    services: Services, rules: RulesClient
) -> None:
    services.switch(unknown_keys="refused")
    services.rules.put({**(services.rules.get(OLD) or {}), "isFavourite": True, "objectType": "rule"})
    for name in ("Once", "Twice"):
        await renamed(rules, name)
        services.rules.put({**(services.rules.get(OLD) or {}), "isFavourite": True})

    assert (services.rules.get(OLD) or {})["name"] == "Twice"
    assert sent(services, "PUT") == [["isFavourite", "objectType"], ["objectType"], ["objectType"]]


async def test_what_says_what_a_rule_does_is_never_left_out(services: Services, rules: RulesClient) -> None:
    services.switch(unknown_keys="refused")
    services.rules.put({**(services.rules.get(OLD) or {}), "isFavourite": True, "version": 2})
    with pytest.raises(InvalidPayload):
        await renamed(rules, "Renamed")

    assert all("version" in fields for fields in sent(services, "PUT"))
    assert (services.rules.get(OLD) or {})["version"] == 2
