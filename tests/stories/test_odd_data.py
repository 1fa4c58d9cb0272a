"""Rules with what JSON allows and few programs expect: shown, changed and deleted, or refused in words, and never altered."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.server.app import running
from bot.server.manifest import document
from sandbox.demo import Sandbox, settings
from sandbox.gatehouse import SHOP
from sandbox.services.running import running_services
from sandbox.slack.running import running_slack
from sandbox.slack.serving import serving
from sandbox.slack.story import Person
from tests.conftest import OPS, QUICK, until
from tests.harness.colleague import Colleague
from tests.harness.looking import approve_card, open_details, open_details_file

ODD = "Redirect_odd1"
PAIRS = (
    '[{"source":{"key":"Url","operator":"Equals","value":"https://t.example/"},"destination":"https://t.example/x"}]'
)
LONG = "9" * 3000
FIELDS = {
    "surrogate in the name": '"name":"a\\ud800b"',
    "surrogate in a field": '"name":"odd","note":{"a":["\\ud83d"]}',
    "nul": '"name":"a\\u0000b","note":"\\u0000"',
    "long integer": f'"name":"odd","weight":{LONG}',
}
INFINITE = {
    "infinite": '"name":"odd","weight":1e999',
    "endless integer": f'"name":"odd","weight":-{"9" * 5000}',
}


NUMBERS = (
    '[{"source":{"key":"Url","operator":"Contains","value":12345},"destination":5,"futureField":1.0},'
    '{"source":{"key":"Url","operator":"Equals","value":true},"destination":2.50}]'
)


class OddService:
    """A rules service with one rule, whose text it keeps as it came."""

    setting, path = "rules_base_url", "/v1"

    def __init__(self, fields: str, pairs: str = PAIRS) -> None:
        self.rule = f'{{"id":"{ODD}",{fields},"ruleType":"Redirect","status":"Active","pairs":{pairs}}}'
        self.sent: list[tuple[str, bytes]] = []

    async def all(self, _: Request) -> Response:
        rules = f"[{self.rule}]" if self.rule else "[]"
        return Response(f'{{"success":true,"data":{rules}}}', media_type="application/json")

    async def one(self, request: Request) -> Response:
        body = await request.body()
        if request.method != "GET":
            self.sent.append((request.method, body))
        if not self.rule:
            return JSONResponse({"success": False, "message": "Rule not found"}, 404)
        if request.method == "PUT":
            self.rule = json.dumps(json.loads(body) | {"id": ODD})
        answer = f'{{"success":true,"message":"ok","data":{self.rule}}}'
        if request.method == "DELETE":
            self.rule = ""
        return Response(answer, media_type="application/json")

    def app(self) -> Starlette:
        path = "/v1/rules/{rule}"
        return Starlette(routes=[Route("/v1/rules", self.all), Route(path, self.one, methods=["GET", "PUT", "DELETE"])])


class OddMembers:
    """A members service with the *records* of one site."""

    setting, path = "members_base_url", "/api/v1"

    def __init__(self, *records: dict[str, object]) -> None:
        self.records = records

    async def all(self, _: Request) -> Response:
        return JSONResponse([*self.records])

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/{rest:path}", self.all, methods=["GET", "POST"])])


class NoMembers(OddMembers):
    """One that answers 404 for a site until somebody is added."""

    async def all(self, request: Request) -> Response:
        if request.method == "POST":
            self.records = (await request.json(),)
        return JSONResponse([*self.records]) if self.records else JSONResponse({"error": "No members"}, 404)


@asynccontextmanager
async def people(odd: OddService | OddMembers, folder: Path) -> AsyncIterator[tuple[Person, Person]]:
    async with AsyncExitStack() as stack:
        services = await stack.enter_async_context(running_services(str(folder / "services.db")))
        slack = await stack.enter_async_context(running_slack(document("http://x"), SHOP))
        url = await stack.enter_async_context(serving(odd.app()))
        update = {odd.setting: url + odd.path, "members_empty_text": "No members"}
        chosen = settings(slack, services, folder / "bot.db").model_copy(update=update)
        bot = await stack.enter_async_context(running(chosen, timing=QUICK))
        slack.delivery.url = f"{await stack.enter_async_context(serving(bot.web))}/slack/events"
        yield Person(slack, "U0ALICE01", OPS), Person(slack, "U0CARA001", OPS)


TOO_LONG_FOR_A_MODAL = 3000
"""Characters of a rule."""


@pytest.mark.slow
@pytest.mark.parametrize("fields", FIELDS.values(), ids=FIELDS)
async def test_an_odd_rule_is_changed_and_deleted_as_it_is(fields: str, tmp_path: Path) -> None:
    odd = OddService(fields)
    before = json.loads(odd.rule)
    async with people(odd, tmp_path) as (alice, cara):
        await alice.says(f"/rules show {ODD}")
        await alice.says(f"/rules off {ODD}")
        await alice.sees("[Undo]")
        assert json.loads(odd.rule) == before | {"status": "Inactive"}

        card = await alice.says(f"/rules delete {ODD}")
        if "Details before" in alice.slack_text(card):  # it has a field that the card doesn't show
            await (open_details_file if len(odd.rule) > TOO_LONG_FOR_A_MODAL else open_details)(cara, card)
        await cara.clicks(card, "v1.decide.approve", confirm=True)
        await until(lambda: "[Undo]" in alice.slack_text(card))

    assert [method for method, _ in odd.sent] == ["PUT", "DELETE"]


async def test_a_rule_of_numbers_is_shown_matched_changed_and_deleted_as_it_is(tmp_path: Path) -> None:
    odd = OddService('"name":5,"description":6', NUMBERS)
    before = json.loads(odd.rule)
    async with people(odd, tmp_path) as (alice, cara):

        async def said(text: str) -> str:
            return alice.slack_text(await alice.says(text))

        assert "`12345`" in await said(f"/rules show {ODD}")
        assert "becomes `5`" in await said("/rules which https://a.example/12345")
        assert "No rule changes" in await said("/rules which https://a.example/other")
        await alice.says(f"/rules off {ODD}")
        await alice.sees("“5” is off")
        assert odd.sent[0][0] == "PUT"
        assert json.dumps(json.loads(odd.sent[0][1])["pairs"]) == json.dumps(before["pairs"]), "2.5 and 1.0 stay floats"
        assert json.loads(odd.rule) == before | {"status": "Inactive"}

        card = await alice.says(f"/rules delete {ODD}")
        await approve_card(cara, card)
        await until(lambda: "[Undo]" in alice.slack_text(card))
    assert [method for method, _ in odd.sent] == ["PUT", "DELETE"]


async def test_a_rule_that_can_not_be_read_says_which_field_it_is(tmp_path: Path) -> None:
    odd = OddService('"name":"odd"', '[{"source":"https://a.example/"}]')
    async with people(odd, tmp_path) as (alice, _):
        for text in (f"/rules show {ODD}", f"/rules off {ODD}", f"/rules delete {ODD}"):
            assert "unexpected value in “pairs.0.source”" in alice.slack_text(await alice.says(text))
    assert odd.sent == []


async def test_an_id_with_a_dot_is_an_id(workspace: Sandbox, alice: Colleague) -> None:
    rules = workspace.services.rules
    rules.put({**(rules.get("Redirect_x1old") or {}), "id": "abc.def", "name": "Dotted"})

    assert "“Dotted”" in alice.slack_text(await alice.says("/rules show abc.def"))
    await alice.says("/rules off abc.def")
    await alice.sees("“Dotted” is off")
    assert (rules.get("abc.def") or {})["status"] == "Inactive"


@pytest.mark.parametrize("fields", INFINITE.values(), ids=INFINITE)
async def test_a_number_that_can_not_go_back_as_it_was_is_not_sent(fields: str, tmp_path: Path) -> None:
    odd = OddService(fields)
    async with people(odd, tmp_path) as (alice, cara):
        await alice.says(f"/rules show {ODD}")
        await alice.says(f"/rules off {ODD}")
        answer = alice.slack_text(await alice.sees("too large to be sent back as it was read"))
        assert "The service says" not in answer
        assert odd.sent == []

        card = await alice.says(f"/rules delete {ODD}")
        await approve_card(cara, card)  # it has a field that the card doesn't show
        await alice.sees("[Undo]")

    assert [method for method, _ in odd.sent] == ["DELETE"]


async def test_a_rule_that_is_nested_too_deeply_is_shown_and_left_as_it_is(tmp_path: Path) -> None:
    depth = 300
    odd = OddService('"name":"Odd one","note":' + '{"a":' * depth + "1" + "}" * depth)
    async with people(odd, tmp_path) as (alice, _):
        assert "also has `note`" in alice.slack_text(await alice.says(f"/rules show {ODD}"))
        for text in (f"/rules off {ODD}", f"/rules delete {ODD}", "/rules export"):
            assert "“Odd one” is nested too deeply" in alice.slack_text(await alice.says(text))
    assert odd.sent == []


SOURCE = {"key": "Url", "operator": "Equals", "value": "https://t.example/"}
NOT_UNDERSTOOD: dict[str, dict[str, object]] = {
    "no pairs": {"pairs": None},
    "empty pairs": {"pairs": []},
    **{f"status {status}": {"status": status} for status in ("active", "ACTIVE", "Enabled", "deleted")},
    **{
        f"source {name} {value}": {"pairs": [{"source": SOURCE | {name: value}, "destination": "https://t.example/x"}]}
        for name, value in (("key", "URL"), ("operator", "equals"), ("operator", "EQUALS"), ("operator", "contains"))
    },
}


@pytest.mark.parametrize("fields", NOT_UNDERSTOOD.values(), ids=NOT_UNDERSTOOD)
async def test_what_is_not_understood_of_a_rule_is_never_a_confident_no(
    fields: dict[str, object], tmp_path: Path
) -> None:
    odd = OddService('"name":"Odd one"')
    rule = {name: value for name, value in (json.loads(odd.rule) | fields).items() if value is not None}
    odd.rule = json.dumps(rule)
    async with people(odd, tmp_path) as (alice, _):

        async def said(text: str) -> str:
            return alice.slack_text(await alice.says(text))

        which = await said("/rules which https://t.example/")
        assert "Can’t tell" in which or "near miss" in which
        assert "Odd one" in which
        assert "Odd one" in await said("/rules check")
        assert "Odd one" in await said("/rules list")
        await said(f"/rules show {ODD}")
        if not rule.get("pairs"):
            assert "Only 0 of 1" in await said("/rules export")
            assert not any(message.files for message in alice.slack.state.messages)


ANNA: dict[str, object] = {"email": "anna@t.example", "name": "Anna", "allowedSegments": ["vip"]}
BEN: dict[str, object] = {"email": "ben@t.example", "name": "Ben", "allowedSegments": ["free"]}


@pytest.mark.parametrize("other", [{"allowedSegments": ["free"]}, {"name": "Anna Old"}, {"blocked": True}], ids=str)
@pytest.mark.parametrize("is_last", [True, False])
async def test_two_records_of_one_email_are_told(other: dict[str, object], is_last: bool, tmp_path: Path) -> None:
    two = (ANNA, ANNA | other) if is_last else (ANNA | other, ANNA)
    async with people(OddMembers(*two, BEN), tmp_path) as (bob, _):
        for text in ("show anna@t.example", "list", "list segment:free", "segments"):
            answer = bob.slack_text(await bob.says(f"/members {text} site:blog"))
            assert "1 of 2" in answer, text
        assert "Can’t tell" in bob.slack_text(await bob.says("/members why anna@t.example vip"))


async def test_a_site_that_is_not_found_while_it_is_empty_gets_its_first_member(tmp_path: Path) -> None:
    async with people(site := NoMembers(), tmp_path) as (bob, _):
        assert "No members found on blog" in bob.slack_text(await bob.says("/members list site:blog"))
        await bob.opens("/members add anna@t.example named Anna site:blog")
        assert await bob.submits() == {}
        await bob.sees("[Undo]")
        assert [one["email"] for one in site.records] == ["anna@t.example"]


BLOCKED: dict[str, object] = {
    "status": "suspended",
    "blocked": True,
    "deletedAt": 1736060959798,
    "bounced": None,
    "note": "x" * 90,
}


async def test_other_fields_of_a_member_are_told_wherever_somebody_decides(tmp_path: Path) -> None:
    async with people(OddMembers(ANNA | BLOCKED, BEN), tmp_path) as (bob, _):
        for text in ("why anna@t.example vip", "show anna@t.example"):
            answer = bob.slack_text(await bob.says(f"/members {text} site:blog"))
            for shown in ("`status: suspended`", "`blocked: true`", "`deletedAt: 1736060959798`", "`note`"):
                assert shown in answer, text
            barring = "but the record on blog has `status: suspended`, `blocked: true`"
            assert (barring in answer.partition("\n")[0]) == text.startswith("why"), answer
            public = bob.slack_text(await bob.says(f"@gatehouse members {text}"))
            assert "`status`" in public
            assert "suspended" not in public
