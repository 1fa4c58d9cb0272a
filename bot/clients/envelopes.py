"""What the rules service wraps every answer in: ``success``, and ``data`` or a ``message``."""

from __future__ import annotations

from typing import Any

from bot.clients.errors import OutcomeUnknown, Unreadable, refusal
from bot.clients.http import Answer, Service
from bot.clients.parsing import parsed_gently

Document = dict[str, Any]


def records(document: Document) -> list[Any] | None:
    """The list in an answer; None where it holds none."""
    found = document.get("data")
    return found if isinstance(found, list) else None


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
