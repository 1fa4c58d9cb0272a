"""Words for why a rule does not match a URL, or can't be judged."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import pytest

from bot.rules.conditions import UndecidableKind, UndecidableReason
from bot.rules.edit import BadField, Problem, ProblemKind, problems, with_fields
from bot.rules.model import Off, OffKind, Rule
from bot.rules.outcomes import Engine, NearKind, NearMiss, Note, NoteKind
from handlers.rules.reasons import near_words, note_words, off_words, problem_words, undecidable_words

RULE = Rule.model_validate({"id": "Cancel_1", "ruleType": "Cancel", "pairs": [{"source": {"key": "{Host}"}}]})
NEAR_MISSES = [
    (
        NearMiss(RULE.model_copy(update={"pairs": None}), 0, NearKind.NO_PAIRS),
        "it is in an old format that browsers no longer read; export it and import it again",
    ),
    (
        NearMiss(RULE, 1, NearKind.KEY, "host"),
        "its key is spelled {Host}; it should be host",
    ),
    (NearMiss(RULE, 1, NearKind.CASE), "differs only in case"),
    (
        NearMiss(RULE, 1, NearKind.NO_SLASH, "https://a.example/{b}/"),
        "its source lacks the trailing slash; a browser sends https://a.example/{b}/",
    ),
    (NearMiss(RULE, 1, NearKind.SPELLING, "/a"), "a browser sends /a instead of what its source says"),
    (
        NearMiss(RULE, 1, NearKind.NOT_THE_WHOLE),
        "its pattern must cover the whole URL; a * is missing",
    ),
    (NearMiss(RULE, 1, NearKind.SLASH), "differs only in the trailing slash"),
    (NearMiss(RULE, 1, NearKind.SCHEME), "differs only in http or https"),
    (NearMiss(RULE, 1, NearKind.WWW), "differs only in www."),
    (NearMiss(RULE, 1, NearKind.QUERY), "differs only in the query string"),
    (NearMiss(RULE, 1, NearKind.PORT), "differs only in the port"),
]


@pytest.mark.parametrize(("miss", "words"), NEAR_MISSES)
def test_a_near_miss_in_words(miss: NearMiss, words: str) -> None:
    assert near_words(miss) == words


UNDECIDABLE = [
    (UndecidableReason(UndecidableKind.NEVER_HOLDS), "its condition never holds"),
    (UndecidableReason(UndecidableKind.NO_CONDITION), "it has no condition"),
    (
        UndecidableReason(UndecidableKind.OTHER_SYNTAX, "{A}"),
        "browsers read {A} in its expression differently",
    ),
    (
        UndecidableReason(UndecidableKind.LOOKS_AROUND),
        "its expression uses lookarounds or backreferences",
    ),
    (
        UndecidableReason(UndecidableKind.BROKEN),
        "its expression is invalid or too large to evaluate",
    ),
    (
        UndecidableReason(UndecidableKind.LONG_EXPRESSION, length=4_001),
        "its expression has 4,001 characters; the limit here is 4,000",
    ),
    (
        UndecidableReason(UndecidableKind.LARGE_EXPRESSION),
        "its expression is too large to evaluate on a URL this long",
    ),
    (
        UndecidableReason(UndecidableKind.LONG_RESULT),
        "the resulting URL is too long to work out",
    ),
    (UndecidableReason(UndecidableKind.MANY_PARAMETERS), "it changes too many parameters to work out"),
    (
        UndecidableReason(UndecidableKind.LONG_SOURCE, length=2_001),
        "its source has 2,001 characters; the limit for checks is 2,000",
    ),
]


@pytest.mark.parametrize(("why", "words"), UNDECIDABLE)
def test_what_cannot_be_judged_in_words(why: UndecidableReason, words: str) -> None:
    assert undecidable_words(why) == words


OFF = [
    (Off(OffKind.STATUS, "{x}"), "its status is {x}"),
    (Off(OffKind.STATUS, "Inactive"), "it is off"),
    (Off(OffKind.STATUS), "its status is not set"),
    (Off(OffKind.GROUP, "Summer"), "its group Summer is off"),
    (Off(OffKind.UNKNOWN_GROUP), "its group is unknown"),
    (Off(OffKind.SPARED_URL, "rq.io"), "rules are ignored for URLs that contain rq.io"),
]


@pytest.mark.parametrize(("off", "words"), OFF)
def test_what_keeps_a_rule_off_in_words(off: Off, words: str) -> None:
    assert off_words([off]) == words
    assert off_words([off, Off(OffKind.UNKNOWN_GROUP)]) == f"{words}, and its group is unknown"


DIFFER = "the desktop app and the extension differ:"
NOTES = [
    (
        Note(NoteKind.OTHER_URL, "https://a.example/{x}", Engine.EXTENSION),
        f"{DIFFER} in the extension the result is https://a.example/{{x}}",
    ),
    (Note(NoteKind.NOTHING, engine=Engine.DESKTOP), f"{DIFFER} the desktop app does nothing here"),
    (
        Note(NoteKind.ONE_PAIR, engine=Engine.EXTENSION, pair=2),
        f"{DIFFER} pair 2 matches in the extension only",
    ),
    (Note(NoteKind.SEVERAL_BLOCKS), f"{DIFFER} the desktop app fails on a blocking rule with several pairs"),
    (Note(NoteKind.PATH), f"{DIFFER} the extension may ignore the path"),
    (Note(NoteKind.CHARACTER, "^"), f"{DIFFER} the extension reads ^ in the source as a special character"),
    (Note(NoteKind.TO_ITSELF), "it redirects to the same URL, so nothing happens"),
    (
        Note(NoteKind.NOTHING_TO_REPLACE),
        "the text it replaces isn’t in the URL, so nothing changes",
    ),
    (Note(NoteKind.GROUP, "g1"), "it matches only if its group g1 is on; the service doesn’t say"),
    (Note(NoteKind.FILTERS, "pageUrl"), "only if its filters match, too: pageUrl"),
    (
        Note(NoteKind.UNTRIED_PAIR, pair=1, why=UndecidableReason(UndecidableKind.NO_CONDITION)),
        "can’t tell whether pair 1 matches: it has no condition",
    ),
]


@pytest.mark.parametrize(("note", "words"), NOTES)
def test_a_note_in_words(note: Note, words: str) -> None:
    assert note_words(note) == words


@pytest.mark.parametrize(
    ("told", "kinds"),
    [(NEAR_MISSES, NearKind), (UNDECIDABLE, UndecidableKind), (OFF, OffKind), (NOTES, NoteKind)],
)
def test_every_kind_has_words(told: list[tuple[Any, str]], kinds: type[StrEnum]) -> None:
    assert {reason.kind for reason, _ in told} == set(kinds)


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
    (drafted(rule(PAIR, name=" ")), "Give the rule a name that others will recognize."),
    (drafted(rule(PAIR, ruleType="")), "Choose a type, such as Redirect, Cancel or Replace."),
    (drafted(rule()), "A rule needs at least one pair."),
    (drafted(rule({})), "A pair needs a source: the URL that it matches."),
    (drafted(rule({"source": SOURCE}, rule_type="Replace")), "Enter the text to find."),
    (drafted(rule({"source": SOURCE})), "Enter the URL to redirect to."),
    (
        drafted(rule(PAIR | {"destination": "/b"})),
        "Enter a full URL, such as https://shop.example.com/new.",
    ),
    (
        drafted(rule(PAIR | {"source": SOURCE | {"value": ""}})),
        "An empty source would match every URL. Enter the URL to match.",
    ),
    (
        drafted(rule(PAIR | {"source": SOURCE | {"value": "a" * 4_001}})),
        "This source has 4,001 characters. Use at most 4,000.",
    ),
    (
        drafted(rule(PAIR | {"source": SOURCE | {"operator": "Regex"}})),
        "Unknown operator “Regex”. Did you mean Matches?",
    ),
    (
        drafted(rule(PAIR | {"source": SOURCE | {"key": "q" * 70}})),
        f"Unknown key “{'q' * 60}”. Use Url, host or path.",
    ),
    (drafted(rule(PAIR, status="?")), "Unknown status “?”. Use Active or Inactive."),
    (
        drafted(rule(PAIR | {"from": "a"})),
        "A Redirect has no field “from”. Its pairs have: source, operator, key, destinationType, destination.",
    ),
    (
        edited(rule(PAIR, rule_type="Cancel"), "pair1.To"),
        "A Cancel has no field “to”. Its pairs have: source, operator, key.",
    ),
    (edited(rule(PAIR), "type"), "A rule’s type can’t be changed. Create a new rule instead."),
    (
        edited(rule(PAIR), "colour"),
        (
            "Unknown field colour. You can set name, description, status, destination, source, operator, key, from, to, "
            "group, and fields of one pair, such as pair2.to."
        ),
    ),
    (edited(rule(PAIR), "destinaton"), "Unknown field destinaton. Did you mean destination?"),
    (edited(rule(PAIR), "pair1.Name"), "name belongs to the rule, not to one of its pairs."),
    (edited(rule(PAIR, PAIR), "Source"), "This rule has 2 pairs. Which one? For example, pair1.Source=…"),
    (edited(rule(PAIR), "pair2.source"), "This rule has 1 pair, so there is no pair 2."),
    (edited(rule(), "source"), "This rule has 0 pairs, so there is no pair 1."),
]


@pytest.mark.parametrize(("problem", "words"), WORDS)
def test_a_problem_in_words(problem: Problem, words: str) -> None:
    assert problem_words(problem) == words


def test_every_kind_of_problem_has_words() -> None:
    assert {problem.kind for problem, _ in WORDS} == set(ProblemKind)
