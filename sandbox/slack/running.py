"""Run a local Slack with one app."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Route, WebSocketRoute

from sandbox.slack.acting import Acting
from sandbox.slack.configuration import load_workspaces
from sandbox.slack.delivery import Delivery
from sandbox.slack.faults import SlackFaults
from sandbox.slack.files import FileServer
from sandbox.slack.ids import Ids
from sandbox.slack.oauth import Installations
from sandbox.slack.pageapi import PageApi
from sandbox.slack.ratelimits import RateLimits
from sandbox.slack.responding import ResponseUrls
from sandbox.slack.scheduled import Schedule
from sandbox.slack.serving import serving
from sandbox.slack.sockets import Sockets
from sandbox.slack.state import State
from sandbox.slack.troubles import Troubles, slack_troubles
from sandbox.slack.validation import ManifestRefused, check_manifest
from sandbox.slack.webapi import AppToken, WebApi
from sandbox.slack.workspaces import Workspace

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
    installations: Installations
    """The tokens of the app, in each workspace."""
    workspaces: Mapping[str, Acting] = field(default_factory=dict)
    """The acts of people in each workspace, by its id."""

    def with_workspace(self, workspace: Workspace) -> LocalSlack:
        """Return the same Slack, seen from another workspace."""
        acting = self.workspaces[workspace.id]
        return replace(self, state=acting.state, acting=acting)

    @property
    def api_url(self) -> str:
        return f"{self.page_url}/api/"


@asynccontextmanager
async def running_slack(
    manifest: Mapping[str, Any],
    workspaces: tuple[Workspace, ...] = (),
    *,
    token: str = TOKEN,
    app_token: str = APP_TOKEN,
    app_scopes: tuple[str, ...] = ("connections:write",),
    secret: str = SECRET,
    port: int = 0,
    seed: int | None = None,
    clock: Callable[[], float] = time.time,
    reset: Callable[[], Awaitable[None]] | None = None,
    folder: str = "",
    ping_every: float = 10.0,
) -> AsyncIterator[LocalSlack]:
    """Run a local Slack with one app, the one of *manifest*, installed in the first of *workspaces*.

    In the others it is installed by OAuth. `load_workspaces` reads workspaces from a file; the default is that of
    ``default.toml``. Set `delivery.url` once the app listens; where the manifest has Socket Mode, the app connects instead.
    *reset*: called when the page starts over. *folder*: tells a second demo which demo this is. With a *seed* and a
    `StandingClock`, two runs in which the same happens have the same ids and times. *ping_every*: seconds between two pings of
    Slack on a connection of Socket Mode. Raises ManifestRefused where Slack would not accept the manifest.
    """
    if problems := check_manifest(manifest):
        raise ManifestRefused(problems)
    home, *others = workspaces = tuple(one.with_app(manifest) for one in workspaces or load_workspaces())
    state, faults = State(home, clock, Ids(seed)), SlackFaults()
    states = {home.id: state, **{one.id: state.add_workspace(one) for one in others}}
    schedules = {name: Schedule(one) for name, one in states.items()}
    by_socket = bool(manifest.get("settings", {}).get("socket_mode_enabled"))
    sockets = Sockets(home.app.id, is_enabled=by_socket, ids=state.ids)
    delivery = Delivery(state, secret, sockets=sockets if sockets.is_enabled else None)
    scopes = tuple(manifest.get("oauth_config", {}).get("scopes", {}).get("bot", ()))
    limits, app = RateLimits(clock), AppToken(app_token, app_scopes)

    def open_api(workspace: str, token: str, scopes: tuple[str, ...]) -> WebApi:
        return WebApi(
            states[workspace],
            token=token,
            scopes=scopes,
            faults=faults,
            app=app,
            sockets=sockets,
            limits=limits,
            schedule=schedules[workspace],
            home_tabs=manifest.get("features", {}).get("app_home", {}),
            now=lambda: time.time() + delivery.skew,
        )

    async def notify_app(workspace: str, subscription: str, event: dict[str, Any]) -> None:
        await actings[workspace].events.notify_app(subscription, event)

    installations = Installations(
        {one.id: one for one in workspaces}, open_api, notify_app, clock, state.ids, manifest, state.note
    )
    actings = {
        name: Acting(one, delivery, manifest, is_installed=partial(installations.is_installed_in, name))
        for name, one in states.items()
    }
    installations.install(home.id, token, scopes)

    def may_read(token: str, workspace: str) -> bool:
        api = installations.apis.get(token)
        return api is not None and api.workspace.id == workspace and api.has_scope("files:read")

    async def start_afresh() -> None:
        if reset is not None:
            await reset()
        troubles.mend()
        for one in states.values():
            one.forget()

    page = PageApi(actings, schedules, start_afresh, folder)
    troubles = Troubles(state, slack_troubles(state, delivery, faults, limits, sockets))
    routes = [
        *installations.routes(),
        Route("/response/{name:path}", ResponseUrls(actings).endpoint, methods=["POST"]),
        WebSocketRoute("/link/", sockets.endpoint),
        *FileServer(states, faults, may_read).routes(),
        *page.routes(),
        *troubles.routes(page.guard, page.make_endpoint),
    ]
    async with serving(Starlette(routes=routes), port=port, ping_every=ping_every, dates=False) as address:
        for acting in actings.values():
            acting.answers.address = acting.state.files.base = address
        try:
            yield LocalSlack(
                address, state, actings[home.id], delivery, faults, sockets, limits, troubles, installations, actings
            )
        finally:
            for name, acting in actings.items():
                schedules[name].close()
                acting.events.close()
            await sockets.close()
            await delivery.close()
