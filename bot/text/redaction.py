"""Redact secrets in texts: passwords in URLs, and every known secret, also percent-encoded or decoded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final
from urllib.parse import quote, unquote

from bot.text.secrets import hide_unannounced, names_secret

MIN_SECRET_CHARACTERS: Final = 4
"""Characters of a secret that is redacted: shorter ones occur in every text."""


def _places(url: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the password in *url* and of its secret parameters; a password may have a slash or an ``@``."""
    host = url.find("//") + len("//")
    at = url.rfind("@", host)
    colon = url.find(":", host, max(at, host))
    if colon >= 0:
        yield colon + 1, at
    start = url.find("?", at if colon >= 0 else 0)
    for parameter in url[start:].split("&") if start >= 0 else ():
        name, equals, value = parameter.partition("=")
        if equals and names_secret(name):
            yield start + len(name) + 1, start + len(name) + 1 + len(value)
        start += len(parameter) + 1


def passwords_in(url: str) -> list[str]:
    """Return the password in *url*, and the values of its secret parameters."""
    return [url[start:end] for start, end in _places(url)]


def without_passwords(url: str) -> str:
    """Return *url* with ``***`` for its password and the values of its secret parameters, however short."""
    for start, end in reversed(list(_places(url))):
        url = url[:start] + "***" + url[end:]
    return url


def redactor(secrets: Iterable[str]) -> Callable[[str], str]:
    """Return a function that replaces each of *secrets*, and what else looks like one, with ``[secret]`` in a text."""
    values = {value for value in secrets if len(value) >= MIN_SECRET_CHARACTERS}
    spelled = {spelling for value in values for spelling in (value, quote(value, safe=""), unquote(value))}
    longest_first = sorted(spelled, key=len, reverse=True)

    def redact(text: str) -> str:
        for secret in longest_first:
            text = text.replace(secret, "[secret]")
        return hide_unannounced(text, lambda _: "[secret]")

    return redact
