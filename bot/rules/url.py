"""A URL as a browser would send it, the three texts that conditions look at, and where a URL leads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Self

import ada_url

SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
HOST: Final = re.compile(r"[.:]|^localhost$", re.IGNORECASE)
"""What a host has that is not just a word."""
SENT: Final = frozenset({"http:", "https:", "ws:", "wss:"})
MAX_URL_LENGTH: Final = 64 * 1024
"""Characters of an address; browsers and servers stop far below."""


class NoAddress(ValueError):
    """A text that no browser would send anywhere."""


@dataclass(frozen=True, slots=True)
class Address:
    """*full* is the whole address without its fragment, which is never sent; *host* has the port if it is not the default."""

    full: str
    host: str
    path: str

    @classmethod
    def of(cls, text: str) -> Self:
        """The address that *text* is, normalised by the rules of the web; raises NoAddress."""
        wanted = text.strip()
        if not wanted or len(wanted) > MAX_URL_LENGTH:
            raise NoAddress("no address" if not wanted else "too long for an address")
        if not SCHEME.match(wanted):
            wanted = f"https://{wanted}"
        try:
            url = ada_url.URL(wanted)
        except (ValueError, UnicodeError) as error:
            raise NoAddress("not an address") from error
        if url.protocol not in SENT or not url.host:
            raise NoAddress("not an address that a browser loads")
        return cls(url.href.partition("#")[0], url.host, url.pathname)

    @classmethod
    def typed(cls, text: str) -> Self:
        """The address that somebody means who types *text*, with or without a scheme; raises NoAddress.

        Stricter than `of`: a single word, a path or a mail address is more likely a slip than a host.
        """
        wanted = text.strip()
        host, slash, _ = wanted.removeprefix("//").partition("/")
        if not SCHEME.match(wanted) and ("@" in host or not (host and (slash or HOST.search(host)))):
            raise NoAddress("not an address")
        return cls.of(f"https:{wanted}" if wanted.startswith("//") else wanted)

    def subject(self, key: str | None) -> str | None:
        """The text that a condition on *key* looks at; None for a key that no engine knows."""
        return {"Url": self.full, "host": self.host, "path": self.path}.get(key or "")


def is_address(text: str) -> bool:
    """Whether *text* is a whole address, its scheme included."""
    if not SCHEME.match(text.strip()):
        return False
    try:
        Address.of(text)
    except NoAddress:
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
