"""Translate the words of times in English, German and (the common ones) Spanish to the terms that `times` parses.

Terms don't depend on language and spelling: ``bis morgen früh`` is ``until tomorrow morning``. Add a new word to TERMS, and
several words that mean another term together to PHRASES.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final
from unicodedata import normalize
from zoneinfo import ZoneInfo

SPELLINGS: Final = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ñ": "n", "á": "a", "é": "e", "í": "i", "ó": "o", "ú": "u", "’": "'"}
)
"""One spelling for each word, with umlauts and accents or without."""

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

TERMS: Final[Mapping[str, str]] = {
    word: term
    for term, words in {
        # what leads a time
        "for": "for fuer por during",
        "until": "until till til by bis hasta",
        "since": "since seit desde",
        "from": "from starting beginning ab vom von",
        "between": "between zwischen",
        "to": "to",
        "and": "and und",
        "in": "in im",
        "over": "over uebers",
        "on": "on",
        "at": "at um",
        "the": "the der die das den dem des zum el la las los",
        "of": "of",
        "next": "next coming naechste naechsten naechster naechstes kommende kommenden kommender",
        "this": "this diese diesen dieser dieses diesem",
        "last": "last past letzte letzten letzter letztes letztem vergangene vergangenen",
        "ago": "ago",
        "before": "before",
        "vor": "vor",
        "after": "after",
        "as": "as",
        # days
        "today": "today heute hoy",
        "tomorrow": "tomorrow manana",
        "morgen": "morgen",
        "overmorrow": "overmorrow uebermorgen",
        "yesterday": "yesterday gestern ayer",
        "ereyesterday": "vorgestern",
        "today night": "tonight",
        "monday": "monday mon montag lunes",
        "tuesday": "tuesday tue tues dienstag martes",
        "wednesday": "wednesday wed weds mittwoch miercoles",
        "thursday": "thursday thu thur thurs donnerstag jueves",
        "friday": "friday fri freitag viernes",
        "saturday": "saturday sat samstag sonnabend sabado",
        "sunday": "sunday sun sonntag domingo",
        "month01": "january jan januar jaenner",
        "month02": "february feb februar",
        "month03": "march mar maerz",
        "month04": "april apr",
        "month05": "may mai",
        "month06": "june jun juni",
        "month07": "july jul juli",
        "month08": "august aug",
        "month09": "september sep sept",
        "month10": "october oct oktober okt",
        "month11": "november nov",
        "month12": "december dec dezember dez",
        # parts of a day
        "morning": "morning morgens frueh vormittag vormittags",
        "noon": "noon midday mittag mittags",
        "afternoon": "afternoon nachmittag nachmittags",
        "evening": "evening abend abends",
        "night": "night nacht nachts",
        "midnight": "midnight mitternacht",
        "end": "end ende rest",
        "end day": "eod",
        "end week": "eow",
        "end month": "eom monatsende",
        "am": "am a.m",
        "pm": "pm p.m",
        "oclock": "o'clock oclock uhr",
        "": "st nd rd th t",
        # lengths
        "minute": "minute minutes min mins minuten minuto minutos",
        "m": "m",
        "hour": "hour hours hr hrs stunde stunden std hora horas",
        "h": "h",
        "day": "day days tag tage tagen dia dias",
        "d": "d",
        "week": "week weeks woche wochen semana semanas",
        "w": "w",
        "month": "month months monat monate monaten monats mes meses",
        "mo": "mo",
        "year": "year years jahr jahre jahren jahres",
        "half": "half halbe halben halber media",
        "1.5": "anderthalb eineinhalb",
        "1": "a an one ein eine einen einem einer un una",
        **{
            str(number): words
            for number, words in enumerate(
                (
                    "two zwei dos",
                    "three drei tres",
                    "four vier cuatro",
                    "five fuenf cinco",
                    "six sechs seis",
                    "seven sieben siete",
                    "eight acht ocho",
                    "nine neun nueve",
                    "ten zehn diez",
                    "eleven elf",
                    "twelve zwoelf",
                ),
                2,
            )
        },
        # about time, and no time
        "weekend": "weekend wochenende",
        "while": "while bit weile moment",
        "few": "few couple some several paar einige",
        "soon": "soon bald demnaechst",
        "later": "later spaeter",
        "now": "now",
        "further notice": "weiteres",
        "further": "further",
        "notice": "notice",
        "auf": "auf",
        # zones
        "@UTC": "utc gmt z",
        "@Europe/London": "bst",
        "@Europe/Lisbon": "wet west",
        "@Europe/Berlin": "cet cest mez mesz",
        "@Europe/Helsinki": "eet eest",
        "@America/New_York": "est edt et",
        "@America/Chicago": "cdt ct",
        "@America/Denver": "mst mdt",
        "@America/Los_Angeles": "pst pdt pt",
        "@Asia/Tokyo": "jst",
    }.items()
    for word in words.split()
}

PHRASES: Final[Mapping[str, str]] = {
    "day after tomorrow": "overmorrow",
    "day before yesterday": "ereyesterday",
    "as of": "from",
    "end of": "end",
    "end this": "end",
    "until auf further": "until further",
    **{f"this {part}": f"today {part}" for part in PARTS},
    **{f"last {part}": f"yesterday {part}" for part in PARTS},
}
"""Several terms -> the terms that they mean together."""

AREAS: Final = frozenset({"africa", "america", "asia", "atlantic", "australia", "europe", "indian", "pacific"})
"""The first parts of the names of time zones."""

AFTER_LENGTH: Final = frozenset(
    word
    for words in (
        "because cause bc since please pls thanks from starting to as and then while when on at in if due tomorrow today",
        "bitte weil wegen ab damit und danke",
    )
    for word in words.split()
)
"""Words after which “30 min” is a length; before any other, as in “24h shop”, it is part of a name."""

MAX_CHARACTERS: Final = 40
"""Characters of one word of a time."""
AROUND: Final = ",;:!?…()[]\"'“”‘’*_~`"
"""Punctuation and styles at the ends of words."""
DIGITS: Final = frozenset("0123456789")
MORGEN_OF: Final = frozenset({"today", "yesterday", "on", "this", *WEEKDAYS})
"""Terms after which the German *morgen* is the morning, and not tomorrow."""
PIECE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]+(?:[.:,/][0-9]+)*\.?|[^\W\d_]+(?:['.][^\W\d_]+)?|[-–—]")
DATE_WITH_STOP: Final = re.compile(r"[0-9]{1,2}\.[0-9]{1,2}\.")


def terms_of(word: str) -> str | None:
    """Return the terms of one typed word, such as ``2 h 30`` for ``2h30``; None for a word that no time has."""
    if len(word) > MAX_CHARACTERS:
        return None
    word = normalize("NFC", word.strip(AROUND + "."[DATE_WITH_STOP.search(word) is not None :]))
    if "/" in word and (zone := _zone(word)):
        return f"@{zone}"
    word = word.casefold().translate(SPELLINGS)
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
    """Return one text of *terms*, with the terms that depend on what stands before them, and without articles."""
    flat = " ".join(terms).split()
    kept: list[str] = []
    for term, after in pairwise([*flat, ""]):
        before = kept[-1] if kept else ""
        if term == "the" and after[:1] not in DIGITS:
            continue
        if term == "am" and before[:1] not in DIGITS:
            term = "on"  # noqa: PLW2901  the German one
        if term == "morgen":
            term = "morning" if before in MORGEN_OF else "tomorrow"  # noqa: PLW2901
        kept.append(term)
    text = f" {' '.join(kept)} "
    for phrase, meant in PHRASES.items():
        text = text.replace(f" {phrase} ", f" {meant} ")
    return text.strip()
