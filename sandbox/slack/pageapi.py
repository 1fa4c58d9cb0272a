"""The HTTP API of the page: state, messages, a live stream, and the acts of its person."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from sandbox.slack.acting import Acting
from sandbox.slack.pagefiles import PageFiles
from sandbox.slack.refusal import Refused
from sandbox.slack.slackbot import Slackbot
from sandbox.slack.tickets import TAB

PAGE = Path(__file__).parent / "page"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
KEEPALIVE_SECONDS = 15.0

Endpoint = Callable[[Request], Awaitable[Response]]
Act = Callable[[dict[str, Any]], Awaitable[Any]]


class PageApi:
    """The API that the page uses. It trusts everybody on this machine, and no web page from elsewhere."""

    def __init__(
        self,
        acting: Acting,
        start_afresh: Callable[[], Awaitable[None]],
        folder: str = "",
    ) -> None:
        self._acting = acting
        self._start_afresh = start_afresh
        self._folder = folder

    def routes(self) -> list[Route | Mount]:
        posts: dict[str, Act] = {"say": self.say, "action": self.action, "submit": self.submit, "close": self.close}
        slackbot = Slackbot(self._acting.state, self._acting.delivery)
        posts |= {
            "tools": slackbot.tools,
            "call": slackbot.call,
            "options": self.options,
            "home": self.home,
            "shortcut": self.shortcut,
            "edit": self.edit,
            "delete": self.delete,
            "reset": self.reset,
        }
        return [
            Route("/", self.index),
            Route("/_local/folder", self.guard(self.folder)),
            Route("/_local/state", self.guard(self.state)),
            Route("/_local/messages", self.guard(self.messages)),
            Route("/_local/traffic", self.guard(self.traffic)),
            Route("/_local/live", self.guard(self.live)),
            *PageFiles(self._acting).routes(self.guard),
            *(
                Route(f"/_local/{name}", self.guard(self.make_endpoint(act)), methods=["POST"])
                for name, act in posts.items()
            ),
            Route("/page/icon.svg", self.icon),
            Mount("/page", StaticFiles(directory=PAGE)),
        ]

    def guard(self, endpoint: Endpoint) -> Endpoint:
        """Restrict *endpoint* to pages of this machine: a foreign site cannot name this host, nor set the header."""

        async def guarded_endpoint(request: Request) -> Response:
            host = request.headers.get("host", "").rsplit(":", 1)[0]
            if host not in LOOPBACK or (request.method == "POST" and "x-local-slack-page" not in request.headers):
                return JSONResponse({"ok": False, "error": "not_this_machine"}, 403)
            return await endpoint(request)

        return guarded_endpoint

    def make_endpoint(self, act: Act) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            TAB.set(request.headers.get("x-local-slack-tab", ""))
            try:
                answer = await act(await request.json())
            except Refused as refusal:
                return JSONResponse({"ok": False, "error": refusal.code})
            except (ValueError, KeyError) as error:
                return JSONResponse({"ok": False, "error": f"bad_request: {error}"}, 400)
            return JSONResponse({"ok": True} if answer is None else answer)

        return endpoint

    async def index(self, _: Request) -> Response:
        return FileResponse(PAGE / "index.html")

    async def icon(self, _: Request) -> Response:
        return FileResponse(self._acting.state.workspace.app.icon, media_type="image/svg+xml")

    async def folder(self, _: Request) -> Response:
        return JSONResponse({"folder": self._folder})

    async def state(self, request: Request) -> Response:
        acting = self._acting
        state, features = acting.state, acting.manifest.get("features", {})
        user = request.query_params.get("user") or next(iter(state.users))
        if user not in state.users or state.users[user].is_deleted:
            return JSONResponse({"ok": False, "error": "user_not_found"}, 404)
        mine = [one for one in state.channels.values() if user in one.members]
        commands = [
            {name: one.get(name, "") for name in ("command", "description", "usage_hint")} for one in acting.commands
        ]
        return JSONResponse(
            {
                "team": state.workspace.info(),
                "me": state.users[user].page_data(),
                "users": [one.page_data() for one in state.users.values() if not one.is_bot],
                "channels": [one.page_data() for one in mine],
                "groups": [{"id": one.id, "handle": one.handle} for one in state.groups.values()],
                "suggestions": [asdict(one) for one in state.workspace.suggestions],
                "commands": commands,
                "shortcuts": features.get("shortcuts", []),
                "bot": state.workspace.bot.page_data(),
                "slackbot": bool(acting.delivery.tools_url),
                "modals": state.views_data(user),
                "home": state.homes.get(user),
            }
        )

    async def messages(self, request: Request) -> Response:
        asked = request.query_params
        user, channel = asked.get("user", ""), asked.get("channel", "")
        state = self._acting.state
        if thread_ts := asked.get("thread_ts"):
            root = state.find(channel, thread_ts)
            found = [*([root] if root else []), *state.replies(channel, thread_ts, user)]
        else:
            found = state.visible_messages(user, channel)
        if before := asked.get("before"):
            found = [one for one in found if one.ts < before]
        limit = min(int(asked.get("limit") or 100), 500)
        shown = [state.message_data(one) for one in found[-limit:]]
        return JSONResponse({"messages": shown, "has_more": len(found) > limit})

    async def traffic(self, _: Request) -> Response:
        return JSONResponse({"entries": self._acting.state.traffic[-200:]})

    async def live(self, request: Request) -> Response:
        return StreamingResponse(self._stream(request.query_params.get("user")), media_type="text/event-stream")

    async def _stream(self, user: str | None) -> AsyncIterator[str]:
        queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        watcher = (user, queue)
        watchers = self._acting.state.watchers
        watchers.append(watcher)
        try:
            yield ": here\n\n"
            while True:
                try:
                    async with asyncio.timeout(KEEPALIVE_SECONDS):
                        event = await queue.get()
                except TimeoutError:
                    yield ": still here\n\n"
                else:
                    yield f"data: {json.dumps(event)}\n\n"
        finally:
            watchers.remove(watcher)

    async def say(self, asked: dict[str, Any]) -> Any:
        user, acting = asked["user"], self._acting
        if picked := asked.get("files"):
            files = acting.state.files.chosen_files({"files": [{"id": one} for one in picked]}, user)
            if len(files) != len(picked):
                raise Refused("file_not_found")
            return await acting.upload(user, asked["channel"], asked["text"], files)
        return await acting.say(user, asked["channel"], asked["text"], asked.get("thread_ts"))

    async def action(self, asked: dict[str, Any]) -> Any:
        values = (asked.get("state") or {}).get("values") or {}
        ack = await self._acting.act(
            asked["user"], asked, asked["block_id"], asked["action_id"], asked["element"], values
        )
        return {"ok": not ack.failed, "error": ack.failed}

    async def submit(self, asked: dict[str, Any]) -> Any:
        return await self._acting.submit(
            asked["user"], asked["view_id"], (asked.get("state") or {}).get("values") or {}
        )

    async def close(self, asked: dict[str, Any]) -> None:
        self._acting.close(asked["user"], asked["view_id"], clear=bool(asked.get("clear")))

    async def options(self, asked: dict[str, Any]) -> Any:
        return await self._acting.load_options(
            asked["user"], asked, asked["block_id"], asked["action_id"], str(asked.get("value", ""))
        )

    async def home(self, asked: dict[str, Any]) -> None:
        await self._acting.open_home(asked["user"], asked.get("tab", "home"))

    async def shortcut(self, asked: dict[str, Any]) -> Any:
        return await self._acting.use_shortcut(asked["user"], asked["callback_id"], asked["channel"], asked["ts"])

    async def edit(self, asked: dict[str, Any]) -> None:
        await self._acting.edit(asked["user"], asked["channel"], asked["ts"], asked["text"])

    async def delete(self, asked: dict[str, Any]) -> None:
        await self._acting.delete(asked["user"], asked["channel"], asked["ts"])

    async def reset(self, _: dict[str, Any]) -> None:
        await self._start_afresh()
