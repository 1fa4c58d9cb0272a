"""URLs as a browser sends them, the three parts of them that conditions test, and the host that a text leads to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Self

import ada_url

SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
MISTYPED_SCHEME: Final = re.compile(r"^(https?|wss?)(?::/|//)(?!/)", re.IGNORECASE)
"""A scheme with one slash, or without its colon: no host is called “https”."""
HOST: Final = re.compile(r"[.:]|^localhost$", re.IGNORECASE)
"""Tells a host from a single word."""
SENT: Final = frozenset({"http:", "https:", "ws:", "wss:"})
MAX_URL_LENGTH: Final = 64 * 1024
"""Characters of a URL; browsers and servers accept far fewer."""
KEYS: Final = ("Url", "host", "path")
"""The parts of a URL that a condition may test; see `Url.subject`."""


class NotAUrl(ValueError):
    """A text that is not a URL which a browser can request."""


@dataclass(frozen=True, slots=True)
class Url:
    """A URL. *full*: the whole URL without fragment, user and password, which are not part of the request. *host*: with the
    port if it is not the default.
    """

    full: str
    host: str
    path: str

    @classmethod
    def of(cls, text: str) -> Self:
        """Parse *text* as a URL, by default https, and normalise it as browsers do; raises NotAUrl."""
        wanted = text.strip()
        if not wanted or len(wanted) > MAX_URL_LENGTH:
            raise NotAUrl("no URL" if not wanted else "too long for a URL")
        if not SCHEME.match(wanted):
            wanted = f"https://{wanted}"
        try:
            url = ada_url.URL(wanted)
        except (ValueError, UnicodeError) as error:
            raise NotAUrl("not a URL") from error
        if url.protocol not in SENT or not url.host:
            raise NotAUrl("not a URL that a browser loads")
        url.username = url.password = ""
        return cls(url.href.partition("#")[0], url.host, url.pathname)

    @classmethod
    def from_typed(cls, text: str) -> Self:
        """Parse *text* as a URL that a person typed, with or without a scheme; raises NotAUrl.

        Stricter than `of`: a single word, a path or an email is more likely a mistake than a host.
        """
        wanted = MISTYPED_SCHEME.sub(r"\1://", text.strip())
        host, slash, _ = wanted.removeprefix("//").partition("/")
        if not SCHEME.match(wanted) and ("@" in host or not (host and (slash or HOST.search(host)))):
            raise NotAUrl("not a URL")
        return cls.of(f"https:{wanted}" if wanted.startswith("//") else wanted)

    def subject(self, key: str | None) -> str | None:
        """Return the part of the URL that a condition on *key* tests; None for a key that no engine knows."""
        return {"Url": self.full, "host": self.host, "path": self.path}.get(key or "")


def is_url(text: str) -> bool:
    """Whether *text* is a whole URL, its scheme included."""
    if not SCHEME.match(text.strip()):
        return False
    try:
        Url.of(text)
    except NotAUrl:
        return False
    return True


@lru_cache(maxsize=4096)
def url_of(text: str) -> Url | None:
    """Parse *text* as a URL; None where it is not one. Cached, since a check parses the URLs of a rule many times."""
    try:
        return Url.of(text)
    except NotAUrl:
        return None


def absolute_url(text: str) -> Url | None:
    """Parse *text* as a URL; None where it has no scheme or is not a URL."""
    return url_of(text) if SCHEME.match(text) else None


def sent_text(key: str, value: str) -> str:
    """Return what a browser sends for *value* as the whole *key* part of a URL; empty where that is not a URL."""
    url = url_of(f"https://host{value}" if key == "path" else value)
    return (url.subject(key) or "") if url else ""


SPECIAL: Final = re.compile(
    r"[\x00-\x20]*(?:(?:https?|ftp|wss?):[/\\]*|([a-z*][a-z0-9+.-]*)://)[^/\\?#]*", re.IGNORECASE
)
"""A URL up to the end of its host and port, as browsers divide it."""


@dataclass(frozen=True, slots=True)
class Authority:
    """The host of a URL. *host*: in ASCII, with the port if it is not the default. *end*: the index in the text after it."""

    host: str
    user_info: bool
    """Whether a user name or a password comes before the host."""
    end: int


def authority(text: str) -> Authority | None:
    """Return the host that a browser would take from *text*, a whole URL or a wildcard such as ``*://shop.example/*``.

    None where *text* is no URL, or has no host that can be read.
    """
    if (found := SPECIAL.match(text)) is None:
        return None
    start = found[0] if found[1] is None else f"https://{found[0].partition('://')[2]}"
    try:
        url = ada_url.URL(f"{start}/")
    except (ValueError, UnicodeError):
        return None
    return Authority(url.host, bool(url.username or url.password), found.end()) if url.host else None
