"""Deliveries to the app: signed, with Slack's three seconds, and with the words that Slack shows when they run out."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

import httpx

from sandbox.slack.state import State

PATIENCE: Final = 3.0


@dataclass(frozen=True, slots=True)
class Ack:
    """How the app acknowledged: *failed* is empty, or Slack's word for what went wrong."""

    failed: str = ""
    body: Any = None


@dataclass(slots=True)
class Delivery:
    """Sends signed requests to the app at *url*."""

    state: State
    secret: str
    url: str = ""
    skew: float = 0.0
    """Seconds by which the local Slack's clock is off, to see stale timestamps refused."""
    twice: bool = False
    """Deliver everything a second time, as a proxy might."""
    http: httpx.AsyncClient = field(default_factory=lambda: httpx.AsyncClient(trust_env=False, timeout=PATIENCE))

    async def form(self, what: str, fields: Mapping[str, str]) -> Ack:
        """A form, as slash commands are."""
        return await self._send(what, urlencode(fields).encode(), "application/x-www-form-urlencoded", dict(fields))

    async def payload(self, what: str, payload: Mapping[str, Any]) -> Ack:
        """A form with one field of JSON, as everything interactive is."""
        body = urlencode({"payload": json.dumps(payload)}).encode()
        return await self._send(what, body, "application/x-www-form-urlencoded", payload)

    async def event(self, payload: Mapping[str, Any]) -> Ack:
        """JSON, as events are."""
        return await self._send("event", json.dumps(payload).encode(), "application/json", payload)

    async def _send(self, what: str, body: bytes, kind: str, shown: Any) -> Ack:
        if not self.url:
            return Ack("dispatch_failed")
        headers = self.signed(body) | {"Content-Type": kind}
        began = time.perf_counter()
        try:
            async with asyncio.timeout(PATIENCE):
                response = await self.http.post(self.url, content=body, headers=headers)
                if self.twice:
                    await self.http.post(self.url, content=body, headers=headers)
        except (TimeoutError, httpx.TimeoutException):
            ack = Ack("operation_timeout")
        except httpx.HTTPError:
            ack = Ack("dispatch_failed")
        else:
            ack = _ack(response)
        ms = (time.perf_counter() - began) * 1000
        self.state.note("slack_to_bot", what, ack.failed or 200, ms, _without_token(shown), ack.body)
        return ack

    def signed(self, body: bytes) -> dict[str, str]:
        """The headers that prove where *body* comes from."""
        timestamp = str(int(self.state.clock() + self.skew))
        text = b"v0:" + timestamp.encode() + b":" + body
        digest = hmac.new(self.secret.encode(), text, hashlib.sha256).hexdigest()
        return {"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": f"v0={digest}"}


def _ack(response: httpx.Response) -> Ack:
    if response.status_code != 200:
        return Ack("dispatch_failed", response.text[:300])
    if not response.content:
        return Ack()
    try:
        return Ack(body=response.json())
    except ValueError:
        return Ack(body=response.text)


def _without_token(shown: Any) -> Any:
    return {name: value for name, value in shown.items() if name != "token"} if isinstance(shown, Mapping) else shown
