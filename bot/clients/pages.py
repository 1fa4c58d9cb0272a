"""One page of a list: its records, how the next one is asked for, and whatever else in the answer speaks of more.

Services page in more ways than anybody can list. So nothing that could speak of more records is taken for harmless: what
is not understood makes the list *perhaps cut*, and is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from bot.clients.http import Answer

Query = dict[str, str]

NEXT: Final = {
    "nextOffset": "offset",
    "next_offset": "offset",
    "nextCursor": "cursor",
    "next_cursor": "cursor",
    "nextPage": "page",
    "next_page": "page",
}
"""Fields that name the next page -> the query parameter that asks for it."""
NUMBERS: Final = ("page", "currentPage", "current_page")
PAGES: Final = ("totalPages", "total_pages")
MORE: Final = ("hasMore", "has_more")
TOTALS: Final = ("total", "totalCount", "total_count")
NESTS: Final = ("data", "pagination", "paging", "meta", "response_metadata")
"""Objects in an answer in which the fields above may stand."""

PLACES: Final = frozenset({"cursor", "token", "continuation"})
"""Words in the name of a field that holds a place in the list: that of this page, or of the next one."""
PROMISES: Final = PLACES | {"next", "more", "truncated", "partial"}
"""Words in the name of a field or header that promise more, whatever its value, unless that is empty."""
COUNTS: Final = frozenset({"total", "totals", "count", "range"})
"""The same for a number of records, such as ``120`` and ``items 0-49/120``."""
COUNTED_PAGES: Final = (frozenset({"pages"}), frozenset({"page", "count"}), frozenset({"last", "page"}))
"""The same for a number of pages: all of these words."""
LIMITS: Final = (frozenset({"limit"}), frozenset({"page", "size"}), frozenset({"per", "page"}))
"""Exactly these: how many records a page has at most."""
WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
AT_THE_END: Final = re.compile(r"(?:^|/)(\d{1,15})$")
FOREIGN: Final = re.compile(r"[^\w.-]", re.ASCII)
DEEPEST, MOST_LINKS, LONGEST_NAME = 6, 50, 60
"""How deep in an answer, and how far into each of its lists beside that of the records, such fields are looked for, and
how much of their names."""

Said: TypeAlias = tuple[tuple[str, ...], Any]
"""A value of an answer, and the names that lead to it."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its records, the query of the next one, and how many records there are in all, if that is said."""

    records: list[Any]
    following: Query | None
    total: int | None
    signs: Signs | None = None
    """What else speaks of more; None where there is a next page."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What the last page says of more records, by the names in the answer."""

    promises: Sequence[str] = ()
    """What says that there is more, but not how to get it."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """Numbers that may be those of all records, since their names say *total* or *count*."""
    limits: Sequence[str] = ()
    """What says that a page holds no more records than this one has."""

    def unmet(self, read: int, *, is_counted: bool) -> str:
        """The name of what says that *read* records may not be all; empty where nothing does.

        *is_counted*: the service said how many there are, and so many were read.
        """
        missing = (name for name, many in self.counts.items() if many > read)
        full = () if is_counted else self.limits
        return next(iter((*self.promises, *missing, *full)), "")


def page_of(answer: Answer, document: Any, records: list[Any]) -> Page:
    """The page that *answer* holds, of which *document* is the JSON and *records* are the list in it."""
    fields = _fields(document)
    said = [*_said(document, records), *(((name,), value) for name, value in answer.headers.items())]
    following = _following(fields, answer) or _linked(said)
    total = _first_number(fields, TOTALS)
    total = _number(answer.headers.get("x-total-count")) if total is None else total
    return Page(records, following, total, None if following else _signs(said, fields, answer, len(records)))


def _fields(document: Any) -> Mapping[str, Any]:
    if not isinstance(document, dict):
        return {}
    nested = [document[name] for name in NESTS if isinstance(document.get(name), dict)]
    return {name: value for each in (*nested, document) for name, value in each.items()}


def _following(fields: Mapping[str, Any], answer: Answer) -> Query | None:
    for name, parameter in NEXT.items():
        if (value := _token(fields.get(name))) is not None and not _is_url(value):
            return {parameter: value}
    if answer.next_link:
        return _query_of(answer.next_link)
    number, last = _first_number(fields, NUMBERS), _first_number(fields, PAGES)
    more = number < last if number and last else any(fields.get(name) is True for name in MORE)
    return {"page": str(number + 1)} if number and more else None


def _linked(said: Iterable[Said]) -> Query | None:
    """The query of the next page where its URL is said. The URL is foreign: nothing is sent there, only its query is used."""
    urls = (value for path, value in said if "next" in _words(path) and isinstance(value, str) and _is_url(value))
    return next(filter(None, map(_query_of, urls)), None)


def _query_of(url: str) -> Query | None:
    return dict(parse_qsl(urlsplit(url).query)) or None


def _is_url(text: str) -> bool:
    return text.startswith(("http://", "https://", "/", "?"))


def _token(value: Any) -> str | None:
    """What stands for a place in a list: a number or a text that is not empty."""
    return str(value) if isinstance(value, int | str) and not isinstance(value, bool) and value != "" else None


def _first_number(fields: Mapping[str, Any], names: Iterable[str]) -> int | None:
    found = (fields.get(name) for name in names)
    return next((each for each in found if isinstance(each, int) and not isinstance(each, bool) and each >= 0), None)


def _number(value: Any) -> int | None:
    """The number that *value* is or ends in, such as 120 of ``120`` and of ``items 0-49/120``."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if value >= 0 else None
    match = AT_THE_END.search(value.strip()) if isinstance(value, str) and value.isascii() else None
    return int(match[1]) if match else None


def _said(value: Any, records: list[Any], path: tuple[str, ...] = ()) -> Iterator[Said]:
    """Every value in an answer beside the *records*, with the names that lead to it. Of a list of links, each by its ``rel``."""
    if value is records or len(path) > DEEPEST:
        return
    if isinstance(value, dict):
        for name, part in value.items():
            rel = value.get("rel") if name == "href" else None
            yield from _said(part, records, (*path, rel if isinstance(rel, str) else name))
    elif isinstance(value, list):
        for part in value[:MOST_LINKS]:
            if isinstance(part, dict):
                yield from _said(part, records, path)
    elif path:
        yield path, value


def _signs(said: Iterable[Said], fields: Mapping[str, Any], answer: Answer, size: int) -> Signs:
    """What of all that is *said* speaks of more than *size* records and is not known to be at its end."""
    promises, counts, limits = ["Link"] if answer.next_link else [], dict[str, int](), []
    number, has_place = _first_number(fields, NUMBERS), any(name in fields for name in NEXT)
    for path, value in said:
        if value in (None, False, "", 0, "0", "false"):
            continue
        name, words, many = _shown(path), _words(path), _number(value)
        if any(all_of <= words for all_of in COUNTED_PAGES):
            if many is None or many > max(1, number or 0):
                promises.append(name)
        elif words & (PROMISES - PLACES if has_place else PROMISES):
            promises.append(name)
        elif words & COUNTS:
            promises += [name] if many is None else []
            counts |= {} if many is None else {name: many}
        elif _words(path[-1:]) in LIMITS and many == size:
            limits.append(name)
    return Signs(promises, counts, limits)


def _words(path: Iterable[str]) -> frozenset[str]:
    return frozenset(word.lower() for name in path for word in WORD.findall(name[:LONGEST_NAME]))


def _shown(path: Sequence[str]) -> str:
    """The names of *path* as people may be shown them: they are foreign."""
    return FOREIGN.sub("", ".".join(path))[-LONGEST_NAME:]
