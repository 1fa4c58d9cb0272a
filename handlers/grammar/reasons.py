"""Find the reason that a text gives: what follows “because”, and clauses that neither name anything nor ask for anything."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bot.text.names import MIN_PART
from bot.text.time_words import terms_of
from bot.text.times import parse_time
from handlers.grammar.fields import reason_in
from handlers.grammar.recognised import Recognised
from handlers.grammar.tokens import Word
from handlers.grammar.vocabulary import (
    BECAUSE,
    CAUTIOUS,
    CHANGING,
    COUNTS,
    ENDS,
    FILLERS,
    GREETINGS,
    PARTED,
    QUESTIONS,
    SAYS,
    STATUSES,
    TYPES,
    bare,
)

ENDS_OF_CLAUSES: Final = (",", ";", ".", "!", "?", ")", ":")
DASHES: Final = frozenset({"-", "–", "—"})
TICKET: Final = re.compile(r"[a-z]{2,10}-\d{1,7}|#?\d{3,}", re.IGNORECASE)


def take_reason(found: Recognised, words: Sequence[Word]) -> Sequence[Word]:
    """Take “because” and all that follows it out of *words*, and return those before it."""
    at = next((i for i, word in enumerate(words) if word.keyword in BECAUSE and 0 < i < len(words) - 1), None)
    if at is None or parse_time([word.text for word in words], at) is not None:  # “since yesterday”
        return words
    found.reason = reason_in([replace(words[at], text="because"), *words[at + 1 :]])
    return words[:at]


def take_asides(found: Recognised, typed: Sequence[Word], words: Sequence[Word]) -> Sequence[Word]:
    """Take the clauses of *typed* that say why, such as “, ticket SUP-1”, out of *words*, and return the others."""
    clauses: list[list[Word]] = [[]]
    for word in typed:
        clauses[-1].append(word)
        if word.text.endswith(ENDS_OF_CLAUSES) or word.text in DASHES:
            clauses.append([])
    clauses = [each for each in clauses if each]
    left = {word.start for word in words}
    asides = [each for each in clauses if all(word.start in left for word in each) and _says_why(found, each)]
    if len(asides) == len(clauses):
        return words
    texts = [" ".join(word.text for word in each).strip("-–—,;:.!?() ") for each in asides]
    found.asides = [each for each in texts if {*each.casefold().split()} - FILLERS - GREETINGS]
    found.reason = "; ".join([*found.asides, *filter(None, [found.reason])]) or None
    starts = {word.start for each in asides for word in each}
    return [word for word in words if word.start not in starts]


def _says_why(found: Recognised, clause: Sequence[Word]) -> bool:
    """Whether *clause* is a statement or has a ticket, and no word of it names a thing, a time or an act, or says how many."""
    plain = [bare(word.text.strip("()")) for word in clause]
    says = any(word in SAYS or TICKET.fullmatch(word) for word in plain)  # else it may be a name that nobody knows
    return says and not any(_counts(found, word) for word in plain)


def _counts(found: Recognised, word: str) -> bool:
    """Whether *word* may name a thing, a time or an act, or says how many."""
    if word in FILLERS or not word:
        return word in COUNTS
    if any(letter.isdigit() for letter in word):
        return not TICKET.fullmatch(word)
    known = found.known
    tables = (CHANGING, CAUTIOUS, ENDS, STATUSES, TYPES, QUESTIONS, PARTED, known.sites)
    if any(word in each for each in tables) or found.segment(word) is not None or terms_of(word) is not None:
        return True
    return len(word) > MIN_PART and any(
        found.find_mentioned(each, word) for each in (known.rules, known.groups, known.members)
    )
