"""Faults of Slack on request: the next calls of a method are refused, or not answered usefully."""

from __future__ import annotations

from dataclasses import dataclass, field

from starlette.responses import JSONResponse, Response


@dataclass(slots=True)
class _Fault:
    kind: str
    method: str
    times: int


@dataclass(slots=True)
class SlackFaults:
    """Add faults with `add`; each is used up."""

    waiting: list[_Fault] = field(default_factory=list)

    def add(self, kind: str, *, method: str = "", times: int = 1) -> None:
        """*kind*: ``429``, ``500``, or an error code such as ``is_archived``; *method*: all, where it is empty."""
        self.waiting.append(_Fault(kind, method, times))

    def next(self, method: str) -> Response | None:
        """What the fault that fits answers; None where none does."""
        fault = next((one for one in self.waiting if one.times > 0 and one.method in {"", method}), None)
        if fault is None:
            return None
        fault.times -= 1
        if fault.kind == "429":
            return JSONResponse({"ok": False, "error": "ratelimited"}, 429, headers={"Retry-After": "1"})
        if fault.kind == "500":
            return Response("Internal Server Error", 500)
        return JSONResponse({"ok": False, "error": fault.kind})
