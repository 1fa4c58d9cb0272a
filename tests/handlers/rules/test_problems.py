"""Words for what is wrong with a draft of a rule, or with an edit of one field."""

from __future__ import annotations

from typing import Any

import pytest

from bot.rules.edit import BadField, Problem, ProblemKind, problems, with_fields
from bot.rules.model import Rule
from handlers.rules.problems import problem_words

SOURCE = {"key": "Url", "operator": "Equals", "value": "https://shop.example/a"}
PAIR = {"source": SOURCE, "destination": "https://shop.example/b"}


def rule(*pairs: dict[str, Any], rule_type: str = "Redirect", **fields: Any) -> Rule:
    return Rule.model_validate({"id": "Redirect_1", "name": "x", "ruleType": rule_type, "pairs": pairs} | fields)


def drafted(draft: Rule) -> Problem:
    (problem,) = problems(draft)
    return problem


def edited(before: Rule, field: str, value: str = "x") -> Problem:
    with pytest.raises(BadField) as caught:
        with_fields(before, ((field, value),))
    return caught.value.problem


WORDS = [
    (drafted(rule(PAIR, name=" ")), "Give the rule a name that others will recognise."),
    (drafted(rule(PAIR, ruleType="")), "Choose a type, such as Redirect, Cancel or Replace."),
    (drafted(rule()), "A rule needs at least one pair."),
    (drafted(rule({})), "A pair needs a source: what it is matched against."),
    (drafted(rule({"source": SOURCE}, rule_type="Replace")), "Say which text is to be found."),
    (drafted(rule({"source": SOURCE})), "Say where the redirect goes."),
    (
        drafted(rule(PAIR | {"destination": "/b"})),
        "Write a whole address, such as https://shop.example.com/new.",
    ),
    (
        drafted(rule(PAIR | {"source": SOURCE | {"value": ""}})),
        "An empty source would match every URL. Say which one is meant.",
    ),
    (
        drafted(rule(PAIR | {"source": SOURCE | {"value": "a" * 4_001}})),
        "This source has 4,001 characters. Use at most 4,000.",
    ),
    (
        drafted(rule(PAIR | {"source": SOURCE | {"operator": "Regex"}})),
        "There is no operator “Regex”. Did you mean Matches?",
    ),
    (
        drafted(rule(PAIR | {"source": SOURCE | {"key": "q" * 70}})),
        f"There is no key “{'q' * 60}”. Use Url, host or path.",
    ),
    (drafted(rule(PAIR, status="?")), "There is no status “?”. Use Active or Inactive."),
    (
        drafted(rule(PAIR | {"from": "a"})),
        "A Redirect has no field “from”. Its pairs have: source, operator, key, destinationType, destination.",
    ),
    (
        edited(rule(PAIR), "pair1.To"),
        "A Redirect has no field “to”. Its pairs have: source, operator, key, destinationType, destination.",
    ),
    (edited(rule(PAIR), "type"), "The type of a rule cannot be changed. Copy the rule, or make a new one."),
    (
        edited(rule(PAIR), "colour"),
        (
            "There is no field colour. You can set: name, description, status, destination, source, operator, key, from, "
            "to, group, and pair2.to and the like."
        ),
    ),
    (edited(rule(PAIR), "pair1.Name"), "name belongs to the rule, not to one of its pairs."),
    (edited(rule(PAIR, PAIR), "Source"), "This rule has 2 pairs. Say which: pair1.Source=…"),
    (edited(rule(PAIR), "pair2.source"), "This rule has 1 pair, no pair 2."),
    (edited(rule(), "source"), "This rule has 0 pairs, no pair 1."),
]


@pytest.mark.parametrize(("problem", "words"), WORDS)
def test_a_problem_in_words(problem: Problem, words: str) -> None:
    assert problem_words(problem) == words


def test_every_kind_of_problem_has_words() -> None:
    assert {problem.kind for problem, _ in WORDS} == set(ProblemKind)
