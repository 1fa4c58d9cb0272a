"""The ASGI app: the checks of a request before Bolt, and the endpoints for operators.

Bolt parses a body before it checks the signature, and odd headers make it raise, so anybody could trigger errors in it.
Here the form of the headers, the timestamp and the declared size are checked before the body is read, then the signature
on its raw bytes, then its shape. So Bolt and the handlers only see requests that Slack signed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl

import structlog
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.health import Health
from bot.metrics import ACCEPTED, REJECTED

log = structlog.get_logger(__name__)

MAX_BODY: Final = 1024 * 1024
LOG_EVERY_SECONDS: Final = 60
"""Seconds between two log lines about signatures that don't match."""
MAX_DRIFT: Final = 300
"""Seconds that a request's timestamp may be off, in either direction (Slack's own rule)."""

# Ten digits until the year 2286.
TIMESTAMP: Final = re.compile(rb"[0-9]{10}")
SIGNATURE: Final = re.compile(rb"v0=[0-9a-f]{64}")


UNMATCHED: Final = "signature"
"""The reason for refusing a request with valid headers and a signature that doesn't match."""


class Rejected(Exception):
    """A request is refused before Bolt, with the *status* to answer with and one word, *why*, for the metric."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status
        self.why = why


@dataclass(frozen=True, slots=True)
class Verifier:
    """Verifies Slack's signature and timestamp. During a rotation it accepts two secrets."""

    secrets: Sequence[str]
    clock: Callable[[], float]

    async def read(self, request: Request) -> bytes:
        """Return the body of *request*; raises Rejected where it isn't recent and signed, or can't be read."""
        timestamp, signature = (header(request, b"x-slack-" + name) for name in (b"request-timestamp", b"signature"))
        if not TIMESTAMP.fullmatch(timestamp) or not SIGNATURE.fullmatch(signature):
            raise Rejected(401, "headers")
        if abs(self.clock() - int(timestamp)) > MAX_DRIFT:
            raise Rejected(401, "stale")
        # Read only now, so that most requests that aren't Slack's cost nothing.
        body = await read_body(request)
        text = b"v0:" + timestamp + b":" + body
        if not any(hmac.compare_digest(_sign(secret, text), signature) for secret in self.secrets):
            raise Rejected(401, UNMATCHED)
        return body


def _sign(secret: str, text: bytes) -> bytes:
    return b"v0=" + hmac.new(secret.encode(), text, hashlib.sha256).hexdigest().encode()


def header(request: Request, name: bytes) -> bytes:
    """Return the value of a header; empty where it is missing, or given twice and so can't be trusted."""
    values = [value for key, value in request.scope["headers"] if key == name]
    return values[0] if len(values) == 1 else b""


@dataclass(slots=True)
class OtherSignatures:
    """Logs once a minute that requests were signed with another secret, the likeliest mistake in a new installation.

    Nothing else shows it, since people only see Slack's `dispatch_failed`.
    """

    clock: Callable[[], float]
    refused: int = 0
    said: float = -math.inf

    def note(self) -> None:
        self.refused += 1
        if self.clock() - self.said >= LOG_EVERY_SECONDS:
            hint = "if Slack sent them, SLACK_SIGNING_SECRET is not that of the app"
            log.warning("signature_does_not_match", requests=self.refused, hint=hint)
            self.said, self.refused = self.clock(), 0


async def read_body(request: Request) -> bytes:
    """Return the whole body; raises Rejected where it is too large, or where it breaks off."""
    declared = header(request, b"content-length")
    if declared.isdigit() and int(declared) > MAX_BODY:
        raise Rejected(413, "size")
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY:
                raise Rejected(413, "size")
    except ClientDisconnect as error:
        raise Rejected(400, "disconnected") from error
    return bytes(body)


def _document(body: bytes) -> dict[str, Any]:
    """Return what Slack sent: a JSON object, a form's payload, or a form's fields. Raises Rejected (400) for anything else."""
    try:
        text = body.decode("utf-8")
        document = json.loads(text) if text.lstrip().startswith("{") else _form(text)
    # JSON that is nested too deeply ends in a RecursionError.
    except (ValueError, RecursionError) as error:
        raise Rejected(400, "shape") from error
    if not isinstance(document, dict) or not document:
        raise Rejected(400, "shape")
    return document


def _form(text: str) -> Any:
    fields = dict(parse_qsl(text, keep_blank_values=True))
    # With ssl_check, Slack only checks the certificate of a command's URL.
    if not {"payload", "command", "ssl_check"} & fields.keys():
        raise ValueError("not one of Slack's forms")
    return json.loads(fields["payload"]) if "payload" in fields else fields


Endpoint = Callable[[Request], Awaitable[Response]]
AgentEndpoint = Callable[[Request], Awaitable[ASGIApp]]
SlackHandler = Callable[[Mapping[str, str], dict[str, Any]], Awaitable[Response]]
"""Answers what Slack sent, given its headers and its body as data."""


def slack_endpoint(verifier: Verifier, bolt: SlackHandler) -> Endpoint:
    """Return the handler of ``POST /slack/events``: it passes requests that pass every check to *bolt*, and refuses others."""
    others = OtherSignatures(verifier.clock)

    async def events(request: Request) -> Response:
        try:
            document = _document(await verifier.read(request))
        except Rejected as refusal:
            REJECTED.labels(refusal.why).inc()
            if refusal.why == UNMATCHED:
                others.note()
            return PlainTextResponse(refusal.why, status_code=refusal.status)
        ACCEPTED.inc()
        return await bolt(request.headers, document)

    return events


Readiness = Callable[[], Awaitable[Mapping[str, Health]]]
"""Returns the health of each part that Gatehouse can't work without."""

Measure = Callable[[], Awaitable[None]]
"""Sets the metrics that are read only on a scrape; never raises."""


def web_app(
    events: Endpoint | None, readiness: Readiness, measure: Measure, agents: AgentEndpoint | None = None
) -> Starlette:
    """Return the ASGI application: Slack's requests (unless Socket Mode brings them), those of *agents*, health, readiness and
    metrics.

    The services don't count for the readiness: without one, Gatehouse still answers, and another replica would do no better.
    """

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok")

    async def readyz(_: Request) -> Response:
        parts = await readiness()
        ready = all(part.is_ready for part in parts.values())
        return JSONResponse({name: str(part) for name, part in parts.items()}, status_code=200 if ready else 503)

    async def metrics(_: Request) -> Response:
        await measure()
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)

    routes = [Route("/healthz", healthz), Route("/readyz", readyz), Route("/metrics", metrics)]
    if events is not None:
        routes.append(Route("/slack/events", events, methods=["POST"]))
    if agents is not None:
        routes.append(Route("/mcp", agents, methods=["POST"]))
    web = Starlette(routes=routes, middleware=[Middleware(_refusing_two_lengths)])
    web.router.redirect_slashes = False  # it leads to whatever host the request names
    return web


def _refusing_two_lengths(app: ASGIApp) -> ASGIApp:
    """Return *app* for requests with one length: of two, a proxy may read the other, so the connection is closed as well."""
    refusal = PlainTextResponse("length", status_code=400, headers={"Connection": "close"})

    async def checked(scope: Scope, receive: Receive, send: Send) -> None:
        names = {name for name, _ in scope.get("headers", ())}
        await (refusal if names >= {b"content-length", b"transfer-encoding"} else app)(scope, receive, send)

    return checked
