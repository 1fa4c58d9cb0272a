"""A complete answer of a service: what its status, its headers and its body say before anybody looks into it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, Final

from bot.clients.errors import FORBIDDEN, NOT_FOUND, TOO_MANY, UNAVAILABLE, Refused, refusal
from bot.clients.json_text import parse_json

MAX_NAMED_SECONDS: Final = 86_400.0
"""Seconds that ``Retry-After`` counts for at most."""


LIMITED: Final = re.compile(r"too many requests|rate.?limit", re.IGNORECASE)
"""What a service says of too many requests under another status than 429."""
UNSUPPORTED_STATUSES: Final = frozenset({405, 413, 415})
"""Statuses that say that a request was not processed, even where a gateway sent them."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer of a service."""

    status: int
    body: bytes
    links: Mapping[str, str] = field(default_factory=dict)
    """The URLs of the ``Link`` header by their ``rel``, such as ``next``: untrusted, so nothing is sent there."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """The headers of the answer without ``Link`` and ``Set-Cookie``; the names in lower case."""

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def asks_to_wait(self) -> bool:
        """Whether it is a 429, a 403 that says as much, or a 503 with any ``Retry-After``."""
        if self.status == FORBIDDEN:
            return self.headers.get("x-ratelimit-remaining") == "0" or LIMITED.search(self.message) is not None
        return self.status == TOO_MANY or (self.status == UNAVAILABLE and "retry-after" in self.headers)

    @property
    def retry_after(self) -> float | None:
        """Return the seconds of ``Retry-After``; a date in it counts from the answer's own ``Date``. None where unreadable."""
        value = self.headers.get("retry-after", "")
        if value.isascii() and value.isdigit():
            return min(float(value), MAX_NAMED_SECONDS)
        try:
            until, now = parsedate_to_datetime(value), parsedate_to_datetime(self.headers["date"])
        except (KeyError, TypeError, ValueError, OverflowError):
            return None
        if not until.tzinfo or not now.tzinfo:
            return None
        return min(max(0.0, (until - now).total_seconds()), MAX_NAMED_SECONDS)

    @property
    def is_page(self) -> bool:
        """Whether it is a web page, which only a gateway sends: both services answer in JSON."""
        return "html" in self.headers.get("content-type", "").lower() or self.body.lstrip()[:1] == b"<"

    @property
    def is_refusal(self) -> bool:
        """Whether the service itself says clearly that it refused the request and did nothing."""
        if self.status >= 500:  # which status it has is not specified, but the texts are
            return not isinstance(refusal("", self.status, self.message), Refused)
        return self.status >= 400 and (self.status == TOO_MANY or self._is_own_text)

    @property
    def says_absent(self) -> bool:
        """Whether a 404 is in the service's own words: a gateway sends one, in JSON or text, while the service restarts."""
        with suppress(ValueError):
            document = self.document()
            return isinstance(document, dict) and document.get("success") is False
        return False

    @property
    def _is_own_text(self) -> bool:
        """Whether a 4xx is of the service itself: a gateway's page does not say what happened behind it.

        A body that is not JSON may still be the service's own text, or JSON that was cut.
        """
        if self.status == NOT_FOUND:
            return self.says_absent
        try:
            document = self.document()
            return isinstance(document, dict) and document.get("success") is not True
        except ValueError:
            if self.body == b"" or self.status in UNSUPPORTED_STATUSES:
                return True
            return not self.is_page and self.status in {400, 401, 403, 409, 422}

    @property
    def message(self) -> str:
        """Return the service's own text about what went wrong; empty where there is none."""
        try:
            document = self.document()
        except ValueError:
            return ""
        texts = map(document.get, ("message", "error", "detail")) if isinstance(document, dict) else ()
        return next((text for text in texts if isinstance(text, str)), "")

    def describe(self, error: ValueError | None = None) -> str:
        """Return what it is instead of what was expected, for people, without a word of it. *error*: why it isn't JSON."""
        if 300 <= self.status < 400:
            return f"{self.status}, a redirect, which Gatehouse doesn’t follow"
        if not self.body.strip():
            return f"{self.status} without a body"
        if self.is_page:
            return f"{self.status} with a web page, perhaps of a gateway or a login"
        if error is None:
            return f"status {self.status}"
        if self.headers.get("content-encoding") == "br":
            return f"{self.status} packed with Brotli, which Gatehouse can’t unpack"
        kinds = {UnicodeDecodeError: "text that isn’t UTF-8", json.JSONDecodeError: "a body that isn’t valid JSON"}
        return f"{self.status} with {kinds.get(type(error), f'JSON that Gatehouse doesn’t read: {error}')}"

    def document(self) -> Any:
        """Return the body parsed as JSON; raises ValueError where it isn't valid JSON."""
        return parse_json(self.body)
