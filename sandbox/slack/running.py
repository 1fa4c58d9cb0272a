"""The local Slack at work."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute

from sandbox.serving import serving
from sandbox.slack.acting import Acting
from sandbox.slack.delivery import Delivery
from sandbox.slack.faults import SlackFaults
from sandbox.slack.files import FileServer
from sandbox.slack.oauth import Installations
from sandbox.slack.pageapi import PageApi
from sandbox.slack.ratelimits import RateLimits
from sandbox.slack.sockets import Sockets
from sandbox.slack.state import Refused, State
from sandbox.slack.troubles import Troubles, slack_troubles
from sandbox.slack.webapi import AppToken, WebApi

TOKEN = "xoxb-local-sandbox-token"  # noqa: S105  it opens nothing but this process
APP_TOKEN = "xapp-1-A0GATE001-1-local"  # noqa: S105
SECRET = "local-signing-secret"  # noqa: S105


@dataclass(frozen=True, slots=True)
class LocalSlack:
    """Where it is, and what a demo or a test may turn."""

    page_url: str
    state: State
    acting: Acting
    delivery: Delivery
    faults: SlackFaults
    sockets: Sockets
    """Of Socket Mode; without connections where the app does not use it."""
    limits: RateLimits
    """Off, unless they are switched on."""
    troubles: Troubles
    """What the page can put out of order; whoever runs more than a Slack adds rows."""

    @property
    def api_url(self) -> str:
        return f"{self.page_url}/api/"


@asynccontextmanager
async def running_slack(
    manifest: Mapping[str, Any],
    *,
    token: str = TOKEN,
    app_token: str = APP_TOKEN,
    app_scopes: tuple[str, ...] = ("connections:write",),
    secret: str = SECRET,
    port: int = 0,
    clock: Callable[[], float] = time.time,
    reset: Callable[[], Awaitable[None]] | None = None,
) -> AsyncIterator[LocalSlack]:
    """A local Slack with one app installed, the one of *manifest*.

    Set `delivery.url` when the app listens; where the manifest says Socket Mode, the app connects by itself.
    """
    state, faults = State(clock), SlackFaults()
    sockets = Sockets(is_enabled=bool(manifest.get("settings", {}).get("socket_mode_enabled")))
    delivery = Delivery(state, secret, sockets=sockets if sockets.is_enabled else None)
    acting = Acting(state, delivery, manifest)
    scopes = tuple(manifest.get("oauth_config", {}).get("scopes", {}).get("bot", ()))
    limits, app = RateLimits(clock), AppToken(app_token, app_scopes)

    def opened(token: str, scopes: tuple[str, ...]) -> WebApi:
        return WebApi(
            state,
            token=token,
            scopes=scopes,
            faults=faults,
            app=app,
            sockets=sockets,
            limits=limits,
            has_home=bool(manifest.get("features", {}).get("app_home", {}).get("home_tab_enabled")),
        )

    installations = Installations(opened, clock, manifest)
    installations.install(token, scopes)

    def may_read(token: str) -> bool:
        return token in installations.apis and installations.apis[token].grants("files:read")

    async def respond(request: Request) -> Response:
        name = request.path_params["name"]
        try:
            body = await request.json()
            acting.respond(name, body)
        except Refused as refusal:
            state.note("bot_to_slack", "response_url", refusal.code, 0, {}, refusal.more)
            return JSONResponse(
                {"ok": False, "error": refusal.code, **refusal.more}, 404 if refusal.code.endswith("_url") else 400
            )
        except ValueError:
            return JSONResponse({"ok": False, "error": "invalid_payload"}, 400)
        state.note("bot_to_slack", "response_url", "ok", 0, body, "ok")
        return PlainTextResponse("ok")

    page = PageApi(acting, reset)
    troubles = Troubles(state, slack_troubles(state, delivery, faults, limits, sockets))
    routes = [
        *installations.routes(),
        Route("/response/{name:path}", respond, methods=["POST"]),
        WebSocketRoute("/link/", sockets.endpoint),
        *FileServer(state, faults, may_read).routes(),
        *page.routes(),
        *troubles.routes(page.guarded, page.posted),
    ]
    async with serving(Starlette(routes=routes), port=port) as address:
        acting.address = state.files.base = address
        try:
            yield LocalSlack(address, state, acting, delivery, faults, sockets, limits, troubles)
        finally:
            await sockets.close()
            await delivery.close()
