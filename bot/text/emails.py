"""Validate emails, and find and mask them in texts, in time linear in the length of the text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from bot.text.lookalikes import invisible_in

AT: Final = re.compile(r"[@＠﹫]|%40")
"""The ``@`` of an email, also in full width and percent-encoded."""
LOCAL: Final = re.compile(r"[^\s()<>\[\]:;,\"@＠﹫]+")
"""The local part, matched from right to left: mail allows nearly every character, in any script."""
DOMAIN: Final = re.compile(
    r"[\w\u0300-\u036f\u00ad\u200b-\u200f\u2060-\u2064\ufeff-]+"
    r"(?:[.。．｡]+[\w\u0300-\u036f\u00ad\u200b-\u200f\u2060-\u2064\ufeff-]+)+"
)
"""The domain, also with combining accents, invisible characters, and the dots of other scripts."""
USUAL: Final = re.compile(r"[\w.+%'-]+")
"""The usual characters of a local part, from right to left: ``to=`` of ``to=anna@example.com`` is hardly a part of it."""
HOST: Final = re.compile(r"[\w-]+(?:\.[\w-]+)+")
LETTER: Final = re.compile(r"\w")
MAX_EMAIL: Final = 320
"""Characters of an email: 64, the ``@``, and 255."""
MAX_QUOTED_LOCAL: Final = 66
"""Characters of ``"anna berg"`` in ``"anna berg"@example.com``, with the quotes."""


def mask_email(email: str) -> str:
    """Mask the email for a channel: ``a***@example.com``."""
    local, at, domain = email.rpartition("@")
    return f"{local[:1]}***@{domain}" if at else f"{email[:1]}***"


def mask_emails(text: str, limit: int | None = None) -> str:
    """Mask every email in *text*, or in its first *limit* characters: in doubt, too much rather than too little.

    An email that the limit cuts through is masked completely.
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
    """The text is not an email; the message says why, for people. *name*: the text, if it may be somebody's name."""

    def __init__(self, why: str, name: str = "") -> None:
        super().__init__(why)
        self.name = name


def checked_email(text: str) -> str:
    """Return *text* without surrounding space; raises BadEmail. Case is preserved, since services may distinguish it."""
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
"""Quotation marks that programs and people use."""


def checked_new_email(text: str) -> str:
    """Check an email that is to be stored as `checked_email` does, and refuse a quotation mark at its start; raises BadEmail."""
    email = checked_email(text)
    if email[0] in QUOTES:
        raise BadEmail(f"It begins with a quotation mark ({email[0]}). Remove that.")
    return email


def emails_in(text: str) -> list[str]:
    """Return the emails in *text*, each once, in the form for a lookup.

    Combining accents and invisible characters are kept, since without them it would be another email.
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
    """Return the end of *local* that is likely the email's: in a sentence or a setting, other text may precede it."""
    usual = USUAL.match(local[::-1])
    return (usual[0][::-1].lstrip("'.") if usual else "") or local


def _places(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield the start of each email, and the start and end of its ``@``.

    Each search goes from one ``@`` to the next at most, so no character is read more than twice.
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
    """Return the start of a quoted local part that ends at *at*; *at* where there is none."""
    start = text.rfind('"', max(0, at - MAX_QUOTED_LOCAL), at - 1) if text[at - 1 : at] == '"' else -1
    return at if start < 0 else start
