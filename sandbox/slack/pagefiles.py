"""The page's way to files: what its person picks goes up, what a message holds comes down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sandbox.slack.acting import find_element
from sandbox.slack.filestore import MOST_IN_FORM, form_refusal
from sandbox.slack.state import State

Guard = Callable[[Any], Any]
SAFE: Final = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox"}
"""A file is never shown as a page of this machine."""


class PageFiles:
    """Takes and gives files of the people on the page."""

    def __init__(self, state: State) -> None:
        self._state = state

    def routes(self, guarded: Guard) -> list[Route]:
        return [
            Route("/_local/upload", guarded(self.take), methods=["POST"]),
            Route("/_local/file", guarded(self.give), methods=["GET"]),
        ]

    async def take(self, request: Request) -> Response:
        """Keep the body as a file for the file input of a modal, if that takes it."""
        asked = request.query_params
        block_id, action_id, name = (asked.get(one, "") for one in ("block_id", "action_id", "name"))
        found = self._state.find_view(asked.get("view_id", ""))
        element = find_element(found[1]["blocks"], block_id, action_id) if found else None
        if found is None or element is None or found[0] != asked.get("user"):
            return JSONResponse({"ok": False, "error": "no_such_action"})
        length = int(request.headers.get("content-length", MOST_IN_FORM + 1))
        if refusal := form_refusal(element, [(name, length)]):
            return JSONResponse({"ok": False, "error": refusal})
        state, content = self._state, await request.body()
        file = state.files.keep(state.number(), name, content, found[0], state.clock())
        return JSONResponse({"ok": True, "file": file.shown()})

    async def give(self, request: Request) -> Response:
        """A file of a message that this person sees, to be saved."""
        asked = request.query_params
        file = self._state.files.all.get(asked.get("id", ""))
        if file is None or file.content is None or not self._sees(asked.get("user", ""), file.shares):
            return JSONResponse({"ok": False, "error": "file_not_found"}, 404)
        save = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name)}"}
        return Response(file.content, media_type=file.type[0], headers={**SAFE, **save})

    def _sees(self, user: str, shares: Mapping[str, list[str]]) -> bool:
        channels = self._state.channels
        return any(channel in channels and user in channels[channel].members for channel in shares)
