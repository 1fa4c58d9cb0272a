"""Run a local Slack with one app."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Route, WebSocketRoute

from sandbox.slack.acting import Acting
from sandbox.slack.delivery import Delivery
from sandbox.slack.faults import SlackFaults
from sandbox.slack.files import FileServer
from sandbox.slack.pageapi import PageApi
from sandbox.slack.ratelimits import RateLimits
from sandbox.slack.responding import ResponseUrls
from sandbox.slack.serving import serving
from sandbox.slack.sockets import Sockets
from sandbox.slack.state import State
from sandbox.slack.troubles import Troubles, slack_troubles
from sandbox.slack.validation import ManifestRefused, check_manifest
from sandbox.slack.webapi import AppToken, WebApi
from sandbox.slack.workspace import Workspace

TOKEN = "xoxb-local-sandbox-token"  # noqa: S105  it opens nothing but this process
APP_TOKEN = "xapp-1-A0LOCAL01-1-local"  # noqa: S105
SECRET = "local-signing-secret"  # noqa: S105


@dataclass(frozen=True, slots=True, repr=False)  # as of the sandbox
class LocalSlack:
    """The URL of a running local Slack, and what a demo or a test may change in it."""

    page_url: str
    state: State
    acting: Acting
    delivery: Delivery
    faults: SlackFaults
    sockets: Sockets
    """The connections of Socket Mode; none where the app doesn't use it."""
    limits: RateLimits
    """Off, unless they are switched on."""
    troubles: Troubles
    """The faults that the page can switch on; a program that runs more than a Slack adds rows."""

    @property
    def api_url(self) -> str:
        return f"{self.page_url}/api/"


@asynccontextmanager
async def running_slack(
    manifest: Mapping[str, Any],
    workspace: Workspace,
    *,
    token: str = TOKEN,
    app_token: str = APP_TOKEN,
    app_scopes: tuple[str, ...] = ("connections:write",),
    secret: str = SECRET,
    port: int = 0,
    clock: Callable[[], float] = time.time,
    reset: Callable[[], Awaitable[None]] | None = None,
    folder: str = "",
    ping_every: float = 10.0,
) -> AsyncIterator[LocalSlack]:
    """Run a local Slack with one app, the one of *manifest*, installed in *workspace*.

    Set `delivery.url` once the app listens; where the manifest has Socket Mode, the app connects instead. *reset*: called when
    the page starts over. *folder*: tells a second demo which demo this is. *ping_every*: seconds between two pings of Slack on
    a connection of Socket Mode. Raises ManifestRefused where Slack would not accept the manifest.
    """
    if problems := check_manifest(manifest):
        raise ManifestRefused(problems)
    home = workspace.with_app(manifest)
    state, faults = State(home, clock), SlackFaults()
    by_socket = bool(manifest.get("settings", {}).get("socket_mode_enabled"))
    sockets = Sockets(home.app.id, is_enabled=by_socket, ids=state.ids)
    delivery = Delivery(state, secret, sockets=sockets if sockets.is_enabled else None)
    scopes = tuple(manifest.get("oauth_config", {}).get("scopes", {}).get("bot", ()))
    limits = RateLimits(clock)
    api = WebApi(
        state,
        token=token,
        scopes=scopes,
        faults=faults,
        app=AppToken(app_token, app_scopes),
        sockets=sockets,
        limits=limits,
        home_tabs=manifest.get("features", {}).get("app_home", {}),
        now=lambda: time.time() + delivery.skew,
    )
    acting = Acting(state, delivery, manifest)

    def may_read(given: str) -> bool:
        return given == token and api.has_scope("files:read")

    async def start_afresh() -> None:
        if reset is not None:
            await reset()
        troubles.mend()
        state.forget()

    page = PageApi(acting, start_afresh, folder)
    troubles = Troubles(state, slack_troubles(state, delivery, faults, limits, sockets))
    routes = [
        Route("/api/{method}", api.endpoint, methods=["GET", "POST"]),
        Route("/response/{name:path}", ResponseUrls(acting).endpoint, methods=["POST"]),
        WebSocketRoute("/link/", sockets.endpoint),
        *FileServer(state, faults, may_read).routes(),
        *page.routes(),
        *troubles.routes(page.guard, page.make_endpoint),
    ]
    async with serving(Starlette(routes=routes), port=port, ping_every=ping_every, dates=False) as address:
        acting.answers.address = state.files.base = address
        try:
            yield LocalSlack(address, state, acting, delivery, faults, sockets, limits, troubles)
        finally:
            acting.events.close()
            await sockets.close()
            await delivery.close()
