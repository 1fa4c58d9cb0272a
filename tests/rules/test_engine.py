"""What the extension makes of a URL: a rule, a URL, and the outcome."""

from __future__ import annotations

from typing import Any

import pytest

from bot.rules.matching import judge
from bot.rules.model import Rule
from bot.rules.outcomes import Match
from bot.rules.url import Url

H = "https://h/"


def rule(kind: str, *pairs: dict[str, Any]) -> Rule:
    return Rule.model_validate({"id": f"{kind}_1", "status": "Active", "ruleType": kind, "pairs": list(pairs)})


def when(operator: str, value: str, key: str = "Url", *, active: Any = None, **pair: Any) -> dict[str, Any]:
    switch = {} if active is None else {"isActive": active}
    return {"source": {"key": key, "operator": operator, "value": value} | switch} | pair


def to(destination: str, operator: str = "Contains", value: str = "h", key: str = "Url", **more: Any) -> dict[str, Any]:
    return when(operator, value, key, destination=destination, **more)


def swap(find: str, put: str, operator: str = "Contains", value: str = "h", **more: Any) -> dict[str, Any]:
    return when(operator, value, **{"from": find, "to": put}, **more)


def params(*changes: dict[str, Any]) -> Rule:
    return rule("QueryParam", when("Contains", "h", modifications=list(changes)))


def adds(name: str, value: Any, action: str | None = None) -> dict[str, Any]:
    asked = {} if action is None else {"actionWhenParamExists": action}
    return {"type": "Add", "param": name, "value": value} | asked


MOCK = "https://mock.example/api?rq_uid=1"
A, B, C = "https://a.example/", "https://b.example/", "https://c.example/"
X = {"type": "Remove", "param": "x"}
ALL = {"type": "Remove All"}

URLS = [
    # a mock of the service is a URL like any other
    (rule("Redirect", to(MOCK, destinationType="mock_or_file_picker")), H, MOCK),
    (rule("Redirect", to(MOCK, destinationType="url")), H, MOCK),
    # the first pair that holds counts
    (rule("Redirect", to(B, "Equals", A), to(C, "Equals", B)), A, B),
    (rule("Redirect", to(B, "Equals", A), to(C, "Equals", B), to(H, "Equals", C)), A, B),
    (rule("Redirect", to(B, "Equals", A), to(A, "Equals", B)), A, B),
    (rule("Redirect", to(B, "Equals", A), to(C, "Equals", A)), A, B),
    (rule("Redirect", to(A, "Equals", A), to(C, "Equals", A)), A, None),
    # what is no URL, and nothing is redirected to nothing
    (rule("Redirect", to("nonsense"), to(C, "Equals", B)), H, "nonsense"),
    (rule("Redirect", to("a.example"), to(C)), H, "a.example"),
    (rule("Redirect", to("")), H, None),
    # an expression without slashes: the extension adds them, and fills in nothing
    (rule("Redirect", to("https://x/$1", "Matches", "(h)/a")), H + "a", "https://x/$1"),
    (rule("Redirect", to("https://x/", "Matches", "/h")), H, None),
    (rule("Redirect", to("https://x/", "Matches", "h", active=False)), H, None),
    # an empty source of a Replace
    (rule("Replace", swap("a", "b", "Matches", "")), H + "a", None),
    (rule("Replace", swap("a", "b", "Equals", "")), H + "a", None),
    (rule("Replace", swap("a", "b", "Wildcard_Matches", "")), H + "a", None),
    (rule("Replace", swap("a", "b", "Regex", "", key="URL")), H + "a", None),
    (rule("Replace", swap("a", "b", "Contains", "")), H + "a", H + "b"),
    (rule("Replace", swap("a", "b", "Contains", "")), H + "a/a", H + "a/b"),
    (rule("Redirect", to(B, "Matches", "")), H, None),
    # parameters: added, put over others, ignored
    (params(adds("a", "1")), H, H + "?a=1"),
    (params(adds("a", "1")), H + "?", H + "?a=1"),
    (params(adds("a", "2")), H + "?a=1&b", H + "?a=2&b"),
    (params(adds("a", "2", "Overwrite")), H + "?a=1&b", H + "?a=2&b"),
    (params(adds("a", "2", "Overwrite")), H + "?a=2&b", None),
    (params(adds("a", "2", "Ignore")), H, H + "?a=2"),
    (params(adds("a", "2", "Ignore")), H + "?a=1", H + "?a=2"),
    (params(adds("a", "2", "Ignore"), adds("b", "1")), H + "?a=1", H + "?a=2&b=1"),
    (params(adds("a", None)), H, H + "?a="),
    (params(adds("a", 1)), H, H + "?a=1"),
    (params(adds("a b", "é c")), H, H + "?a+b=%C3%A9+c"),
    (params(adds("a", "x&y=z")), H, H + "?a=x%26y%3Dz"),
    # parameters that are there stay as they are, byte for byte
    (params(X), H + "?q=&", None),
    (params(X), H + "?a=1&&b=2", None),
    (params(X), H + "?&=&a==&", None),
    (params(X), H + "?", None),
    (params(X), H, None),
    (params(X), H + "?X=1&xx=2", None),
    (params(X), H + "?x=1&a&x=2&b=", H + "?a&b="),
    (params(X), H + "?x=1", H),
    (params(X), H + "?x", H),
    (params(X), H + "?x=1&&b=2", H + "?&b=2"),
    (params(adds("x", "1")), H + "?q=&", H + "?q=&&x=1"),
    (params(adds("x", "1")), H + "?t=ab==", H + "?t=ab==&x=1"),
    (params(adds("9", "z")), H + "?b=1&2=x&1=y", H + "?b=1&2=x&1=y&9=z"),
    (params(adds("02", "z")), H + "?b=1&2=x", H + "?b=1&2=x&02=z"),
    (params(adds("x", "1"), X), H + "?q=&", H + "?q=&&x=1"),
    (params(ALL), H + "a?a=1&b", H + "a"),
    (params(ALL), H + "a", None),
    (params(ALL, adds("x", "1")), H + "?a=1", H),
    (params({"type": "Modify", "param": "a", "value": "1"}), H + "?a=2", H),
    (rule("QueryParam", when("Contains", "h", modifications="none")), H + "?a=2&&", None),
    (rule("QueryParam", when("Contains", "h", active=False, modifications=[ALL])), H + "?a", None),
]


@pytest.mark.parametrize(("one", "url", "result"), URLS)
def test_a_rule_makes_of_a_url_what_the_extension_does(one: Rule, url: str, result: str | None) -> None:
    found = judge(one, Url.of(url))

    assert (found.result if isinstance(found, Match) else None) == result
