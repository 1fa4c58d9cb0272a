"""The stand-ins asked for what no honest client asks: each is refused in the specification's shape, and harms nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from sandbox.services.running import MEMBERS_KEY, RULES_KEY, Services, running_services

OLD, ANNA = "Redirect_x1old", "anna.berg@example.com"


@pytest.fixture
async def services() -> AsyncIterator[Services]:
    async with running_services() as both:
        yield both


@pytest.fixture
async def rules(services: Services) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"x-api-key": RULES_KEY, "Content-Type": "application/json"}
    async with httpx.AsyncClient(base_url=services.rules_url, headers=headers) as client:
        yield client


PAIRS: dict[str, dict[str, str]] = {
    "Redirect": {"destinationType": "url", "destination": "https://a.example/"},
    "Replace": {"from": "a", "to": "b"},
    "Cancel": {},
}


@pytest.mark.parametrize("kind", PAIRS)
async def test_a_pair_with_the_fields_of_another_type_is_invalid(
    services: Services, rules: httpx.AsyncClient, kind: str
) -> None:
    source = {"key": "Url", "operator": "Equals", "value": "https://a.example/x"}
    pair = {"source": source, "odd": 1, **PAIRS[kind]}
    fine = {"name": "x", "ruleType": kind, "pairs": [pair]}
    made = (await rules.post("/rules", json=fine)).json()["data"]
    for name, value in {
        name: value for other in PAIRS if other != kind for name, value in PAIRS[other].items()
    }.items():
        wrong = fine | {"pairs": [pair, pair | {name: value}]}
        for method, path in (("POST", "/rules"), ("PUT", f"/rules/{made['id']}")):
            answer = await rules.request(method, path, json=wrong)
            refused(answer, 400)
            assert answer.json()["message"] == "Rule pairs are invalid"
        services.rules.put(made | {"pairs": wrong["pairs"]})
        assert (await rules.put(f"/rules/{made['id']}", json=wrong | {"name": "y"})).status_code == 200
        services.rules.put(made)


@pytest.fixture
async def members(services: Services) -> AsyncIterator[httpx.AsyncClient]:
    site = f"{services.members_url}/sites/site_1"
    headers = {"Authorization": f"Bearer {MEMBERS_KEY}", "Content-Type": "application/json"}
    async with httpx.AsyncClient(base_url=site, headers=headers) as client:
        yield client


def refused(answer: httpx.Response, status: int) -> None:
    document = answer.json()
    assert answer.status_code == status
    assert document["success"] is False
    assert isinstance(document["message"], str)
    assert document["message"]


@pytest.mark.parametrize(("choice", "status"), [("ok", 200), ("error", 400)])
async def test_a_segment_that_is_gone_can_be_taken_away(
    services: Services, members: httpx.AsyncClient, choice: str, status: int
) -> None:
    """The specification wants segments that exist where they are given, and says nothing of taking them away."""
    services.switch(revoke_unknown=choice)
    services.members.put("site_1", {"name": "N", "email": "n@example.com", "allowedSegments": ["gone", "vip"]})

    body = b'{"allowedSegments": ["gone"]}'
    answer = await members.request("DELETE", "/members/n@example.com/segments", content=body)

    assert answer.status_code == status
    left = (services.members.get("site_1", "n@example.com") or {})["allowedSegments"]
    assert left == (["vip"] if status == 200 else ["gone", "vip"])
