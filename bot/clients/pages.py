"""One page of a list: its records, the query of the next page, and other signs of more records in the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.clients.answer import Answer
from bot.clients.page_signs import (
    NamedValue,
    Signs,
    is_ignored,
    is_url,
    parse_query,
    signs_of,
    values_beside,
    values_in_headers,
    words_of,
)

Query = dict[str, str]

COUNT: Final = re.compile(r"[0-9]{1,18}")
"""A number that a list may have records; Python reads none of thousands of digits."""

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
"""Objects in an answer that may hold the fields above."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its records, the query of the next one, and the total of records if the service states it."""

    records: list[Any]
    following: Query | None
    total: int | None
    signs: Signs | None = None
    """Other signs of more records; None where there is a next page."""
    errors: Sequence[str] = ()
    """The names of errors beside the records: the page may lack some, also where there is a next one."""


def page_of(
    answer: Answer,
    document: Any,
    records: list[Any],
    *,
    ignored: frozenset[str] = frozenset(),
    has_followed: bool = False,
) -> Page:
    """Return the page in *answer*, of which *document* is the JSON and *records* is the list in it.

    *ignored*: names of fields and headers that are not about pages, in lower case. *has_followed*: the page before
    named this one.
    """
    fields = _fields(document, ignored)
    links = {} if is_ignored(("Link",), ignored) else answer.links
    values = [
        *values_beside(document, records, ignored),
        *values_in_headers(answer.headers, ignored),
        *(NamedValue(("Link", rel), links[rel]) for rel in ("next", "last") if rel in links),
    ]
    number = _first_number(fields, NUMBERS) or 0
    signs = signs_of(values, size=len(records), page=number, has_followed=has_followed)
    following = _next_query(fields, links, is_flagged=signs.is_flagged) or _linked_query(values)
    total = _first_number(fields, TOTALS)
    counted = answer.headers.get("x-total-count", "")
    if total is None and not is_ignored(("X-Total-Count",), ignored) and COUNT.fullmatch(counted):
        total = int(counted)
    return Page(records, following, total, None if following else signs, signs.errors)


def _fields(document: Any, ignored: frozenset[str]) -> Mapping[str, Any]:
    if not isinstance(document, dict):
        return {}
    nested = [((name,), document[name]) for name in NESTS if isinstance(document.get(name), dict)]
    return {
        name: value
        for path, each in (*nested, ((), document))
        for name, value in each.items()
        if not is_ignored((*path, name), ignored) and not is_ignored(path, ignored)
    }


def _next_query(fields: Mapping[str, Any], links: Mapping[str, str], *, is_flagged: bool) -> Query | None:
    """Return the query of the next page; None where there is none. *is_flagged*: a flag says so, whatever position is named."""
    for name, parameter in () if is_flagged else NEXT.items():
        if (value := _token(fields.get(name))) is not None and not is_url(value):
            return {parameter: value}
    if "next" in links:
        return _query_of(links["next"])
    number, last = _first_number(fields, NUMBERS), _first_number(fields, PAGES)
    more = number < last if number and last else any(fields.get(name) is True for name in MORE)
    return {"page": str(number + 1)} if number and more else None


def _linked_query(values: Iterable[NamedValue]) -> Query | None:
    """Return the query of the next page where its URL is given. Nothing is sent to that foreign URL: only its query is used."""
    urls = (value for path, value in values if "next" in words_of(path) and isinstance(value, str) and is_url(value))
    return next(filter(None, map(_query_of, urls)), None)


def _query_of(url: str) -> Query | None:
    return dict(parse_query(url)) or None


def _token(value: Any) -> str | None:
    """Return a position in a list, a number or a text that is not empty, as text; None for anything else."""
    return str(value) if isinstance(value, int | str) and not isinstance(value, bool) and value != "" else None


def _first_number(fields: Mapping[str, Any], names: Iterable[str]) -> int | None:
    found = (fields.get(name) for name in names)
    return next((each for each in found if isinstance(each, int) and not isinstance(each, bool) and each >= 0), None)
