"""Gatehouse in two workspaces of the local Slack, each with services of its own."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import cycle
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import pytest
from pydantic import SecretStr

from bot.gatehouse import Gatehouse
from bot.server.app import Running, running
from bot.server.manifest import document
from bot.server.workspace import Timing
from bot.server.workspace_commands import set_up
from bot.settings import DirectorySettings, OAuthSettings
from bot.store.audit import Filters
from sandbox.breaking import connect
from sandbox.demo import Sandbox, Transport
from sandbox.gatehouse import SHOP
from sandbox.services.running import Services, running_services
from sandbox.services.switches import Switches
from sandbox.slack.oauth import CLIENT_ID, CLIENT_SECRET
from sandbox.slack.people import User
from sandbox.slack.running import APP_TOKEN, SECRET, LocalSlack, running_slack
from sandbox.slack.serving import serving
from sandbox.slack.story import Person
from sandbox.slack.watching import NothingHappened, watching
from sandbox.slack.workspaces import Workspace
from tests.conftest import QUICK, Clock
from tests.programs import of_services

KEY: Final = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
"""Of the tests: 32 bytes in base64."""
TWIN: Final = replace(
    SHOP,
    id="T0TWIN001",
    name="Example Twin",
    domain="example-twin",
    bot=User("U0TWINBOT", "app", "App", "App", SHOP.bot.color, is_bot=True),
    bot_id="B0TWIN001",
)
"""Another workspace with the same people and channels, by the same ids."""


@dataclass(slots=True)
class Several:
    """The parts, at work. *services* and *slack* are those of one workspace: `at` is the same, seen from another."""

    slack: LocalSlack
    all_services: Mapping[str, Services]
    settings: OAuthSettings
    folder: Path
    bot: Running
    bot_url: str
    http: httpx.AsyncClient

    def gatehouse(self, home: Workspace) -> Gatehouse | None:
        """What is at work in *home*; None where nothing is."""
        return self.bot.served.gatehouses.get(home.id)

    def seen_from(self, home: Workspace) -> Sandbox:
        """The same as a sandbox of *home* alone, which must be at work."""
        served: Any = self.bot.served
        alone = replace(self.bot, served=served.workspace(home.id))
        return Sandbox(self.slack.at(home), self.all_services[home.id], alone, self.bot_url)

    def person(self, home: Workspace, user: str = "U0ALICE01", channel: str = "C0OPS0001") -> Person:
        return Person(self.slack.at(home), user, channel)

    async def begin(self, home: Workspace, *, answer: str = "allow") -> tuple[str, str]:
        """What somebody's browser does to install Gatehouse in *home*: where Slack leads it at the end, and its cookie."""
        begun = await self.http.get(f"{self.bot_url}/slack/install", params={"team": home.id})
        assert begun.status_code == 302, begun.text
        page = (await self.http.get(begun.headers["location"])).text
        fields = dict(re.findall(r'name="(\w+)" value="([^"]*)">', page))
        form = {**fields, "answer": answer, "team": home.id}
        decided = await self.http.post(f"{self.slack.page_url}/oauth/v2/authorize", data=form)
        there = urlsplit(decided.headers["location"])
        return f"{self.bot_url}{there.path}?{there.query}", begun.headers["set-cookie"].partition(";")[0]

    async def end(self, url: str, cookie: str) -> httpx.Response:
        """The answer to a browser that Slack leads back."""
        return await self.http.get(url, headers={"cookie": cookie} if cookie else {})

    async def install(self, home: Workspace) -> None:
        """Install Gatehouse in *home*, from a browser."""
        done = await self.end(*await self.begin(home))
        assert done.status_code == 200, done.text

    async def ready(self) -> httpx.Response:
        return await self.http.get(f"{self.bot_url}/readyz")

    async def until(self, home: Workspace, says: str) -> None:
        """Return once /readyz says so of *home*; ``""``: nothing."""
        async with asyncio.timeout(15):
            while not _is(says, await self._says(home)):  # noqa: ASYNC110  nobody is told when it changes
                await asyncio.sleep(0.02)

    async def _says(self, home: Workspace) -> str:
        return str((await self.ready()).json().get(f"workspace {home.id}", ""))

    def variables(self, home: Workspace) -> dict[str, str]:
        """What the operator of *home* writes into a file."""
        services = self.all_services[home.id]
        return of_services(services.rules_url, services.members_url)

    async def set_up(self, home: Workspace, policy: Path | None = None, **other: str) -> None:
        """What ``gatehouse workspace set`` does."""
        env = self.folder / f"{home.id}.env"
        env.write_text("".join(f"{name}={value}\n" for name, value in {**self.variables(home), **other}.items()))
        await set_up(self.directory_settings, home.id, env, policy, without_policy=policy is None)

    @property
    def directory_settings(self) -> DirectorySettings:
        return DirectorySettings(
            _env_file=None, database_url=self.settings.database_url, encryption_keys=self.settings.encryption_keys
        )


def _is(wanted: str, found: str) -> bool:
    return wanted in found if wanted else not found


def oauth_settings(slack: LocalSlack, database_url: str, **other: Any) -> OAuthSettings:
    """What a deployment would set; the environment and .env play no part."""
    by_socket = slack.sockets.is_enabled
    return OAuthSettings(
        _env_file=None,
        slack_client_id=CLIENT_ID,
        slack_client_secret=SecretStr(CLIENT_SECRET),
        slack_signing_secret=SecretStr("" if by_socket else SECRET),
        slack_app_token=SecretStr(APP_TOKEN) if by_socket else None,
        slack_api_url=slack.api_url,
        database_url=database_url,
        service_timeout=5.0,
        **{"encryption_keys": (SecretStr(KEY),), **other},
    )


@asynccontextmanager
async def running_several(
    folder: Path,
    *,
    timing: Timing,
    database_url: str,
    now: Callable[[], datetime] | None = None,
    transport: Transport = "http",
    rotates: bool = False,
    switches: Switches | None = None,
    homes: tuple[Workspace, ...] = (TWIN, SHOP),
) -> AsyncIterator[Several]:
    """The bot with *homes*, installed in none of them, with its files in *folder*."""
    async with AsyncExitStack() as stack:
        services = {}
        for home in homes:
            path = str(folder / f"services-{home.id}.db")
            services[home.id] = await stack.enter_async_context(running_services(path, switches=switches))
        manifest = document(
            None if transport == "socket" else "https://bot.example.com", install_url="https://bot.example.com"
        )
        manifest["settings"]["token_rotation_enabled"] = rotates
        slack = await stack.enter_async_context(running_slack(manifest, homes))
        settings = oauth_settings(slack, database_url)
        bot = await stack.enter_async_context(running(settings, now=now, timing=timing))
        url = await stack.enter_async_context(serving(bot.web))
        if transport == "http":
            slack.delivery.url = f"{url}/slack/events"
        http = await stack.enter_async_context(httpx.AsyncClient(trust_env=False))
        yield Several(slack, services, settings, folder, bot, url, http)


@pytest.fixture
def rotates(request: pytest.FixtureRequest) -> bool:
    """Whether the app's tokens rotate."""
    return bool(getattr(request, "param", False))


@pytest.fixture
async def several(
    tmp_path: Path, database_url: str, transport: Transport, clock: Clock, rotates: bool
) -> AsyncIterator[Several]:
    """Gatehouse, installed nowhere."""
    async with running_several(
        tmp_path, timing=QUICK, database_url=database_url, transport=transport, now=clock, rotates=rotates
    ) as several:
        yield several


@pytest.fixture
async def both(several: Several) -> Several:
    """Gatehouse at work in both."""
    for home in (TWIN, SHOP):
        await several.install(home)
        await several.set_up(home)
    for home in (TWIN, SHOP):
        await several.until(home, "ok")
    return several


def token_of(several: Several, home: Workspace) -> str:
    """The token that the app got last in *home*."""
    found = [token for token, api in several.slack.installations.apis.items() if api.workspace.id == home.id]
    return found[-1]


MARK: Final = "lighthouse"
"""A word that stands in all that the busy workspace does, and nowhere else."""
WORK: Final = (
    f"/rules off Redirect_x1old for 2h because {MARK}",
    "/rules list",
    "/rules which https://shop.example.com/old",
    f"/rules on Redirect_x1old because {MARK}",
    f"/rules delete Redirect_x1old because {MARK}",
    f"/members grant anna.berg@example.com beta for 5m because {MARK}",
    "/members list site:docs",
    "/gatehouse audit",
    f"/gatehouse what about the {MARK}",
)


async def _busy(several: Several) -> None:
    """What the people of the twin do: something each time that something happens in the shop, whatever a story puts out of
    order for both.
    """
    alice = several.person(TWIN)
    async with watching(several.slack.at(SHOP).state, 0.0, str) as watch:
        for text in cycle(WORK):
            with suppress(AssertionError, TimeoutError, NothingHappened):
                await alice.says(text)
            await watch.changed.get()


@asynccontextmanager
async def _beside_a_busy_one(folder: Path, policy: Path | None, **run: Any) -> AsyncIterator[Sandbox]:
    """A sandbox of the shop, as the second of two workspaces; nothing of the first one may have come to it in the end."""
    async with running_several(folder, **run) as several:
        for home in (TWIN, SHOP):
            await several.install(home)
        await several.set_up(TWIN)
        await several.set_up(SHOP, policy)
        for home in (TWIN, SHOP):
            await several.until(home, "ok")
        sandbox = several.seen_from(SHOP)
        connect(sandbox.slack, sandbox.services)
        await several.person(TWIN).says(WORK[0])
        busy = asyncio.create_task(_busy(several))
        try:
            yield sandbox
        finally:
            busy.cancel()
            await asyncio.gather(busy, return_exceptions=True)
        assert any(MARK in one.text + str(one.blocks) for one in several.slack.at(TWIN).state.messages)
        assert not [one for one in sandbox.slack.state.messages if MARK in one.text + str(one.blocks)]
        entries = await sandbox.bot.gatehouse.store.audit.found(Filters(), 1000)
        assert not [entry for entry in entries if MARK in str(entry)]


@pytest.fixture
def beside_a_busy_one() -> Callable[..., AbstractAsyncContextManager[Sandbox]]:
    return _beside_a_busy_one
