"""The stand-ins asked for what no honest client asks: each is refused in the specification's shape, and harms nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from sandbox.services.running import MEMBERS_KEY, RULES_KEY, Services, running_services
from sandbox.services.seed import RULES

OLD, ANNA = "Redirect_x1old", "anna.berg@example.com"
BROKEN = [
    rb'{"name": NaN}',
    rb'{"name": "x", "more": [Infinity]}',
    rb'{"name": "x", "more": 1e999}',
    rb'{"name": "\ud800"}',
    rb'{"\udfff": "x"}',
    b'{"name": "\xff"}',
    b"[" * 100_000,
]


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


@pytest.mark.first(4)
@pytest.mark.parametrize("missing", ["error", "ok"])
@pytest.mark.parametrize("path", [f"{OLD}/anything", f"{OLD}/", f"{OLD}//", f"a/{OLD}", "", f"{OLD}%2F", f"/{OLD}"])
async def test_a_path_that_is_longer_than_a_rules_names_no_rule(
    services: Services, rules: httpx.AsyncClient, path: str, missing: str
) -> None:
    services.switch(delete_missing=missing)
    before = services.rules.all()

    refused(await rules.get(f"/rules/{path}"), 404)
    refused(await rules.put(f"/rules/{path}", json=before[0]), 404)
    if not path.endswith("%2F") or missing == "error":  # an encoded slash makes a strange id, not a longer path
        refused(await rules.delete(f"/rules/{path}"), 404)

    assert services.rules.all() == before


@pytest.mark.parametrize("path", [f"{ANNA}/anything", f"{ANNA}/", f"{ANNA}/segments/", f"{ANNA}/segments/vip", "/"])
async def test_a_path_that_is_longer_than_a_members_names_no_member(
    services: Services, members: httpx.AsyncClient, path: str
) -> None:
    before = services.members.all("site_1")

    for method in ("POST", "PATCH", "DELETE"):
        refused(await members.request(method, f"/members/{path}", json={"allowedSegments": ["free"]}), 404)

    assert services.members.all("site_1") == before


async def test_what_has_no_operation_is_refused_as_everything_is(
    services: Services, rules: httpx.AsyncClient, members: httpx.AsyncClient
) -> None:
    refused(await rules.get("/nothing"), 404)
    refused(await members.get("/nothing"), 404)
    refused(await members.get("/members"), 404)
    refused(await rules.patch(f"/rules/{OLD}"), 405)
    refused(await rules.delete("/rules"), 405)
    refused(await members.put(f"/members/{ANNA}"), 405)
    refused(await members.get(f"/members/{ANNA}"), 405)

    services.switch(error_codes="always_200")
    refused(await rules.get("/nothing"), 200)
    refused(await members.put(f"/members/{ANNA}"), 200)


@pytest.mark.first(2)
@pytest.mark.parametrize("body", BROKEN)
async def test_what_could_not_be_answered_as_json_is_not_taken(
    services: Services, rules: httpx.AsyncClient, members: httpx.AsyncClient, body: bytes
) -> None:
    refused(await rules.post("/rules", content=body), 400)
    refused(await rules.put(f"/rules/{OLD}", content=body), 400)
    refused(await members.patch(f"/members/{ANNA}", content=body), 400)

    assert len((await rules.get("/rules")).json()["data"]) == len(RULES)
    assert len((await members.get("/members/")).json()) == 20


@pytest.mark.parametrize("size", ["0", "-1", "many", "", "²", "99999999999"])
async def test_every_page_size_comes_to_an_end(services: Services, rules: httpx.AsyncClient, size: str) -> None:
    services.switch(paging="pages")
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        assert len(seen) < len(RULES)
        page = (await rules.get("/rules", params={"pageSize": size, "offset": offset})).json()
        seen += [rule["id"] for rule in page["data"]]
        offset = page["nextOffset"]
    assert len(set(seen)) == len(seen) == len(RULES)


@pytest.mark.parametrize("headers", [{}, {"Content-Type": "text/plain"}])
async def test_a_body_that_does_not_say_what_it_is_is_refused(services: Services, headers: dict[str, str]) -> None:
    async with httpx.AsyncClient(headers={"x-api-key": RULES_KEY, **headers}) as client:
        refused(await client.post(f"{services.rules_url}/rules", content=b'{"name": "N"}'), 415)


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
