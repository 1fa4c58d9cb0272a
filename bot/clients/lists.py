"""Read a whole list of a service through all of its pages, and find out whether the end was reached."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, Final, Generic, TypeVar

from pydantic import ValidationError

from bot.clients.answer import LIMITED, Answer
from bot.clients.errors import (
    ClientError,
    NotFound,
    OutcomeUnknown,
    RateLimited,
    Refusal,
    Refused,
    Unauthorized,
    Unreadable,
    WrongAddress,
    refusal,
)
from bot.clients.gate import CallContext, Priority
from bot.clients.http import Service
from bot.clients.json_text import parse_large_json
from bot.clients.pages import Page, Query, display_name, page_of
from bot.members.model import Member, find_by_email
from bot.text.documents import without_choices
from bot.threads import FEW, run_uncollected

T = TypeVar("T")


SETTING: Final = "LIST_FIELDS_TO_IGNORE"
"""The setting that names the fields which are not about pages."""


MAX_NAMED_FIELDS: Final = 3
MAX_SIGNS: Final = 12
"""How many fields are named that may be about more records."""


@dataclass(frozen=True, slots=True)
class Gap:
    """How much of a list was read. *total*: its length as the service says; None where that is not more than *read*.

    *sign*: the names of fields and headers in the answer that may be about more records; empty where there are none.
    """

    read: int
    total: int | None = None
    sign: str = ""

    def __str__(self) -> str:
        """How many of how many: ``30 of 350``."""
        return f"{self.read:,} of {self.total:,}" if self.is_counted else f"{self.read:,}"

    @property
    def is_counted(self) -> bool:
        """Whether it is known how much is missing."""
        return self.total is not None

    def sentence(self, plural: str) -> str:
        """Return how much of a list of *plural* was read, as a sentence in plain text."""
        if self.is_counted:
            return f"Only {self} {plural} could be read."
        noun, were = (plural.removesuffix("s"), "was") if self.read == 1 else (plural, "were")
        if self.sign:
            return (
                f"{self} {noun} {were} read. There may be more: the answer has “{self.sign}”, which Gatehouse can’t follow. "
                f"If that isn’t about pages, your Gatehouse admin can add it to {SETTING}."
            )
        return f"Only part of the list could be read: {self} {noun}."


class Incomplete(ClientError):
    """Only a part of a list was read, and the rest might matter."""

    def __init__(self, service: str, gap: Gap) -> None:
        super().__init__(service, gap.sentence("records"))
        self.gap = gap


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """The items that were read of a list of *service*.

    Use `whole` to conclude anything from an item that is missing. Use `known` to conclude something from the items that
    are there, and show it together with the `gap`.
    """

    service: str
    known: list[T]
    gap: Gap | None = None
    """None where every record was read."""
    truncated: bool = False
    """Whether records were not received. Records that were received but can't be read make a gap, but no shorter list."""

    def whole(self) -> list[T]:
        """Return every item; raises Incomplete where some were not received."""
        if self.truncated and self.gap is not None:
            raise Incomplete(self.service, self.gap)
        return self.known


def member_in(listing: Listing[Member], email: str) -> Member | None:
    """Return the member with this *email*: in the exact spelling, or in the only other one; None where there is none.

    Raises Incomplete where the answer depends on members that were not received.
    """
    member = find_by_email(listing.known, email)
    if member is None or member.email != email.strip():
        listing.whole()
    return member


MAX_PAGES: Final = 5000
"""Pages after which reading stops with an error, since the list may have no end: 375,000 records of 75 a page."""
PAGE_SIZE: Final = "75"
"""The largest page that the real rules service returns; its default is 30 records."""


@dataclass(slots=True)
class Lists(Generic[T]):
    """One list of a service. *items* turns records into items: None for one that it can't read, nothing for another kind."""

    service: Service
    path: tuple[str, ...]
    opened: Callable[[Service, Answer], Awaitable[Any]]
    records: Callable[[Any], list[Any] | None]
    items: Callable[[Iterable[Any]], Iterator[T | None]]
    key_of: Callable[[T], str]
    slash: bool = False
    _takes_size: bool | None = None
    """Whether to ask for a page size: only once the service has shown that it pages like the real one. None: not known yet."""

    async def read(self, priority: Priority) -> Listing[T]:
        """Return each item once, as it was read last. A list that shrank during the read, which hides items, is read again."""
        first = await self._read_once(priority)
        return (await self._read_once(priority) if first.moved else first).listing(self.service.name)

    async def _read_once(self, priority: Priority) -> _Reading[T]:
        reading: _Reading[T] = _Reading()
        query: Query = {}
        for _ in range(MAX_PAGES):
            page = await self._page(query, priority)
            take = partial(reading.take, page, self.items, self.key_of)
            taken = take() if len(page.records) <= FEW else await run_uncollected(take)
            if not taken or page.following is None:
                return reading
            query = page.following
            if self._takes_size is None and "offset" in query:
                self._takes_size = True
        raise Unreadable(self.service.name, f"a list of more than {MAX_PAGES:,} pages")

    async def _page(self, query: Query, priority: Priority) -> Page:
        if not self._takes_size or not query.keys() <= {"offset"}:
            return await self._fetch_page(query, priority)
        try:
            return await self._fetch_page({**query, "pageSize": PAGE_SIZE}, priority)
        except (RateLimited, Unauthorized):
            raise
        except Refusal:
            self._takes_size = False
            return await self._fetch_page(query, priority)

    async def _fetch_page(self, query: Query, priority: Priority) -> Page:
        try:
            answer = await self.service.read(*self.path, priority=priority, query=query, slash=self.slash)
        except (NotFound, WrongAddress) as error:
            if str(error) == self.service.empty_text:
                return Page([], None, None)
            raise WrongAddress(self.service.name, str(error)) from error
        document = await self.opened(self.service, answer)
        records = self.records(document)
        if records is None:
            where = " in “data”" if self.records is records_of else ""
            raise Unreadable(self.service.name, f"JSON without a list of {self.path[-1]}{where}")
        return page_of(answer, document, records, ignored=self.service.not_about_pages)


@dataclass(slots=True)
class _Reading(Generic[T]):
    """The result of one pass through the pages."""

    known: dict[str, T] = field(default_factory=dict)
    count: int = 0
    unreadable: int = 0
    totals: list[int] = field(default_factory=list)
    is_at_end: bool = False
    doubled: set[str] = field(default_factory=set)
    """The keys that two records of one page share and that differ: neither of them is believed."""
    unknown: list[str] = field(default_factory=list)
    """The names of fields beside the records of any page that may be about more records."""

    def take(
        self, page: Page, items: Callable[[Iterable[Any]], Iterator[T | None]], key_of: Callable[[T], str]
    ) -> bool:
        """Add the *items* of a page; return whether any of them is new."""
        read = list(items(page.records))
        made = [(key_of(item), item) for item in read if item is not None]
        here: dict[str, T] = {}
        self.doubled |= {key for key, item in made if here.setdefault(key, item) != item}
        new = len(page.records) - sum(key in self.known for key, _ in made)
        self.known.update(made)
        self.unreadable += len(read) - len(made)
        self.count += new
        self.totals += [] if page.total is None else [page.total]
        self.is_at_end = page.following is None
        self.unknown += page.unknown
        return new > 0

    @property
    def shrank(self) -> bool:
        return any(then > now for then, now in pairwise(self.totals))

    @property
    def moved(self) -> bool:
        """Whether the list changed during the read so that items may be missing: each deletion shifts the rest by one place.

        Where it only grew, and all of it was read, none are missing.
        """
        return self.shrank or (len(set(self.totals)) > 1 and self.count < self.totals[-1])

    def listing(self, service: str) -> Listing[T]:
        """Return the listing; the length that the service states takes precedence over where its pages end."""
        reached = self.count >= self.totals[-1] if self.totals else self.is_at_end
        is_all_that_is_known = reached and not self.moved
        sign = ", ".join([*dict.fromkeys(self.unknown)][:MAX_SIGNS]) if is_all_that_is_known else ""
        truncated = bool(sign or self.doubled) or not is_all_that_is_known
        if not truncated and not self.unreadable:
            return Listing(service, list(self.known.values()))
        strangers = self.count - self.unreadable - len(self.known)
        total = max([self.count, *self.totals[-1:]]) - strangers
        known = [item for key, item in self.known.items() if key not in self.doubled]
        is_counted = total > len(known) and not sign
        return Listing(service, known, Gap(len(known), total if is_counted else None, sign), truncated)


Document = dict[str, Any]


def records_of(document: Document) -> list[Any] | None:
    """Return the list in an answer; None where it has none."""
    found = document.get("data")
    return found if isinstance(found, list) else None


async def read_json(service: Service, answer: Answer) -> Any:
    """Return the JSON of an answer to a read. Raises Unreadable, or a Refusal where a 2xx answer says ``success: false``."""
    try:
        document = await parse_large_json(answer.body)
    except ValueError as error:
        raise Unreadable(service.name, answer.describe(error)) from error
    try:
        _raise_refusal(service, answer, document, ("message",))
    except Refused as error:
        if LIMITED.search(str(error)):
            raise RateLimited(service.name, str(error), answer.status, answer.retry_after) from error
        raise
    return document


async def read_document(service: Service, answer: Answer) -> Document:
    """Return the JSON object of an answer to a read, from a service that says ``success: true`` in each answer.

    Raises Unreadable or a Refusal.
    """
    return _checked_success(service, await read_json(service, answer), Unreadable)


def _checked_success(service: Service, document: Any, error: type[ClientError]) -> Document:
    """Return *document*, the JSON of an answer; raises *error* where it isn't an object with ``success: true``."""
    if not isinstance(document, dict):
        raise error(service.name, "JSON that isn’t an object")
    if (success := document.get("success")) is not True:
        wrong = "is the text “true”" if success == "true" else "isn’t true" if "success" in document else "is missing"
        raise error(service.name, f"JSON in which “success” {wrong}")
    return document


async def json_of_write(service: Service, answer: Answer, *messages: str) -> Any:
    """Return the JSON of an answer to a write. Raises OutcomeUnknown, or a Refusal where it says ``success: false``.

    *messages*: the fields that may hold the reason.
    """
    try:
        document = await parse_large_json(answer.body)
    except ValueError as error:
        raise OutcomeUnknown(service.name, answer.describe(error)) from error
    _raise_refusal(service, answer, document, messages)
    return document


async def send_once(service: Service, method: str, *segments: str, context: CallContext, body: Any = None) -> Document:
    """Send a write once and return the JSON object of its answer; raises what `Service.write` raises.

    A 2xx answer counts only if it says ``success: true``; if it says false, nothing was done, or not all of it.
    """
    document = await json_of_write(
        service, await service.write(method, *segments, context=context, body=body), "message"
    )
    return _checked_success(service, document, OutcomeUnknown)


def name_fields(error: ValidationError) -> str:
    """Return the first fields of a record that are missing or wrong, each in quotes; empty where it isn’t an object."""
    found = dict.fromkeys(
        display_name([*map(str, place)]) for each in error.errors() if (place := without_choices(each["loc"]))
    )
    return ", ".join(f"“{name}”" for name in list(found)[:MAX_NAMED_FIELDS])


def _raise_refusal(service: Service, answer: Answer, document: Any, messages: Iterable[str]) -> None:
    if isinstance(document, dict) and document.get("success") is False:
        why = next((str(document[name]) for name in messages if document.get(name)), "")
        raise refusal(service.name, answer.status, service.redact(why))
