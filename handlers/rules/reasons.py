"""Why a rule does not match a URL, can't be judged, or can't be saved: a table of words for each kind of reason. Plain text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from bot.rules.conditions import MAX_EXPRESSION, UndecidableKind, UndecidableReason
from bot.rules.edit import IN_SOURCE_FIELDS, KNOWN, MAX_SOURCE, SETTABLE, Problem, ProblemKind
from bot.rules.lint.single_rule import MAX_CHECKED
from bot.rules.model import PAIR_FIELDS, Off, OffKind
from bot.rules.outcomes import NearKind, NearMiss, Note, NoteKind

OFF: Final = {
    OffKind.STATUS: "the rule is {}",
    OffKind.GROUP: "its group {} is switched off",
    OffKind.UNKNOWN_GROUP: "its group is unknown",
    OffKind.SPARED_URL: "no engine touches an address with {} in it",
}


def off_words(reasons: Iterable[Off]) -> str:
    """Why a rule is not in force."""
    return ", and ".join(OFF[off.kind].format(off.value or "without a status") for off in reasons)


UNDECIDABLE: Final = {
    UndecidableKind.NEVER_HOLDS: "its condition never holds",
    UndecidableKind.NO_CONDITION: "it has no condition",
    UndecidableKind.OTHER_SYNTAX: (
        "browsers do not read {value} as it is read here, so the expression cannot be tried here"
    ),
    UndecidableKind.LOOKS_AROUND: "the expression looks around or back, so it cannot be tried here",
    UndecidableKind.BROKEN: "the expression is broken, or larger than can be tried, so it cannot be tried here",
    UndecidableKind.LONG_EXPRESSION: (
        f"the expression has {{length:,}} characters, and up to {MAX_EXPRESSION:,} can be tried here"
    ),
    UndecidableKind.LARGE_EXPRESSION: "the expression is too large to be tried on an address of that length",
    UndecidableKind.LONG_RESULT: "what it makes of the address is too long to be worked out here",
    UndecidableKind.MANY_PARAMETERS: "it changes too many parameters to be followed here",
    UndecidableKind.LONG_SOURCE: (
        f"its source has {{length:,}} characters, and only sources of up to {MAX_CHECKED:,} are checked"
    ),
}


def undecidable_words(why: UndecidableReason) -> str:
    """Why a rule can't be judged here."""
    return UNDECIDABLE[why.kind].format(value=why.value, length=why.length)


NEAR_MISSES: Final = {
    NearKind.NO_PAIRS: (
        "it has no pairs, and no engine reads the form of the first version: export it, and import it again"
    ),
    NearKind.KEY: "the key is spelled {key}, which no engine knows: it is {better}",
    NearKind.CASE: "only capital and small letters differ",
    NearKind.NO_SLASH: "the slash at the end is missing in the rule: a browser sends {better}",
    NearKind.SPELLING: "the rule has it as no browser sends it: that would be {better}",
    NearKind.NOT_THE_WHOLE: "it must cover the whole, from the first character to the last: a * is missing",
    NearKind.SLASH: "only the slash at the end differs",
    NearKind.SCHEME: "only the scheme, http or https differs",
    NearKind.WWW: "only www. before the host differs",
    NearKind.QUERY: "only the query behind the ? differs",
    NearKind.PORT: "only the port differs",
}


def near_words(miss: NearMiss) -> str:
    """What would have to be different for the rule to match."""
    source = miss.rule.pairs[miss.pair - 1].source if miss.rule.pairs else None
    return NEAR_MISSES[miss.kind].format(key=source and source.key, better=miss.better)


NOTES: Final = {
    NoteKind.OTHER_URL: "with {engine} it is {value}",
    NoteKind.NOTHING: "{engine} does nothing here",
    NoteKind.ONE_PAIR: "pair {pair} counts in {engine} only",
    NoteKind.SEVERAL_BLOCKS: "the desktop app fails on a block with several pairs",
    NoteKind.PATH: "the compiled form in the extension does not look at the path",
    NoteKind.CHARACTER: "the extension gives {value} in the source a meaning of its own",
    NoteKind.TO_ITSELF: "it leads to the address itself, so nothing happens",
    NoteKind.NOTHING_TO_REPLACE: "what it looks for is not in the address, so nothing changes",
    NoteKind.GROUP: "it acts only if its group {value} is on, which the service does not tell",
    NoteKind.FILTERS: "only where its filters fit as well: {value}",
    NoteKind.UNTRIED_PAIR: "pair {pair} cannot be told here: {why}",
}

ENGINES_DIFFER: Final = frozenset(
    {
        NoteKind.OTHER_URL,
        NoteKind.NOTHING,
        NoteKind.ONE_PAIR,
        NoteKind.SEVERAL_BLOCKS,
        NoteKind.PATH,
        NoteKind.CHARACTER,
    }
)


def note_words(note: Note) -> str:
    """What else there is to know of a rule that acts."""
    why = undecidable_words(note.why) if note.why else ""
    said = NOTES[note.kind].format(value=note.value, engine=note.engine, pair=note.pair, why=why)
    return f"the desktop app and the extension differ here: {said}" if note.kind in ENGINES_DIFFER else said


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
