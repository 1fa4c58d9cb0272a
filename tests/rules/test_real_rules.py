"""No record of a real installation breaks anything that looks at rules."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.changes.model.documents import canonical_form
from bot.clients.lists import Gap
from bot.rules.files import export_lines, read_rule_file
from bot.rules.model import Groups, Rule
from bot.rules.outcomes import Explained
from bot.rules.url import Url
from bot.text.names import named_rule, resolve_name
from bot.text.search import text_of_rule
from handlers.blocks.messages import ListPage
from handlers.rules import check_view as check_views
from handlers.rules import views, which_view
from handlers.rules.commands import RulesCheck, RulesList, RulesWhich
from handlers.rules.rule_lookup import filter_rules, follow
from sandbox.slack.validation import check_message
from tests.harness.real_rules import RECORDS
from tests.rules.whole import check, explain, introduced_by, plan_rules

RULES = [Rule.model_validate(record) for record in RECORDS]
GROUPS = Groups({"Group_qrszh": "Summer"}, frozenset())
URLS = [
    "https://shop.example.com/old",
    "https://user:pw@shop.example.com:8443/a%20b?utm=1&a=b&a=c",
    "http://bücher.example/ß",
    "wss://[::1]:8/blocks/",
    "https://shop.example.com/" + "a/" * 20_000,
]


def judged_by_slack(message: Any) -> None:
    assert check_message({"blocks": list(message.blocks)}) == []
    assert message.text


def explained(found: Explained) -> Any:
    command = RulesWhich(url=found.url.full[:200])
    return which_view.answer(
        asyncio.run(follow(found, RULES)), command=command, gap=Gap(1, 2), assumed=True, public=False
    )


@pytest.mark.parametrize("url", URLS, ids=lambda text: text[:30])
@pytest.mark.parametrize("groups", [None, GROUPS])
def test_which_explains_any_rule_alone_and_all_together(url: str, groups: Groups | None) -> None:
    for some in (*([rule] for rule in RULES), RULES):
        judged_by_slack(explained(explain(some, Url.of(url), groups)))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_rule_is_checked_alone_and_among_the_others() -> None:
    everything = check(RULES, GROUPS)
    assert everything
    for rule in RULES:
        off = Rule.model_validate(rule.document() | {"status": "Inactive"})
        found = (*check([rule]), *introduced_by(RULES, None, rule), *introduced_by(RULES, off, rule))
        for finding in found:
            assert check_views.words(finding)
    for first in range(0, len(everything), 8):
        page = ListPage.of(everything[first : first + 8], 1, 8)
        judged_by_slack(check_views.findings_page(page, command=RulesCheck(), rules=len(RULES), gap=None, public=False))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_every_rule_is_shown_listed_found_and_previewed(rule: Rule) -> None:
    judged_by_slack(views.rule_card(rule, public=False, groups=GROUPS))
    judged_by_slack(
        views.rule_list(
            ListPage.of([rule] * 11, 1, 10), command=RulesList(sort="changed"), gap=Gap(1, 2), groups=GROUPS,
            public=False,
        )
    )  # fmt: skip
    assert rule in filter_rules(RULES, RulesList(text=rule.id), GROUPS)
    assert rule in resolve_name(rule.id, map(named_rule, RULES)).things
    assert rule.id.casefold() in text_of_rule(rule)


def test_an_export_goes_into_an_empty_service_as_it_was_and_is_then_all_the_same() -> None:
    file = read_rule_file(b"".join(export_lines(RULES)))

    plan = plan_rules(file, [])
    asked = {row.number: row.edit.after for row in plan if row.edit is not None}
    refused = {row.number for row in plan if row.is_refused}
    assert refused | set(asked) == set(range(1, len(RULES) + 1))
    names = {"description", "status", "groupId", "name"}
    for number, after in asked.items():
        said = canonical_form(file[number - 1]) or {}
        kept = {name: value for name, value in said.items() if name not in names or value is not None}
        assert {name: (canonical_form(after) or {}).get(name) for name in kept} == kept

    again = plan_rules(file, RULES)
    assert {row.why for row in again} == {"already there, with this id"}


PLACES = [
    "Request",
    "Response",
    "param",
    "type",
    "value",
    "header",
    "key",
    "operator",
    "filters",
    "actionWhenParamExists",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(PLACES), inner, max_size=3),
    max_leaves=8,
)
TEXTS = st.none() | st.text(max_size=20) | st.sampled_from(["", "*", "https://h/", "/(a|b)*/gi", "$1", "\ud800", "/a/"])
ANY_PAIR = st.fixed_dictionaries(
    {},
    optional={
        "source": st.none()
        | st.fixed_dictionaries(
            {},
            optional={
                "key": st.sampled_from(["Url", "host", "path", "Path", "", None]),
                "operator": st.sampled_from(["Equals", "Contains", "Matches", "Wildcard_Matches", "Odd", None]),
                "value": TEXTS,
                "filters": JSON,
            },
        ),
        "destinationType": st.sampled_from(["url", "map_local", None]),
        "destination": TEXTS,
        "from": TEXTS,
        "to": TEXTS,
        **dict.fromkeys(("modifications", "request", "response", "delay", "scripts", "userAgent", "header"), JSON),
    },
)
ANY_RULE = st.builds(
    lambda kind, pairs, status: Rule.model_validate({"id": "R_1", "ruleType": kind, "status": status, "pairs": pairs}),
    st.sampled_from(["Redirect", "Cancel", "Replace", "Headers", "QueryParam", "UserAgent", "Delay", "Script", None]),
    st.none() | st.lists(ANY_PAIR, max_size=3),
    st.sampled_from(["Active", "Active", "Inactive", "odd", None]),
)


@pytest.mark.slow
@given(st.lists(ANY_RULE, max_size=3), st.sampled_from(URLS))
@settings(deadline=None, max_examples=300)
def test_no_pairs_of_any_json_are_too_odd(some: list[Rule], url: str) -> None:
    judged_by_slack(explained(explain(some, Url.of(url))))
    check(some)
    for rule in some:
        assert json.loads(json.dumps(rule.document())) == rule.document()
