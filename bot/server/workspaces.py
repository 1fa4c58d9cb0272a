"""Several workspaces in one process: each is opened and closed on its own, and gets only its own requests from Slack."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

import structlog
from aiohttp import ClientError
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError
from starlette.routing import Route
from structlog.contextvars import bind_contextvars, bound_contextvars

from bot.changes.worker import Wake, repeat
from bot.environment import BadSettings, read_workspace
from bot.gatehouse import Gatehouse
from bot.policy.file import BadPolicy, CurrentPolicy, parse_policy
from bot.server.away import answer_for
from bot.server.edge import WARNING, WORKSPACE, is_ready
from bot.server.figures import measure
from bot.server.logs import also_redacted
from bot.server.oauth import OAuth, is_due
from bot.server.slack import open_slack
from bot.server.workspace import DRAIN, Timing, Workspace, in_background, open_locked_store, open_workspace
from bot.settings import CannotStart, OAuthSettings, SharedSettings, WorkspaceSettings
from bot.store.db import TEAM, StoreError, workspace_url
from bot.store.directory import INSTALLATION, Directory, Document, Entry
from bot.store.engine import Store, upgrade
from handlers.grammar.parser import VERBS
from handlers.slack.client import FATAL, UNREADABLE, Slack

log = structlog.get_logger(__name__)

START_SECONDS: Final = 10.0
"""How long a start waits for workspaces that are slow to open; they go on opening after it."""
HEALTH_SECONDS: Final = 4.0
NOT_SET_UP: Final = "not set up: run gatehouse workspace set"
OPENING: Final = "opening"
NO_ANSWER: Final = (ClientError, TimeoutError, OSError, *UNREADABLE)

Transport = Callable[[], Awaitable[dict[str, str]]]


def settings_of(shared: SharedSettings, team: str, configuration: Document, token: str) -> WorkspaceSettings:
    """The settings of the workspace *team*; raises BadSettings, or StoreError for an id that is none."""
    known = {name: getattr(shared, name) for name in SharedSettings.model_fields}
    known |= {"database_url": workspace_url(shared.database_url, team), "slack_bot_token": token}
    return read_workspace(configuration["variables"], known, source=f"workspace {team}")


def policy_of(team: str, configuration: Document) -> CurrentPolicy:
    """The policy of the workspace *team*, which stays as it is; raises BadPolicy."""
    if not (text := configuration.get("policy")):
        return CurrentPolicy(None, VERBS)
    return CurrentPolicy(None, VERBS, parse_policy(text, f"the policy of {team}", VERBS))


@dataclass(slots=True, eq=False)
class Tenant:
    """One workspace as this process has it. *workspace*: None while it is not open; *trouble*: why it is not, or what is wrong.

    *refusal*: why its token was not refreshed when that was due. *tried*: set once the first attempt to open it has ended.
    """

    entry: Entry
    workspace: Workspace | None = None
    trouble: str = OPENING
    task: asyncio.Task[None] | None = None
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    tried: asyncio.Event = field(default_factory=asyncio.Event)
    retry_at: float = float("inf")
    refusal: str = ""

    @property
    def can_open(self) -> bool:
        return self.entry.installation is not None and self.entry.configuration is not None

    @property
    def token(self) -> str:
        return str((self.entry.installation or {}).get("bot_token") or "")

    async def says(self) -> str:
        """What it says of itself: "ok", or in a few words what is wrong."""
        if self.workspace is None:
            return f"{WARNING}{NOT_SET_UP}" if self.trouble == NOT_SET_UP else self.trouble
        try:
            async with asyncio.timeout(HEALTH_SECONDS):
                parts = await self.workspace.health()
        except TimeoutError:
            return "store: no answer"
        wrong = [f"{part}: {says}" for part, says in parts.items() if not is_ready(says)]
        return "; ".join([*wrong, *([f"token not refreshed: {self.refusal}"] if self.refusal else [])]) or "ok"


class Workspaces:
    """Follows the directory: opens each workspace that is installed and set up, and closes it when it no longer is."""

    def __init__(
        self,
        settings: OAuthSettings,
        store: Store,
        slack: Slack,
        *,
        timing: Timing,
        now: Callable[[], datetime] | None,
        transport: Transport,
    ) -> None:
        self._settings = settings
        self._store = store
        self._slack = slack
        self._timing = timing
        self._now = now
        self._transport = transport
        self._tenants: dict[str, Tenant] = {}
        self._changed = Wake()
        self._migrating = asyncio.Lock()
        self.directory = Directory(store.session, [key.get_secret_value() for key in settings.encryption_keys])
        self._oauth = OAuth(settings, self.directory, slack.client, self._changed)

    @property
    def routes(self) -> Sequence[Route]:
        """The pages of an install."""
        return self._oauth.routes()

    @property
    def gatehouses(self) -> Mapping[str, Gatehouse]:
        """Those that are open, by the ids of their workspaces."""
        return {team: workspace.gatehouse for team, workspace in self._at_work.items()}

    @property
    def _at_work(self) -> dict[str, Workspace]:
        return {team: one.workspace for team, one in self._tenants.items() if one.workspace is not None}

    def workspace(self, team: str) -> Workspace | None:
        """The one with this id, where it is open."""
        tenant = self._tenants.get(team)
        return None if tenant is None else tenant.workspace

    def wake_workers(self) -> None:
        self._changed()
        for workspace in self._at_work.values():
            workspace.wake_workers()

    async def start(self) -> None:
        """Open what can be opened; raises CannotStart where nothing of the directory can be read."""
        try:
            entries = await self.directory.all()
        except StoreError as error:
            raise CannotStart(error.advice()) from error
        if entries and all(entry.trouble for entry in entries.values()):
            raise CannotStart(
                f"ENCRYPTION_KEYS can't decrypt any of the {len(entries)} workspaces in the database. Set the key that they"
                " were encrypted with; behind a new one, with a comma."
            )
        await self._look()
        attempts = [asyncio.ensure_future(one.tried.wait()) for one in self._tenants.values() if one.task is not None]
        if attempts:
            _, slow = await asyncio.wait(attempts, timeout=START_SECONDS)
            for attempt in slow:
                attempt.cancel()

    async def watch(self) -> None:
        """Follow the directory until cancelled."""
        await repeat("workspaces", self._look, self._changed.wait)

    async def _look(self) -> float:
        entries = await self.directory.all()
        for team in {*entries, *self._tenants}:
            self._follow(team, entries.get(team, Entry()))
        return self._timing.directory_every

    def _follow(self, team: str, entry: Entry) -> None:
        """Let the workspace *team* become what *entry* says."""
        tenant = self._tenants.get(team)
        if tenant is not None and tenant.task is not None:
            if not entry.trouble:  # what it can't read any more it goes on with as it was
                self._go_on(tenant, entry)
        elif tenant is None or tenant.entry != entry:
            self._begin(team, Tenant(entry))
        elif time.monotonic() >= tenant.retry_at:
            self._begin(team, Tenant(entry, trouble=tenant.trouble))

    def _go_on(self, tenant: Tenant, entry: Entry) -> None:
        if entry.installation is None or entry.configuration != tenant.entry.configuration:
            tenant.stop.set()  # it is begun again, where it can be, once it has ended
            return
        tenant.entry = entry
        if tenant.workspace is not None:  # also another replica may have refreshed it
            tenant.workspace.slack.client.token = tenant.token

    def _begin(self, team: str, tenant: Tenant) -> None:
        self._tenants[team] = tenant
        if tenant.can_open:
            tenant.retry_at = time.monotonic() + self._timing.retry_workspace
            tenant.task = asyncio.create_task(self._serve(team, tenant))
        else:
            tenant.trouble = tenant.entry.trouble or NOT_SET_UP
            log.info("workspace_waits", workspace=team, trouble=tenant.trouble)

    async def _serve(self, team: str, tenant: Tenant) -> None:
        """Keep the workspace *team* open until it is to stop. Whatever is wrong with it is wrong with it alone."""
        bind_contextvars(workspace=team)
        try:
            await self._open(team, tenant)
        except (CannotStart, StoreError, BadSettings, BadPolicy) as error:
            tenant.trouble = error.advice() if isinstance(error, StoreError) else str(error)
            log.error("workspace_closed", trouble=tenant.trouble)  # noqa: TRY400  it says what to do
        except Exception as error:
            tenant.trouble = f"a fault of Gatehouse ({type(error).__name__}): see the log"
            log.exception("workspace_failed")
        finally:
            tenant.task = None
            tenant.tried.set()
            self._changed()

    async def _open(self, team: str, tenant: Tenant) -> None:
        configuration = tenant.entry.configuration
        assert configuration is not None  # noqa: S101  asked before
        await self._refresh(team, tenant)
        settings = settings_of(self._settings, team, configuration, tenant.token)
        with also_redacted(settings.redacted):
            policy = policy_of(team, configuration)
            async with self._migrating:  # Alembic keeps what it works on in globals
                await upgrade(settings.database_url)
            opened = open_workspace(settings, policy, timing=self._timing, now=self._now, transport=self._transport)
            async with opened as workspace, in_background(self._keep_fresh(team, tenant)):
                workspace.slack.client.token = tenant.token  # it may have got another one meanwhile
                tenant.workspace, tenant.trouble = workspace, ""
                tenant.tried.set()
                log.info("workspace_open")
                try:
                    await tenant.stop.wait()
                finally:
                    tenant.workspace, tenant.trouble = None, OPENING
            log.info("workspace_closed")

    async def _keep_fresh(self, team: str, tenant: Tenant) -> None:
        async def refresh() -> float:
            await self._refresh(team, tenant)
            return self._timing.refresh_every

        await repeat("refresh", refresh)

    async def _refresh(self, team: str, tenant: Tenant) -> None:
        """Refresh the token of *team* if it is time; a refusal is said by the workspace, once the token has ended."""
        if tenant.entry.installation is None or not is_due(tenant.entry.installation):
            return
        try:
            tenant.refusal = await self._oauth.refresh(team)
        except NO_ANSWER as error:
            tenant.refusal = type(error).__name__
        if tenant.refusal:
            log.warning("token_not_refreshed", code=tenant.refusal)
        fresh = (await self.directory.of(team)).installation
        tenant.entry = replace(tenant.entry, installation=fresh or tenant.entry.installation)

    async def close(self) -> None:
        """Close every workspace, each with the time that its work under way needs; one that opens has none yet."""
        tasks = []
        for tenant in self._tenants.values():
            tenant.stop.set()
            if tenant.task is not None:
                tasks.append(tenant.task)
                if tenant.workspace is None and not tenant.tried.is_set():
                    tenant.task.cancel()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=3 * DRAIN)
            for task in late:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def health(self) -> dict[str, str]:
        """What the process says of itself, and each workspace that is installed."""
        parts = {**await self._transport(), **await self._store.health()}
        shown = {team: one for team, one in self._tenants.items() if one.entry.installation or one.entry.trouble}
        says = await asyncio.gather(*(one.says() for one in shown.values()))
        return parts | {f"{WORKSPACE}{team}": words for team, words in zip(shown, says, strict=True)}

    async def measure(self) -> None:
        """Set the metrics that are read only when somebody asks for them."""
        budgets = [budget for workspace in self._at_work.values() for budget in workspace.budgets]
        stores = [workspace.gatehouse.store for workspace in self._at_work.values()]
        await measure(stores, self.health, lambda: None, budgets)

    def services(self) -> dict[str, str]:
        """How the services of each workspace were when they were called last."""
        return {
            f"{WORKSPACE}{team}: {service}": says
            for team, workspace in self._at_work.items()
            for service, says in workspace.services().items()
        }

    async def dispatch(self, request: AsyncBoltRequest) -> BoltResponse:
        """What the workspace answers that Slack names in a request."""
        team = request.context.team_id
        if not isinstance(team, str) or not TEAM.fullmatch(team):
            return _of_no_workspace(request.body)
        tenant = self._tenants.get(team)
        with bound_contextvars(workspace=team):
            if _ends_installation(request.body):
                return await self._ended(team)
            if tenant is not None and tenant.workspace is not None:
                return await tenant.workspace.dispatch(request)
            return await answer_for(self._slack, request, team, tenant.token if tenant else "", _state_of(tenant))

    async def _ended(self, team: str) -> BoltResponse:
        """Slack says that a token of *team* is over: forget ours if it is. An old event may be about an earlier one."""
        try:
            entry = await self.directory.of(team)
            if entry.installation is not None and await self._is_over(str(entry.installation["bot_token"])):
                await self.directory.swap(team, INSTALLATION, entry.installation, None)
                log.info("uninstalled")
                self._changed()
        except (StoreError, *NO_ANSWER) as error:
            log.warning("uninstall_not_checked", error=type(error).__name__)
            return BoltResponse(status=503)  # Slack tells it again
        return BoltResponse(status=200)

    async def _is_over(self, token: str) -> bool:
        try:
            await self._slack.client.auth_test(token=token)
        except SlackApiError as error:
            return error.response.get("error") in FATAL
        return False


def _state_of(tenant: Tenant | None) -> str:
    """Why a workspace doesn't answer: ``missing``, ``not set up``, ``opening`` or ``broken``."""
    if tenant is None or (tenant.entry.installation is None and not tenant.entry.trouble):
        return "missing"
    return {NOT_SET_UP: "not set up", OPENING: "opening"}.get(tenant.trouble, "broken")


def _of_no_workspace(body: Mapping[str, Any]) -> BoltResponse:
    """Slack's own checks of the request URL."""
    if body.get("type") == "url_verification":
        return BoltResponse(status=200, body={"challenge": body.get("challenge")})
    return BoltResponse(status=200 if "ssl_check" in body else 400)


def _ends_installation(body: Mapping[str, Any]) -> bool:
    event = body.get("event")
    return isinstance(event, Mapping) and event.get("type") in {"tokens_revoked", "app_uninstalled"}


@asynccontextmanager
async def open_workspaces(
    settings: OAuthSettings, *, timing: Timing, now: Callable[[], datetime] | None, transport: Transport
) -> AsyncIterator[Workspaces]:
    """Every workspace that is installed and set up, until the block ends; raises CannotStart where none could be."""
    async with (
        open_locked_store(settings, now) as (store, _),
        open_slack(settings, "") as slack,
    ):
        workspaces = Workspaces(settings, store, slack, timing=timing, now=now, transport=transport)
        try:
            await workspaces.start()
            async with in_background(workspaces.watch()):
                yield workspaces
        finally:
            await workspaces.close()
