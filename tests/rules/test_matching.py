"""Which rules act on a URL: the tables of the real engines, and what must hold for any rule at all."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.rules.conditions import condition
from bot.rules.expressions import CannotTell, fill_captures
from bot.rules.matching import filters_of, judge
from bot.rules.model import Groups, Off, OffKind, Pair, Rule
from bot.rules.outcomes import Match, NearKind, Note, NoteKind, Undecidable
from bot.rules.url import NotAUrl, Url
from tests.rules.whole import explain


def rule(kind: str, *pairs: dict[str, Any], **fields: Any) -> Rule:
    return Rule.model_validate(
        {"id": f"{kind}_1", "name": "x", "status": "Active", "ruleType": kind, "pairs": list(pairs)} | fields
    )


def when(operator: str, value: str, key: str = "Url", **pair: Any) -> dict[str, Any]:
    return {"source": {"key": key, "operator": operator, "value": value}} | pair


def test_filters_are_found_whatever_their_shape_and_a_pair_without_a_source_has_none() -> None:
    filters = {"pageUrl": {"operator": "Contains"}, "resourceType": []}
    for shape in (filters, [filters]):
        assert [*filters_of(Pair.model_validate({"source": {"filters": shape}}))] == [
            ("pageUrl", {"operator": "Contains"})
        ]
    assert [*filters_of(Pair.model_validate({}))] == []


HOLDS = [
    ("Url", "Equals", "https://example.com/", "https://example.com", True),
    ("Url", "Equals", "https://example.com", "https://example.com/", False),
    ("Url", "Equals", "https://example.com/A", "https://example.com/a", False),
    ("Url", "Contains", "", "https://example.com/", True),
    ("Url", "Contains", "example", "https://example.com/", True),
    ("Url", "Contains", "a b", "https://example.com/a b", False),
    ("Url", "Contains", "a%20b", "https://example.com/a b", True),
    ("host", "Equals", "example.com", "https://EXAMPLE.com:443/x", True),
    ("host", "Equals", "Example.com", "https://example.com/", False),
    ("host", "Equals", "example.com:443", "https://example.com/", False),
    ("host", "Equals", "example.com:8443", "https://example.com:8443/", True),
    ("path", "Equals", "/a", "https://example.com/a?x=1#y", True),
    ("path", "Equals", "/a?x=1", "https://example.com/a?x=1", False),
    ("Host", "Equals", "example.com", "https://example.com/", False),
    ("url", "Equals", "https://example.com/", "https://example.com/", False),
    ("Url", "Matches", "/EXAMPLE/", "https://example.com/", False),
    ("Url", "Matches", "/EXAMPLE/i", "https://example.com/", True),
    ("Url", "Matches", "/EXAMPLE/gi", "https://example.com/", True),
    ("Url", "Matches", "//", "https://example.com/", False),
    ("Url", "Wildcard_Matches", "://*.yahoo.com", "http://cricket.yahoo.com", False),
    ("Url", "StartsWith", "https", "https://example.com/", False),
    ("Url", "equals", "https://example.com/", "https://example.com/", False),
    ("Url", "Equals", "http://example.com/", "HTTP://EXAMPLE.COM:80#top", True),
    ("Url", "Equals", "https://xn--bcher-kva.example/", "https://bücher.example", True),
    ("Url", "Equals", "http://[::1]:8080/", "http://[0:0::1]:8080", True),
    ("Url", "Equals", "https://example.com/?", "https://example.com?", True),
    ("Url", "Contains", "Example", "https://example.com/", False),
    ("Url", "Contains", "*", "https://example.com/", False),
    ("Path", "Equals", "/a", "https://example.com/a", False),
    ("host", "Contains", ":8443", "https://example.com:8443/", True),
    ("host", "Matches", r"/^example\.com$/", "https://example.com/a", True),
    ("host", "Wildcard_Matches", "*.example.com", "https://a.example.com/", True),
    ("path", "Contains", "?", "https://example.com/a?x", False),
    ("path", "Matches", r"/^\/a$/", "https://example.com/a?x", True),
    ("path", "Wildcard_Matches", "/a/*", "https://example.com/a/?x", True),
    ("Url", "Matches", "/EXAMPLE/ig", "https://example.com/", True),
    ("Url", "Matches", "/EXAMPLE/g", "https://example.com/", False),
    ("Url", "Matches", "/example/ii", "https://example.com/", False),
    ("Url", "Matches", "", "https://example.com/", False),
    ("Url", "Matches", "/a/b/", "https://example.com/a/b", True),
    ("Url", "Matches", r"/\p{2}/", "https://example.com/app", True),
    ("Url", "Wildcard_Matches", "", "https://example.com/", False),
    ("Url", "Wildcard_Matches", "https://EXAMPLE.com/*", "https://example.com/a", False),
]


@pytest.mark.parametrize(("key", "operator", "value", "url", "holds"), HOLDS)
def test_a_condition_holds_as_the_engines_have_it(key: str, operator: str, value: str, url: str, holds: bool) -> None:
    found = judge(rule("Cancel", when(operator, value, key)), Url.of(url))

    assert isinstance(found, Match) == holds


def test_a_redirect_to_itself_does_nothing() -> None:
    acts = judge(rule("Redirect", when("Contains", "h", destination="https://h/")), Url.of("https://h"))

    assert isinstance(acts, Match)
    assert acts.idle


def test_what_is_switched_off_acts_but_is_not_in_force() -> None:
    pair = when("Contains", "h", destination="https://x/")
    groups = Groups({"g1": "Summer", "g2": "Winter"}, frozenset({"g2"}))
    rules = [
        rule("Redirect", pair, id="Redirect_off", status="Inactive"),
        rule("Redirect", pair, id="Redirect_off_g1", status="Inactive", groupId="g1"),
        rule("Redirect", pair, id="Redirect_g1", groupId="g1"),
        rule("Redirect", pair, id="Redirect_g2", groupId="g2"),
        rule("Redirect", pair, id="Redirect_g3", groupId="g3"),
    ]

    found = explain(rules, Url.of("https://h"), groups)

    assert [each.off for each in found.acting] == [
        (Off(OffKind.STATUS, "Inactive"),),
        (Off(OffKind.STATUS, "Inactive"), Off(OffKind.GROUP, "Summer")),
        (Off(OffKind.GROUP, "Summer"),),
        (),
        (Off(OffKind.UNKNOWN_GROUP),),
    ]
    assert [each.rule.id for each in found.active] == ["Redirect_g2"]


NEAR = [
    ("Url", "Equals", "https://example.com/old/", "https://example.com/old", NearKind.SLASH, ""),
    ("Url", "Equals", "https://example.com", "https://example.com/", NearKind.NO_SLASH, "https://example.com/"),
    (
        "Url",
        "Equals",
        "https://example.com:443/a b",
        "https://example.com/a b",
        NearKind.SPELLING,
        "https://example.com/a%20b",
    ),
    ("Url", "Equals", "https://example.com/#top", "https://example.com/", NearKind.SPELLING, "https://example.com/"),
    (
        "Url",
        "Equals",
        "https://bücher.example/",
        "https://bücher.example/",
        NearKind.SPELLING,
        "https://xn--bcher-kva.example/",
    ),
    ("host", "Equals", "Example.com", "https://example.com/", NearKind.CASE, ""),
    ("host", "Equals", "example.com:443", "https://example.com/", NearKind.SPELLING, "example.com"),
    ("path", "Equals", "/a?x=1", "https://example.com/a?x=1", NearKind.SPELLING, "/a"),
    ("url", "Contains", "example", "https://example.com/", NearKind.KEY, "Url"),
    ("Url", "Contains", "Example.com/Old", "https://example.com/old", NearKind.CASE, ""),
    ("Url", "Matches", "/OLD$/", "https://example.com/old", NearKind.CASE, ""),
    ("Url", "Wildcard_Matches", "*/OLD", "https://example.com/old", NearKind.CASE, ""),
    ("Url", "Wildcard_Matches", "example.com", "https://example.com/", NearKind.NOT_THE_WHOLE, ""),
    ("Url", "Wildcard_Matches", "https://example.com/*", "https://other.example/?to=https://example.com/", None, ""),
    ("Url", "Equals", "http://example.com/old", "https://example.com/old", NearKind.SCHEME, ""),
    ("Url", "Equals", "https://Example.com/old", "https://example.com/old", NearKind.CASE, ""),
    ("Url", "Equals", "https://example.com/old", "https://example.com:8443/old", NearKind.PORT, ""),
    ("Url", "Equals", "https://example.com/old", "https://example.com/old?x=1", NearKind.QUERY, ""),
    ("Url", "Equals", "https://www.example.com/old", "https://example.com/old", NearKind.WWW, ""),
    ("Host", "Equals", "example.com", "https://example.com/old", NearKind.KEY, "host"),
    ("Url", "Equals", "https://other.example/", "https://example.com/old", None, ""),
    ("url", "Equals", "https://other.example/", "https://example.com/old", None, ""),
]


@pytest.mark.parametrize(("key", "operator", "value", "url", "kind", "better"), NEAR)
def test_a_near_miss_says_what_is_different(
    key: str, operator: str, value: str, url: str, kind: NearKind | None, better: str
) -> None:
    found = explain([rule("Cancel", when(operator, value, key))], Url.of(url))

    assert not found.acting
    assert [(miss.kind, miss.better) for miss in found.near] == ([(kind, better)] if kind else [])


@pytest.mark.parametrize(
    "value",
    ["/(?i)a/", "/(?P<n>a)/", "/(?=a)/", "/(?<!a)b/", r"/(a)\1/", "/(/"],
)
def test_what_cannot_be_tried_is_said_so(value: str) -> None:
    found = explain([rule("Cancel", when("Matches", value))], Url.of("https://h"))

    assert len(found.undecidable) == 1


@pytest.mark.parametrize("text", ["", "   ", "javascript:alert(1)", "https://", "a b", "https://[", "x" * 100_000])
def test_what_no_browser_loads_is_no_url(text: str) -> None:
    with pytest.raises(NotAUrl):
        Url.of(text)


def acts(rules: Rule, url: str) -> Match:
    found = judge(rules, Url.of(url))
    assert isinstance(found, Match)
    return found


def test_several_pairs_act_as_their_type_has_it() -> None:
    hit, miss = when("Contains", "h"), when("Contains", "nowhere")
    add = [{"type": "Add", "param": "a", "value": "1", "actionWhenParamExists": "Overwrite"}]

    def pairs(kind: str, *found: dict[str, Any]) -> tuple[int, tuple[int, ...]]:
        one = acts(rule(kind, *found), "https://h/abc")
        return one.pair, one.also

    assert pairs("Headers", miss, hit, miss, hit) == (2, (4,))
    assert pairs("UserAgent", hit, hit, miss) == (2, ())
    assert pairs("Delay", miss, hit, hit) == (2, ())
    assert pairs("Cancel", miss, hit, hit) == (2, ())
    last = acts(
        rule("QueryParam", hit | {"modifications": add}, hit | {"modifications": [add[0] | {"value": "2"}]}),
        "https://h/",
    )
    assert (last.result, last.also) == ("https://h/?a=2", (2,))
    first = acts(rule("Replace", hit | {"from": "a", "to": "b"}, hit | {"from": "bb", "to": "z"}), "https://h/abc")
    assert (first.result, first.also) == ("https://h/bbc", ())


@pytest.mark.parametrize("host", ["app.requestly.io", "requestly.in", "requestly.com", "rq.in", "rq.io", "h/__rq"])
def test_the_engines_leave_their_makers_urls_alone(host: str) -> None:
    found = explain([rule("Cancel", when("Contains", ""))], Url.of(f"https://{host}"))

    assert found.acting
    assert not found.active


def test_filters_in_any_shape_are_told_where_they_say_something() -> None:
    nothing: list[Any] = [{}, None, [], [None], [{}], [{"requestMethod": []}]]
    for filters in nothing:
        one = rule("Cancel", {"source": {"key": "Url", "operator": "Contains", "value": "", "filters": filters}})
        assert not acts(one, "https://h/").depends
    some: list[Any] = [{"requestMethod": ["GET"], "pageUrl": {"operator": "Equals", "value": "x"}}]
    one = rule("Cancel", {"source": {"key": "Url", "operator": "Contains", "value": "", "filters": some}})
    assert acts(one, "https://h/").depends
    assert acts(one, "https://h/").notes[0] == Note(NoteKind.FILTERS, "pageUrl, requestMethod")


@pytest.mark.slow
@given(st.text(alphabet="ab*", max_size=8), st.text(alphabet="ab", max_size=10))
@settings(max_examples=600, deadline=None)
def test_stars_catch_what_an_expression_would(value: str, text: str) -> None:
    hit = condition("Wildcard_Matches", value)(text)

    match = re.fullmatch("(.*)".join(map(re.escape, value.split("*"))), text)
    assert (match.groups() if match else None) == hit


def test_hundreds_of_stars_take_no_longer_than_one() -> None:
    hit = condition("Wildcard_Matches", "*" * 500)("https://h/" + "a/" * 30_000)

    assert hit is not None
    assert len(hit) == 500


def test_an_expression_that_is_large_for_a_long_url_is_not_tried() -> None:
    one = rule("Redirect", when("Matches", "/" + "(.*)" * 50 + "/", destination="https://x/$1"))

    assert isinstance(judge(one, Url.of("https://h/a")), Match)
    assert isinstance(judge(one, Url.of("https://h/" + "a" * 60_000)), Undecidable)


TEXT = st.text(max_size=40) | st.sampled_from(["https://h/a", "*", "/(.*)+x/", "/a/g", "$1", "h", "", "/(/", "/(?=a)/"])
PAIRS = st.builds(
    lambda key, operator, value, more: when(operator, value, key) | more,
    st.sampled_from(["Url", "host", "path", "Host", ""]),
    st.sampled_from(["Equals", "Contains", "Matches", "Wildcard_Matches", "Odd"]),
    TEXT,
    st.fixed_dictionaries({"destination": TEXT, "from": TEXT, "to": TEXT}),
)
RULES = st.builds(
    lambda kind, pairs, status: rule(kind, *pairs, status=status),
    st.sampled_from(["Redirect", "Cancel", "Replace", "QueryParam", "Headers", "Odd"]),
    st.lists(PAIRS, max_size=3),
    st.sampled_from(["Active", "Inactive"]),
)
URLS = st.sampled_from(
    ["https://h/a?b=1", "http://h:8080/", "https://www.h/a/b/c", "https://h/" + "a/" * 500, "https://h/%41?q=a b"]
)


@pytest.mark.slow
@given(st.lists(RULES, max_size=5), URLS)
@settings(max_examples=800, deadline=None)
def test_all_rules_together_say_what_each_says_alone(rules: list[Rule], text: str) -> None:
    url = Url.of(text)

    found = explain(rules, url)

    alone = [judge(each, url) for each in rules]
    assert list(found.acting) == [each for each in alone if isinstance(each, Match)]
    for acts in found.acting:
        assert not (acts.result is not None and acts.blocks)
        assert acts.result != url.full


def test_a_pattern_that_backtracks_elsewhere_answers_like_others() -> None:
    test = condition("Matches", r"/blocks\/(.*)+\/(.*)+\.(js|css)$/")

    assert not test("https://h/blocks/" + "a/" * 20_000)


@given(st.text(max_size=30), st.lists(st.none() | st.text(max_size=5), max_size=9))
def test_filling_in_never_fails(template: str, captures: list[str | None]) -> None:
    assert fill_captures(template, tuple(captures)) is not None


def test_an_unknown_operator_never_holds() -> None:
    with pytest.raises(CannotTell):
        condition("Odd", "x")


@pytest.mark.parametrize(
    ("kind", "pair"),
    [
        ("Redirect", when("Wildcard_Matches", "*a*", destination="https://a.example/" + "$1" * 60)),
        ("Redirect", when("Matches", "/(.*)/", destination="https://a.example/" + "$1" * 60)),
        ("Redirect", when("Matches", f"/{'a' * 4_001}|(.*)/", destination="https://a.example/")),
        ("Redirect", when("Wildcard_Matches", "*" * 4_001, destination="https://a.example/")),
        ("Replace", when("Contains", "", **{"from": "a", "to": "a" * 70_000})),
    ],
)
def test_what_a_few_letters_of_a_rule_make_of_a_url_is_not_worked_out_without_end(
    kind: str, pair: dict[str, Any]
) -> None:
    found = explain([rule(kind, pair)], Url.of("https://shop.example/?" + "a" * 2_000))

    assert not found.acting
    assert len(found.undecidable) == 1
