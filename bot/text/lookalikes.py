"""Find misleading text: invisible characters, a user name before a URL's host, and letters of other scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import idna

from bot.rules.url import authority

HIDDEN: Final = re.compile(
    "["
    r"\0-\x1f\x7f-\x9f\u2028\u2029"  # controls and line separators
    r"\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f"  # formats
    r"\ud800-\uf8ff\U000f0000-\U0010ffff"  # surrogates and private use
    r"\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\uffa0"  # fillers, joiners, the empty braille pattern
    r"\ufe00-\ufe0f]"
    r"(?:(?<![\ufe00-\ufe0f])|(?<=\A.)|(?<=[^\W_].))"  # a variation selector only where no emoji or symbol stands before it
)
"""A character that is invisible, or changes how others are drawn."""
LAYOUT: Final = "\n\r\t"

LETTER: Final = r"[^\W\d_]"
LIKE_LATIN: Final = (
    r"[\u0370-\u058f\u10a0-\u10ff\u13a0-\u13ff\u1c80-\u1cbf\u1f00-\u1fff\u2c80-\u2d2f\ua4d0-\ua4ff\ua640-\ua69f"
    r"\uab70-\uabbf\uff21-\uff5a\U0001d400-\U0001d7ff]"
)
"""Scripts with letters that look like Latin ones: Greek, Cyrillic, Armenian, Cherokee and others, full width, mathematical."""
MIXED_WORD: Final = re.compile(rf"(?<!{LETTER})(?={LETTER}*[A-Za-z])(?={LETTER}*(?={LETTER}){LIKE_LATIN})")
"""The beginning of a word with letters of both. One expression: a card may have a thousand texts of thousands of words."""
BARE_HOST: Final = re.compile(r"(?:[^\s/@]{1,255}@)?([^\s/@:]{1,255}\.[^\s/@:]{1,255})")
MAY_MISLEAD: Final = re.compile(r"[^ -~]|@|%|xn--", re.IGNORECASE)
"""Every misleading text matches this: a non-ASCII or control character, a user name, an escape, or a host in punycode."""
MAX_CHARACTERS: Final = 20_000
"""Characters of one text that are checked; nobody reads a longer condition or script as a name."""


def invisible_in(text: str) -> str:
    """Return the invisible characters of *text*, each once."""
    return "".join(one for one in dict.fromkeys(HIDDEN.findall(text)) if one not in LAYOUT)


def lookalikes(text: str) -> Iterator[str]:
    """Yield a sentence about each thing in *text* that may mislead: a word is not quoted, for it may be part of an email."""
    if not MAY_MISLEAD.search(text):
        return
    place = authority(text)
    host = place.host if place is not None else _bare_host(text)
    if place is not None and place.user_info:
        yield f"the URL leads to {host}. What comes before the @ is a user name, not a host."
    if "xn--" in host:
        yield f"the host {host} is displayed as {unicode_form(host)}. Check that it is the one you mean."
    text = text[:MAX_CHARACTERS]
    if hidden := invisible_in(text):
        yield f"invisible characters ({' '.join(f'U+{ord(one):04X}' for one in hidden[:8])})."
    if "xn--" not in host and MIXED_WORD.search(text):
        yield "a word mixes Latin letters with those of another script, so it may look like another word."


def _bare_host(text: str) -> str:
    """Return the host in *text*, a host or an email, if it is not plain ASCII; else empty."""
    if (text.isascii() and "xn--" not in text) or (bare := BARE_HOST.fullmatch(text)) is None:
        return ""
    place = authority(f"https://{bare[1]}")
    return place.host if place is not None else ""


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
