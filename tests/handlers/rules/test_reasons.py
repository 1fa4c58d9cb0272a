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
        "it has no pairs, and no engine reads the form of the first version: export it, and import it again",
    ),
    (
        NearMiss(RULE, 1, NearKind.KEY, "host"),
        "the key is spelled {Host}, which no engine knows: it is host",
    ),
    (NearMiss(RULE, 1, NearKind.CASE), "only capital and small letters differ"),
    (
        NearMiss(RULE, 1, NearKind.NO_SLASH, "https://a.example/{b}/"),
        "the slash at the end is missing in the rule: a browser sends https://a.example/{b}/",
    ),
    (NearMiss(RULE, 1, NearKind.SPELLING, "/a"), "the rule has it as no browser sends it: that would be /a"),
    (
        NearMiss(RULE, 1, NearKind.NOT_THE_WHOLE),
        "it must cover the whole, from the first character to the last: a * is missing",
    ),
    (NearMiss(RULE, 1, NearKind.SLASH), "only the slash at the end differs"),
    (NearMiss(RULE, 1, NearKind.SCHEME), "only the scheme, http or https differs"),
    (NearMiss(RULE, 1, NearKind.WWW), "only www. before the host differs"),
    (NearMiss(RULE, 1, NearKind.QUERY), "only the query behind the ? differs"),
    (NearMiss(RULE, 1, NearKind.PORT), "only the port differs"),
]


@pytest.mark.parametrize(("miss", "words"), NEAR_MISSES)
def test_a_near_miss_in_words(miss: NearMiss, words: str) -> None:
    assert near_words(miss) == words


UNDECIDABLE = [
    (UndecidableReason(UndecidableKind.NEVER_HOLDS), "its condition never holds"),
    (UndecidableReason(UndecidableKind.NO_CONDITION), "it has no condition"),
    (
        UndecidableReason(UndecidableKind.OTHER_SYNTAX, "{A}"),
        "browsers do not read {A} as it is read here, so the expression cannot be tried here",
    ),
    (
        UndecidableReason(UndecidableKind.LOOKS_AROUND),
        "the expression looks around or back, so it cannot be tried here",
    ),
    (
        UndecidableReason(UndecidableKind.BROKEN),
        "the expression is broken, or larger than can be tried, so it cannot be tried here",
    ),
    (
        UndecidableReason(UndecidableKind.LONG_EXPRESSION, length=4_001),
        "the expression has 4,001 characters, and up to 4,000 can be tried here",
    ),
    (
        UndecidableReason(UndecidableKind.LARGE_EXPRESSION),
        "the expression is too large to be tried on an address of that length",
    ),
    (
        UndecidableReason(UndecidableKind.LONG_RESULT),
        "what it makes of the address is too long to be worked out here",
    ),
    (UndecidableReason(UndecidableKind.MANY_PARAMETERS), "it changes too many parameters to be followed here"),
    (
        UndecidableReason(UndecidableKind.LONG_SOURCE, length=2_001),
        "its source has 2,001 characters, and only sources of up to 2,000 are checked",
    ),
]


@pytest.mark.parametrize(("why", "words"), UNDECIDABLE)
def test_what_cannot_be_judged_in_words(why: UndecidableReason, words: str) -> None:
    assert undecidable_words(why) == words


OFF = [
    (Off(OffKind.STATUS, "{x}"), "the rule is {x}"),
    (Off(OffKind.STATUS), "the rule is without a status"),
    (Off(OffKind.GROUP, "Summer"), "its group Summer is switched off"),
    (Off(OffKind.UNKNOWN_GROUP), "its group is unknown"),
    (Off(OffKind.SPARED_URL, "rq.io"), "no engine touches an address with rq.io in it"),
]


@pytest.mark.parametrize(("off", "words"), OFF)
def test_what_keeps_a_rule_off_in_words(off: Off, words: str) -> None:
    assert off_words([off]) == words
    assert off_words([off, Off(OffKind.UNKNOWN_GROUP)]) == f"{words}, and its group is unknown"


DIFFER = "the desktop app and the extension differ here:"
NOTES = [
    (
        Note(NoteKind.OTHER_URL, "https://a.example/{x}", Engine.EXTENSION),
        f"{DIFFER} with the extension it is https://a.example/{{x}}",
    ),
    (Note(NoteKind.NOTHING, engine=Engine.DESKTOP), f"{DIFFER} the desktop app does nothing here"),
    (
        Note(NoteKind.ONE_PAIR, engine=Engine.EXTENSION, pair=2),
        f"{DIFFER} pair 2 counts in the extension only",
    ),
    (Note(NoteKind.SEVERAL_BLOCKS), f"{DIFFER} the desktop app fails on a block with several pairs"),
    (Note(NoteKind.PATH), f"{DIFFER} the compiled form in the extension does not look at the path"),
    (Note(NoteKind.CHARACTER, "^"), f"{DIFFER} the extension gives ^ in the source a meaning of its own"),
    (Note(NoteKind.TO_ITSELF), "it leads to the address itself, so nothing happens"),
    (
        Note(NoteKind.NOTHING_TO_REPLACE),
        "what it looks for is not in the address, so nothing changes",
    ),
    (Note(NoteKind.GROUP, "g1"), "it acts only if its group g1 is on, which the service does not tell"),
    (Note(NoteKind.FILTERS, "pageUrl"), "only where its filters fit as well: pageUrl"),
    (
        Note(NoteKind.UNTRIED_PAIR, pair=1, why=UndecidableReason(UndecidableKind.NO_CONDITION)),
        "pair 1 cannot be told here: it has no condition",
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
