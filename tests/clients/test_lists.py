"""Lists in pages: followed to their end whatever the pages are, and known to be incomplete where they do not get there."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import count
from typing import Any

import pytest

from bot.changes.adapters import MemberAdapter
from bot.changes.model.edits import Target
from bot.changes.targets import read_live
from bot.clients import errors, lists
from bot.clients.answer import Answer
from bot.clients.gate import CallContext
from bot.clients.http import Service
from bot.clients.lists import Gap, Incomplete
from bot.clients.members import MembersClient
from bot.clients.pages import page_of
from bot.clients.rules import RulesClient
from sandbox.services.running import MEMBERS_KEY, Services

Page = dict[str, Any]
ALL = 350


@pytest.fixture
async def services(services: Services) -> Services:
    """350 rules in pages, and twenty members."""
    for number in range(ALL - len(services.rules.all())):
        services.rules.put(_rule(number))
    services.switch(paging="pages")
    return services


def _rule(number: int) -> dict[str, Any]:
    return {"id": f"Cancel_{number}", "name": str(number), "ruleType": "Cancel", "status": "Active", "pairs": []}


@pytest.fixture
async def members(services: Services) -> AsyncIterator[MembersClient]:
    async with Service("members", services.members_url, {"Authorization": f"Bearer {MEMBERS_KEY}"}) as service:
        yield MembersClient(service, "site_1")


async def test_a_service_that_has_pages_is_asked_for_large_ones(services: Services, rules: RulesClient) -> None:
    assert len((await rules.all()).whole()) == ALL
    first = [call.query for call in services.rules.calls()]
    assert len((await rules.all()).whole()) == ALL

    assert first[:2] == ["", "offset=30&pageSize=75"]
    assert len(first) == 6
    assert len(services.rules.calls()) - len(first) == 5


async def test_a_service_without_pages_is_asked_for_none(services: Services, rules: RulesClient) -> None:
    services.switch(paging="off")
    for _ in range(2):
        assert len((await rules.all()).whole()) == ALL

    assert [call.query for call in services.rules.calls()] == ["", ""]


async def test_a_service_that_refuses_the_size_is_asked_without_it(services: Services, rules: RulesClient) -> None:
    services.switch(paging="sizeless")
    for _ in range(2):
        assert len((await rules.all()).whole()) == ALL

    assert sum("pageSize" in call.query for call in services.rules.calls()) == 1


def _ends_early(page: Page) -> Page:
    return page | {"nextOffset": None}


def _repeats(page: Page) -> Page:
    return page | {"nextOffset": 30}


def _promises(page: Page) -> Page:
    return {"success": True, "data": [*page["data"], "not a rule"], "hasMore": True}


def _counts_the_page_alone(page: Page) -> Page:
    return {"success": True, "data": page["data"], "total": 30, "hasMore": True}


def _has_a_total_of_its_own(page: Page) -> Page:
    return page | {"total": 400}


@pytest.mark.parametrize(
    ("alter", "gap"),
    [
        (_ends_early, Gap(30, ALL)),
        (_repeats, Gap(105, ALL)),
        (_promises, Gap(30, sign="hasMore")),
        (_counts_the_page_alone, Gap(30, sign="hasMore")),
        (_has_a_total_of_its_own, Gap(ALL, 400)),
    ],
)
async def test_a_list_that_does_not_get_to_its_end_is_not_whole(
    services: Services, rules: RulesClient, alter: Callable[[Page], Page], gap: Gap
) -> None:
    services.rules.stage.alter_page = alter
    listing = await rules.all()

    assert listing.gap == gap
    assert [call.query for call in services.rules.calls()].count("") == 1, "what did not change is read once"
    with pytest.raises(Incomplete, match=str(gap.read)):
        listing.whole()


async def test_a_list_without_an_end_is_unreadable(
    services: Services, rules: RulesClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "MAX_PAGES", 7)
    numbers = count(1_000)
    services.rules.stage.alter_page = lambda _: {"success": True, "data": [_rule(next(numbers))], "nextOffset": 30}
    with pytest.raises(errors.Unreadable):
        await rules.all()


def _deletes_at(services: Services, pages: Iterator[int]) -> Callable[[Page], Page]:
    """Deletes the first rule after each of the *pages* was read, so that the others move up by one."""
    asked, at = count(1), list(pages)

    def alter(page: Page) -> Page:
        if next(asked) in at:
            services.rules.remove(services.rules.all()[0]["id"])
        return page

    return alter


async def test_a_rule_that_is_deleted_under_way_hides_no_other(services: Services, rules: RulesClient) -> None:
    last = services.rules.all()[-1]["id"]
    services.rules.stage.alter_page = _deletes_at(services, iter([2]))
    listing = await rules.all()

    assert {rule.id for rule in listing.whole()} == {record["id"] for record in services.rules.all()}
    assert last in {rule.id for rule in listing.whole()}


async def test_a_list_that_becomes_shorter_and_shorter_is_not_whole(services: Services, rules: RulesClient) -> None:
    services.rules.stage.alter_page = _deletes_at(services, iter(range(1, 99)))
    with pytest.raises(Incomplete):
        (await rules.all()).whole()
    assert len(services.rules.calls()) < 15, "read again once"


async def test_a_list_that_grows_under_way_is_whole_once_all_of_it_was_read(
    services: Services, rules: RulesClient
) -> None:
    numbers = count(1_000)

    def alter(page: Page) -> Page:
        services.rules.put(_rule(next(numbers)))
        return page

    services.rules.stage.alter_page = alter
    assert len((await rules.all()).whole()) >= ALL
    assert len(services.rules.calls()) < 10, "read once"


@pytest.mark.parametrize("shape", ["array", "pages", "cursor", "link"])
async def test_members_are_followed_through_any_kind_of_pages(
    services: Services, members: MembersClient, shape: str
) -> None:
    services.switch(member_list=shape)
    assert len((await members.all()).whole()) == 20
    assert await members.find("nobody@example.com") is None


def _same_cursor(page: Any) -> Any:
    return page | {"response_metadata": {"next_cursor": "8"}}


def _no_pages(page: Any) -> Any:
    return {"members": page["members"], "total": 20}


def _only_more(page: Any) -> Any:
    return {"members": page["members"], "hasMore": True}


def _first_five(page: Any) -> Any:
    return page[:5]


@pytest.mark.parametrize(
    ("shape", "alter", "gap"),
    [
        ("cursor", _same_cursor, Gap(16)),
        ("pages", _no_pages, Gap(8, 20)),
        ("pages", _only_more, Gap(8, sign="hasMore")),
        ("link", _first_five, Gap(14, 20)),
    ],
)
async def test_nothing_is_said_of_members_who_were_not_read(
    services: Services, members: MembersClient, shape: str, alter: Callable[[Any], Any], gap: Gap
) -> None:
    services.switch(member_list=shape)
    services.members.stage.alter_page = alter
    assert (await members.all()).gap == gap
    assert await members.find("anna.berg@example.com") is not None
    for email in ("Anna.Berg@example.com", "nobody@example.com"):
        with pytest.raises(Incomplete):
            await members.find(email)
        with pytest.raises(Incomplete):
            await read_live(MemberAdapter(members), Target(service="members", key=email))


async def test_one_command_reads_a_list_once(services: Services, rules: RulesClient) -> None:
    services.switch(paging="off")
    await rules.all()
    command = rules.with_context(CallContext(began=time.monotonic()))
    first = await command.all()
    assert await command.all() is first
    assert len(services.rules.calls()) == 2, "nothing that is older than the command"
    assert await command.fresh() is not first
    await rules.delete("Cancel_1")
    assert len((await command.all()).whole()) == ALL - 1


@pytest.mark.parametrize(
    ("fields", "following"),
    [
        ({"next_cursor": "c8"}, {"cursor": "c8"}),
        ({"next_cursor": 8}, {"cursor": "8"}),
        ({"nextOffset": 0}, {"offset": "0"}),
        *(({"next_cursor": value}, None) for value in (True, False, "", None, [8], 8.5)),
        ({"page": 1, "totalPages": 2}, {"page": "2"}),
        ({"page": 2, "totalPages": 2}, None),
        *(({"page": value, "hasMore": True}, None) for value in (True, -1, "1", None)),
        ({"page": 1, "totalPages": True, "hasMore": True}, {"page": "2"}),
    ],
)
def test_only_a_place_in_the_list_is_followed(fields: dict[str, Any], following: dict[str, str] | None) -> None:
    assert page_of(Answer(200, b""), fields, []).following == following


@pytest.mark.parametrize(
    ("header", "total"), [("41", 41), ("", None), ("forty", None), ("²", None), ("-1", None), ("9" * 5000, None)]
)
def test_a_total_that_is_no_number_is_none(header: str, total: int | None) -> None:
    assert page_of(Answer(200, b"", headers={"x-total-count": header}), {}, []).total == total
    assert page_of(Answer(200, b"", headers={"x-total-count": header}), {"total": 0}, []).total == 0
