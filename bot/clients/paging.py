"""Lists of a service, read to their end in whatever kind of pages they come, and whether that end was reached.

The specifications show no pages. Those of the real rules service are documented; of the membership service nobody
says anything, so what is usual in services of this kind is followed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final, Generic, TypeVar
from urllib.parse import parse_qsl, urlsplit

from bot.clients.errors import NotFound, RateLimited, Refusal, Unauthorized, Unreadable
from bot.clients.http import Answer, Service
from bot.clients.listing import Gap, Listing
from bot.clients.parsing import gently, taken, update

T = TypeVar("T")
Query = dict[str, str]

MAX_PAGES: Final = 5000
"""Pages after which a list is taken to have no end: 375,000 records of 75 a page."""
PAGE_SIZE: Final = "75"
"""Records that the real rules service gives at most; it gives 30 where it is not asked."""

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


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its records, the query of the next one, and how many records there are in all, if that is said."""

    records: list[Any]
    following: Query | None
    total: int | None
    is_cut: bool
    """Whether more is promised, and not how to get it."""


def page_of(answer: Answer, document: Any, records: list[Any]) -> Page:
    """The page that *answer* holds, of which *document* is the JSON and *records* are the list in it."""
    fields = _fields(document)
    following = _following(fields, answer)
    total = _first_number(fields, TOTALS)
    more = any(fields.get(name) is True for name in MORE) or bool(answer.next_link)
    header = answer.total if answer.total.isascii() and answer.total.isdigit() else ""
    return Page(records, following, int(header[:15]) if header and total is None else total, more and following is None)


def _fields(document: Any) -> Mapping[str, Any]:
    if not isinstance(document, dict):
        return {}
    nested = [document[name] for name in NESTS if isinstance(document.get(name), dict)]
    return {name: value for each in (*nested, document) for name, value in each.items()}


def _following(fields: Mapping[str, Any], answer: Answer) -> Query | None:
    for name, parameter in NEXT.items():
        if (value := _token(fields.get(name))) is not None:
            return {parameter: value}
    if answer.next_link:
        return dict(parse_qsl(urlsplit(answer.next_link).query)) or None
    number, last = _first_number(fields, NUMBERS), _first_number(fields, PAGES)
    more = number < last if number and last else any(fields.get(name) is True for name in MORE)
    return {"page": str(number + 1)} if number and more else None


def _token(value: Any) -> str | None:
    """What stands for a place in a list: a number or a text that is not empty."""
    return str(value) if isinstance(value, int | str) and not isinstance(value, bool) and value != "" else None


def _first_number(fields: Mapping[str, Any], names: Iterable[str]) -> int | None:
    found = (fields.get(name) for name in names)
    return next((each for each in found if isinstance(each, int) and not isinstance(each, bool) and each >= 0), None)


@dataclass(slots=True)
class Lists(Generic[T]):
    """One list of a service. *items* makes records into items: None for what it cannot read, nothing for strangers."""

    service: Service
    path: tuple[str, ...]
    opened: Callable[[Answer], Awaitable[Any]]
    records: Callable[[Any], list[Any] | None]
    items: Callable[[Iterable[Any]], Iterator[T | None]]
    key_of: Callable[[T], str]
    slash: bool = False
    _takes_size: bool | None = None
    """Whether it may be asked for pages of a size: only where it showed that it has the pages of the real service."""

    async def read(self) -> Listing[T]:
        """Each item once, as it was read last; read again where the list became shorter under way, which hides items."""
        first = await self._read_once()
        return (await self._read_once() if first.moved else first).listing(self.service.name)

    async def _read_once(self) -> _Reading[T]:
        reading: _Reading[T] = _Reading()
        query: Query = {}
        for _ in range(MAX_PAGES):
            page = await self._page(query)
            number = len(page.records)
            items = await gently(self.items(taken(page.records)))
            if not await reading.take(page, number, items, self.key_of) or page.following is None:
                return reading
            query = page.following
            if self._takes_size is None and "offset" in query:
                self._takes_size = True
        raise Unreadable(self.service.name, f"its list has more than {MAX_PAGES:,} pages")

    async def _page(self, query: Query) -> Page:
        if not self._takes_size or not query.keys() <= {"offset"}:
            return await self._asked(query)
        try:
            return await self._asked({**query, "pageSize": PAGE_SIZE})
        except (NotFound, RateLimited, Unauthorized):
            raise
        except Refusal:
            self._takes_size = False
            return await self._asked(query)

    async def _asked(self, query: Query) -> Page:
        answer = await self.service.read(*self.path, query=query, slash=self.slash)
        document = await self.opened(answer)
        records = self.records(document)
        if records is None:
            raise Unreadable(self.service.name, "no list in the answer")
        return page_of(answer, document, records)


@dataclass(slots=True)
class _Reading(Generic[T]):
    """What one way through the pages brought."""

    known: dict[str, T] = field(default_factory=dict)
    count: int = 0
    unreadable: int = 0
    totals: list[int] = field(default_factory=list)
    is_at_end: bool = False
    is_cut: bool = False

    async def take(self, page: Page, number: int, items: list[T | None], key_of: Callable[[T], str]) -> bool:
        """Add a page of *number* records; return whether any of them is new."""
        read = [(key_of(item), item) for item in items if item is not None]
        new = number - sum(key in self.known for key, _ in read)
        await update(self.known, read)
        self.count += new
        self.unreadable += len(items) - len(read)
        self.totals += [] if page.total is None else [page.total]
        self.is_at_end, self.is_cut = page.following is None and not page.is_cut, page.is_cut
        return new > 0

    @property
    def shrank(self) -> bool:
        return any(then > now for then, now in pairwise(self.totals))

    @property
    def moved(self) -> bool:
        """Whether the list changed so that some of it may have slipped past: by one place for each that was deleted.

        Where it only grew, and all of it was read, nothing did.
        """
        return self.shrank or (len(set(self.totals)) > 1 and self.count < self.totals[-1])

    def listing(self, service: str) -> Listing[T]:
        """All that is known; what the service says of the length of its list counts for more than where it ends."""
        reached = self.count >= self.totals[-1] if self.totals else self.is_at_end
        truncated = self.moved or self.is_cut or not reached
        if not truncated and not self.unreadable:
            return Listing(service, list(self.known.values()))
        strangers = self.count - self.unreadable - len(self.known)
        total = max([self.count, *self.totals[-1:]]) - strangers
        gap = Gap(len(self.known), total if total > len(self.known) else None)
        return Listing(service, list(self.known.values()), gap, truncated)
