"""Every kind of paging that public services have: followed to the end, or told by name, and never taken for the whole."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.clients.http import Service
from bot.clients.lists import Incomplete
from bot.clients.members import MembersClient
from sandbox.slack.serving import serving

ALL, SIZE = 120, 50
LAST: Final = "nobody119@example.com"
Json = dict[str, Any]


@dataclass(frozen=True)
class Place:
    """Where a page is in the list. *base*: the address of the service."""

    base: str
    page: int
    records: list[Json]

    @property
    def start(self) -> int:
        return self.page * SIZE

    @property
    def pages(self) -> int:
        return -(-ALL // SIZE)

    @property
    def is_last(self) -> bool:
        return self.page + 1 >= self.pages

    def url(self, page: int) -> str | None:
        return f"{self.base}/?page={page + 1}" if page < self.pages else None


def mine(records: list[Json], **more: Any) -> Json:
    return {"items": records, **more}


Said = Json | list[Json] | tuple[Json | list[Json], Mapping[str, str]]
FOLLOWED: Final[dict[str, Callable[[Place], Said]]] = {
    "page and totalPages": lambda at: mine(at.records, page=at.page + 1, totalPages=at.pages),
    "nextPage": lambda at: mine(at.records, nextPage=None if at.is_last else at.page + 2),
    "DRF": lambda at: {"count": ALL, "next": at.url(at.page + 1), "previous": None, "results": at.records},
    "links.next": lambda at: mine(at.records, links={"self": at.url(at.page), "next": at.url(at.page + 1)}),
    "HAL": lambda at: mine(at.records, _links={} if at.is_last else {"next": {"href": at.url(at.page + 1)}}),
    "Laravel": lambda at: {"data": at.records, "next_page_url": at.url(at.page + 1), "per_page": SIZE},
    "a list of links": lambda at: mine(at.records, links=[{"rel": "next", "href": at.url(at.page + 1)}][at.is_last :]),
    "Link": lambda at: (at.records, {} if at.is_last else {"Link": f'<{at.url(at.page + 1)}>; rel="next"'}),
}
"""What says how to get the next page in a way that is understood."""
TOLD: Final[dict[str, Callable[[Place], Said]]] = {
    "nextPageToken": lambda at: mine(at.records, nextPageToken="abc"),
    "Ghost": lambda at: mine(at.records, meta={"pagination": {"page": 0, "limit": SIZE, "pages": 3, "total": ALL}}),
    "next: true": lambda at: mine(at.records, next=True),
    "pages from zero": lambda at: mine(at.records, page=0, totalPages=3),
    "offset, limit, count": lambda at: mine(at.records, offset=0, limit=SIZE, count=SIZE),
    "limit alone": lambda at: mine(at.records, limit=SIZE),
    "Content-Range": lambda at: (at.records, {"Content-Range": "items 0-49/120"}),
    "Content-Range, open": lambda at: (at.records, {"Content-Range": "items 0-49/*"}),
    "X-Total": lambda at: (at.records, {"X-Total": "120"}),
    "X-Next-Page": lambda at: (at.records, {"X-Next-Page": "2", "X-Page": "1"}),
    "total as text": lambda at: mine(at.records, total="120"),
    "total, deep": lambda at: {"members": at.records, "page": {"total": 120}},
    "truncated": lambda at: mine(at.records, truncated=True),
    "Stripe": lambda at: {"object": "list", "data": at.records, "has_more": True, "url": "/v1/members"},
    "S3": lambda at: mine(at.records, IsTruncated=True, NextContinuationToken="x"),
    "meta.total": lambda at: mine(at.records, meta={"total": 120}),
    "X-Total-Count": lambda at: (at.records, {"X-Total-Count": "120"}),
    "another host without a query": lambda at: mine(at.records, next="https://elsewhere.example/more"),
    "last_page": lambda at: mine(at.records, last_page=3),
}
"""What says that there is more, or may say so, in a way that is not followed: the first page is all that comes."""
WHOLE: Final[dict[str, Json]] = {
    "nothing": {},
    "all of the end": {"next": None, "hasMore": False, "nextPageToken": "", "truncated": False, "cursor": ""},
    "counts": {"total": 20, "count": "20", "totalPages": 1, "page": 1, "per_page": 50, "offset": 0},
    "links of this page": {"links": {"self": "/members/?page=1", "first": "/members/?page=1", "next": None}},
    "what is about something else": {"version": 3, "requestId": "abc", "took": 12, "status": "ok"},
    "a cursor of this page": {"cursor": "abc", "next_cursor": ""},
}


def member(number: int) -> Json:
    return {"name": f"Nobody {number}", "email": f"nobody{number}@example.com", "allowedSegments": ["free"]}


@pytest.fixture
async def answers() -> AsyncIterator[tuple[dict[str, Callable[[Place], Said]], Callable[[], MembersClient]]]:
    """A service that answers by what the first of these holds under ``say``, and a client of it."""
    say: dict[str, Callable[[Place], Said]] = {}

    async def answer(request: Request) -> Response:
        page = int(request.query_params.get("page", 1)) - 1
        records = [member(number) for number in range(ALL)][page * SIZE : (page + 1) * SIZE]
        said = say["say"](Place(str(request.base_url).rstrip("/"), page, records))
        body, headers = said if isinstance(said, tuple) else (said, {})
        return JSONResponse(body, headers=dict(headers))

    async with (
        serving(Starlette(routes=[Route("/{path:path}", answer)])) as url,
        Service("members", url, {}) as service,
    ):
        yield say, lambda: MembersClient(service, "site_1")


@pytest.mark.parametrize("kind", FOLLOWED)
async def test_what_is_understood_is_followed_to_the_end(answers: Any, kind: str) -> None:
    say, client = answers
    say["say"] = FOLLOWED[kind]

    listing = await client().all()

    assert (len(listing.whole()), listing.gap) == (ALL, None)


@pytest.mark.parametrize("kind", TOLD)
async def test_whatever_else_speaks_of_more_is_told_and_nothing_follows_from_what_was_read(
    answers: Any, kind: str
) -> None:
    say, client = answers
    say["say"] = lambda at: TOLD[kind](at) if at.page == 0 else mine([])

    listing = await client().all()

    assert len(listing.known) == SIZE
    with pytest.raises(Incomplete):
        listing.whole()
    assert listing.gap.is_counted or listing.gap.sign, listing.gap
    with pytest.raises(Incomplete):
        await client().find(LAST)


@pytest.mark.parametrize("kind", WHOLE)
async def test_a_list_is_whole_where_nothing_speaks_of_more(answers: Any, kind: str) -> None:
    say, client = answers
    say["say"] = lambda at: mine(at.records[:20], **WHOLE[kind])

    listing = await client().all()

    assert (len(listing.whole()), listing.gap) == (20, None)


async def test_what_speaks_of_more_is_named_without_what_is_not_a_name(answers: Any) -> None:
    say, client = answers
    say["say"] = lambda at: mine(at.records, **{"next<!channel>`": "x" * 500})

    listing = await client().all()

    assert listing.gap.sentence("members") == (
        "50 members were read. There may be more: the answer has “nextchannel”, which Gatehouse can’t follow."
    )
