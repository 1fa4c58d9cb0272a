"""Faults of Slack on request: the next calls of a method are refused, not answered usefully, or not answered at all."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from typing import Final

from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

KINDS: Final = {
    "429": "ratelimited, with Retry-After",
    "500": "an error of Slack, nothing done",
    "500_after": "what was asked is done, then an error is answered",
    "html": "a page where JSON belongs, nothing done",
    "text": "a line of text, as of something in between, nothing done",
    "wrong_type": "JSON that is no answer of Slack's, nothing done",
    "never": "no answer, nothing done",
    "cut_before": "the connection is cut, nothing done",
    "cut_after": "what was asked is done, then the connection is cut: the answer is lost",
}
CODE: Final = re.compile(r"[a-z][a-z_]+")


@dataclass(slots=True)
class Fault:
    """One scripted fault: what, of which method, in which channel, how often. *seconds*: the Retry-After of 429."""

    kind: str
    method: str
    channel: str
    times: int
    seconds: int = 1

    @property
    def is_after(self) -> bool:
        """Whether the call takes effect all the same."""
        return self.kind.endswith("_after")

    async def answer(self) -> Response:
        """Return the response that replaces the true one."""
        match self.kind:
            case "429":
                headers = {"Retry-After": str(self.seconds)}
                return JSONResponse({"ok": False, "error": "ratelimited"}, 429, headers=headers)
            case "500" | "500_after":
                return Response("Internal Server Error", 500)
            case "html":
                return HTMLResponse("<!doctype html><title>Slack</title>Back soon.", 503)
            case "text":
                return PlainTextResponse("upstream connect error")
            case "wrong_type":
                return JSONResponse(["ok"])
            case "never":
                await asyncio.sleep(3600)
            case "cut_before" | "cut_after":
                return _Cut()
            case _:
                pass
        return JSONResponse({"ok": False, "error": self.kind})


class _Cut(Response):
    """Promises a body and breaks off, on which the server cuts the connection."""

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", b"1000")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"{", "more_body": True})


@dataclass(slots=True)
class SlackFaults:
    """The faults that wait for a call. Add them with `add`; each is used up by the calls that meet it."""

    waiting: list[Fault] = field(default_factory=list)

    def add(self, kind: str, *, method: str = "", channel: str = "", times: int = 1, seconds: int = 1) -> None:
        """Apply the fault *kind* to the next *times* calls of *method* about *channel* (of any, where it is empty).

        *kind*: one of KINDS, or an error code of Slack such as ``is_archived``; *seconds*: the Retry-After of 429.
        Raises ValueError for a kind that is neither.
        """
        kind = "429" if kind == "ratelimited" else kind
        if kind not in KINDS and not CODE.fullmatch(kind):
            raise ValueError(f"{kind!r} is no fault; there are Slack's error codes and {', '.join(KINDS)}")
        self.waiting.append(Fault(kind, method, channel, times, seconds))

    def clear(self) -> None:
        self.waiting.clear()

    def take(self, method: str, channel: str = "") -> Fault | None:
        """Return and use up the fault that this call of *method* meets; None where none waits for it."""
        fits = (one for one in self.waiting if one.method in {"", method} and one.channel in {"", channel})
        fault = next((one for one in fits if one.times > 0), None)
        if fault is not None:
            fault.times -= 1
        return fault
