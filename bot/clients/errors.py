"""What a service can answer with, as exceptions: under `Refusal` those in which it clearly said no, and did nothing."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import ClassVar, Final

MAX_SERVICE_TEXT: Final = 300
"""Characters of a service's own text that are kept: it is foreign, and goes to people."""
TOO_MANY: Final = 429
"""An answer's status that says that there were too many requests."""
UNAVAILABLE: Final = 503
"""An answer's status that asks to be left alone for a while, where it says for how long. The services' specifications don't say
whether a write was done then, so nobody knows."""
CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


def shorten(text: str) -> str:
    """Return a service's *text* on one line, cut to MAX_SERVICE_TEXT characters."""
    return CONTROL.sub(" ", text[: 4 * MAX_SERVICE_TEXT]).strip()[:MAX_SERVICE_TEXT]


class ClientError(Exception):
    """Something about a call to *service*; the text is for people."""

    code: ClassVar[str] = ""
    """Stored with a change that was not done for this: the name of the class, or the one that it had at first."""

    def __init_subclass__(cls) -> None:
        cls.code = vars(cls).get("code", cls.__name__)

    def __init__(self, service: str, text: str = "") -> None:
        super().__init__(shorten(text))
        self.service = service


class BadIdentifier(ClientError):
    """*value* cannot be *what* in a path."""

    def __init__(self, service: str, what: str, value: str) -> None:
        super().__init__(service, f"not {what}")
        self.what = what
        self.value = shorten(value)


class Unsendable(ClientError):
    """We can't send this at all; the text is ours and says why."""


class Unreachable(ClientError):
    """The service was not reached: no byte of a write left, or a read had no answer in time."""


class Failing(Unreachable):
    """A read was answered by an error of the service, or of a gateway in front of it: *status* is 500 or more."""

    def __init__(self, service: str, status: int) -> None:
        super().__init__(service, f"status {status}")
        self.status = status


class Unreadable(ClientError):
    """A read was answered with something else than the specification says."""


class UnreadableRecord(Unreadable):
    """One record holds what we can't read; the text is ours and says what."""


class WrongAddress(Unreadable):
    """A 404 for a list, which every service has, or in the form of a web page, which the service doesn't send."""


class TooLarge(ClientError):
    """An answer was longer than the cap on decoded bytes."""


class OutcomeUnknown(ClientError):
    """A write was sent and had no clear answer: only reading tells whether it happened."""


class Refusal(ClientError):
    """The service said no, so nothing changed. *status* is the HTTP status it said it with."""

    def __init__(self, service: str, text: str = "", status: int = 0) -> None:
        super().__init__(service, text)
        self.status = status


class NotFound(Refusal):
    """The rule or the member does not exist."""


class Unauthorized(Refusal):
    """Not for this key: the same text for a foreign rule and a wrong key."""


class GroupNotFound(Refusal):
    """The group that the rule refers to does not exist."""


class InvalidPairs(Refusal):
    """The pairs do not match the schema of the rule's type."""


class InvalidPayload(Refusal):
    """The rule as a whole is invalid."""


class TypeChangeRefused(Refusal):
    """An update tried to change the type of a rule."""


class AlreadyExists(Refusal):
    """The member is there already."""


class Refused(Refusal):
    """A clear refusal that has no class of its own."""


class RateLimited(Refusal):
    """Too many requests, or the service is away for a while (*status* 503).

    *retry_after* is in seconds, None where the service did not say; *until*: since 1970.
    *is_ours*: by our own limit for the service, which was not asked.
    """

    def __init__(
        self,
        service: str,
        text: str = "",
        status: int = 429,
        retry_after: float | None = None,
        *,
        is_ours: bool = False,
    ) -> None:
        super().__init__(service, text, status)
        self.is_ours = is_ours
        self.retry_after = retry_after
        self.until = None if retry_after is None else time.time() + retry_after


def _codes(kind: type[Refusal]) -> Iterator[str]:
    yield kind.code
    for narrower in kind.__subclasses__():
        yield from _codes(narrower)


REFUSALS: Final = frozenset(_codes(Refusal))
"""The codes of the errors in which a service said no: only their text is the service's own."""
PERMANENT_CODES: Final = REFUSALS - {RateLimited.code} | {BadIdentifier.code, Unsendable.code}
"""The codes of the errors that the same request would meet again, however often it is sent."""

BY_MESSAGE: Final[dict[str, type[Refusal]]] = {
    "rule not found": NotFound,
    "unauthorized action": Unauthorized,
    "group not found": GroupNotFound,
    "rule pairs are invalid": InvalidPairs,
    "rule payload is invalid": InvalidPayload,
    "rule type update not allowed": TypeChangeRefused,
}
"""The error texts of the rules service's specification; they decide before the status code does."""

BY_STATUS: Final[dict[int, type[Refusal]]] = {401: Unauthorized, 403: Unauthorized, 404: NotFound, 409: AlreadyExists}


def refusal(service: str, status: int, message: str, retry_after: float | None = None) -> Refusal:
    """The exception for a clear refusal: by its message first, by its status second."""
    if status == 429:
        return RateLimited(service, message, status, retry_after)
    kind = BY_MESSAGE.get(message.strip().rstrip(".").casefold()) or BY_STATUS.get(status, Refused)
    return kind(service, message or f"status {status}", status)
