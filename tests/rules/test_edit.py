"""What is refused before a rule is sent, and what of an old rule is left alone."""

from __future__ import annotations

from typing import Any

import pytest

from bot.rules.edit import BadField, Problem, ProblemKind, new_problems, problems, with_fields
from bot.rules.model import Rule

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


@pytest.mark.parametrize(("kind", "name", "value"), FOREIGN)
def test_a_field_of_another_type_is_refused(kind: str, name: str, value: str) -> None:
    assert problems(rule(kind, {}, {name: value})) == [Problem(ProblemKind.OTHER_TYPES_FIELD, name, 2, kind)]


def test_a_type_that_the_specification_leaves_open_takes_only_fields_that_the_pair_has() -> None:
    after = with_fields(rule("Headers", {"to": "x"}), (("to", "y"),))
    assert after["pairs"][0]["to"] == "y"

    with pytest.raises(BadField) as caught:
        with_fields(rule("Headers", {"to": "x"}), (("destination", "x"),))
    assert caught.value.problem == Problem(ProblemKind.OTHER_TYPES_FIELD, "destination", value="Headers")


@pytest.mark.parametrize(
    ("kind", "said", "field"),
    [("Redirect", "to", "destination"), ("Redirect", "from", "source"), ("Cancel", "from", "source")],
)
def test_what_people_call_a_field_of_a_type_is_that_field(kind: str, said: str, field: str) -> None:
    value = "https://shop.example.com/x"

    assert with_fields(rule(kind), ((said, value),)) == with_fields(rule(kind), ((field, value),))


@pytest.mark.parametrize("kind", OWN)
def test_an_old_foreign_field_stops_no_other_edit(kind: str) -> None:
    name, value = next((name, value) for other, name, value in FOREIGN if other == kind)
    before = rule(kind, {}, {name: value}, {})

    assert new_problems(before, rule(kind, {}, {name: value}, {}, name="y")) == []
    assert new_problems(before, rule(kind, {name: value}, {})) == []
    assert new_problems(before, rule(kind, {}, {}, {name: value}, {})) == []
    assert said(new_problems(before, rule(kind, {}, {}, {name: value}))) == [(name, 3)]
    assert said(new_problems(before, rule(kind, {name: value}, {name: value}, {}))) == [(name, 1)]
    assert said(new_problems(before, rule(kind, {name: value}, {name: value}))) == [(name, 2)]


UNKNOWN = [("operator", value) for value in ("Regex", "equals", "qqq", "")] + [
    ("key", value) for value in ("url", "qqq")
]


@pytest.mark.parametrize("kind", [*OWN, "Headers"])
@pytest.mark.parametrize(("field", "value"), UNKNOWN)
def test_what_no_engine_knows_is_refused(kind: str, field: str, value: str) -> None:
    odd = rule(kind, source=SOURCE | {field: value})

    assert problems(odd) == [Problem(ProblemKind.UNKNOWN_VALUE, field, 1, value)]
    assert new_problems(odd, rule(kind, source=SOURCE | {field: value, "value": "https://shop.example/c"})) == []
    assert said(new_problems(odd, rule(kind, source=SOURCE | {field: f"{value}2"}))) == [(field, 1)]
    assert problems(rule("Future", source=SOURCE | {field: value})) == []


def test_a_status_that_is_none_is_refused() -> None:
    with pytest.raises(BadField) as caught:
        with_fields(rule("Cancel"), (("status", "inactiv"),))
    assert caught.value.problem == Problem(ProblemKind.UNKNOWN_VALUE, "status", None, "inactiv")


def test_very_many_pairs_are_refused_where_they_become_more() -> None:
    few, most, more, still_more = (rule("Redirect", *[{}] * count) for count in (1, 1_000, 1_001, 1_002))

    for before, after in ((few, more), (most, more), (more, still_more)):
        assert [problem.kind for problem in new_problems(before, after)] == [ProblemKind.MANY_PAIRS]
    assert new_problems(still_more, more) == new_problems(more, more) == []


@pytest.mark.parametrize(
    ("draft", "problem"),
    [
        (rule("Cancel", name=" "), Problem(ProblemKind.NO_NAME, "name")),
        (rule("Cancel", ruleType=""), Problem(ProblemKind.NO_TYPE, "ruleType")),
        (rule("Cancel", pairs=[]), Problem(ProblemKind.NO_PAIRS, "pairs")),
        (rule("Cancel", pairs=[{}]), Problem(ProblemKind.NO_SOURCE, "source", 1)),
        (rule("Replace", {"from": ""}), Problem(ProblemKind.NO_FIND, "from", 1)),
        (rule("Redirect", {"destination": ""}), Problem(ProblemKind.NO_DESTINATION, "destination", 1)),
        (rule("Redirect", {"destination": "/b"}), Problem(ProblemKind.NOT_A_URL, "destination", 1)),
        (rule("Cancel", source=SOURCE | {"value": ""}), Problem(ProblemKind.EMPTY_SOURCE, "value", 1)),
        (rule("Cancel", source=SOURCE | {"value": "a" * 4_001}), Problem(ProblemKind.LONG_SOURCE, "value", 1, count=4_001)),
    ],
    ids=lambda one: one.kind if isinstance(one, Problem) else "",
)  # fmt: skip
def test_what_a_draft_lacks_is_told(draft: Rule, problem: Problem) -> None:
    assert problems(draft) == [problem]


@pytest.mark.parametrize(
    ("before", "field", "problem"),
    [
        (rule("Cancel"), "type", Problem(ProblemKind.TYPE_IS_FIXED, "type")),
        (rule("Cancel"), "pair1.To", Problem(ProblemKind.OTHER_TYPES_FIELD, "to", value="Cancel")),
        (rule("Cancel"), "pair1.Name", Problem(ProblemKind.RULE_FIELD, "name")),
        (rule("Cancel", {}, {}), "Source", Problem(ProblemKind.WHICH_PAIR, "Source", count=2)),
        (rule("Cancel"), "pair2.source", Problem(ProblemKind.UNKNOWN_PAIR, "pair2.source", 2, count=1)),
        (rule("Cancel", pairs=[]), "source", Problem(ProblemKind.UNKNOWN_PAIR, "source", 1)),
        (rule("Redirect"), "destinaton", Problem(ProblemKind.UNKNOWN_FIELD, "destinaton")),
    ],
    ids=lambda one: one.kind if isinstance(one, Problem) else "",
)
def test_a_field_that_cannot_be_set_is_told(before: Rule, field: str, problem: Problem) -> None:
    with pytest.raises(BadField) as caught:
        with_fields(before, ((field, "x"),))
    assert caught.value.problem == problem
