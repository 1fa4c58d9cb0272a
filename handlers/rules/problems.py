"""What is wrong with a draft of a rule, or with an edit of one field, in words: the one table. Plain text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from bot.rules.edit import IN_SOURCE_FIELDS, KNOWN, MAX_SOURCE, SETTABLE, Problem, ProblemKind
from bot.rules.model import PAIR_FIELDS


def problem_words(problem: Problem) -> str:
    """What is to be put right, without the number of the pair."""
    return PROBLEMS[problem.kind](problem)


def first_problem(problems: Sequence[Problem]) -> str:
    """The first of *problems* with its pair, and how many more there are, as the rest of a sentence."""
    first, *others = problems
    place = f"pair {first.pair}: " if first.pair else ""
    return f"{place}{problem_words(first)}" + (f" (and {len(others)} more)" if others else "")


def no_field(rule_type: str | None, name: str) -> str:
    """Words for a field that pairs of a type do not have, and those that they have."""
    own = ", ".join((*IN_SOURCE_FIELDS, *PAIR_FIELDS.get(rule_type or "", ())))
    return f"A {rule_type} has no field “{name}”. Its pairs have: {own}."


def _unknown_value(problem: Problem) -> str:
    *first, last = KNOWN[problem.field]
    use = f"Did you mean {problem.meant}?" if problem.meant else f"Use {', '.join(first)} or {last}."
    return f"There is no {problem.field} “{problem.value[:60]}”. {use}"


def _unknown_pair(problem: Problem) -> str:
    return f"This rule has {problem.count} pair{'s' if problem.count != 1 else ''}, no pair {problem.pair}."


PROBLEMS: Final[dict[ProblemKind, Callable[[Problem], str]]] = {
    ProblemKind.NO_NAME: lambda _: "Give the rule a name that others will recognise.",
    ProblemKind.NO_TYPE: lambda _: "Choose a type, such as Redirect, Cancel or Replace.",
    ProblemKind.NO_PAIRS: lambda _: "A rule needs at least one pair.",
    ProblemKind.NO_SOURCE: lambda _: "A pair needs a source: what it is matched against.",
    ProblemKind.NO_FIND: lambda _: "Say which text is to be found.",
    ProblemKind.NO_DESTINATION: lambda _: "Say where the redirect goes.",
    ProblemKind.NOT_A_URL: lambda _: "Write a whole address, such as https://shop.example.com/new.",
    ProblemKind.EMPTY_SOURCE: lambda _: "An empty source would match every URL. Say which one is meant.",
    ProblemKind.LONG_SOURCE: lambda p: f"This source has {p.count:,} characters. Use at most {MAX_SOURCE:,}.",
    ProblemKind.UNKNOWN_VALUE: _unknown_value,
    ProblemKind.OTHER_TYPES_FIELD: lambda p: no_field(p.value, p.field),
    ProblemKind.TYPE_IS_FIXED: lambda _: "The type of a rule cannot be changed. Copy the rule, or make a new one.",
    ProblemKind.UNKNOWN_FIELD: lambda p: (
        f"There is no field {p.field}. You can set: {', '.join(SETTABLE)}, and pair2.to and the like."
    ),
    ProblemKind.RULE_FIELD: lambda p: f"{p.field} belongs to the rule, not to one of its pairs.",
    ProblemKind.WHICH_PAIR: lambda p: f"This rule has {p.count} pairs. Say which: pair1.{p.field}=…",
    ProblemKind.UNKNOWN_PAIR: _unknown_pair,
}
