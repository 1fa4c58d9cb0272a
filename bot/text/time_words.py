"""Translate the words of times to the terms that `times` parses.

Terms don't depend on spelling: ``till EOD`` is ``until end day``. Add a new word to TERMS, and
several words that mean another term together to PHRASES.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final
from unicodedata import normalize
from zoneinfo import ZoneInfo

WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

PARTS: Final[Mapping[str, tuple[int, int, range]]] = {
    "morning": (9, 6, range(13)),
    "noon": (12, 12, range(12, 13)),
    "afternoon": (15, 12, range(12, 19)),
    "evening": (18, 18, range(17, 24)),
    "night": (20, 18, range(18, 24)),
    "midnight": (24, 24, range(24, 25)),
}
"""Each part of a day -> the hour that it means, the hour when it begins, and the hours that may be combined with it."""

NUMBERS: Final = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")

TERMS: Final[Mapping[str, str]] = {
    word: term
    for term, words in {
        # what leads a time
        "for": "for during",
        "until": "until till til by",
        "since": "since",
        "from": "from starting beginning",
        "to": "to",
        "and": "and",
        "in": "in",
        "over": "over",
        "on": "on",
        "at": "at",
        "the": "the",
        "of": "of",
        "next": "next coming",
        "this": "this",
        "last": "last past",
        "ago": "ago",
        "before": "before",
        "after": "after",
        "as": "as",
        # days
        "today": "today",
        "tomorrow": "tomorrow tmrw tmr tomo tommorow tomorow",
        "yesterday": "yesterday",
        "today night": "tonight",
        "monday": "monday mon",
        "tuesday": "tuesday tue tues",
        "wednesday": "wednesday wed weds",
        "thursday": "thursday thu thur thurs",
        "friday": "friday fri",
        "saturday": "saturday sat",
        "sunday": "sunday sun",
        "month01": "january jan",
        "month02": "february feb",
        "month03": "march mar",
        "month04": "april apr",
        "month05": "may",
        "month06": "june jun",
        "month07": "july jul",
        "month08": "august aug",
        "month09": "september sep sept",
        "month10": "october oct",
        "month11": "november nov",
        "month12": "december dec",
        # parts of a day
        "morning": "morning",
        "noon": "noon midday",
        "afternoon": "afternoon",
        "evening": "evening",
        "night": "night",
        "midnight": "midnight",
        "end": "end rest",
        "end day": "eod",
        "end week": "eow",
        "end month": "eom",
        "am": "am a.m",
        "pm": "pm p.m",
        "oclock": "o'clock oclock",
        "th": "st nd rd th",
        "": "t",
        # lengths
        "minute": "minute minutes min mins",
        "m": "m",
        "hour": "hour hours hr hrs",
        "h": "h",
        "day": "day days",
        "d": "d",
        "week": "week weeks",
        "w": "w",
        "month": "month months",
        "mo": "mo",
        "year": "year years",
        "half": "half",
        "1": "a an one",
        **{str(number): word for number, word in enumerate(NUMBERS, 2)},
        # about time, and no time
        "weekend": "weekend",
        "while": "while bit moment",
        "few": "few couple some several",
        "soon": "soon",
        "later": "later",
        "now": "now",
        "further": "further",
        "notice": "notice",
        # zones
        "@UTC": "utc gmt z",
        "@Europe/London": "bst",
        "@Europe/Berlin": "cet cest",
        "@America/New_York": "est edt et",
        "@America/Chicago": "cdt ct",
        "@America/Denver": "mst mdt",
        "@America/Los_Angeles": "pst pdt pt",
    }.items()
    for word in words.split()
}

PHRASES: Final[Mapping[str, str]] = {
    "day after tomorrow": "overmorrow",
    "day before yesterday": "ereyesterday",
    "as of": "from",
    "end of": "end",
    "night at midnight": "midnight",
    "end this": "end",
    **{f"this {part}": f"today {part}" for part in PARTS},
    **{f"last {part}": f"yesterday {part}" for part in PARTS},
}
"""Several terms -> the terms that they mean together."""

AREAS: Final = frozenset({"africa", "america", "asia", "atlantic", "australia", "europe", "indian", "pacific"})
"""The first parts of the names of time zones."""

AFTER_LENGTH: Final = frozenset(
    word
    for words in (
        "because cause bc since please pls thanks from for until till",
        "starting to as and then while when on at in if due tomorrow today",
    )
    for word in words.split()
)
"""Words after which “30 min” is a length; before any other, as in “24h shop” or “the 3rd floor”, it is part of a name."""

MAX_CHARACTERS: Final = 40
"""Characters of one word of a time."""
AROUND: Final = ",;:!?…()[]\"'“”‘’*_~`"
"""Punctuation and styles at the ends of words."""
DIGITS: Final = frozenset("0123456789")
PIECE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]+(?:[.:,/][0-9]+)*\.?|[^\W\d_]+(?:['.][^\W\d_]+)?|[-–—]")
DATE_WITH_STOP: Final = re.compile(r"[0-9]{1,2}\.[0-9]{1,2}\.")


def terms_of(word: str) -> str | None:
    """Return the terms of one typed word, such as ``2 h 30`` for ``2h30``; None for a word that no time has."""
    if len(word) > MAX_CHARACTERS:
        return None
    word = normalize("NFC", word.strip(AROUND + "."[DATE_WITH_STOP.search(word) is not None :]))
    if "/" in word and (zone := _zone(word)):
        return f"@{zone}"
    word = word.casefold().replace("’", "'")
    pieces = PIECE.findall(word)
    if not pieces or sum(map(len, pieces)) != len(word):
        return None
    found = [_term(piece) for piece in pieces]
    return None if None in found else " ".join(term for term in found if term)


def _term(piece: str) -> str | None:
    if piece[0] in DIGITS:
        return piece if DATE_WITH_STOP.fullmatch(piece) else piece.rstrip(".")
    return "to" if piece in "-–—" else TERMS.get(piece)


def _zone(word: str) -> str:
    """Return the zone with this name, ignoring case; empty where there is none."""
    name = word.title()
    if name.partition("/")[0].casefold() not in AREAS:
        return ""
    try:
        return ZoneInfo(name).key
    except (KeyError, ValueError, OSError):
        return ""


def canonical_text(terms: Sequence[str]) -> str:
    """Return one text of *terms*, without articles."""
    flat = " ".join(terms).split()
    kept = [term for term, after in pairwise([*flat, ""]) if term != "the" or after[:1] in DIGITS]
    text = f" {' '.join(kept)} "
    for phrase, meant in PHRASES.items():
        text = text.replace(f" {phrase} ", f" {meant} ")
    return text.strip()
