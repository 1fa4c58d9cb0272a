"""The one request path to a service: key, timeout, size, retries, rate limit and errors. The only module that sends."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Self

import httpx
import stamina

from bot.clients.answer import Answer
from bot.clients.errors import (
    NOT_FOUND,
    Failing,
    OutcomeUnknown,
    RateLimited,
    Refusal,
    TooLarge,
    Unreachable,
    Unreadable,
    Unsendable,
    WrongAddress,
    refusal,
)
from bot.clients.gate import MAX_WAIT_SECONDS, CallContext, Gate, Priority
from bot.clients.urls import BadUrl, checked_base
from bot.metrics import SERVICE_CALLS

NOT_SENT: Final = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.UnsupportedProtocol,
    httpx.ProxyError,
)
"""Failures before the first byte of a request was sent: a proxy that refuses passes nothing on."""
ERROR_TEXTS: Final[Sequence[tuple[type[Exception] | tuple[type[Exception], ...], str]]] = (
    ((httpx.ConnectTimeout, httpx.PoolTimeout), "no connection in time"),
    (httpx.ConnectError, "no connection"),
    (httpx.ProxyError, "the proxy refuses"),
    ((httpx.TimeoutException, TimeoutError), "no answer in time"),
    ((httpx.NetworkError, httpx.RemoteProtocolError), "the connection broke off"),
    (httpx.DecodingError, "an answer that can’t be unpacked"),
    (TooLarge, "an answer that is too large"),
)
"""Transport errors in words for people; the first kind that fits. Logs and traces have the name of the class."""

CONNECT_SECONDS: Final = 5.0
CONNECT_SHARE: Final = 4
"""The wait for a free connection, for TCP and for TLS takes at most this fraction of the deadline each. So a request that
fails there was certainly not sent, and one that is sent has time for its answer."""
MAX_CONNECTIONS: Final = 20
"""Connections of this process to one service, or to one site of it."""
IDLE_SECONDS: Final = 3.0
"""Seconds for which an idle connection is kept. Many servers close theirs after five, and a write that is sent just then gets
no answer: its outcome is unknown."""
MAX_REFUSAL_BYTES: Final = 64 * 1024
"""Bytes that are read of an answer that is not a success; a longer one is cut there, and then has no message."""
PARTIAL: Final = 206
"""The HTTP status of a partial answer: Gatehouse never asks for one."""


@dataclass(frozen=True, slots=True)
class CallLimits:
    """The limits of a call: seconds for the whole of it, decoded bytes of the answer, tries of a read."""

    deadline: float = 15.0
    max_bytes: int = 32 * 1024 * 1024
    tries: int = 3


@cache
def ssl_context(ca_file: str | None) -> ssl.SSLContext:
    """Return an SSL context with the default authorities and those of *ca_file*; raises OSError where that can't be read.

    Cached, since loading takes as long as many requests, and each site has a client of its own.
    """
    context = httpx.create_ssl_context(trust_env=False)
    if ca_file is not None:
        context.load_verify_locations(ca_file)
    return context


class Service:
    """A client for one service at one base URL. Use it as an async context manager: it holds a pool of connections.

    *redact* is applied to the service's own text first: some services echo the key that they refuse.
    *not_about_pages*: fields and headers of its lists that say nothing about more records, in lower case.
    *empty_text*: what it says in a 404 for a list that is empty.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        headers: Mapping[str, str],
        *,
        limits: CallLimits | None = None,
        insecure_http: bool = False,
        redact: Callable[[str], str] = str,
        gate: Gate | None = None,
        proxy: str | None = None,
        ca_file: str | None = None,
        not_about_pages: frozenset[str] = frozenset(),
        empty_text: str = "",
    ) -> None:
        self.name = name
        self.not_about_pages = not_about_pages
        self.empty_text = empty_text
        self._gate = gate or Gate(name)
        self.redact = redact
        self.limits = limits or CallLimits()
        self._base = checked_base(base_url, insecure_http=insecure_http)
        connect = min(CONNECT_SECONDS, self.limits.deadline / CONNECT_SHARE)
        self._http = httpx.AsyncClient(
            headers={**headers, "Accept": "application/json", "Accept-Encoding": "identity"},
            follow_redirects=False,
            trust_env=False,
            proxy=proxy,
            verify=ssl_context(ca_file),
            timeout=httpx.Timeout(self.limits.deadline, connect=connect, pool=connect),
            limits=httpx.Limits(
                max_connections=MAX_CONNECTIONS, max_keepalive_connections=10, keepalive_expiry=IDLE_SECONDS
            ),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def read(
        self, *segments: str, priority: Priority, query: Mapping[str, str] | None = None, slash: bool = False
    ) -> Answer:
        """Send a GET, retry it where that may help, and return a 2xx answer.

        Raises Unreachable, Unreadable, TooLarge or a Refusal.
        """
        async for attempt in stamina.retry_context(
            on=_is_retryable,
            attempts=self.limits.tries,
            timeout=self.limits.deadline,
            wait_initial=0.1,
            wait_max=2.0,
        ):
            with attempt:
                await self._gate.turn(priority)
                return await self._read_once(segments, query, slash=slash)
        raise AssertionError("stamina returns or raises")

    async def _read_once(self, segments: Sequence[str], query: Mapping[str, str] | None, *, slash: bool) -> Answer:
        try:
            answer = await self._call("GET", segments, query=query, slash=slash)
        except httpx.DecodingError as error:
            raise Unreadable(self.name, self._error_text(error)) from error
        except (httpx.HTTPError, TimeoutError) as error:
            raise Unreachable(self.name, self._error_text(error)) from error
        if answer.asks_to_wait:
            raise self._refusal(answer)
        if answer.status >= 500:
            raise Failing(self.name, answer.status)
        if 300 <= answer.status < 400:
            raise Unreadable(self.name, answer.describe())
        if answer.status == NOT_FOUND and not answer.says_absent:
            raise WrongAddress(self.name, self.redact(answer.message) or answer.describe())
        if not answer.ok:
            raise self._refusal(answer)
        if answer.status == PARTIAL:
            raise Unreadable(self.name, "206, only a part, though the whole was asked for")
        return answer

    async def write(
        self, method: str, *segments: str, context: CallContext, body: Any = None, slash: bool = False
    ) -> Answer:
        """Send a write once, without retries, and return a complete 2xx answer.

        Raises Unreachable where nothing was sent, a Refusal where the service clearly said no, OutcomeUnknown for any other
        answer or failure, and what the fence raises: then nothing was sent.
        """
        await self._gate.turn(context.priority)
        await context.pass_fence()
        try:
            answer = await self._call(method, segments, body=body, slash=slash)
        except NOT_SENT as error:
            raise Unreachable(self.name, self._error_text(error)) from error
        except (httpx.HTTPError, TimeoutError, TooLarge) as error:
            raise OutcomeUnknown(self.name, self._error_text(error)) from error
        if answer.ok:
            return answer
        if answer.is_refusal:
            raise self._refusal(answer)
        raise OutcomeUnknown(self.name, answer.describe())

    def _error_text(self, error: Exception) -> str:
        """Return *error* in words for people, with the text of a refusing proxy, such as 407 Proxy Authentication Required."""
        words = f": {self.redact(str(error))}" if isinstance(error, httpx.ProxyError) else ""
        return next((told for kinds, told in ERROR_TEXTS if isinstance(error, kinds)), "no answer") + words

    def _refusal(self, answer: Answer) -> Refusal:
        if answer.asks_to_wait:
            return RateLimited(self.name, self.redact(answer.message), answer.status, answer.retry_after)
        return refusal(self.name, answer.status, self.redact(answer.message))

    async def _call(
        self,
        method: str,
        segments: Sequence[str],
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        slash: bool = False,
    ) -> Answer:
        try:
            url = self._base.url(segments, query, slash=slash)
        except BadUrl as error:
            raise Unreadable(self.name, str(error)) from error
        content = None if body is None else self._encode(body)
        headers = {} if content is None else {"Content-Type": "application/json"}
        began, status = time.perf_counter(), "none"
        try:
            async with (
                asyncio.timeout(self.limits.deadline),
                self._http.stream(method, url, content=content, headers=headers) as response,
            ):
                answer = _answer_of(response, await self._read_body(response))
            status = f"{answer.status // 100}xx"
        finally:
            SERVICE_CALLS.labels(self.name, method, status).observe(time.perf_counter() - began)
        if answer.asks_to_wait:
            self._gate.close(answer.retry_after, answer.status)
        return answer

    def _encode(self, body: Any) -> bytes:
        """Return *body* as JSON in ASCII, so that a lone surrogate stays the escape that it came as.

        Raises Unsendable for an infinite number.
        """
        try:
            return json.dumps(body, allow_nan=False).encode()
        except ValueError as error:
            raise Unsendable(
                self.name, "a number in it is too large to be sent back as it was read; change it where it was made"
            ) from error

    async def _read_body(self, response: httpx.Response) -> bytes:
        """Return the decoded body; raises TooLarge. It is asked for unpacked, but a gateway may pack it all the same."""
        most = self.limits.max_bytes if response.is_success else min(MAX_REFUSAL_BYTES, self.limits.max_bytes)
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > most:
                if response.is_success:
                    raise TooLarge(self.name, f"over {most:,} bytes")
                return bytes(body[:most])
        return bytes(body)


def _is_retryable(error: Exception) -> bool:
    """Whether to retry a read: not after a clear refusal, and not where it has waited, or would have to wait, for long."""
    if isinstance(error, RateLimited):
        return error.retry_after is None or error.retry_after <= MAX_WAIT_SECONDS
    return isinstance(error, Unreachable)


def _answer_of(response: httpx.Response, body: bytes) -> Answer:
    links = {
        rel: link.get("url", "") for link in response.links.values() for rel in link.get("rel", "").lower().split()
    }
    headers = {name: value for name, value in response.headers.items() if name not in {"link", "set-cookie"}}
    return Answer(response.status_code, body, links, headers)
