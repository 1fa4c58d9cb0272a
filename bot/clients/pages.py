"""One page of a list: its records, the query of the next page, and the fields beside them that aren't understood.

The pages of the real rules service are followed, and those that services of members mostly have. Services page in more ways
than anybody can list, so all others are told and not followed: any other field that isn't empty makes the list *perhaps cut*,
and people see its name. Where it says nothing about pages, an admin adds it to a setting.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from bot.clients.answer import Answer

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
OF_ANSWERS: Final = ("success",)
"""What stands beside every list of a specified service."""
TRANSPORT: Final = re.compile(
    r"accept-ranges|access-control-.*|age|allow|alt-svc|cache-control|connection|content-(?!range)[a-z-]*|cross-origin-.*"
    r"|date|etag|expires|keep-alive|last-modified|nel|permissions-policy|pragma|proxy-.*|(x-)?ratelimit-.*|referrer-policy"
    r"|report-to|reporting-endpoints|retry-after|server(-timing)?|strict-transport-security|transfer-encoding|upgrade|vary"
    r"|via|x-(content-type|frame)-options|x-(correlation|request)-id|x-powered-by|x-xss-protection"
)
"""Headers that HTTP, browsers and limits of requests define: none of them speaks of records. Any other may."""
FOREIGN: Final = re.compile(r"[^\w.-]", re.ASCII)
MAX_NAME_LENGTH: Final = 60


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its records, the query of the next one, and the total of records if the service states it."""

    records: list[Any]
    following: Query | None
    total: int | None
    unknown: Sequence[str] = ()
    """The names of fields and headers that may say that there are more records."""


def page_of(answer: Answer, document: Any, records: list[Any], *, ignored: frozenset[str] = frozenset()) -> Page:
    """Return the page in *answer*, of which *document* is the JSON and *records* is the list in it.

    *ignored*: names of fields and headers that are not about pages, in lower case; `cf-*` means all that begin so.
    """
    fields = {path: value for path, value in _fields(document, records) if not _is_ignored(path, ignored)}
    headers = {name: value for name, value in answer.headers.items() if not _is_ignored((name,), ignored)}
    named = {path[-1]: value for path, value in reversed(fields.items())}
    links = {} if _is_ignored(("Link",), ignored) else answer.links
    following = _next_query(named, links)
    total = _first_number(named, TOTALS)
    counted = headers.pop("x-total-count", "")
    if total is None and COUNT.fullmatch(counted):
        total = int(counted)
    is_last = following is None and not any(named.get(name) is False for name in MORE)
    many = len(records)
    unknown = [
        path for path, value in fields.items() if not _is_understood(path[-1], value, named, many, is_last=is_last)
    ]
    unknown += [(name,) for name in headers if not TRANSPORT.fullmatch(name)]
    unknown += [("Link", "next")] if "next" in links and not following else []
    return Page(records, following, total, [display_name(path) for path in unknown])


def _fields(document: Any, records: list[Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each field beside the *records*, with its path; those of NESTS one by one.

    A first or last record that has no field in common with the others is a note about the list.
    """
    names = _names_of(records[len(records) // 2]) if records else frozenset()
    notes = [each for each in (*records[:1], *records[-1:]) if names and names.isdisjoint(_names_of(each))]
    for name, value in [field for each in (document, *notes) if isinstance(each, dict) for field in each.items()]:
        if name in NESTS and isinstance(value, dict):
            yield from (((name, inner), each) for inner, each in value.items() if each is not records)
        elif value is not records:
            yield (name,), value


def _names_of(record: Any) -> frozenset[str]:
    return frozenset(record) if isinstance(record, dict) else frozenset()


def _is_understood(name: str, value: Any, fields: Mapping[str, Any], many: int, *, is_last: bool) -> bool:
    """Whether it is known that a field doesn't say that there are records which are not followed.

    *many*: the records on this page. *is_last*: nothing that is followed names a next page, and no flag says that there is none.
    """
    if value is None or value in ("", [], {}):
        return True
    if name in MORE or name in NEXT:
        return value is False or (not is_last and value == fields[name])
    if name in PAGES:
        return not is_last or value == (_first_number(fields, NUMBERS) or 1)
    if name in TOTALS:
        return value == _first_number(fields, [name]) and bool(value >= many)
    if name in NUMBERS:  # alone, it says that there are pages, and not how many
        return value == _first_number(fields, [name]) and any(
            each in fields for each in (*TOTALS, *PAGES, *MORE, *NEXT)
        )
    return name in OF_ANSWERS


def _next_query(fields: Mapping[str, Any], links: Mapping[str, str]) -> Query | None:
    """Return the query of the next page; None where there is none. Of a URL only the query is used: nothing is sent there."""
    if any(fields.get(name) is False for name in MORE):  # whatever position is named beside it is that of this page
        return None
    for name, parameter in NEXT.items():
        if (value := _token(fields.get(name))) is not None:
            return {parameter: value}
    if "next" in links:
        return _query_of(links["next"])
    number, last = _first_number(fields, NUMBERS), _first_number(fields, PAGES)
    more = number < last if number and last else any(fields.get(name) is True for name in MORE)
    return {"page": str(number + 1)} if number and more else None


def _query_of(url: str) -> Query | None:
    try:
        return dict(parse_qsl(urlsplit(url).query)) or None
    except ValueError:
        return None


def _token(value: Any) -> str | None:
    """Return a position in a list, a number or a text that is neither empty nor a URL, as text; None for anything else."""
    is_place = isinstance(value, int | str) and not isinstance(value, bool) and value != ""
    return str(value) if is_place and not str(value).startswith(("http", "/", "?")) else None


def _first_number(fields: Mapping[str, Any], names: Iterable[str]) -> int | None:
    found = (fields.get(name) for name in names)
    return next((each for each in found if isinstance(each, int) and not isinstance(each, bool) and each >= 0), None)


def _is_ignored(path: Sequence[str], ignored: frozenset[str]) -> bool:
    """Whether the admin has set that the field at *path*, or the object that it is in, is not about pages."""
    names = {display_name(path).lower(), ".".join(path).lower(), path[0].lower()}
    return any(fnmatchcase(name, each) for name in names for each in ignored)


def display_name(path: Sequence[str]) -> str:
    """Return *path* as one name that is safe to show to people, since its parts come from the service."""
    return FOREIGN.sub("", ".".join(path))[-MAX_NAME_LENGTH:].strip(".") or "(unnamed)"
