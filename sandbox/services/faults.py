"""Faults on request: the next calls that fit are answered wrongly, late or not at all."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

KINDS: Final = {
    "delay": "answers after so many seconds",
    "never": "does not answer",
    "500": "an error of the service, nothing done",
    "500_after": "the write is applied, then an error is answered",
    "403": "refused: the key may not",
    "echo": "refused, in words that hold the key",
    "bodiless": "the request's body is lost on the way, as a proxy may do to a DELETE",
    "429": "refused for now, with Retry-After",
    "503": "away for a while, with Retry-After, nothing done",
    "html": "a gateway's page under 200, nothing done",
    "empty": "an empty 200, nothing done",
    "truncated": "half a JSON text",
    "wrong_type": "JSON, but a list of numbers",
    "redirect": "a redirect to another address",
    "refused_200": "success: false under 200",
    "cut_before": "the connection is cut before the write is applied",
    "cut_after": "the connection is cut after the write was applied",
}


@dataclass(slots=True)
class Fault:
    """One scripted fault: what, for which calls, how often. *value*: seconds for delay, 429 and 503."""

    kind: str
    method: str = ".*"
    path: str = ".*"
    times: int = 1
    value: float = 0.0
    location: str = "http://127.0.0.1:9/"

    def matches(self, request: Request) -> bool:
        return bool(
            self.times > 0 and re.fullmatch(self.method, request.method) and re.search(self.path, request.url.path)
        )


class Cut(Exception):
    """The connection is to be cut without an answer."""


@dataclass(slots=True)
class Faults:
    """The faults that wait for a call. Add them with `add`; each is used up by the calls that meet it."""

    waiting: list[Fault] = field(default_factory=list)

    def add(self, kind: str, *, method: str = ".*", path: str = ".*", times: int = 1, value: float = 0.0) -> None:
        """Apply the fault *kind* (a key of KINDS) to the next *times* calls that fit."""
        if kind not in KINDS:
            raise ValueError(f"{kind!r} is no fault; there are {', '.join(KINDS)}")
        self.waiting.append(Fault(kind, method, path, times, value))

    def clear(self) -> None:
        self.waiting.clear()

    async def respond(self, request: Request, body: bytes, answer: Callable[[bytes], Awaitable[Response]]) -> Response:
        """Return the true answer to *request*, or what the first fault that fits makes of it. Raises Cut."""
        fault = next((each for each in self.waiting if each.matches(request)), None)
        if fault is None:
            return await answer(body)
        fault.times -= 1
        if fault.kind == "bodiless":
            return await answer(b"")
        if fault.kind == "echo":
            key = request.headers.get("x-api-key") or request.headers.get("authorization")
            return JSONResponse({"success": False, "message": f"The key {key} is not allowed to do this"}, 403)
        if fault.kind == "delay":
            await asyncio.sleep(fault.value)
            return await answer(body)
        if fault.kind == "never":
            await asyncio.sleep(3600)
        if fault.kind in {"cut_after", "500_after"}:
            await answer(body)
        if fault.kind in {"cut_before", "cut_after"}:
            raise Cut
        return _fault_response(fault)


def _fault_response(fault: Fault) -> Response:
    match fault.kind:
        case "403":
            return JSONResponse({"success": False, "message": "Forbidden"}, 403)
        case "429":
            headers = {"Retry-After": str(int(fault.value))}
            return JSONResponse({"success": False, "message": "Too many requests"}, 429, headers=headers)
        case "503":
            return Response(b"away", 503, headers={"Retry-After": str(int(fault.value))})
        case "html":
            return HTMLResponse("<html><body><h1>Welcome to the gateway</h1></body></html>")
        case "empty":
            return Response(b"")
        case "truncated":
            return Response(b'{"success": true, "data": [{"id": "Redi', media_type="application/json")
        case "wrong_type":
            return JSONResponse([1, 2, 3])
        case "redirect":
            return RedirectResponse(fault.location, 307)
        case "refused_200":
            return JSONResponse({"success": False, "message": "Rule Payload is invalid"})
        case _:
            return JSONResponse({"success": False, "message": "Internal error"}, 500)
