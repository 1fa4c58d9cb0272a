"""Hosts as policies and freezes name them, and those whose URLs a rule may match."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

from bot.rules.url import authority

ANY_HOST: Final = "*"
"""The host of a source that may match URLs of any host."""
PREFIX_OPERATORS: Final = frozenset({"equals", "wildcard_matches"})
"""Operators with which a source states the beginning of the URLs that it matches."""


def host_pattern(text: str) -> str:
    """Return *text*, a host or ``*.example.com`` for all below one, as browsers write it.

    Raises ValueError, with words for the authors of policies.
    """
    star, name = ("*.", text[2:]) if text.startswith("*.") else ("", text)
    if text == ANY_HOST:
        return text
    if "*" in name:
        raise ValueError(f"“{text[:60]}” has a wildcard in its middle: write *.example.com for all hosts below one")
    found = authority(f"https://{name}") if name and not set(name) & set(":/?#@\\ ") else None
    if found is None:
        raise ValueError(f"“{text[:60]}” is not a host: write its name alone, such as shop.example.com, without a port")
    return star + found.host.rstrip(".")


def touched_hosts(rule: Mapping[str, Any]) -> frozenset[str]:
    """Return the hosts whose URLs *rule*, as its service has it, may match; ANY_HOST where a source doesn't tell."""
    pairs = rule.get("pairs")
    # A rule without pairs may match anything.
    return frozenset(map(_host, pairs if isinstance(pairs, list) and pairs else [None]))


def may_match(host: str, patterns: Iterable[str]) -> bool:
    """Whether *host*, one of `touched_hosts`, is or may be one that *patterns* name."""
    return host == ANY_HOST or matches_any(host, patterns)


def matches_any(name: str, patterns: Iterable[str]) -> bool:
    """Whether *name* fits one of *patterns*, such as ``*.example.com``; case doesn't matter."""
    return any(fnmatchcase(name.casefold(), pattern.casefold()) for pattern in patterns)


def _host(pair: Any) -> str:
    """Return the only host that a pair can match, without its port; ANY_HOST where it may match several."""
    source = pair.get("source") if isinstance(pair, dict) else None
    if not isinstance(source, dict):
        return ANY_HOST
    key, operator, value = (str(source.get(name) or "") for name in ("key", "operator", "value"))
    url = {"url": value, "host": f"https://{value}"}.get(key.casefold(), "")
    found = authority(url) if operator.casefold() in PREFIX_OPERATORS else None
    # What a wildcard before its path stands for may hold another host.
    return ANY_HOST if found is None or "*" in url[: found.end] else re.sub(r":\d+$", "", found.host).rstrip(".")
