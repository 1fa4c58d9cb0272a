"""What is wrong with rules: each kind of finding, and what must hold for any rules at all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.rules.lint.findings import Finding, FindingKind, Reason
from bot.rules.lint.rule_set import RuleSet, check_all, check_change
from bot.rules.matching import judge
from bot.rules.model import Groups, Rule
from bot.rules.outcomes import Match
from bot.rules.url import Url
from handlers.rules.check_view import words
from tests.rules.whole import check, introduced_by

SHOP = "https://shop.example"


def rule(name: str, kind: str, operator: str, value: str, key: str = "Url", **pair: Any) -> Rule:
    fields = {name: pair.pop(name) for name in ("status", "groupId") if name in pair}
    source = {"key": key, "operator": operator, "value": value}
    document = {"id": f"{kind}_{name}", "name": name, "status": "Active", "ruleType": kind}
    return Rule.model_validate(document | {"pairs": [{"source": source} | pair]} | fields)


def leads(name: str, source: str, destination: str, operator: str = "Equals", **more: Any) -> Rule:
    return rule(name, "Redirect", operator, source, destination=destination, **more)


def kinds(findings: tuple[Finding, ...]) -> list[FindingKind]:
    return [finding.kind for finding in findings]


def names(finding: Finding) -> list[str | None]:
    return [place.rule.name for place in finding.places]


LOOPS = [
    [leads("a", f"{SHOP}/a", f"{SHOP}/b"), leads("b", f"{SHOP}/b", f"{SHOP}/a")],
    [leads("a", f"{SHOP}/a", f"{SHOP}/b"), leads("b", "shop.example/b", f"{SHOP}/a", "Contains")],
    [leads("a", f"{SHOP}/a", f"{SHOP}/b"), leads("b", "*/b", f"{SHOP}/a", "Wildcard_Matches")],
    [leads("a", f"{SHOP}/a", f"{SHOP}/b"), leads("b", r"/\/b$/", f"{SHOP}/a", "Matches")],
    [leads("a", f"{SHOP}/a", f"{SHOP}/b"), leads("b", "/b", f"{SHOP}/a", "Equals", key="path")],
    [leads(f"r{n}", f"{SHOP}/{n}", f"{SHOP}/{(n + 1) % 7}") for n in range(7)],
    [leads("a", f"{SHOP}/", SHOP)],
]


@pytest.mark.parametrize("rules", LOOPS)
def test_a_loop_is_found_once_with_all_its_rules(rules: list[Rule]) -> None:
    loops = [finding for finding in check(rules) if finding.kind is FindingKind.LOOP]

    assert [sorted(map(str, names(loop))) for loop in loops] == [sorted(str(one.name) for one in rules)]
    assert loops[0].loops


def test_a_redirect_that_only_ever_lengthens_the_url_is_a_loop() -> None:
    found = check([leads("a", f"{SHOP}/*", f"{SHOP}/x/$1", "Wildcard_Matches")])

    assert kinds(found)[0] is FindingKind.LOOP
    assert found[0].grows


def test_what_is_switched_off_loops_with_nothing() -> None:
    rules = [leads("a", f"{SHOP}/a", f"{SHOP}/b"), leads("b", f"{SHOP}/b", f"{SHOP}/a", status="Inactive")]
    grouped = [rules[0], leads("b", f"{SHOP}/b", f"{SHOP}/a", groupId="g")]

    assert check(rules) == ()
    assert check(grouped, Groups({"g": "Sales"}, frozenset())) == ()
    assert FindingKind.LOOP in kinds(check(grouped))


def test_a_redirect_to_itself() -> None:
    assert kinds(check([leads("a", f"{SHOP}/a", f"{SHOP}/a")])) == [FindingKind.ITSELF]


def test_a_redirect_into_its_own_site_is_fine() -> None:
    assert check([leads("a", "shop.example", f"{SHOP}/", "Contains")]) == ()


def test_two_rules_on_one_source() -> None:
    found = check([leads("a", f"{SHOP}/a", f"{SHOP}/b"), leads("b", f"{SHOP}/a", f"{SHOP}/c")])

    assert kinds(found) == [FindingKind.ONE_SOURCE]
    assert names(found[0]) == ["a", "b"]


def test_two_conditions_on_one_url() -> None:
    found = check([leads("a", f"{SHOP}/a", f"{SHOP}/b"), leads("b", f"{SHOP}/a*", f"{SHOP}/c", "Wildcard_Matches")])

    assert kinds(found) == [FindingKind.ONE_SOURCE]


def test_rules_for_different_pages_may_share_a_source() -> None:
    pages = [{"pageDomains": ["a.example"]}]
    rules = [leads("a", f"{SHOP}/a", f"{SHOP}/b"), leads("b", f"{SHOP}/a", f"{SHOP}/c")]
    documents = [one.document() for one in rules]
    documents[1]["pairs"][0]["source"]["filters"] = pages

    assert check([Rule.model_validate(document) for document in documents]) == ()


@pytest.mark.parametrize(
    ("operator", "value", "key"),
    [("Equals", f"{SHOP}/a", "Url"), ("Contains", "shop.example", "Url"), ("Equals", "shop.example", "host")],
)
def test_a_rule_behind_a_block(operator: str, value: str, key: str) -> None:
    found = check([leads("a", f"{SHOP}/a", f"{SHOP}/b"), rule("c", "Cancel", operator, value, key)])

    hidden = [finding for finding in found if finding.kind is FindingKind.HIDDEN]
    assert [names(finding) for finding in hidden] == [["a", "c"]]


def test_a_wider_rule_is_not_hidden_by_a_narrow_block() -> None:
    rules = [leads("a", "shop.example", f"{SHOP}/b", "Contains"), rule("c", "Cancel", "Equals", f"{SHOP}/a")]

    assert FindingKind.HIDDEN not in kinds(check(rules))


NEVER = [
    ("Url", "Equals", "https://example.com", Reason.SPELLING, "https://example.com/"),
    ("Url", "Equals", "https://Example.com/", Reason.SPELLING, "https://example.com/"),
    ("Url", "Equals", "https://example.com:443/a", Reason.SPELLING, "https://example.com/a"),
    ("Url", "Equals", "https://example.com/a#b", Reason.SPELLING, "https://example.com/a"),
    ("Url", "Equals", "https://example.com/a b", Reason.SPELLING, "https://example.com/a%20b"),
    ("Url", "Equals", "example.com/a", Reason.SCHEME, "https://example.com/a"),
    ("Url", "Equals", "https://", Reason.NOT_A_URL, ""),
    ("Url", "Contains", "a b", Reason.CHARACTER, " "),
    ("Url", "Contains", "#top", Reason.CHARACTER, "#"),
    ("Url", "Contains", "shop", None, ""),
    ("Url", "Wildcard_Matches", "example.com/*", Reason.SCHEME, "*example.com/*"),
    ("Url", "Wildcard_Matches", "https://Example.com/*", Reason.SPELLING, "https://example.com/*"),
    ("Url", "Wildcard_Matches", "https://example.com", Reason.SPELLING, "https://example.com/"),
    ("Url", "Wildcard_Matches", "*example.com/*", None, ""),
    ("Url", "Wildcard_Matches", "http*://example.com/*", None, ""),
    ("Url", "Matches", "example", None, ""),
    ("Url", "Matches", "/example", Reason.SLASHES, "//example/"),
    ("Url", "Wildcard_Matches", "http(s|)://example.com/*", None, ""),
    ("Url", "Matches", "/example/m", Reason.FLAGS, "m"),
    ("Url", "Matches", "/example/i", None, ""),
    ("Url", "StartsWith", "https", Reason.OPERATOR, ""),
    ("Url", "equals", "https://example.com/", Reason.OPERATOR, "Equals"),
    ("url", "Equals", "https://example.com/", Reason.KEY, "Url"),
    ("Host", "Equals", "example.com", Reason.KEY, "host"),
    ("host", "Equals", "Example.com", Reason.SPELLING, "example.com"),
    ("host", "Equals", "example.com:443", Reason.SPELLING, "example.com"),
    ("host", "Equals", "https://example.com/", Reason.SPELLING, "example.com"),
    ("host", "Equals", "example.com:8443", None, ""),
    ("host", "Contains", "example.com/a", Reason.CHARACTER, "/"),
    ("path", "Equals", "/a?x=1", Reason.SPELLING, "/a"),
    ("path", "Equals", "a", Reason.START, "/"),
    ("path", "Wildcard_Matches", "a/*", Reason.START, "/"),
    ("path", "Equals", "/a", None, ""),
]


@pytest.mark.parametrize(("key", "operator", "value", "why", "better"), NEVER)
def test_a_condition_that_never_holds_says_why(
    key: str, operator: str, value: str, why: Reason | None, better: str
) -> None:
    found = [
        finding for finding in check([rule("c", "Cancel", operator, value, key)]) if finding.kind is FindingKind.NEVER
    ]

    assert [(finding.why, finding.better) for finding in found] == ([(why, better)] if why else [])


LOCAL = {"destinationType": "map_local"}
MOCK = {"destinationType": "mock_or_file_picker"}


@pytest.mark.parametrize(("kind", "loops"), [({}, True), (MOCK, True), (LOCAL, False)])
def test_a_loop_over_a_mock_is_one_like_any_other(kind: dict[str, str], loops: bool) -> None:
    found = check([leads("a", f"{SHOP}/a", f"{SHOP}/b", **kind), leads("b", f"{SHOP}/b", f"{SHOP}/a")])

    assert (FindingKind.LOOP in kinds(found)) == loops


def switched_off(one: Rule) -> Rule:
    """*one* with the switch of a source that only the extension's page looks at."""
    pairs = [pair | {"source": pair["source"] | {"isActive": False}} for pair in one.document()["pairs"]]
    return Rule.model_validate(one.document() | {"pairs": pairs})


def in_a_row(name: str, *steps: tuple[str, str]) -> Rule:
    pairs = [pair for here, there in steps for pair in leads(name, here, there).document()["pairs"]]
    return Rule.model_validate(leads(name, "", "").document() | {"pairs": pairs})


def dropping(name: str, kind: str = "Remove", **change: str) -> Rule:
    return rule(name, "QueryParam", "Contains", "x=1", modifications=[{"type": kind, "param": "x"} | change])


A, B, C = f"{SHOP}/a", f"{SHOP}/b", f"{SHOP}/c"
LOOPING = [
    ([leads("a", A, B), leads("b", B, A)], True),
    ([switched_off(leads("a", A, B)), leads("b", B, A)], False),
    ([in_a_row("a", (A, B), (B, A))], True),
    ([leads("a", A, B), rule("b", "Replace", "Contains", "", **{"from": "/b", "to": "/a"})], True),
    ([leads("a", A, f"{A}?x=1"), dropping("x")], True),
    ([leads("a", A, f"{A}?x=1"), dropping("x", "Remove All")], True),
    ([leads("a", A, B), rule("b", "Redirect", "Matches", "shop.*/b", destination=A)], True),
    ([leads("a", A, B), rule("b", "Redirect", "Wildcard_Matches", "*/b", destination=A)], True),
    ([rule("r", "Replace", "Contains", "a.example", **{"from": "a.example", "to": "eu.a.example"})], False),
]


@pytest.mark.parametrize(("rules", "loops"), LOOPING)
def test_a_loop_is_found_among_all_and_by_the_rule_that_makes_it(rules: list[Rule], loops: bool) -> None:
    assert (FindingKind.LOOP in kinds(check(rules))) == loops
    for new in rules:
        added = introduced_by([one for one in rules if one is not new], None, new)
        assert (FindingKind.LOOP in kinds(added)) == loops


def test_an_earlier_pair_of_the_same_redirect_hides_a_later_one() -> None:
    found = check([in_a_row("a", (A, B), (C, B), (A, C))])

    assert [(finding.kind, [place.pair for place in finding.places]) for finding in found] == [
        (FindingKind.HIDDEN, [3, 1])
    ]
    assert "pair 3 is never reached: pair 1 takes every URL it matches" in words(found[0])


@pytest.mark.parametrize(
    "one",
    [
        rule("c", "Cancel", "Matches", "/(?=a)/"),
        leads("long", f"/{'[' * 5_000}/", f"{SHOP}/b", "Matches"),
        leads("a", A, "nonsense/$1"),
        rule("r", "Replace", "Equals", A, **{"from": "z", "to": "z"}),
    ],
)
def test_about_what_is_neither_sure_nor_asked_for_it_is_silent(one: Rule) -> None:
    assert check([one]) == ()


@pytest.mark.parametrize("text", ["a-b.c?d=e", "a{b}", "a]", "{a,b}"])
def test_a_wildcard_without_special_characters_is_fine(text: str) -> None:
    assert check([rule("r", "Cancel", "Wildcard_Matches", f"*/{text}*")]) == ()


@pytest.mark.parametrize(
    "rules",
    [
        [leads("a", A, B), switched_off(rule("c", "Cancel", "Equals", A))],
        [switched_off(leads("a", A, B)), rule("c", "Cancel", "Equals", A)],
        [leads("a", A, B), switched_off(leads("b", A, C))],
        [leads("a", A, B), switched_off(leads("b", "shop", C, "Contains"))],
        [leads("a", A, B), switched_off(leads("b", B, C))],
    ],
)
def test_nothing_is_concluded_from_a_source_that_is_switched_off(rules: list[Rule]) -> None:
    assert check(rules) == ()


def test_a_change_is_told_what_it_adds_and_not_what_was_wrong_before() -> None:
    a, b = leads("a", f"{SHOP}/a", f"{SHOP}/b"), leads("b", f"{SHOP}/b", f"{SHOP}/c")
    odd = leads("odd", "https://odd.example", SHOP)

    looping = leads("b", f"{SHOP}/b", f"{SHOP}/a")
    assert FindingKind.LOOP in kinds(introduced_by([a, b, odd], b, looping))
    assert introduced_by([a, looping, odd], looping, b) == ()
    assert introduced_by([a, b, odd], odd, odd.model_copy(update={"name": "odder"})) == ()
    assert introduced_by([a, b, odd], a, None) == ()
    assert FindingKind.LOOP in kinds(introduced_by([a, odd], None, looping))


PLACES = [f"{SHOP}/{name}" for name in "abcd"]
PATTERNS = (
    st.tuples(st.just("Equals"), st.sampled_from(PLACES))
    | st.tuples(st.just("Contains"), st.sampled_from(["/a", "/b", "shop", "/c", ""]))
    | st.tuples(st.just("Wildcard_Matches"), st.sampled_from(["*/a", f"{SHOP}/*", "*"]))
    | st.tuples(st.just("Matches"), st.sampled_from([r"/\/[ab]$/", "/shop/", "/(.*)+x/", "/(?=a)/", "/(/"]))
)
REDIRECTS = st.lists(st.tuples(PATTERNS, st.sampled_from([*PLACES, f"{SHOP}/$1", "nonsense", ""])), max_size=6).map(
    lambda rows: [leads(f"r{n}", value, target, operator) for n, ((operator, value), target) in enumerate(rows)]
)


def followed(rules: list[Rule], url: str, hops: int = 20) -> set[str]:
    """URLs on the way from *URL*, by hand: what the rules make of it, again and again."""
    seen, now = set(), {url}
    for _ in range(hops):
        now = {step for one in now for step in steps(rules, one)}
        seen |= now
    return seen


def steps(rules: list[Rule], url: str) -> list[str]:
    acts = [judge(one, Url.of(url)) for one in rules]
    results = [each.result for each in acts if isinstance(each, Match) and each.result]
    return [Url.of(result).full for result in results if result.startswith("https://")]


@pytest.mark.slow
@given(REDIRECTS)
@settings(max_examples=150, deadline=None)
def test_a_loop_is_one_that_following_by_hand_finds_as_well(rules: list[Rule]) -> None:
    found = [finding for finding in check(rules) if finding.kind is FindingKind.LOOP]

    for loop in found:
        around = (*loop.urls[1:], loop.urls[0])
        for place, here, there in zip(loop.places, loop.urls, around, strict=True):
            if not loop.grows:
                assert there in steps([place.rule], here)
    looping = [place for place in PLACES if place in followed(rules, place)]
    assert found or not any(pair.destination in looping for one in rules for pair in one.pairs or ())


MANY_PAIRS = st.builds(
    lambda kind, rows: Rule.model_validate(
        leads("many", "", "").model_dump(by_alias=True)
        | {"ruleType": kind}
        | {
            "pairs": [
                {
                    "source": {"key": "Url", "operator": operator, "value": value},
                    "destination": to,
                    "from": "a",
                    "to": to,
                }
                for (operator, value), to in rows
            ]
        }
    ),
    st.sampled_from(["Redirect", "Replace", "Cancel", "Headers"]),
    st.lists(st.tuples(PATTERNS, st.sampled_from([*PLACES, "b", "nonsense", ""])), min_size=9, max_size=20),
)


@pytest.mark.slow
@given(MANY_PAIRS, st.sampled_from(PLACES))
@settings(max_examples=150, deadline=None)
def test_of_many_pairs_those_that_are_not_tried_change_nothing(many: Rule, place: str) -> None:
    url = Url.of(place)
    some, every = RuleSet([many]).matches(url), judge(many, url)

    # a note on a pair that can't be tried is no effect
    found = [replace(each, notes=()) for each in (*some, every) if isinstance(each, Match)]
    if many.rule_type == "Headers":
        return
    assert len(found) == 2 * isinstance(every, Match)
    assert found[:1] == found[1:]


TEXT = st.text(max_size=30) | st.sampled_from(
    ["*", "/(.*)+x/", "https://h/*", "$1", "", "/(/", "http://[", "https://ü/"]
)
ANY_RULES = st.lists(
    st.builds(
        lambda kind, key, operator, value, target, status: rule(
            "x", kind, operator, value, key, destination=target, status=status, **{"from": value, "to": target}
        ),
        st.sampled_from(["Redirect", "Cancel", "Replace", "Headers", "Odd"]),
        st.sampled_from(["Url", "host", "path", "Host", ""]),
        st.sampled_from(["Equals", "Contains", "Matches", "Wildcard_Matches", "Odd"]),
        TEXT,
        TEXT,
        st.sampled_from(["Active", "Inactive"]),
    ).flatmap(lambda made: st.integers(0, 99).map(lambda n: made.model_copy(update={"id": f"x_{n}"}))),
    max_size=6,
)


@pytest.mark.slow
@given(ANY_RULES)
@settings(max_examples=200, deadline=None)
def test_no_rules_are_too_odd(rules: list[Rule]) -> None:
    found = check(rules)

    assert found == check(rules)
    if rules:
        added = introduced_by(rules[1:], None, rules[0])
        assert all(finding.concerns(rules[0].id) for finding in added)


@given(TEXT, st.sampled_from(["Url", "host", "path"]), st.sampled_from(["Equals", "Contains", "Wildcard_Matches"]))
@settings(max_examples=150, deadline=None)
def test_what_never_holds_holds_for_no_url(value: str, key: str, operator: str) -> None:
    one = rule("c", "Cancel", operator, value, key)
    if FindingKind.NEVER not in kinds(check([one])):
        return
    for url in ("https://h/a?b=1", "http://h:8080/", "https://www.h/a/b/c", "https://h/%41?q=a b", "https://h/*"):
        assert judge(one, Url.of(url)) is None


ANYWHERE = [leads(str(n), f"/(q|z)+{n}/", f"{SHOP}/{n}", "Matches") for n in range(700)]


def test_rules_are_compared_with_hundreds_of_expressions_that_fit_anywhere() -> None:
    found = check_all([*ANYWHERE, *LOOPS[0]])

    assert FindingKind.LOOP in kinds(found.findings)
    assert found.is_whole


def test_a_check_that_takes_too_many_steps_ends_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.rules.lint.rule_set.MAX_STEPS", 100)

    wide = [leads(str(n), "shop", f"{SHOP}/{n}", "Contains") for n in range(50)]

    assert not check_all(wide).is_whole
    assert not check_change(wide, wide[0], wide[1]).is_whole


def test_rules_beyond_the_limit_are_judged_alone_which_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.rules.lint.rule_set.MAX_SOURCES", 2)
    odd = leads("odd", "https://odd.example", SHOP)

    assert {FindingKind.LOOP, FindingKind.NEVER} <= {*kinds(check([*LOOPS[0], odd]))}
    assert FindingKind.LOOP not in kinds(check([odd, *LOOPS[0]]))
    assert not check_all([odd, *LOOPS[0]]).is_whole


@pytest.mark.parametrize(
    ("kind", "key", "operator", "value"),
    [
        ("Redirect", "Url", "Equals", "https://shop.example/a.b?c=(1)"),
        ("Redirect", "Url", "Contains", "a.b?c=("),
        ("Redirect", "Url", "Contains", ""),
        ("Redirect", "Url", "Wildcard_Matches", "http*/a.b?c=*"),
        ("Redirect", "Url", "Matches", "/SHOP|other/i"),
        ("Redirect", "Url", "Matches", "^https.*b"),
        ("Redirect", "host", "Equals", "shop.example"),
        ("Redirect", "host", "Matches", "/^shop.example$/"),
        ("Redirect", "path", "Wildcard_Matches", "/a*"),
        ("Redirect", "path", "Matches", "/^.A/i"),
    ],
)
def test_a_condition_that_holds_is_looked_up(kind: str, key: str, operator: str, value: str) -> None:
    url = Url.of("https://shop.example/a.b?c=(1)")
    one = rule("one", kind, operator, value, key, destination=SHOP, **{"from": "a", "to": "b"})
    others = [
        leads("long", "x" * 5_000, SHOP),
        leads("half", "\ud800", SHOP, "Contains"),
        leads("broken", "/(/", SHOP, "Matches"),
    ]

    assert isinstance(judge(one, url), Match)
    assert [found.rule for found in RuleSet([*others, one]).matches(url)] == [one]
