"""Find misleading text: invisible characters, a user name before a URL's host, and letters of other scripts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import islice
from typing import Final

import idna

from bot.rules.url import authority

HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
HIDDEN: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
"""Letters, marks and symbols that are invisible: fillers, joiners, the empty braille pattern."""
VARIATION_SELECTORS: Final = frozenset(map(chr, range(0xFE00, 0xFE10)))
HIDING_SELECTOR: Final = re.compile(r"(?:\A|(?<=[^\W_]))[\ufe00-\ufe0f]")
"""A variation selector that does not follow an emoji or a symbol, as in `is_invisible`."""
LAYOUT: Final = "\n\r\t"
PRINTABLE_HIDDEN: Final = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\uffa0\ufe00-\ufe0f]"
)
"""The invisible characters that `str.isprintable` takes for visible, with all variation selectors."""

CONFUSABLE: Final = frozenset(
    {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "GEORGIAN", "LISU", "FULLWIDTH", "MATHEMATICAL"}
)
"""Scripts with letters that look like Latin ones."""
WORD: Final = re.compile(r"[^\W\d_]+")
BARE_HOST: Final = re.compile(r"(?:[^\s/@]{1,255}@)?([^\s/@:]{1,255}\.[^\s/@:]{1,255})")
MAY_MISLEAD: Final = re.compile(r"[^ -~]|@|%|xn--", re.IGNORECASE)
"""Every misleading text matches this: a non-ASCII or control character, a user name, an escape, or a host in punycode."""
MAX_CHARACTERS: Final = 20_000
"""Characters of one text that are checked; nobody reads a longer condition or script as a name."""
KNOWN_CHARACTERS: Final = 32_768
"""Size of the caches by character: more than a text has distinct characters."""
MAX_WORDS: Final = 8
"""Words of one text that are reported for mixed scripts: these are enough to make people check the others."""


class LookalikeKind(StrEnum):
    INVISIBLE = "invisible"
    USER_INFO = "user info"
    FOREIGN_HOST = "foreign host"
    MIXED_SCRIPTS = "mixed scripts"


@dataclass(frozen=True, slots=True)
class Lookalike:
    """One reason why a text may be mistaken for another. *shown*: the characters, the word or the host, as written.

    *host*: the ASCII form of the host that a URL really leads to. *scripts*: in capitals, such as ``CYRILLIC``.
    """

    kind: LookalikeKind
    shown: str
    host: str = ""
    scripts: tuple[str, ...] = ()


def may_hide(text: str) -> bool:
    """Whether *text* may hold invisible characters: a quick look, which is enough for nearly all texts."""
    return not text.isprintable() or PRINTABLE_HIDDEN.search(text) is not None


def is_invisible(character: str, previous: str = "") -> bool:
    """Whether *character* is invisible or changes how others are drawn; variation selectors of emoji don't count."""
    if character in VARIATION_SELECTORS:
        return not previous or previous.isalnum()
    return _is_hidden(character)


@lru_cache(KNOWN_CHARACTERS)
def _is_hidden(one: str) -> bool:
    return one in HIDDEN or unicodedata.category(one) in HIDDEN_CATEGORIES


def invisible_in(text: str) -> str:
    """Return the invisible characters of *text*, each once."""
    if not may_hide(text):
        return ""
    hidden = {*filter(_is_hidden, {*text}.difference(LAYOUT)), *HIDING_SELECTOR.findall(text)}
    return "".join(one for one in dict.fromkeys(text) if one in hidden) if hidden else ""


def lookalikes(text: str) -> tuple[Lookalike, ...]:
    """Return everything misleading in *text*, each once; only the first MAX_WORDS words with mixed scripts.

    Each distinct character is checked once, since a card may have a thousand texts of thousands of characters.
    """
    if not MAY_MISLEAD.search(text):
        return ()
    place = authority(text)
    host = place.host if place is not None else _bare_host(text)
    written = unicode_form(host) if "xn--" in host else ""
    found = list(_letter_lookalikes(text[:MAX_CHARACTERS], but=written))
    if written:
        found.insert(0, Lookalike(LookalikeKind.FOREIGN_HOST, written, host, scripts_of(written.rpartition(".")[0])))
    if place is not None and place.user_info:
        found.insert(0, Lookalike(LookalikeKind.USER_INFO, text[: place.end], host))
    return tuple(dict.fromkeys(found))


def _bare_host(text: str) -> str:
    """Return the host in *text*, a host or an email, if it is not plain ASCII; else empty."""
    if (text.isascii() and "xn--" not in text) or (bare := BARE_HOST.fullmatch(text)) is None:
        return ""
    place = authority(f"https://{bare[1]}")
    return place.host if place is not None else ""


def _letter_lookalikes(text: str, but: str) -> Iterator[Lookalike]:
    if text.isascii() and text.isprintable():
        return
    if hidden := invisible_in(text):
        yield Lookalike(LookalikeKind.INVISIBLE, hidden)
    if CONFUSABLE.isdisjoint(map(_script, text)):
        return
    confusable = {one for one in {*text} if _script(one) in CONFUSABLE}
    words = dict.fromkeys(WORD.findall(text))
    mixed = (
        word for word in words if not confusable.isdisjoint(word) and word not in but and len(scripts_of(word)) > 1
    )
    yield from (
        Lookalike(LookalikeKind.MIXED_SCRIPTS, each, scripts=scripts_of(each)) for each in islice(mixed, MAX_WORDS)
    )


def unicode_form(host: str) -> str:
    """Return *host* with each label that can be decoded from punycode in its own script."""
    return ".".join(map(_label, host.split(".")))


def _label(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    try:
        return idna.decode(label)
    except (idna.IDNAError, UnicodeError):
        return label


def scripts_of(text: str) -> tuple[str, ...]:
    """Return the scripts of the letters in *text*, each once, in order, as they begin the letters' Unicode names."""
    return tuple(dict.fromkeys(filter(None, map(_script, text))))


@lru_cache(KNOWN_CHARACTERS)
def _script(one: str) -> str:
    """Return the script of a letter; empty for any other character."""
    is_letter = unicodedata.category(one).startswith("L")
    return unicodedata.name(one, "OTHER").partition(" ")[0] if is_letter else ""
