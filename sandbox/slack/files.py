"""The Web API's methods about files, and the two URLs that go with them, to upload and to download."""

from __future__ import annotations

import email.policy
import re
from collections.abc import Callable, Mapping
from email.parser import BytesParser
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from sandbox.slack.directory import Arguments, Method, demand
from sandbox.slack.faults import SlackFaults
from sandbox.slack.filestore import File
from sandbox.slack.message import Message
from sandbox.slack.people import Channel
from sandbox.slack.refusal import Refused
from sandbox.slack.state import State
from sandbox.slack.texts import escape_text
from sandbox.slack.validation import as_errors, as_messages, check_message

MAX_BYTES: Final = 1024**3
CHANNEL_ID: Final = "^[CGDZ][A-Z0-9]{8,}$"
"""Slack's own pattern, from its error text: a person's id doesn't match, although chat.postMessage takes one."""
LOGIN: Final = (
    "<!DOCTYPE html><html><head><title>Login | Slack</title></head><body>Sign in to your workspace</body></html>"
)


class Files:
    """Answers what an app may do with the files of *state*."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._bot = state.workspace.bot.id

    def methods(self) -> dict[str, Method]:
        return {
            "files.getUploadURLExternal": self.announce,
            "files.completeUploadExternal": self.complete,
            "files.info": self.info,
        }

    async def announce(self, arguments: Arguments) -> dict[str, Any]:
        """Return the URL to upload a file of this name and length to."""
        self._check_allowed()
        demand(arguments, "filename", "length")
        length = str(arguments["length"])
        if not (length.isascii() and length.isdigit()):
            messages = ["[ERROR] must be an integer [json-pointer:/length]"]
            raise Refused("invalid_arguments", response_metadata={"messages": messages})
        if int(length) == 0:
            raise Refused("missing_argument")
        if int(length) > MAX_BYTES:
            raise Refused("file_upload_size_restricted")
        files, state = self._state.files, self._state
        file = files.announce(state.number(), str(arguments["filename"]), int(length), self._bot, state.clock())
        return {"upload_url": files.new_upload_url(file, state.ids.secret(8)), "file_id": file.id}

    def _check_allowed(self) -> None:
        if self._state.files.is_disabled:
            raise Refused("file_uploads_disabled")

    async def complete(self, arguments: Arguments) -> dict[str, Any]:
        """Finish uploads and share them in one message; files.info says where that is, this answer doesn't."""
        self._check_allowed()
        demand(arguments, "files")
        files = self._require_sent_files(arguments["files"])
        blocks = self._blocks(arguments)
        channel = self._channel(arguments)
        thread = self._state.thread_of(channel.id, arguments.get("thread_ts")) if channel else None
        for file, title in files:
            file.title, file.is_finished = title, True
        answer = {"files": [file.info() for file, _ in files]}
        if channel is not None and not self._state.files.loses_shares:
            text = escape_text(str(arguments.get("initial_comment") or ""))
            message = Message(self._state.new_ts(), channel.id, self._bot, text, blocks, thread_ts=thread)
            share(self._state, message, [file for file, _ in files])
        return answer

    def _require_sent_files(self, listed: Any) -> list[tuple[File, str]]:
        """Return the files of a call with their titles: announced by the app, sent, and not finished yet."""
        if not isinstance(listed, list) or not listed or not all(isinstance(one, Mapping) for one in listed):
            messages = ["[ERROR] must provide at least 1 items [json-pointer:/files]"]
            raise Refused("invalid_arguments", response_metadata={"messages": messages})
        found = []
        for one in listed:
            file = self._state.files.all.get(str(one.get("id")))
            if file is None or file.user != self._bot or file.content is None or file.is_finished:
                raise Refused("file_not_found")
            found.append((file, str(one.get("title") or file.name)))
        return found

    def _blocks(self, arguments: Arguments) -> list[dict[str, Any]]:
        """Return the blocks of the message, which are ignored where there is a comment."""
        blocks = arguments.get("blocks")
        if not blocks or arguments.get("initial_comment"):
            return []
        if problems := check_message({"blocks": blocks}):
            messages = ["[ERROR] failed to match all allowed schemas [json-pointer:/blocks]", *as_messages(problems)]
            raise Refused("invalid_blocks", errors=as_errors(problems), response_metadata={"messages": messages})
        return self._state.with_ids(blocks)

    def _channel(self, arguments: Arguments) -> Channel | None:
        """Return the channel to share the files in; None for none."""
        wanted = arguments.get("channel_id")
        if not wanted:
            return None
        if not re.fullmatch(CHANNEL_ID, str(wanted)):
            messages = [f"[ERROR] input must match regex pattern: {CHANNEL_ID} [json-pointer:/channel_id]"]
            raise Refused("invalid_arguments", response_metadata={"messages": messages})
        channel = self._state.channel_of(str(wanted))
        if channel.is_archived:
            raise Refused("is_archived")
        if not channel.bot_is_member:
            raise Refused("not_in_channel")
        return channel

    async def info(self, arguments: Arguments) -> dict[str, Any]:
        demand(arguments, "file")
        file = self._require_visible_file(arguments)
        return {"file": file.info(self._state.channels), "comments": [], "response_metadata": {"next_cursor": ""}}

    def _require_visible_file(self, arguments: Arguments) -> File:
        file = self._state.files.find_for_app(str(arguments["file"]), self._state.channels)
        if file is None:
            raise Refused("file_not_found")
        if file.is_deleted:
            raise Refused("file_deleted")
        return file


class FileServer:
    """Receives the content of uploads, and serves it for tokens that may read files, as *may_read* says."""

    def __init__(self, state: State, faults: SlackFaults, may_read: Callable[[str], bool]) -> None:
        self._state = state
        self._faults = faults
        self._may_read = may_read

    def routes(self) -> list[Route]:
        return [
            Route("/upload/v1/{ticket}", self.receive, methods=["POST"]),
            Route("/files-pri/{place}/download/{name}", self.serve, methods=["GET"]),
            Route("/files-pri/{place}/{name}", self.serve, methods=["GET"]),
            Route("/files-login", lambda _: HTMLResponse(LOGIN), methods=["GET"]),
        ]

    async def receive(self, request: Request) -> Response:
        """Receive the content of an announced file, raw or as a form; it needs no token, since the URL is secret."""
        fault = self._faults.take("files.upload")
        if fault is not None and not fault.is_after:
            return await fault.answer()
        content = _content(request.headers.get("content-type", ""), await request.body())
        ticket = request.path_params["ticket"]
        state = self._state
        file = state.files.tickets.get(ticket)
        status = "ok" if file is not None and len(content) == file.size else "refused"
        state.note("bot_to_slack", "files.upload", status, 0, {"bytes": len(content)}, None)
        if file is None or file.content is not None:
            return PlainTextResponse("Not found", 404)
        if len(content) != file.size:
            return PlainTextResponse("The length is not the one that was announced", 400)
        file.content = content
        return PlainTextResponse(f"OK - {len(content)}") if fault is None else await fault.answer()

    async def serve(self, request: Request) -> Response:
        """Serve a file's content; without the right to it, the answer is a login page with status 200, as at Slack."""
        if (fault := self._faults.take("files.download")) is not None:
            return await fault.answer()
        state, (_, _, file_id) = self._state, request.path_params["place"].partition("-")
        file = state.files.find_for_app(file_id, state.channels)
        token = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
        is_open = self._may_read(token) and not state.files.is_locked
        is_given = file is not None and not file.is_deleted and is_open
        state.note("bot_to_slack", "files.download", "ok" if is_given else "login page", 0, {}, None)
        if file is None or not is_given:
            return RedirectResponse("/files-login") if state.files.redirects else HTMLResponse(LOGIN)
        return Response(file.content, media_type=file.type[0])


def share(state: State, message: Message, files: list[File]) -> Message:
    """Put *files* into *message*, post it, and return it."""
    message.files = files
    for file in files:
        file.shares.setdefault(message.channel, []).append(message.ts)
    return state.add(message)


def _content(kind: str, body: bytes) -> bytes:
    """Return the uploaded content: the body, or the first part of a form."""
    if not kind.startswith("multipart/form-data"):
        return body
    head = f"Content-Type: {kind}\r\n\r\n".encode()
    parts = list(BytesParser(policy=email.policy.HTTP).parsebytes(head + body).iter_parts())
    found = parts[0].get_payload(decode=True) if parts else b""
    return found if isinstance(found, bytes) else b""
