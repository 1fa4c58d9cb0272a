"""The parts that both stand-ins share: parsing requests, error responses, and the record of calls."""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from sandbox.services.database import Record
from sandbox.services.faults import Cut, Faults
from sandbox.services.switches import Switches

MAX_BYTES = 10 * 1024 * 1024
PAGE = 30
TOO_MANY = 429
MAX_PAGE = 75


class Problem(Exception):
    """An error of the service: its status where statuses are real, and its text."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers


@dataclass(frozen=True, slots=True)
class Call:
    """One request that a stand-in was sent."""

    method: str
    path: str
    body: Any
    query: str = ""


@dataclass(slots=True)
class Stage:
    """The settings and the record of a stand-in: its switches (settable at any time), its faults, the calls that it got."""

    switches: Switches = field(default_factory=Switches)
    faults: Faults = field(default_factory=Faults)
    calls: list[Call] = field(default_factory=list)
    heard: Callable[[Call, object, float, bytes], None] = lambda _call, _status, _ms, _body: None
    """Called after each call with its status, or "cut", the milliseconds that it took, and the body of the answer."""
    stored: Callable[[str, Record | None, Record | None], None] = lambda _site, _before, _after: None
    """Called with each record that a call changed, created or deleted, after its site, which is empty for rules and groups."""
    alter: Callable[[dict[str, Any]], dict[str, Any]] = dict
    """Changes a record before it is stored, as real services normalise them."""
    alter_page: Callable[[Any], Any] = lambda page: page
    """Changes a list, or a page of it, before it is sent: real ones end too early, or change while they are read."""
    busy: Callable[[], float | None] = lambda: None
    """Returns the seconds to wait where there are too many calls now; None where there aren't."""


Answer = Callable[[Request, Any], Awaitable[Response]]


def make_endpoint(stage: Stage, answer: Answer) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that reads the body, records the call, applies faults, and turns a Problem into an error response."""

    async def endpoint(request: Request) -> Response:
        raw = await request.body()
        call, began = Call(request.method, raw_path(request), _call_body(raw), request.url.query), time.perf_counter()
        stage.calls.append(call)

        async def true_answer(body: bytes) -> Response:
            try:
                _check_rate(stage)
                return await answer(request, _parse_body(request, body))
            except Problem as problem:
                return _error_response(stage, problem)

        status: object = "cut"
        body = b""
        try:
            response = await stage.faults.respond(request, raw, true_answer)
            status, body = response.status_code, bytes(response.body)
        finally:
            stage.heard(call, status, (time.perf_counter() - began) * 1000, body)
        return response

    return endpoint


def make_app(stage: Stage, routes: Sequence[BaseRoute]) -> Starlette:
    """Return the app of a stand-in: paths are taken as they were sent, and unknown ones are refused in the same shape."""

    async def refuse_unrouted(_: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        return _error_response(stage, Problem(status, "Method not allowed" if status == 405 else "Not found"))

    app = Starlette(
        routes=routes, middleware=[Middleware(Cutting)], exception_handlers={404: refuse_unrouted, 405: refuse_unrouted}
    )
    app.router.redirect_slashes = False
    return app


def _error_response(stage: Stage, problem: Problem) -> Response:
    status = problem.status if stage.switches.error_codes == "real" or problem.status == TOO_MANY else 200
    return JSONResponse({"success": False, "message": problem.message}, status, headers=problem.headers)


def _check_rate(stage: Stage) -> None:
    if (seconds := stage.busy()) is not None:
        raise Problem(TOO_MANY, "Too many requests", {"Retry-After": f"{seconds:.0f}"})


def _call_body(raw: bytes) -> Any:
    try:
        return json.loads(raw) if raw else None
    except (ValueError, RecursionError):
        return raw[:1000]


def _parse_body(request: Request, raw: bytes) -> Any:
    """Return the body as JSON; None for an empty one. Raises Problem, also for NaN and half a surrogate pair.

    The specification requires a Content-Type with each body, so one without is refused.
    """
    if len(raw) > MAX_BYTES:
        raise Problem(413, "Request body is too large")
    if not raw.strip():
        return None
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Problem(415, "Content-Type must be application/json")
    try:
        document = json.loads(raw)
        json.dumps(document, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise Problem(400, "Request body is not JSON") from error
    return document


def raw_path(request: Request) -> str:
    """Return the path as it was sent, still encoded: ``%2F`` in a segment is not a slash."""
    return bytes(request.scope["raw_path"]).split(b"?")[0].decode("ascii", "replace")


def path_segments(request: Request, root: str) -> list[str]:
    """Return the segments of the path after *root* and a slash, decoded: an encoded slash doesn't end a segment."""
    return [unquote(part) for part in raw_path(request).removeprefix(root + "/").split("/")]


def list_response(request: Request, stage: Stage, records: Sequence[Any]) -> Response:
    """Return *records* as a list: whole, as the specification has it, or a page of them, as the real service does."""
    if stage.switches.paging == "off":
        return JSONResponse(stage.alter_page({"success": True, "data": list(records)}))
    if stage.switches.paging == "sizeless" and "pageSize" in request.query_params:
        raise Problem(400, "Unknown parameter: pageSize")
    offset = number_param(request, "offset", 0)
    size = min(number_param(request, "pageSize", PAGE) or PAGE, MAX_PAGE)
    following = offset + size if offset + size < len(records) else None
    page = list(records[offset : offset + size])
    return JSONResponse(
        stage.alter_page({"success": True, "data": page, "total": len(records), "nextOffset": following})
    )


def number_param(request: Request, name: str, default: int) -> int:
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default


class Cutting:
    """ASGI middleware that cuts the connection when a fault says so: it promises a body and breaks off."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except Cut:
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1000")]})
            await send({"type": "http.response.body", "body": b"{", "more_body": True})
