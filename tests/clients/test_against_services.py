"""The shared client against both services, under every switch and every fault."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.clients import errors
from bot.clients.http import CallLimits, Service
from bot.clients.lists import Gap
from bot.clients.members import MembersClient
from bot.clients.rules import RulesClient
from bot.clients.urls import BadUrl, checked_base
from bot.members.model import Member
from bot.rules.model import RuleDraft
from sandbox.services.running import MEMBERS_KEY, OTHER_KEY, RULES_KEY, Services
from sandbox.services.seed import RULES
from tests.clients.conftest import EVERY_SWITCH

LIMITS = CallLimits(deadline=1.0, max_bytes=1_000_000)
REDIRECT = RuleDraft.model_validate(
    {
        "name": "New",
        "description": "",
        "status": "Active",
        "ruleType": "Redirect",
        "pairs": [
            {
                "source": {"key": "Url", "operator": "Equals", "value": "https://a.example/"},
                "destinationType": "url",
                "destination": "https://b.example/",
                "mood": "sunny",
            }
        ],
        "priority": 3,
    }
)


@asynccontextmanager
async def rules_client(services: Services, key: str = RULES_KEY) -> AsyncIterator[RulesClient]:
    async with Service("rules", services.rules_url, {"x-api-key": key}, limits=LIMITS) as service:
        yield RulesClient(service)


@asynccontextmanager
async def members_client(services: Services, site: str = "site_1") -> AsyncIterator[MembersClient]:
    headers = {"Authorization": f"Bearer {MEMBERS_KEY}"}
    async with Service("members", services.members_url, headers, limits=LIMITS) as service:
        yield MembersClient(service, site)


@pytest.mark.first(1)
@pytest.mark.parametrize(("name", "choice"), EVERY_SWITCH)
async def test_rules_work_under_every_switch(services: Services, name: str, choice: str) -> None:
    services.switch(**{name: choice})
    async with rules_client(services) as rules:
        assert len((await rules.all()).known) == len(RULES)
        body = REDIRECT.body()
        if choice == "refused" and name == "unknown_keys":
            del body["priority"]
        made = await rules.create(RuleDraft.model_validate(body))
        assert made.id.startswith("Redirect_")
        assert (await rules.get(made.id)).content() == made.content()

        renamed = await rules.update(made.id, RuleDraft.model_validate(made.body() | {"name": "Renamed"}))
        assert renamed.document().get("priority") == body.get("priority")
        assert renamed.document()["pairs"][0]["mood"] == "sunny"

        await rules.delete(made.id)
        with pytest.raises(errors.NotFound):
            await rules.get(made.id)


@pytest.mark.first(1)
@pytest.mark.parametrize(("name", "choice"), EVERY_SWITCH)
async def test_members_work_under_every_switch(services: Services, name: str, choice: str) -> None:
    services.switch(**{name: choice})
    email = "o'brien+tag%2F@example.com"
    async with members_client(services) as members:
        await members.add(Member(email=email, name="N", segments=("vip",)))
        await members.grant(email, ["beta"])
        await members.revoke(email, ["vip"])
        await members.update(email, name="M", segments=["beta"])
        found = await members.find(email)
        assert found is not None
        assert (found.email, found.name, found.segments) == (email, "M", ("beta",))

        await members.remove(email)
        assert await members.find(email) is None
        assert len((await members.all()).known) == 20


REFUSALS = [
    ({"name": ""}, errors.InvalidPayload),
    ({"ruleType": "Cancel"}, errors.InvalidPart),
    ({"pairs": []}, errors.InvalidPart),
    ({"pairs": [{"destination": "x"}]}, errors.InvalidPart),
    ({"groupId": "Group_none"}, errors.InvalidPart),
]


@pytest.mark.threat("B3")
@pytest.mark.parametrize("codes", ["real", "always_200"])
@pytest.mark.parametrize(("fields", "error"), REFUSALS, ids=[error.__name__ for _, error in REFUSALS])
async def test_each_error_of_the_specification_is_its_own(
    services: Services, codes: str, fields: dict[str, object], error: type[errors.Refusal]
) -> None:
    services.switch(error_codes=codes)
    async with rules_client(services) as rules:
        rule = await rules.get("Redirect_x1old")
        with pytest.raises(error):
            await rules.update(rule.id, RuleDraft.model_validate(rule.body() | fields))
        assert (await rules.get(rule.id)).content() == rule.content()


async def test_a_foreign_rule_is_unauthorized(services: Services) -> None:
    async with rules_client(services, OTHER_KEY) as rules:
        with pytest.raises(errors.Unauthorized):
            await rules.get("Redirect_x1old")


async def test_segments_and_duplicates_are_refused_in_words(services: Services) -> None:
    async with members_client(services) as members:
        with pytest.raises(errors.Refused, match="Unknown segment: platinum"):
            await members.grant("anna.berg@example.com", ["platinum"])
        with pytest.raises(errors.AlreadyExists):
            await members.add(Member(email="anna.berg@example.com"))
        with pytest.raises(errors.NotFound):
            await members.remove("nobody@example.com")
    async with members_client(services, "site_9") as elsewhere:
        with pytest.raises(errors.WrongAddress, match="Site not found"):
            await elsewhere.all()


async def test_a_read_is_tried_again(services: Services) -> None:
    services.rules.stage.faults.add("500", times=2)
    async with rules_client(services) as rules:
        assert len((await rules.all()).known) == len(RULES)


async def test_an_unreadable_record_hides_no_other(services: Services) -> None:
    services.database._connection.execute("INSERT INTO rules VALUES ('x', ?, 99, '{\"name\": 5}')", (RULES_KEY,))
    async with rules_client(services) as rules:
        listing = await rules.all()
    assert (len(listing.whole()), listing.gap) == (len(RULES), Gap(len(RULES), len(RULES) + 1))


@pytest.mark.parametrize("rule_id", ["payshield-tamper-header-001", "_", "7", "x" * 100])
async def test_an_id_is_whatever_the_vendor_allows(services: Services, rule_id: str) -> None:
    services.rules.put({**(services.rules.get("Redirect_x1old") or {}), "id": rule_id})
    async with rules_client(services) as rules:
        rule = await rules.get(rule_id)
        await rules.update(rule_id, RuleDraft.model_validate(rule.body() | {"name": "Renamed"}))
        assert (services.rules.get(rule_id) or {})["name"] == "Renamed"
        await rules.delete(rule_id)
    assert services.rules.get(rule_id) is None


@pytest.mark.threat("B7")
@pytest.mark.parametrize(
    "rule_id",
    [
        "",
        ".",
        "..",
        "../groups",
        "a/b",
        "a%2Fb",
        "a?b",
        "a#b",
        "Redirect_x y",
        "Redirect_😀",
        "//host",
        "x" * 101,
    ],
)
async def test_what_cannot_be_an_id_is_refused_before_anything_is_sent(services: Services, rule_id: str) -> None:
    async with rules_client(services) as rules:
        with pytest.raises(errors.BadIdentifier):
            await rules.delete(rule_id)
    assert services.rules.calls() == []


@pytest.mark.slow
@pytest.mark.threat("B8")
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(local=st.text(min_size=1, max_size=30), domain=st.sampled_from(["example.com", "münchen.example.com", "x"]))
async def test_an_address_is_one_segment_or_refused(services: Services, local: str, domain: str) -> None:
    services.members.stage.calls.clear()
    email = f"{local}@{domain}"
    async with members_client(services) as members:
        with pytest.raises(errors.ClientError):
            await members.remove(email)
    paths = [call.path for call in services.members.calls()]
    assert all(path.startswith("/api/v1/sites/site_1/members/") and path.count("/") == 6 for path in paths)


@pytest.mark.threat("E1")
@pytest.mark.parametrize(
    "url",
    [
        "ftp://a",
        "http://example.com/v1",
        "https://user:pw@example.com/v1",
        "https://example.com/v1?x=1",
        "https://token@example.com/v1",
        "https://@example.com/v1",
        "https://example.com:port/v1",
        "nonsense",
        "https://10.0.7/v1",  # an octet is missing: read as 10.0.0.7
        "https://010.0.0.7/v1",  # octal: read as 8.0.0.7
        "https://0x0a.0.0.7/v1",
        "https://167772167/v1",
        "https://１0.0.0.7/v1",
    ],
)
def test_an_address_that_a_key_must_not_go_to_is_refused(url: str) -> None:
    for insecure in (False, True) if url.startswith("https") else (False,):
        with pytest.raises(BadUrl) as refused:
            checked_base(url, insecure_http=insecure)
        assert "user:pw" not in str(refused.value)
        assert "token" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "netloc"),
    [
        ("https://rules.example.com/v1", "rules.example.com"),
        ("https://RULES.example.com:8443/v1", "rules.example.com:8443"),
        ("https://bücher.example/v1", "xn--bcher-kva.example"),
        ("https://10.0.0.7/v1", "10.0.0.7"),
        ("https://[2001:db8::7]/v1", "[2001:db8::7]"),
        ("http://127.0.0.1:8801/v1", "127.0.0.1:8801"),
        ("http://[::1]:8801/v1", "[::1]:8801"),
        ("http://localhost/v1", "localhost"),
        ("http://rules.localhost/v1", "rules.localhost"),
    ],
)
def test_an_address_of_a_service_is_taken(url: str, netloc: str) -> None:
    base = checked_base(url, insecure_http=False)

    assert (base.netloc, base.path) == (netloc, "/v1")


@pytest.mark.threat("E2")
@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
async def test_no_proxy_of_the_environment_sees_a_key(
    services: Services, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, "http://127.0.0.1:1")

    async with rules_client(services) as rules, members_client(services) as members:
        assert (await rules.get("Redirect_x1old")).id == "Redirect_x1old"
        assert (await members.all()).known
