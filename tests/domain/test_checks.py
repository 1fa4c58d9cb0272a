"""What is refused before a rule is sent, and what of an old rule is left alone."""

from __future__ import annotations

from typing import Any

import pytest

from bot.domain.checks import introduced, problems
from bot.domain.editing import BadField, with_fields
from bot.domain.rule import PAIR_FIELDS, Rule

SOURCE = {"key": "Url", "operator": "Equals", "value": "https://shop.example/a"}
OWN: dict[str, dict[str, Any]] = {
    "Redirect": {"destinationType": "url", "destination": "https://shop.example/b"},
    "Replace": {"from": "a", "to": "b"},
    "Cancel": {},
}
FOREIGN = [
    (kind, name, value)
    for kind in OWN
    for other, fields in OWN.items()
    if other != kind
    for name, value in fields.items()
]


def rule(kind: str, *pairs: dict[str, Any], source: dict[str, Any] = SOURCE, **fields: Any) -> Rule:
    own = [{"source": source} | OWN.get(kind, {}) | pair for pair in pairs or ({},)]
    return Rule.model_validate(
        {"id": f"{kind}_1", "name": "x", "status": "Active", "ruleType": kind, "pairs": own} | fields
    )


def said(found: list[Any]) -> list[tuple[str, int | None]]:
    return [(problem.field, problem.pair) for problem in found]


@pytest.mark.parametrize("kind", [*OWN, "Headers", "Future"])
def test_a_rule_as_it_should_be_has_no_problems(kind: str) -> None:
    assert (
        problems(
            rule(kind, {"unknown": 1, "id": "p1"}, {"destinationType": "", "to": None} if kind == "Cancel" else {})
        )
        == []
    )


@pytest.mark.parametrize(("kind", "name", "value"), FOREIGN)
def test_a_field_of_another_type_is_refused_with_those_that_there_are(kind: str, name: str, value: str) -> None:
    found = problems(rule(kind, {}, {name: value}))

    assert said(found) == [(name, 2)]
    assert f"A {kind} has no field “{name}”" in found[0].words
    assert all(own in found[0].words for own in ("source", "operator", "key", *PAIR_FIELDS[kind]))


@pytest.mark.parametrize(("kind", "name", "value"), FOREIGN)
def test_setting_a_field_of_another_type_is_refused(kind: str, name: str, value: str) -> None:
    for before in (rule(kind), rule(kind, {name: "stored"})):
        with pytest.raises(BadField, match=f"A {kind} has no field “{name}”"):
            with_fields(before, ((name, value),))


@pytest.mark.parametrize("kind", ["Headers", "Future"])
def test_types_that_the_specification_leaves_open_take_any_field(kind: str) -> None:
    after = with_fields(rule(kind), (("destination", "x"), ("to", "y")))

    assert problems(rule(kind, after["pairs"][0])) == []


@pytest.mark.parametrize("kind", OWN)
def test_an_old_foreign_field_stops_no_other_edit(kind: str) -> None:
    name, value = next((name, value) for other, name, value in FOREIGN if other == kind)
    before = rule(kind, {}, {name: value}, {})

    assert introduced(before, rule(kind, {}, {name: value}, {}, name="y")) == []
    assert introduced(before, rule(kind, {name: value}, {})) == []
    assert introduced(before, rule(kind, {}, {}, {name: value}, {})) == []
    assert said(introduced(before, rule(kind, {}, {}, {name: value}))) == [(name, 3)]
    assert said(introduced(before, rule(kind, {name: value}, {name: value}, {}))) == [(name, 1)]
    assert said(introduced(before, rule(kind, {name: value}, {name: value}))) == [(name, 2)]


UNKNOWN = [
    ("operator", "Regex", "Did you mean Matches?"),
    ("operator", "equals", "Did you mean Equals?"),
    ("operator", "Contain", "Did you mean Contains?"),
    ("operator", "wildcard", "Did you mean Wildcard_Matches?"),
    ("operator", "StartsWith", "Did you mean Wildcard_Matches?"),
    ("operator", "qqq", "Use Equals, Contains, Matches or Wildcard_Matches."),
    ("operator", "", "Use Equals"),
    ("key", "url", "Did you mean Url?"),
    ("key", "Host", "Did you mean host?"),
    ("key", "domain", "Did you mean host?"),
    ("key", "pathname", "Did you mean path?"),
    ("key", "qqq", "Use Url, host or path."),
]


@pytest.mark.parametrize("kind", [*OWN, "Headers"])
@pytest.mark.parametrize(("field", "value", "words"), UNKNOWN)
def test_what_no_engine_knows_is_refused_with_what_was_meant(kind: str, field: str, value: str, words: str) -> None:
    odd = rule(kind, source=SOURCE | {field: value})

    assert [(found.field, words in found.words) for found in problems(odd)] == [(field, True)]
    assert introduced(odd, rule(kind, source=SOURCE | {field: value, "value": "https://shop.example/c"})) == []
    assert said(introduced(odd, rule(kind, source=SOURCE | {field: f"{value}2"}))) == [(field, 1)]
    assert problems(rule("Future", source=SOURCE | {field: value})) == []


@pytest.mark.parametrize(
    ("status", "words"),
    [("active", "Did you mean Active?"), ("Inactiv", "Did you mean Inactive?"), ("Bananas", "Use Active or Inactive.")],
)
def test_a_status_that_there_is_not_is_refused_where_it_is_new(status: str, words: str) -> None:
    odd = rule("Cancel", status=status)

    assert [(found.field, words in found.words) for found in problems(odd)] == [("status", True)]
    assert introduced(odd, rule("Cancel", status=status, name="y")) == []


def test_a_status_that_is_typed_gets_the_near_one() -> None:
    with pytest.raises(BadField, match="Did you mean Inactive"):
        with_fields(rule("Cancel"), (("status", "inactiv"),))
