"""What a change does to URLs that people know."""

from __future__ import annotations

from typing import Any

from bot.rules.matching import UrlOutcome, impact
from bot.rules.model import Rule
from bot.rules.url import Url
from handlers.rules.check_view import lines

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


def test_an_effect_that_depends_or_cannot_be_judged_is_not_certain() -> None:
    plain = rule("r", "Redirect", A, destination=B)
    document = plain.model_dump(by_alias=True)
    document["pairs"][0]["source"] |= {"filters": [{"requestMethod": ["POST"]}]}
    filtered = Rule.model_validate(document)
    document["pairs"][0]["source"] = {"key": "Url", "operator": "Matches", "value": "/(?<=h)/"}
    unclear = Rule.model_validate(document)

    narrowed, broken = (impact([plain], plain, after, known(A))[0] for after in (filtered, unclear))

    assert narrowed.after == UrlOutcome(results=(B,), is_sure=False)
    assert broken.after == UrlOutcome(is_known=False)
    assert lines([narrowed]) == (f"Effect: {A}: {B} → possibly {B}",)
    assert lines([broken]) == (f"Effect: {A}: {B} → can’t tell",)
    assert impact([unclear], unclear, unclear, known(A)) == []
