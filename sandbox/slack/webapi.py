"""The Web API: the methods that an app may call, each refusing what Slack refuses."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from sandbox.slack.calls import call_arguments, token_of
from sandbox.slack.chat import Chat
from sandbox.slack.directory import Arguments, Directory, Method
from sandbox.slack.faults import SlackFaults
from sandbox.slack.files import Files
from sandbox.slack.methods import SCOPES
from sandbox.slack.ratelimits import RateLimits
from sandbox.slack.refusal import Refused
from sandbox.slack.sockets import Sockets
from sandbox.slack.state import State
from sandbox.slack.views import Views


@dataclass(frozen=True, slots=True)
class AppToken:
    """The token of the app itself (xapp-…), which belongs to no workspace."""

    token: str
    scopes: tuple[str, ...]


class WebApi:
    """Answers ``/api/METHOD`` for one app, with its bot token and, where Socket Mode is asked for, its app token.

    *home_tabs*: the manifest's settings of the app's home; *now*: Slack's clock.
    """

    def __init__(
        self,
        state: State,
        *,
        token: str,
        scopes: tuple[str, ...],
        faults: SlackFaults,
        sockets: Sockets,
        app: AppToken,
        limits: RateLimits,
        home_tabs: Mapping[str, Any],
        now: Callable[[], float],
    ) -> None:
        self._state = state
        self._token = token
        self._app = app
        self._sockets = sockets
        self._limits = limits
        self._now = now
        self.refusal = ""
        """Slack's error code once the token is no longer valid; empty before."""
        self.scopes = scopes
        self._faults = faults
        chat = Chat(state, scopes, has_messages=home_tabs.get("messages_tab_enabled", True))
        self._methods: dict[str, Method] = (
            {"auth.test": self._auth_test}
            | chat.methods()
            | Views(state, scopes, has_home=bool(home_tabs.get("home_tab_enabled"))).methods()
            | Directory(state, scopes).methods()
            | Files(state).methods()
        )

    def has_scope(self, scope: str) -> bool:
        """Whether the token of this app may do what *scope* allows."""
        return scope in self.scopes and not self.refusal

    async def endpoint(self, request: Request) -> Response:
        """Answer one call, and record it for the inspector."""
        method = request.path_params["method"]
        began = time.perf_counter()
        try:
            arguments = await call_arguments(request, method)
        except ValueError:
            return JSONResponse({"ok": False, "error": "invalid_json"})
        shown = {name: value for name, value in arguments.items() if name != "token"}
        fault = self._faults.take(method, str(arguments.get("channel") or ""))
        if fault is not None and not fault.is_after:
            self._state.note("bot_to_slack", method, f"fault: {fault.kind}", 0, shown, None)
            return await fault.answer()
        if seconds := self._limits.seconds_to_wait(method, str(arguments.get("channel") or "")):
            self._state.note("bot_to_slack", method, "ratelimited", 0, shown, None)
            return JSONResponse({"ok": False, "error": "ratelimited"}, 429, headers={"Retry-After": str(seconds)})
        answer = await self._answer(method, arguments, request)
        status = "ok" if answer["ok"] else answer["error"]
        self._state.note("bot_to_slack", method, status, (time.perf_counter() - began) * 1000, shown, answer)
        if fault is not None:
            return await fault.answer()
        headers = {
            "Date": formatdate(self._now(), usegmt=True),
            "x-oauth-scopes": ",".join(self.scopes),
            "Content-Type": "application/json; charset=utf-8",
        }
        return JSONResponse(answer, headers=headers)

    async def _answer(self, method: str, arguments: Arguments, request: Request) -> dict[str, Any]:
        try:
            if method == "apps.connections.open":
                return {"ok": True, "url": self._open_connection(request)}
            if (handler := self._methods.get(method)) is None:
                raise Refused("unknown_method", req_method=method)
            self._authorize(token_of(request, arguments), method)
            return {"ok": True, **await handler(arguments)}
        except Refused as refusal:
            return {"ok": False, "error": refusal.code, **refusal.more}

    def _authorize(self, token: str, method: str) -> None:
        if not token:
            raise Refused("not_authed")
        if token == self._app.token:
            raise Refused("not_allowed_token_type")
        if token != self._token:
            raise Refused("invalid_auth")
        if self.refusal:
            raise Refused(self.refusal)
        needed = SCOPES.get(method)
        if needed is not None and not set(needed) & set(self.scopes):
            raise Refused("missing_scope", needed=",".join(needed), provided=",".join(self.scopes))

    def _open_connection(self, request: Request) -> str:
        """Return the URL of a new websocket; only for the app-level token, which has to be in the header."""
        token = token_of(request, {})
        if request.method != "POST":
            raise Refused("insecure_request")
        if not token:
            raise Refused("not_authed")
        if token == self._token:
            raise Refused("not_allowed_token_type")
        if token != self._app.token:
            raise Refused("invalid_auth")
        if "connections:write" not in self._app.scopes:
            raise Refused("missing_scope", needed="connections:write", provided=",".join(self._app.scopes))
        return self._sockets.new_url(str(request.base_url).rstrip("/"))

    async def _auth_test(self, _: Arguments) -> dict[str, Any]:
        home = self._state.workspace
        return {
            "url": home.url,
            "team": home.name,
            "user": home.bot.name,
            "team_id": home.id,
            "user_id": home.bot.id,
            "bot_id": home.bot_id,
            "is_enterprise_install": False,
        }
