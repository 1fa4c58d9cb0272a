"""A URL as a browser would send it, the three texts that conditions look at, and where a URL leads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Self

import ada_url

SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
ONE_SLASH: Final = re.compile(r"^(https?|wss?):/(?!/)", re.IGNORECASE)
"""What people type in haste, and browsers take for two."""
HOST: Final = re.compile(r"[.:]|^localhost$", re.IGNORECASE)
"""What a host has that is not just a word."""
SENT: Final = frozenset({"http:", "https:", "ws:", "wss:"})
MAX_URL_LENGTH: Final = 64 * 1024
"""Characters of a URL; browsers and servers stop far below."""
KEYS: Final = ("Url", "host", "path")
"""What a condition may look at; see `Url.subject`."""


class NotAUrl(ValueError):
    """A text that no browser would send anywhere."""


@dataclass(frozen=True, slots=True)
class Url:
    """*full* is the whole URL without its fragment and without user and password, which are no part of what is requested;
    *host* has the port if it is not the default.
    """

    full: str
    host: str
    path: str

    @classmethod
    def of(cls, text: str) -> Self:
        """The URL that *text* is, normalised by the rules of the web; raises NotAUrl."""
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
    def as_written(cls, text: str) -> Self:
        """The URL that *text* is, kept as it is written, whatever its scheme; raises NotAUrl."""
        try:
            url = ada_url.URL(text)
        except (ValueError, UnicodeError) as error:
            raise NotAUrl("not a URL") from error
        return cls(text, url.host, url.pathname)

    @classmethod
    def from_typed(cls, text: str) -> Self:
        """Return the URL that somebody means who types *text*, with or without a scheme; raises NotAUrl.

        Stricter than `of`: a single word, a path or an email is more likely a slip than a host.
        """
        wanted = ONE_SLASH.sub(r"\1://", text.strip())
        host, slash, _ = wanted.removeprefix("//").partition("/")
        if not SCHEME.match(wanted) and ("@" in host or not (host and (slash or HOST.search(host)))):
            raise NotAUrl("not a URL")
        return cls.of(f"https:{wanted}" if wanted.startswith("//") else wanted)

    def subject(self, key: str | None) -> str | None:
        """The text that a condition on *key* looks at; None for a key that no engine knows."""
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


SPECIAL: Final = re.compile(
    r"[\x00-\x20]*(?:(?:https?|ftp|wss?):[/\\]*|([a-z*][a-z0-9+.-]*)://)[^/\\?#]*", re.IGNORECASE
)
"""A URL up to the end of its host and port, as browsers divide it."""


@dataclass(frozen=True, slots=True)
class Authority:
    """Where a URL leads. *host*: in ASCII, with a port that is not the default. *end*: where the path begins in the text."""

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
