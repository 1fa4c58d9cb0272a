"""Why a rule does not match a URL, can't be judged, or can't be saved: a table of words for each kind of reason. Plain text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from bot.rules.edit import IN_SOURCE_FIELDS, KNOWN, MAX_PAIRS, MAX_SOURCE, SETTABLE, Problem, ProblemKind
from bot.rules.model import INACTIVE, Off, OffKind
from bot.rules.outcomes import NearKind, NearMiss, Note, NoteKind
from bot.rules.pair_fields import PAIR_FIELDS
from handlers.blocks.messages import quote_plain

OFF: Final = {
    OffKind.STATUS: "its status is {}",
    OffKind.GROUP: "its group {} is off",
    OffKind.UNKNOWN_GROUP: "its group is unknown",
    OffKind.SPARED_URL: "rules are ignored for URLs that contain {}",
}


IS_OFF: Final = Off(OffKind.STATUS, INACTIVE)


def off_words(reasons: Iterable[Off]) -> str:
    """Return why a rule is off."""
    return ", and ".join(
        "it is off" if off == IS_OFF else OFF[off.kind].format(quote_plain(off.value) if off.value else "not set")
        for off in reasons
    )


NEAR_MISSES: Final = {
    NearKind.KEY: "its key is spelled {key}; it should be {better}",
    NearKind.OPERATOR: "its operator is spelled {operator}; it should be {better}",
    NearKind.CASE: "differs only in case",
    NearKind.NO_SLASH: "its source lacks the trailing slash; a browser sends {better}",
    NearKind.SPELLING: "a browser sends {better} instead of what its source says",
    NearKind.NOT_THE_WHOLE: "its pattern must cover the whole URL; a * is missing",
    NearKind.SLASH: "differs only in the trailing slash",
    NearKind.SCHEME: "differs only in http or https",
    NearKind.WWW: "differs only in www.",
    NearKind.QUERY: "differs only in the query string",
    NearKind.PORT: "differs only in the port",
}


def near_words(miss: NearMiss) -> str:
    """Return the differences that would make the rule match."""
    source = miss.rule.pairs[miss.pair - 1].source if miss.rule.pairs else None
    return NEAR_MISSES[miss.kind].format(
        key=source and source.key, operator=source and source.operator, better=miss.better
    )


NOTES: Final = {
    NoteKind.TO_ITSELF: "it redirects to the same URL, so nothing happens",
    NoteKind.NOTHING_TO_REPLACE: "the text it replaces isn’t in the URL, so nothing changes",
    NoteKind.GROUP: "it matches only if its group “{value}” is on, which couldn’t be read",
    NoteKind.FILTERS: "only if its filters match, too: {value}",
    NoteKind.UNTRIED_PAIR: "can’t tell whether pair {pair} matches: {value}",
}


def note_words(note: Note) -> str:
    """Return the text of a note about a rule that matches."""
    return NOTES[note.kind].format(value=note.value, pair=note.pair)


def problem_words(problem: Problem) -> str:
    """Return the correction that is needed, without the number of the pair."""
    return PROBLEMS[problem.kind](problem)


TYPE_WORDS: Final = {"Cancel": "Block", "QueryParam": "Query parameter", "UserAgent": "User agent"}
"""The words for types, where people use another one than the service."""


def type_word(rule_type: str | None) -> str:
    """Return the type in people's words, without markup; ``no type`` for none."""
    return TYPE_WORDS.get(rule_type or "", rule_type or "no type")


def first_problem(problems: Sequence[Problem]) -> str:
    """Return the first of *problems* with its pair, and how many more there are, as the rest of a sentence."""
    first, *others = problems
    place = f"pair {first.pair}: " if first.pair else ""
    return f"{place}{problem_words(first)}" + (f" (and {len(others)} more)" if others else "")


def no_field_words(rule_type: str | None, name: str) -> str:
    """Return the words for a field that pairs of a type don't have, with the fields that they have."""
    own = ", ".join((*IN_SOURCE_FIELDS, *PAIR_FIELDS.get(rule_type or "", ())))
    more = "" if rule_type in PAIR_FIELDS else ", and what its form shows"
    return f"A {type_word(rule_type)} rule has no field “{name}”. Its pairs have: {own}{more}."


def _unknown_value_words(problem: Problem) -> str:
    *first, last = ("on", "off") if problem.field == "status" else KNOWN[problem.field]
    return f"Unknown {problem.field} “{problem.value[:60]}”. Use {', '.join(first)} or {last}."


def _unknown_pair_words(problem: Problem) -> str:
    return f"This rule has {problem.count} pair{'s' if problem.count != 1 else ''}, so there is no pair {problem.pair}."


PROBLEMS: Final[dict[ProblemKind, Callable[[Problem], str]]] = {
    ProblemKind.NO_NAME: lambda _: "Give the rule a name that others will recognize.",
    ProblemKind.NO_TYPE: lambda _: "Choose a type, such as Redirect, Block or Replace.",
    ProblemKind.NO_PAIRS: lambda _: "A rule needs at least one pair.",
    ProblemKind.MANY_PAIRS: lambda p: f"This rule has {p.count:,} pairs. Split it into rules of at most {MAX_PAIRS:,}.",
    ProblemKind.NO_SOURCE: lambda _: "A pair needs a source: the URL that it matches.",
    ProblemKind.NO_FIND: lambda _: "Enter the text to find.",
    ProblemKind.NO_DESTINATION: lambda _: "Enter the URL to redirect to.",
    ProblemKind.NOT_A_URL: lambda _: "Enter a full URL, such as https://shop.example.com/new.",
    ProblemKind.EMPTY_SOURCE: lambda _: "An empty source would match every URL. Enter the URL to match.",
    ProblemKind.LONG_SOURCE: lambda p: f"This source has {p.count:,} characters. Use at most {MAX_SOURCE:,}.",
    ProblemKind.UNKNOWN_VALUE: _unknown_value_words,
    ProblemKind.OTHER_TYPES_FIELD: lambda p: no_field_words(p.value, p.field),
    ProblemKind.TYPE_IS_FIXED: lambda _: "A rule’s type can’t be changed. Create a new rule instead.",
    ProblemKind.UNKNOWN_FIELD: lambda p: (
        f"Unknown field {p.field}. You can set {', '.join(SETTABLE)}, and fields of one pair, such as pair2.to."
    ),
    ProblemKind.RULE_FIELD: lambda p: f"{p.field} belongs to the rule, not to one of its pairs.",
    ProblemKind.WHICH_PAIR: lambda p: f"This rule has {p.count} pairs. Which one? For example, pair1.{p.field}=…",
    ProblemKind.UNKNOWN_PAIR: _unknown_pair_words,
}
