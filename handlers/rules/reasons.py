"""Why a rule does not match a URL, or can't be judged, in words: one table for each kind of reason. Plain text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from bot.rules.conditions import MAX_EXPRESSION, UndecidableKind, UndecidableReason
from bot.rules.lint.single_rule import MAX_CHECKED
from bot.rules.model import Off, OffKind
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
