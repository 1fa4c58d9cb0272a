"""Uploads and downloads of the page: files that its person picks, and files in messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sandbox.slack.acting import Acting
from sandbox.slack.elements import find_element
from sandbox.slack.filestore import form_refusal
from sandbox.slack.people import Channel

Guard = Callable[[Any], Any]
SAFE: Final = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox"}
"""Headers that keep a browser from running a file as a page of this origin."""
MAX_IN_MESSAGE: Final = 100 * 1024 * 1024
"""Bytes. Slack takes a gigabyte; here files are kept in memory."""


class PageFiles:
    """Receives and serves the files of the people on the page."""

    def __init__(self, acting: Acting) -> None:
        self._acting = acting

    def routes(self, guarded: Guard) -> list[Route]:
        return [
            Route("/_local/upload", guarded(self.receive), methods=["POST"]),
            Route("/_local/file", guarded(self.serve), methods=["GET"]),
            Route("/_local/place", guarded(self.find_place), methods=["GET"]),
        ]

    async def receive(self, request: Request) -> Response:
        """Keep the body as a file of a person: for the file input of a modal, if that takes it, or for a message."""
        user, name = request.query_params.get("user", ""), request.query_params.get("name", "")
        length = int(request.headers.get("content-length", MAX_IN_MESSAGE + 1))
        state = self._acting.state
        if user not in state.users:
            return JSONResponse({"ok": False, "error": "user_not_found"})
        if refusal := self._refusal(request.query_params, length):
            return JSONResponse({"ok": False, "error": refusal})
        file = state.files.add_upload(state.number(), name, await request.body(), user, state.clock())
        return JSONResponse({"ok": True, "file": file.info()})

    def _refusal(self, asked: Mapping[str, str], length: int) -> str | None:
        """Return why a file of *length* bytes is refused where it is to go; None where it is accepted."""
        if "view_id" not in asked:
            return "file_too_large" if length > MAX_IN_MESSAGE else None
        block_id, action_id, name = (asked.get(one, "") for one in ("block_id", "action_id", "name"))
        found = self._acting.state.find_view(asked["view_id"])
        element = find_element(found[1]["blocks"], block_id, action_id) if found else None
        if found is None or element is None or found[0] != asked.get("user"):
            return "no_such_action"
        return form_refusal(element, [(name, length)])

    async def serve(self, request: Request) -> Response:
        """A file of a message that this person sees, to be saved."""
        asked = request.query_params
        user = asked.get("user", "")
        state = self._acting.state
        file = state.files.all.get(asked.get("id", ""))
        if file is None or file.content is None or not _visible_shares(user, state.channels, file.shares):
            return JSONResponse({"ok": False, "error": "file_not_found"}, 404)
        save = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name)}"}
        return Response(file.content, media_type=file.type[0], headers={**SAFE, **save})

    async def find_place(self, request: Request) -> Response:
        """Return the newest message with the file that this person sees: the file's permalink leads there."""
        asked = request.query_params
        user = asked.get("user", "")
        state = self._acting.state
        file = state.files.all.get(asked.get("file", ""))
        seen = _visible_shares(user, state.channels, file.shares) if file else []
        if not seen:
            return JSONResponse({"ok": False, "error": "file_not_found"})
        ts, channel = max(seen)
        message = state.find(channel, ts)
        return JSONResponse({"channel": channel, "ts": ts, "thread": message.thread_ts if message else None})


def _visible_shares(
    user: str, channels: Mapping[str, Channel], shares: Mapping[str, list[str]]
) -> list[tuple[str, str]]:
    """Return the messages of *shares*, as (ts, channel), in channels where *user* is."""
    mine = [one for one in shares if one in channels and user in channels[one].members]
    return [(ts, channel) for channel in mine for ts in shares[channel]]
