"""The errors of calls to the services, as exceptions. Under a `Refusal`, the service clearly said no and did nothing."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import ClassVar, Final

MAX_SERVICE_TEXT: Final = 300
"""Characters of a service's own text that are kept: it is untrusted, and people see it."""
FORBIDDEN: Final = 403
NOT_FOUND: Final = 404
TOO_MANY: Final = 429
"""The HTTP status for too many requests."""
UNAVAILABLE: Final = 503
"""The HTTP status of a service that is down for a while; with ``Retry-After``, it asks for a pause. The services'
specifications don't say whether such a write was done, so its outcome is unknown."""
CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def shorten(text: str) -> str:
    """Return a service's *text* on one line, cut to MAX_SERVICE_TEXT characters."""
    return CONTROL.sub(" ", text[: 4 * MAX_SERVICE_TEXT]).strip()[:MAX_SERVICE_TEXT]


class ClientError(Exception):
    """A call to *service* failed; the text is for people."""

    code: ClassVar[str] = ""
    """Stored with a change that failed with this error: the name of the class, or its first name if it was renamed."""

    def __init_subclass__(cls) -> None:
        cls.code = vars(cls).get("code", cls.__name__)

    def __init__(self, service: str, text: str = "") -> None:
        super().__init__(shorten(text))
        self.service = service


class BadIdentifier(ClientError):
    """*value* is not valid as *what* (such as the id of a rule), so no path is built from it and nothing is sent."""

    def __init__(self, service: str, what: str, value: str) -> None:
        super().__init__(service, f"not {what}")
        self.what = what
        self.value = shorten(value)


class Unsendable(ClientError):
    """A request that Gatehouse can't send; the text is Gatehouse's own and says why."""


class Unreachable(ClientError):
    """The service was not reached: no byte of a write was sent, or a read failed or had no answer in time."""


class Failing(Unreachable):
    """A read was answered by an error of the service, or of a gateway in front of it: *status* is 500 or more."""

    def __init__(self, service: str, status: int) -> None:
        super().__init__(service, f"status {status}")
        self.status = status


class Unreadable(ClientError):
    """The answer to a read is not what the specification says; the text is Gatehouse's own and says what it was."""


class UnreadableRecord(Unreadable):
    """One record has a value that Gatehouse can't read; the text is Gatehouse's own and says which."""


class WrongAddress(Unreadable):
    """A 404 that says nothing about a record: for a list, which every service has, or not in the words of the service.

    The text is that of the answer, if it has one.
    """


class TooLarge(ClientError):
    """An answer has more decoded bytes, or more JSON values, than the limit."""


class OutcomeUnknown(ClientError):
    """A write was sent and had no clear answer, as the text says: only a read shows whether it was done."""


class Refusal(ClientError):
    """The service refused the request, so nothing changed. *status* is the HTTP status of the answer."""

    def __init__(self, service: str, text: str = "", status: int = 0) -> None:
        super().__init__(service, text)
        self.status = status


class NotFound(Refusal):
    """The rule or the member does not exist."""


class Unauthorized(Refusal):
    """The key does not allow it: the service has the same text for somebody else's rule and a wrong key."""


class InvalidPart(Refusal):
    """The group, the pairs or the type of the rule are refused."""


class InvalidPayload(Refusal):
    """The rule as a whole is invalid."""


class AlreadyExists(Refusal):
    """The member exists already."""


class Refused(Refusal):
    """A clear refusal that has no class of its own."""


class RateLimited(Refusal):
    """Too many requests, or the service is down for a while (*status* 503).

    *retry_after*: seconds to wait, None where the service did not say. *until*: when that ends, in seconds since 1970.
    """

    def __init__(
        self,
        service: str,
        text: str = "",
        status: int = 429,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(service, text, status)
        self.retry_after = retry_after
        self.until = None if retry_after is None else time.time() + retry_after


def _codes(kind: type[Refusal]) -> Iterator[str]:
    yield kind.code
    for narrower in kind.__subclasses__():
        yield from _codes(narrower)


REFUSALS: Final = frozenset(_codes(Refusal))
"""The codes of all refusals: only their text is the service's own."""
PERMANENT_CODES: Final = REFUSALS - {RateLimited.code} | {BadIdentifier.code, Unsendable.code}
"""The codes of the errors that don't go away when the same request is sent again."""

BY_MESSAGE: Final[dict[str, type[Refusal]]] = {
    "rule not found": NotFound,
    "unauthorized action": Unauthorized,
    "group not found": InvalidPart,
    "rule pairs are invalid": InvalidPart,
    "rule payload is invalid": InvalidPayload,
    "rule type update not allowed": InvalidPart,
}
"""The error texts of the rules service's specification, without case and final period; they take precedence over the status."""

BY_STATUS: Final[dict[int, type[Refusal]]] = {401: Unauthorized, 403: Unauthorized, 404: NotFound, 409: AlreadyExists}


def refusal(service: str, status: int, message: str) -> Refusal:
    """Return the exception for a clear refusal: chosen by its *message*, or else by its *status*."""
    words = shorten(message)
    kind = BY_MESSAGE.get(words.rstrip(".").casefold()) or BY_STATUS.get(status, Refused)
    return kind(service, words or f"status {status}", status)
