"""A local Slack alone, and a way to call it as an app does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from bot.server.manifest import document
from sandbox.gatehouse import SHOP
from sandbox.slack.ids import StandingClock
from sandbox.slack.methods import SCOPES
from sandbox.slack.running import TOKEN, LocalSlack, running_slack
from sandbox.slack.serving import serving
from tests.sandbox.slack.desk import MANIFEST, Desk, scoped

NOW = 1_800_000_000
EVERY_SCOPE = sorted({scope for scopes in SCOPES.values() for scope in scopes} | {"users:read.email"})


@dataclass(frozen=True, slots=True)
class App:
    """Calls the Web API over its socket."""

    slack: LocalSlack
    http: httpx.AsyncClient

    async def get(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Look up: arguments in the query."""
        return dict((await self.http.get(method, params=arguments)).json())

    async def form(self, method: str, **arguments: Any) -> dict[str, Any]:
        return dict((await self.http.post(method, data=arguments)).json())

    async def json(self, method: str, **arguments: Any) -> dict[str, Any]:
        return dict((await self.http.post(method, json=arguments)).json())

    async def post(self, channel: str = "C0OPS0001", **more: Any) -> str:
        """The ts of a new message of the app."""
        answer = await self.json("chat.postMessage", channel=channel, **{"text": "A card", **more})
        assert answer["ok"], answer
        return str(answer["ts"])


def client(slack: LocalSlack) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    return httpx.AsyncClient(base_url=slack.api_url, headers=headers, trust_env=False)


@pytest.fixture
async def slack() -> AsyncIterator[LocalSlack]:
    async with running_slack(document("http://127.0.0.1"), SHOP, clock=lambda: float(NOW)) as running:
        yield running


@pytest.fixture
async def app(slack: LocalSlack) -> AsyncIterator[App]:
    async with client(slack) as http:
        yield App(slack, http)


@pytest.fixture
def standing_clock() -> StandingClock:
    return StandingClock(NOW)


@pytest.fixture
async def able(standing_clock: StandingClock) -> AsyncIterator[App]:
    """An app with every scope that there is a method for, in a Slack whose clock stands."""
    async with app_of(scoped(EVERY_SCOPE), clock=standing_clock) as found:
        yield found


@asynccontextmanager
async def app_of(manifest: dict[str, Any], **more: Any) -> AsyncIterator[App]:
    """An app of *manifest*, in a local Slack of its own; *more*: what else `running_slack` takes."""
    async with running_slack(manifest, SHOP, **more) as slack, client(slack) as http:
        yield App(slack, http)


@asynccontextmanager
async def installed(manifest: dict[str, Any], **more: Any) -> AsyncIterator[Desk]:
    """The small app of *manifest*, in a local Slack of its own; *more*: what else `running_slack` takes."""
    async with running_slack(manifest, SHOP, **more) as slack, httpx.AsyncClient(trust_env=False) as http:
        found = Desk(slack, http)
        app = Starlette(routes=[Route("/", found.endpoint, methods=["POST"])])
        async with serving(app) as slack.delivery.url:
            yield found


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    """A small app that is installed in a local Slack."""
    async with installed(MANIFEST) as found:
        yield found
