"""The shared client against both services, under every switch and every fault."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.clients import errors
from bot.clients.address import BadAddress, checked_base
from bot.clients.http import Limits, Service
from bot.clients.members import MembersClient
from bot.clients.rules import RulesClient
from bot.domain.member import Member
from bot.domain.rule import RuleDraft
from sandbox.services.faults import KINDS
from sandbox.services.running import MEMBERS_KEY, OTHER_KEY, RULES_KEY, Services, running_services
from sandbox.services.switches import CHOICES

EVERY_SWITCH = [(name, choice) for name, (choices, _) in CHOICES.items() for choice in choices]
LIMITS = Limits(deadline=1.0, max_bytes=1_000_000)
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


@pytest.fixture
async def services() -> AsyncIterator[Services]:
    async with running_services() as both:
        yield both


@asynccontextmanager
async def rules_client(services: Services, key: str = RULES_KEY) -> AsyncIterator[RulesClient]:
    async with Service("rules", services.rules_url, {"x-api-key": key}, limits=LIMITS) as service:
        yield RulesClient(service)


@asynccontextmanager
async def members_client(services: Services, site: str = "site_1") -> AsyncIterator[MembersClient]:
    headers = {"Authorization": f"Bearer {MEMBERS_KEY}"}
    async with Service("members", services.members_url, headers, limits=LIMITS) as service:
        yield MembersClient(service, site)


@pytest.mark.parametrize(("name", "choice"), EVERY_SWITCH)
async def test_rules_work_under_every_switch(services: Services, name: str, choice: str) -> None:
    services.switch(**{name: choice})
    async with rules_client(services) as rules:
        assert len((await rules.all()).rules) == 25
        made = await rules.create(REDIRECT)
        assert made.id.startswith("Redirect_")
        assert (await rules.get(made.id)).content() == made.content()

        renamed = await rules.update(made.id, RuleDraft.model_validate(made.body() | {"name": "Renamed"}))
        assert renamed.document()["priority"] == 3
        assert renamed.document()["pairs"][0]["mood"] == "sunny"

        await rules.delete(made.id)
        with pytest.raises(errors.NotFound):
            await rules.get(made.id)


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
        assert len(await members.all()) == 20


async def test_pages_are_followed_to_the_end(services: Services) -> None:
    for number in range(100):
        services.rules.put(
            {"id": f"Cancel_{number}", "name": str(number), "ruleType": "Cancel", "status": "Active", "pairs": []}
        )
    services.switch(paging="pages")
    async with rules_client(services) as rules:
        assert len((await rules.all()).rules) == 125


REFUSALS = [
    ({"name": ""}, errors.InvalidPayload),
    ({"ruleType": "Cancel"}, errors.TypeChangeRefused),
    ({"pairs": []}, errors.InvalidPairs),
    ({"pairs": [{"destination": "x"}]}, errors.InvalidPairs),
    ({"groupId": "Group_none"}, errors.GroupNotFound),
]


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
        with pytest.raises(errors.Refusal, match="Unknown segment: platinum"):
            await members.grant("anna.berg@example.com", ["platinum"])
        with pytest.raises(errors.AlreadyExists):
            await members.add(Member(email="anna.berg@example.com"))
        with pytest.raises(errors.NotFound):
            await members.remove("nobody@example.com")
    async with members_client(services, "site_9") as elsewhere:
        with pytest.raises(errors.NotFound, match="Site not found"):
            await elsewhere.all()


UNCLEAR = (
    "500",
    "500_after",
    "html",
    "empty",
    "truncated",
    "wrong_type",
    "redirect",
    "cut_before",
    "cut_after",
    "never",
)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"delay", "bodiless"}])
async def test_a_faulty_answer_to_a_write_is_refused_or_unknown_and_never_repeated(
    services: Services, kind: str
) -> None:
    services.rules.stage.faults.add(kind, method="DELETE", times=9, value=1)
    async with rules_client(services) as rules:
        with pytest.raises(errors.OutcomeUnknown if kind in UNCLEAR else errors.Refusal):
            await rules.delete("Redirect_x1old")
    assert len(services.rules.calls("DELETE")) == 1


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in {"delay", "never", "bodiless"}])
async def test_a_faulty_answer_to_a_read_is_one_of_ours(services: Services, kind: str) -> None:
    services.rules.stage.faults.add(kind, times=9, value=1)
    async with rules_client(services) as rules:
        with pytest.raises(errors.ClientError):
            await rules.all()


async def test_a_read_is_tried_again(services: Services) -> None:
    services.rules.stage.faults.add("500", times=2)
    async with rules_client(services) as rules:
        assert len((await rules.all()).rules) == 25


async def test_an_unreadable_record_hides_no_other(services: Services) -> None:
    services.database._connection.execute("INSERT INTO rules VALUES ('x', ?, 99, '{\"name\": 5}')", (RULES_KEY,))
    async with rules_client(services) as rules:
        listing = await rules.all()
    assert (len(listing.rules), listing.unreadable) == (25, 1)


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
        "Redirect_" + "x" * 65,
    ],
)
async def test_what_cannot_be_an_id_is_refused_before_anything_is_sent(services: Services, rule_id: str) -> None:
    async with rules_client(services) as rules:
        with pytest.raises(errors.BadIdentifier):
            await rules.delete(rule_id)
    assert services.rules.calls() == []


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


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a",
        "http://example.com/v1",
        "https://user:pw@example.com/v1",
        "https://example.com/v1?x=1",
        "http://169.254.169.254/v1",
        "nonsense",
    ],
)
def test_an_address_that_a_key_must_not_go_to_is_refused(url: str) -> None:
    with pytest.raises(BadAddress):
        checked_base(url, insecure_http=False)
