"""The route of a URL: each rule that makes another URL of it leads a browser on to that."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.rules.model import Rule
from bot.rules.url import Url
from handlers.rules.rule_lookup import follow
from tests.rules.whole import explain

A, B = "https://shop.example/a", "https://shop.example/b"
DROPS = {"type": "Remove", "param": "x"}
ADDS = {"type": "Add", "param": "x", "value": "1"}


def rule(kind: str, operator: str, value: str, **pair: Any) -> Rule:
    source = {"key": "Url", "operator": operator, "value": value}
    return Rule.model_validate(
        {"id": f"{kind}_1", "status": "Active", "ruleType": kind, "pairs": [{"source": source} | pair]}
    )


def params(*changes: dict[str, str]) -> Rule:
    return rule("QueryParam", "Contains", "shop", modifications=list(changes))


TO_B = rule("Redirect", "Equals", A, destination=B)
TO_X = rule("Redirect", "Equals", A, destination=f"{A}?x=1")


@pytest.mark.parametrize(
    ("rules", "start", "steps"),
    [
        ([params(DROPS), TO_B], f"{A}?x=1", [f"{A}?x=1", A, B]),
        ([params({"type": "Remove All"}), TO_B], f"{A}?y=1", [f"{A}?y=1", A, B]),
        ([params(DROPS)], f"{A}?x=1", [f"{A}?x=1", A]),
        ([params(ADDS | {"actionWhenParamExists": "Overwrite"})], A, [A, f"{A}?x=1"]),
        ([params(ADDS)], A, [A, f"{A}?x=1"]),
    ],
)
def test_a_url_is_followed_where_a_parameter_is_dropped(rules: list[Rule], start: str, steps: list[str]) -> None:
    route = asyncio.run(follow(explain(rules, Url.of(start)), rules))

    assert [step.url.full for step in route.steps] == steps
    assert not route.is_loop


def test_a_parameter_that_a_redirect_brings_back_loops() -> None:
    rules = [params(DROPS), TO_X]

    assert asyncio.run(follow(explain(rules, Url.of(A)), rules)).back_to == 0
