"""Words for why a rule does not match a URL, can’t be judged or can’t be saved: each kind has its own, each branch its point."""

from __future__ import annotations

from typing import Any

import pytest

from bot.rules.edit import Problem, ProblemKind
from bot.rules.model import INACTIVE, Off, OffKind, Rule
from bot.rules.outcomes import NearKind, NearMiss, Note, NoteKind
from handlers.rules.reasons import first_problem, near_words, no_field_words, note_words, off_words, problem_words

RULE = Rule.model_validate({"id": "Cancel_1", "ruleType": "Cancel", "pairs": [{"source": {"key": "{Host}"}}]})
NO_NAME = Problem(ProblemKind.NO_NAME, "name")
KINDS = [
    (OffKind, lambda kind: off_words([Off(kind, "{x}")])),
    (NearKind, lambda kind: near_words(NearMiss(RULE, 1, kind, "{x}"))),
    (NoteKind, lambda kind: note_words(Note(kind, "{x}", 2))),
    (ProblemKind, lambda kind: problem_words(Problem(kind, "status", 1, "{x}", count=2))),
]


@pytest.mark.parametrize(("kinds", "words"), KINDS, ids=lambda one: getattr(one, "__name__", ""))
def test_each_kind_has_words_of_its_own(kinds: Any, words: Any) -> None:
    assert len({words(kind) for kind in kinds}) == len(kinds)


def test_each_branch_tells_what_it_is_for() -> None:
    for words, told in (
        (off_words([Off(OffKind.STATUS, INACTIVE), Off(OffKind.GROUP, "Summer")]), "it is off, and its group “Summer” is off"),
        (off_words([Off(OffKind.STATUS)]), "not set"),
        (near_words(NearMiss(RULE, 1, NearKind.KEY, "host")), "{Host}; it should be host"),
        (note_words(Note(NoteKind.UNTRIED_PAIR, "it has no condition", pair=1)), "pair 1 matches: it has no condition"),
        (first_problem([NO_NAME]), "Give the rule a name that others will recognize."),
        (first_problem([Problem(ProblemKind.NO_SOURCE, "source", 2), NO_NAME]), "pair 2: A pair needs"),
        (first_problem([NO_NAME, NO_NAME]), " (and 1 more)"),
        (no_field_words("Redirect", "to"), "A Redirect rule has no field “to”. Its pairs have: source, operator, key,"),
        (no_field_words("Delay", "to"), "source, operator, key, and what its form shows."),
        (no_field_words(None, "to"), "source, operator, key, and what its form shows."),
        (problem_words(Problem(ProblemKind.UNKNOWN_VALUE, "key", 1, "q" * 70)), f"“{'q' * 60}”. Use Url, host or path."),
        (problem_words(Problem(ProblemKind.UNKNOWN_FIELD, "colour")), "You can set name, description,"),
        (problem_words(Problem(ProblemKind.UNKNOWN_PAIR, "to", 2, count=1)), "1 pair, so there is no pair 2."),
        (problem_words(Problem(ProblemKind.UNKNOWN_PAIR, "to", 1, count=0)), "0 pairs, so"),
    ):  # fmt: skip
        assert told in words
