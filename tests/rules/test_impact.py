"""What a change does to URLs that people know."""

from __future__ import annotations

from typing import Any

from bot.rules.matching import UrlOutcome, impact
from bot.rules.model import Rule
from bot.rules.url import Url

A, B = "https://h.example/a", "https://h.example/b"


def rule(name: str, kind: str, source: str, **pair: Any) -> Rule:
    source_of = {"key": "Url", "operator": "Equals", "value": source}
    document = {"id": f"{kind}_{name}", "name": name, "status": "Active", "ruleType": kind}
    return Rule.model_validate(document | {"pairs": [{"source": source_of} | pair]})


def known(*texts: str) -> list[Url]:
    return [Url.of(text) for text in texts]


def test_a_deletion_and_a_creation_are_each_others_opposite() -> None:
    block = rule("c", "Cancel", A)

    gone = impact([block], block, None, known(A))[0]
    made = impact([], None, block, known(A))[0]

    assert (gone.before, gone.after) == (UrlOutcome(blocked=True), UrlOutcome())
    assert (made.before, made.after) == (gone.after, gone.before)


def test_where_another_rule_does_the_same_nothing_changes() -> None:
    one, twin = rule("r", "Redirect", A, destination=B), rule("twin", "Redirect", A, destination=B)

    assert impact([one, twin], one, None, known(A)) == []
