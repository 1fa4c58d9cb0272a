"""Deliveries to the app, signed or enveloped, with Slack's three seconds and Slack's error texts for when they run out."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import ssl
import time
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Protocol
from urllib.parse import urlencode

import httpx

from sandbox.slack.state import State

PATIENCE: Final = 3.0
RETRY_AFTER: Final = (0.0, 60.0, 300.0)
"""Seconds before each of the three tries that follow an event's first one."""
FORM: Final = "application/x-www-form-urlencoded"


@cache
def _tls_context() -> ssl.SSLContext:
    """Return the certificates to trust; cached, since reading them takes longer than many deliveries."""
    return httpx.create_ssl_context(trust_env=False)


@dataclass(frozen=True, slots=True)
class Ack:
    """The app's acknowledgement. *failed*: empty, or what Slack shows the person; *reason*: the retry reason for the app."""

    failed: str = ""
    body: Any = None
    reason: str = ""
    no_retry: bool = False


class Envelopes(Protocol):
    """The transport of deliveries where the app uses Socket Mode."""

    async def deliver(
        self, kind: str, payload: Mapping[str, Any], *, patience: float, retry: tuple[int, str] | None = None
    ) -> Ack: ...


@dataclass(slots=True)
class Delivery:
    """Sends requests to the app: through *sockets* where the manifest says Socket Mode, else signed to *url*."""

    state: State
    secret: str
    url: str = ""
    options_url: str = ""
    """The URL to load options from, if it isn't *url*."""
    tools_url: str = ""
    """The app's MCP endpoint, if Slackbot may use one."""
    sockets: Envelopes | None = None
    skew: float = 0.0
    """Seconds by which the local Slack's clock is off, to see stale timestamps refused."""
    lag: float = 0.0
    """Seconds by which acknowledgements are late; beyond Slack's timeout, they count as missing."""
    twice: bool = False
    """Deliver everything a second time, as a proxy might."""
    patience: float = PATIENCE
    retry_after: tuple[float, ...] = RETRY_AFTER
    http: httpx.AsyncClient = field(
        default_factory=lambda: httpx.AsyncClient(trust_env=False, timeout=3600, verify=_tls_context())
    )
    _retries: set[asyncio.Task[None]] = field(default_factory=set)

    async def send_command(self, what: str, fields: Mapping[str, str]) -> Ack:
        """Send a slash command."""
        if self.sockets is not None:
            return await self._await_ack(what, fields, self._send_envelope("slash_commands", fields))
        return await self._await_ack(what, fields, self._post(urlencode(fields).encode(), FORM))

    async def send_interaction(self, what: str, payload: Mapping[str, Any]) -> Ack:
        """Send anything interactive: by HTTP a form with one field of JSON."""
        if self.sockets is not None:
            return await self._await_ack(what, payload, self._send_envelope("interactive", payload))
        url = self.options_url if payload.get("type") == "block_suggestion" else ""
        body = urlencode({"payload": json.dumps(payload)}).encode()
        return await self._await_ack(what, payload, self._post(body, FORM, url=url))

    async def send_event(self, payload: Mapping[str, Any]) -> Ack:
        """Send an event, and return after the first try; without an acknowledgement, up to three more follow later."""
        ack = await self._send_once(payload, None)
        if ack.failed and not ack.no_retry:
            retry = asyncio.create_task(self._retry_event(payload, ack))
            self._retries.add(retry)
            retry.add_done_callback(self._retries.discard)
        return ack

    async def send_to_tools(self, what: str, message: Mapping[str, Any]) -> Ack:
        """Send a *message* of MCP to the app's endpoint; the ack's body is the answer."""
        if not self.tools_url:
            return Ack("dispatch_failed", reason="connection_failed")
        headers, body = {"Accept": "application/json, text/event-stream"}, json.dumps(message).encode()
        return await self._await_ack(what, message, self._post(body, "application/json", headers, url=self.tools_url))

    async def _retry_event(self, payload: Mapping[str, Any], ack: Ack) -> None:
        for number, pause in enumerate(self.retry_after, start=1):
            await asyncio.sleep(pause)
            ack = await self._send_once(payload, (number, ack.reason))
            if not ack.failed or ack.no_retry:
                return

    async def wait_for_retries(self) -> None:
        """Return once no event waits for another try."""
        await asyncio.gather(*self._retries)

    async def close(self) -> None:
        for retry in self._retries:
            retry.cancel()
        await self.http.aclose()

    async def _send_once(self, payload: Mapping[str, Any], retry: tuple[int, str] | None) -> Ack:
        what = "event" if retry is None else f"event, retry {retry[0]}"
        if self.sockets is not None:
            return await self._await_ack(what, payload, self._send_envelope("events_api", payload, retry or (0, "")))
        headers = {} if retry is None else {"X-Slack-Retry-Num": str(retry[0]), "X-Slack-Retry-Reason": retry[1]}
        body = json.dumps(payload).encode()
        return await self._await_ack(what, payload, self._post(body, "application/json", headers))

    async def _await_ack(self, what: str, shown: Mapping[str, Any], sending: Coroutine[Any, Any, Ack]) -> Ack:
        began = time.perf_counter()
        ack = await self._apply_lag(await sending)
        ms = (time.perf_counter() - began) * 1000
        self.state.note("slack_to_bot", what, ack.failed or 200, ms, _without_token(shown), ack.body)
        return ack

    async def _apply_lag(self, ack: Ack) -> Ack:
        """Return *ack* as Slack gets it after `lag`, which may be too late."""
        if not self.lag:
            return ack
        await asyncio.sleep(min(self.lag, self.patience))
        return Ack("operation_timeout", reason="http_timeout") if self.lag >= self.patience else ack

    async def _send_envelope(self, kind: str, payload: Mapping[str, Any], retry: tuple[int, str] | None = None) -> Ack:
        assert self.sockets is not None  # noqa: S101  asked before
        ack = await self.sockets.deliver(kind, payload, patience=self.patience, retry=retry)
        if self.twice:
            await self.sockets.deliver(kind, payload, patience=self.patience, retry=retry)
        return ack

    async def _post(self, body: bytes, kind: str, headers: Mapping[str, str] | None = None, *, url: str = "") -> Ack:
        if not self.url:
            return Ack("dispatch_failed", reason="connection_failed")
        headers = {**self.signature_headers(body), "Content-Type": kind, **(headers or {})}
        try:
            async with asyncio.timeout(self.patience):
                response = await self.http.post(url or self.url, content=body, headers=headers)
                if self.twice:
                    await self.http.post(url or self.url, content=body, headers=headers)
        except (TimeoutError, httpx.TimeoutException):
            return Ack("operation_timeout", reason="http_timeout")
        except httpx.HTTPError:
            return Ack("dispatch_failed", reason="connection_failed")
        return _parse_ack(response)

    def signature_headers(self, body: bytes) -> dict[str, str]:
        """Return the headers that sign *body*, by the wall clock, which the app uses to check them."""
        timestamp = str(int(time.time() + self.skew))
        text = b"v0:" + timestamp.encode() + b":" + body
        digest = hmac.new(self.secret.encode(), text, hashlib.sha256).hexdigest()
        return {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": f"v0={digest}"}


def _parse_ack(response: httpx.Response) -> Ack:
    if response.status_code != 200:
        no_retry = response.headers.get("x-slack-no-retry") == "1"
        return Ack("dispatch_failed", response.text[:300], reason="http_error", no_retry=no_retry)
    if not response.content:
        return Ack()
    try:
        return Ack(body=response.json())
    except ValueError:
        return Ack(body=response.text)


def _without_token(shown: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in shown.items() if name != "token"}
