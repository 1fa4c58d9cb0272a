"""Emails: whether a text is one, where they are in running text, and the text without them, in time that grows with it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from bot.text.lookalikes import invisible_in

AT: Final = re.compile(r"[@＠﹫]|%40")
"""The sign in the middle, as people, wide keyboards and URLs write it."""
LOCAL: Final = re.compile(r"[^\s()<>\[\]:;,\"@＠﹫]+")
"""What may come before it, read from right to left: mail allows nearly everything, in any script."""
DOMAIN: Final = re.compile(
    r"[\w\u0300-\u036f\u00ad\u200b-\u200f\u2060-\u2064\ufeff-]+"
    r"(?:[.。．｡]+[\w\u0300-\u036f\u00ad\u200b-\u200f\u2060-\u2064\ufeff-]+)+"
)
"""What comes after it, also with accents of their own, characters that nobody sees, and the dots of other scripts."""
USUAL: Final = re.compile(r"[\w.+%'-]+")
"""What people's emails are made of, from right to left: in ``to=anna@example.com``, ``to=`` is hardly a part of it."""
HOST: Final = re.compile(r"[\w-]+(?:\.[\w-]+)+")
LETTER: Final = re.compile(r"\w")
MAX_EMAIL: Final = 320
"""Characters of an email: 64, the sign, and 255."""
MAX_QUOTED_LOCAL: Final = 66
"""Characters of ``"anna berg"`` in ``"anna berg"@example.com``, with the quotes."""


def mask_email(email: str) -> str:
    """Mask the email for a channel: ``a***@example.com``."""
    local, at, domain = email.rpartition("@")
    return f"{local[:1]}***@{domain}" if at else f"{email[:1]}***"


def mask_emails(text: str, limit: int | None = None) -> str:
    """Mask every email in *text*, or in its first *limit* characters: rather too much than too little.

    An email that the limit cuts through is masked as a whole.
    """
    limit = len(text) if limit is None else limit
    shown, done = [], 0
    for start, at, after in _places(text[: limit + MAX_EMAIL]):
        if start >= limit:
            break
        letter = LETTER.search(text, start, at)
        first = letter.start() if letter else start
        shown += [text[done:first], letter[0] if letter else "", "***@"]
        done = after
    return "".join([*shown, text[done:limit]])


class BadEmail(ValueError):
    """Not an email; the text says why, for people. *name*: what was written, where it may be somebody's name."""

    def __init__(self, why: str, name: str = "") -> None:
        super().__init__(why)
        self.name = name


def checked_email(text: str) -> str:
    """*text* as typed, less surrounding space; raises BadEmail. The spelling is kept: services may tell cases apart."""
    email = text.strip()
    if len(email) > MAX_EMAIL:
        raise BadEmail(f"It has {len(email):,} characters. An email has at most 254.")
    if hidden := invisible_in(text):
        raise BadEmail(
            f"It contains an invisible character (U+{ord(hidden[0]):04X}). Type it instead of pasting it."
            " A member who is stored with it can only be changed in the service itself."
        )
    from email_validator import EmailNotValidError, validate_email  # noqa: PLC0415  its tables take long to build

    try:
        validate_email(email, check_deliverability=False, test_environment=True)
    except EmailNotValidError as error:
        name = "" if "@" in email else email
        raise BadEmail(str(error).replace("An email address must", "It must"), name) from error
    return email


QUOTES: Final = "'‘’‚‛“”„`´ˋ′"
"""Marks that programs and people put around what is quoted."""


def checked_new_email(text: str) -> str:
    """The same for one that is to be stored: what mail allows, but nobody has, is refused, too."""
    email = checked_email(text)
    if email[0] in QUOTES:
        raise BadEmail(f"It begins with a quotation mark ({email[0]}). Remove that.")
    return email


def emails_in(text: str) -> list[str]:
    """The emails in *text*, each once, as somebody would look them up.

    Accents of their own and what nobody sees stay in one: without them, it would be another one.
    """
    found: dict[str, None] = {}
    marks = [*invisible_in(text), *filter(unicodedata.combining, text)]
    seen = text.translate(dict.fromkeys(map(ord, marks), "x"))
    for start, at, after in _places(seen):
        host, local = HOST.match(seen, after), _likely_local(seen[start:at])
        if host is not None and seen[at] != "%" and LETTER.search(local):
            found[f"{text[at - len(local) : at]}@{text[after : host.end()]}"] = None
    return list(found)


def _likely_local(local: str) -> str:
    """Return the end of *local* that somebody means who writes it in a sentence or in a setting."""
    usual = USUAL.match(local[::-1])
    return (usual[0][::-1].lstrip("'.") if usual else "") or local


def _places(text: str) -> Iterator[tuple[int, int, int]]:
    """Where each email begins, where its sign does, and where that ends.

    Each way goes from one sign to the next one at most, so no character is looked at more than twice.
    """
    mirrored = ""
    done = sign_end = domain_end = 0
    for sign in AT.finditer(text):
        least, sign_end = sign_end, sign.end()
        domain = DOMAIN.match(text, sign_end)
        if domain is None:
            continue
        mirrored = mirrored or text[::-1]
        local = LOCAL.match(mirrored, len(text) - sign.start(), len(text) - least)
        start = sign.start() - len(local[0]) if local else max(done, _opening_quote(text, sign.start()))
        if start < domain_end < sign.start():
            start = domain_end
        if start < sign.start():
            yield start, sign.start(), sign_end
            done = sign_end
        domain_end = domain.end()


def _opening_quote(text: str, at: int) -> int:
    """Where a local part in quotes begins that ends at *at*; *at* where there is none."""
    start = text.rfind('"', max(0, at - MAX_QUOTED_LOCAL), at - 1) if text[at - 1 : at] == '"' else -1
    return at if start < 0 else start
