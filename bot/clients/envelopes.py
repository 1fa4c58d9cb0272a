"""What the rules service wraps every answer in: ``success``, and ``data`` or a ``message``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

from bot.clients.errors import OutcomeUnknown, Unreadable, refusal
from bot.clients.http import Answer, Service
from bot.clients.parsing import parsed_gently

Document = dict[str, Any]

MOST_PAGES: Final = 5000
"""Pages after which a list is taken to go in circles: 150,000 records at 30 a page."""


async def pages(service: Service, name: str) -> AsyncIterator[list[Any]]:
    """A list, page by page. The specification has no pages; where a ``nextOffset`` comes, it is followed as it is."""
    query: dict[str, str] | None = None
    seen: set[str] = set()
    while True:
        document = await opened(service, await service.read(name, query=query))
        records = document.get("data")
        if not isinstance(records, list):
            raise Unreadable(service.name, "data is not a list")
        yield records
        offset = document.get("nextOffset")
        if offset is None or isinstance(offset, bool) or str(offset) in seen or len(seen) >= MOST_PAGES:
            return
        seen.add(str(offset))
        query = {"offset": str(offset)}


async def opened(service: Service, answer: Answer) -> Document:
    """The answer to a read. Raises Unreadable, or the Refusal that came under a 2xx status."""
    try:
        document = await parsed_gently(answer.body)
    except ValueError as error:
        raise Unreadable(service.name, f"no JSON: {error}") from error
    if not isinstance(document, dict):
        raise Unreadable(service.name, "the answer is no JSON object")
    if document.get("success") is False:
        raise refusal(service.name, answer.status, str(document.get("message") or ""))
    if document.get("success") is not True:
        raise Unreadable(service.name, "the answer does not say success")
    return document


async def sent(service: Service, method: str, *segments: str, body: Any = None) -> Document:
    """Send once. A 2xx answer counts only if it says ``success: true``; if it says false, nothing was done."""
    answer = await service.write(method, *segments, body=body)
    try:
        document = answer.document()
    except ValueError as error:
        raise OutcomeUnknown(service.name, f"unreadable answer: {error}") from error
    if isinstance(document, dict) and document.get("success") is False:
        raise refusal(service.name, answer.status, str(document.get("message") or ""))
    if not isinstance(document, dict) or document.get("success") is not True:
        raise OutcomeUnknown(service.name, "the answer does not say success")
    return document
