"""Every kind of paging that public services have: followed to the end, or told by name, and never taken for the whole."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.clients.answer import Answer
from bot.clients.http import Service
from bot.clients.lists import Gap, Incomplete
from bot.clients.members import MembersClient
from bot.clients.pages import MORE, NESTS, NEXT, NUMBERS, OF_ANSWERS, PAGES, TOTALS, page_of
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
    "Link": lambda at: (at.records, {} if at.is_last else {"Link": f'<{at.url(at.page + 1)}>; rel="next"'}),
}
"""What says how to get the next page in a way that is understood."""
WHOLE: Final[dict[str, Json]] = {
    "nothing": {},
    "all of the end": {"next": None, "hasMore": False, "nextPageToken": "", "next_cursor": "abc", "success": True},
    "counts": {"total": 20, "totalPages": 1, "page": 1, "nextPage": False},
}

URL: Final = "https://elsewhere.example/more"
PERHAPS_CUT: Final[tuple[Json, ...]] = (
    # What services that nobody here wrote say on their first page. A position of the page before is often empty.
    {"prevPageToken": None, "nextPageToken": "tok000050"},
    {"before_cursor": None, "after_cursor": "c00000032"},
    {"prevCursor": None, "cursor": "cur000050"},
    {"pageInfo": {"startCursor": None, "endCursor": "YXJyYXk6NTA"}},
    {"pageInfo": {"endCursor": "YXJyYXk6NTA", "hasNextPage": True}},
    {"since": None, "until": "16990550"},
    {"offset": None, "iterator": "it-0000050"},
    {"onboarding_complete": True, "next_cursor": "2"},
    {"import_finished": True, "upTo": "00000050x"},
    {"count": SIZE, "scannedCount": SIZE, "lastEvaluatedKey": {"email": {"S": "nobody49@example.com"}}},
    *({name: value} for name in ("hasNext", "more") for value in ("Y", 1)),
    {"eof": False},
    {"status": "partial"},
    {"message": "Showing 50 of 120 members"},
    {"summary": "1-50 out of 120"},
    {"links": [{"rel": "self", "href": "/m?offset=0"}, {"rel": "next", "href": "/m?offset=50"}]},
    {"pages": [1, 2, 3], "current": 1},
    {"meta": {"stats": {"members": 120}}},
    {"pending": [{"email": "else@example.com"}]},
    {"inactiveMembers": [{"email": "else@example.com"}]},
    {"request": {"limit": SIZE, "offset": 0}},
    {"query": {"take": SIZE, "skip": 0}},
    {"limit": SIZE},
    {"batch": "1/3"},
    {"progress": 0.41},
    {"error": "timed out", "hasMore": False},
    {"count": ALL, "next": f"{URL}?page=2", "previous": None},
    {"_links": {"next": {"href": URL}}},
    {"meta": {"pagination": {"page": 0, "limit": SIZE, "pages": 3, "total": ALL}}},
    {"object": "list", "has_more": True, "url": "/v1/members"},
    {"IsTruncated": True, "NextContinuationToken": "x"},
    # Names that are known, with values that aren't, or that contradict each other.
    *({"total": total} for total in ("120 members", "1,200", 120.0, [120], {"value": 120}, -1, True, 3)),
    {"total": SIZE, "meta": {"total": 120}},
    {"total": SIZE, "totalPages": 3},
    {"total": SIZE, "hasMore": True},
    {"hasMore": False, "meta": {"hasMore": True}},
    *({"hasMore": value} for value in (True, "false", 0, 1)),
    *({"page": value} for value in (1, "1/3", {"current": 1, "last": 3})),
    {"page": 0, "totalPages": 3},
    *({"nextPage": value} for value in (True, URL, 2.5, [2], {"number": 2})),
)
"""What stands beside the first 50 members of a service that has more."""
NOTES: Final[dict[str, Callable[[list[Json]], list[Json]]]] = {
    "before": lambda records: [{"_meta": {"total": ALL}}, *records],
    "behind": lambda records: [*records, {"more": True}],
}
HEADERS_OF_PART: Final = (
    {"Content-Range": "items 0-49/*"},
    {"X-Total-Count": "120"},
    {"Total": "120", "Per-Page": "50"},
    {"Total-Count": "120"},
    {"Pagination-Count": "120", "Pagination-Page": "1", "Pagination-Limit": "50"},
    {"X-WP-Total": "120"},
    {"X-Pagination": '{"TotalCount": 120, "PageSize": 50}'},
    {"Next-Page": "2"},
    {"Next-Cursor": "abc"},
    {"Link": "</page/2>; rel=next"},
    {"Warning": '199 - "partial result"'},
    {"X-Has-More": "true"},
    {"X-Cursor": "abc12345678"},
    {"x-ms-continuationtoken": "abc12345678"},
    {"x-unheard-of": "1"},
)
HEADERS_OF_HTTP: Final = (
    {"X-RateLimit-Limit": "100", "X-RateLimit-Remaining": "99"},
    {
        "Accept-Ranges": "bytes",
        "Keep-Alive": "timeout=5, max=1000",
        "ETag": '"7"',
        "Vary": "Origin",
        "X-Request-Id": "q",
    },
    {"Access-Control-Allow-Origin": "*", "Strict-Transport-Security": "max-age=1", "Content-Security-Policy": "none"},
)


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

        def client(ignored: Iterable[str] = ()) -> MembersClient:
            service.not_about_pages = frozenset(ignored)
            return MembersClient(service, "site_1")

        yield say, client


@pytest.mark.parametrize("kind", FOLLOWED)
async def test_what_is_understood_is_followed_to_the_end(answers: Any, kind: str) -> None:
    say, client = answers
    say["say"] = FOLLOWED[kind]

    listing = await client().all()

    assert (len(listing.whole()), listing.gap) == (ALL, None)


@pytest.mark.parametrize("kind", WHOLE)
async def test_a_list_is_whole_where_nothing_speaks_of_more(answers: Any, kind: str) -> None:
    say, client = answers
    say["say"] = lambda at: mine(at.records[:20], **WHOLE[kind])

    listing = await client().all()

    assert (len(listing.whole()), listing.gap) == (20, None)


@pytest.mark.parametrize(
    ("fields", "headers"), [*((each, {}) for each in PERHAPS_CUT), *(({}, each) for each in HEADERS_OF_PART)], ids=str
)
async def test_whatever_may_be_about_more_makes_the_list_perhaps_cut(
    answers: Any, fields: Json, headers: Mapping[str, str]
) -> None:
    say, client = answers
    say["say"] = lambda at: (mine(at.records) | fields, headers) if at.page == 0 else mine([])

    listing = await client().all()

    assert len(listing.known) == SIZE
    assert listing.gap.is_counted or listing.gap.sign or "next_cursor" in fields, listing.gap
    with pytest.raises(Incomplete):
        listing.whole()
    with pytest.raises(Incomplete):
        await client().find(LAST)


async def test_a_number_of_a_page_alone_asks_for_no_other(answers: Any) -> None:
    say, client = answers
    say["say"] = lambda at: mine(at.records, page=1) if at.page == 0 else pytest.fail("asked")

    assert len((await client().all()).known) == SIZE


@given(
    st.text().filter(lambda name: name not in {*NEXT, *NUMBERS, *PAGES, *MORE, *TOTALS, *OF_ANSWERS, *NESTS}),
    st.one_of(st.booleans(), st.integers(), st.text(min_size=1), st.lists(st.integers(), min_size=1)),
    st.sampled_from(["", "meta"]),
)
def test_any_other_field_is_told(name: str, value: Any, nest: str) -> None:
    fields = {nest: {name: value}} if nest else {name: value}

    page = page_of(Answer(200, b""), {**fields, "total": 1, "hasMore": False}, [member(1)])

    assert list(map(bool, page.unknown)) == [True]


@pytest.mark.parametrize("kind", NOTES)
async def test_a_note_among_the_records_is_no_member_and_counts(answers: Any, kind: str) -> None:
    say, client = answers
    say["say"] = lambda at: NOTES[kind](at.records) if at.page == 0 else []

    with pytest.raises(Incomplete):
        await client().find(LAST)


@pytest.mark.parametrize("page", range(3))
@pytest.mark.parametrize("kind", ["page and totalPages", "nextPage"])
async def test_an_error_beside_any_page_makes_the_list_perhaps_cut(answers: Any, kind: str, page: int) -> None:
    say, client = answers

    def with_error(at: Place) -> Said:
        said = FOLLOWED[kind](at)
        assert isinstance(said, dict)
        return said | {"error": "shard 3 timed out" if at.page == page else None}

    say["say"] = with_error

    listing = await client().all()

    assert (len(listing.known), listing.gap.sign) == (ALL, "error")
    with pytest.raises(Incomplete):
        listing.whole()
    assert (await client(["error"]).all()).gap is None


@pytest.mark.parametrize("rel", ["Next", "last next", "NEXT"])
async def test_a_link_is_followed_however_it_is_spelt(answers: Any, rel: str) -> None:
    say, client = answers
    say["say"] = lambda at: (at.records, {} if at.is_last else {"Link": f'<{at.url(at.page + 1)}>; rel="{rel}"'})

    assert len((await client().all()).whole()) == ALL


@pytest.mark.parametrize("headers", HEADERS_OF_HTTP, ids=str)
@pytest.mark.parametrize("many", [20, 0])
async def test_headers_of_http_make_no_list_cut(answers: Any, headers: Mapping[str, str], many: int) -> None:
    say, client = answers
    say["say"] = lambda at: (mine(at.records[:many]), headers)

    assert len((await client().all()).whole()) == many


@pytest.mark.parametrize(
    ("named", "fields", "headers"),
    [
        ("chairsleft", {"chairsLeft": 7}, {}),
        ("office", {"office": {"total": 7000, "nextParty": "Friday"}}, {}),
        ("total", {"total": 700}, {}),
        ("x-total", {}, {"X-Total": "700"}),
        ("x-total-count", {}, {"X-Total-Count": "700"}),
        ("link", {}, {"Link": "</page/2>; rel=next"}),
        ("cf-*", {}, {"CF-Ray": "q", "cf-cache-status": "DYNAMIC"}),
    ],
)
async def test_an_admin_can_say_that_a_field_is_not_about_pages(
    answers: Any, named: str, fields: Json, headers: Mapping[str, str]
) -> None:
    say, client = answers
    say["say"] = lambda at: (mine(at.records[:20]) | fields, headers)
    with pytest.raises(Incomplete):
        (await client().all()).whole()

    assert len((await client({named}).all()).whole()) == 20


async def test_what_speaks_of_more_is_named_without_what_is_not_a_name(answers: Any) -> None:
    say, client = answers
    say["say"] = lambda at: mine(at.records, **{"next<!channel>`": "x" * 500})

    listing = await client().all()

    assert listing.gap.sentence("members") == (
        "50 members were read. There may be more: the answer has “nextchannel”, which Gatehouse can’t follow. "
        "If that isn’t about pages, your Gatehouse admin can add it to LIST_FIELDS_TO_IGNORE."
    )


@pytest.mark.parametrize("gap", [Gap(1), Gap(1, sign="hasMore")], ids=str)
def test_one_record_is_one(gap: Gap) -> None:
    assert "1 member" in gap.sentence("members")
    assert not re.search("members|were", gap.sentence("members"))
