"""The ASGI edge: what comes before Bolt, and the addresses that operators ask.

Bolt parses a body before it checks the signature and trips over odd headers, so strangers could make it raise.
Here size, header shapes, time and signature are checked on the raw bytes, then the shape of the body; Bolt and
the handlers only ever see requests that Slack signed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs

from prometheus_client import CONTENT_TYPE_LATEST, Counter, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

MAX_BODY: Final = 1024 * 1024
MAX_DRIFT: Final = 300
"""Seconds that a request's timestamp may be off, in either direction (Slack's own rule)."""

TIMESTAMP: Final = re.compile(rb"[0-9]{10}")
SIGNATURE: Final = re.compile(rb"v0=[0-9a-f]{64}")

REJECTED = Counter("gatehouse_rejected_requests_total", "Requests to /slack/events refused before Bolt", ["why"])
ACCEPTED = Counter("gatehouse_accepted_requests_total", "Signed requests handed to Bolt")


class Refused(Exception):
    """A request that does not reach Bolt: the status to answer with and one word for the metric."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


@dataclass(frozen=True, slots=True)
class Verifier:
    """Decides whether Slack sent these bytes now. During a rotation it knows two secrets."""

    secrets: Sequence[str]
    clock: Callable[[], float]

    def check(self, timestamp: bytes, signature: bytes, body: bytes) -> None:
        """Return nothing where the signature holds; raise Refused (401) in every other case."""
        if not TIMESTAMP.fullmatch(timestamp) or not SIGNATURE.fullmatch(signature):
            raise Refused(401, "headers")
        if abs(self.clock() - int(timestamp)) > MAX_DRIFT:
            raise Refused(401, "stale")
        text = b"v0:" + timestamp + b":" + body
        if not any(hmac.compare_digest(_signed(secret, text), signature) for secret in self.secrets):
            raise Refused(401, "signature")


def _signed(secret: str, text: bytes) -> bytes:
    return b"v0=" + hmac.new(secret.encode(), text, hashlib.sha256).hexdigest().encode()


def _header(request: Request, name: bytes) -> bytes:
    """The one value of a header, or nothing where it is missing or doubled: two values are one too many to trust."""
    values = [value for key, value in request.scope["headers"] if key == name]
    return values[0] if len(values) == 1 else b""


async def _body(request: Request) -> bytes:
    declared = _header(request, b"content-length")
    if declared.isdigit() and int(declared) > MAX_BODY:
        raise Refused(413, "size")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise Refused(413, "size")
    return bytes(body)


def _well_formed(body: bytes) -> None:
    """Raise Refused (400) for a body that Bolt could not read, though somebody signed it."""
    try:
        text = body.decode("utf-8")
        if text.lstrip().startswith("{"):
            document: Any = json.loads(text)
        else:
            fields = parse_qs(text, keep_blank_values=True)
            document = json.loads(fields["payload"][0]) if "payload" in fields else fields
            if not {"payload", "command", "ssl_check"} & set(fields):
                raise ValueError("no form of Slack's")
    except (ValueError, RecursionError) as error:
        raise Refused(400, "shape") from error
    if not isinstance(document, dict) or not document:
        raise Refused(400, "shape")


SlackHandler = Callable[[Request], Awaitable[Response]]


def slack_endpoint(verifier: Verifier, bolt: SlackHandler) -> Callable[[Request], Awaitable[Response]]:
    """The handler of ``POST /slack/events``: bytes that pass every check go on to *bolt*, all others end here."""

    async def events(request: Request) -> Response:
        try:
            body = await _body(request)
            verifier.check(_header(request, b"x-slack-request-timestamp"), _header(request, b"x-slack-signature"), body)
            _well_formed(body)
        except Refused as refusal:
            REJECTED.labels(refusal.why).inc()
            return PlainTextResponse(refusal.why, status_code=refusal.status)
        ACCEPTED.inc()
        return await bolt(_replayed(request, body))

    return events


def _replayed(request: Request, body: bytes) -> Request:
    """The same request for the next reader: its stream is spent, its bytes are here."""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    return Request(request.scope, receive)


Readiness = Callable[[], Awaitable[dict[str, str]]]
"""What each part says of itself: "ok", or in a few words what is wrong."""


def web_app(events: SlackHandler | None, readiness: Readiness) -> Starlette:
    """The one ASGI application: Slack's requests (unless Socket Mode brings them), health, readiness, metrics."""

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok")

    async def readyz(_: Request) -> Response:
        parts = await readiness()
        return JSONResponse(parts, status_code=200 if set(parts.values()) <= {"ok"} else 503)

    async def metrics(_: Request) -> Response:
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    routes = [Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)]
    if events is not None:
        routes.append(Route("/slack/events", events, methods=["POST"]))
    return Starlette(routes=routes)
