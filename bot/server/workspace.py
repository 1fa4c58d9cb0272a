"""What each workspace has of its own: settings -> clients -> Gatehouse -> Bolt. Read it from top to bottom."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from starlette.routing import Route

from bot.changes.adapters import GroupAdapter, MemberAdapter, RuleAdapter
from bot.changes.batch import BatchWorker
from bot.changes.execute import RECONCILE_AFTER, Failpoint, no_failpoint
from bot.changes.model import Target
from bot.changes.notify import OutboxWorker, Pace
from bot.changes.pipeline import open_pipeline
from bot.changes.timers import TimerWorker
from bot.changes.verify import Adapter
from bot.changes.worker import Wake, lease_for
from bot.clients.errors import Refused
from bot.clients.gate import Gate
from bot.clients.http import CallLimits, LastCall, Service, authorities
from bot.clients.members import MembersClient
from bot.clients.rules import GroupsClient, RulesClient
from bot.gatehouse import Gatehouse, Site
from bot.members.model import reference
from bot.policy.access import Access
from bot.policy.file import CurrentPolicy
from bot.policy.limits import RateLimiter
from bot.server.edge import WARNING
from bot.server.figures import measure
from bot.server.slack import bolt_app, open_slack, sign_in
from bot.server.socket_mode import ConnectTimeouts
from bot.settings import CannotStart, Settings, SharedSettings
from bot.store.budgets import Budget
from bot.store.changes import SERVICES
from bot.store.db import StoreError
from bot.store.engine import DatabaseClock, Store, alone, open_store
from handlers.changes.cards import Cards
from handlers.slack.client import Slack
from handlers.slack.directory import SlackDirectory
from handlers.slack.files import SlackFiles
from handlers.slack.listeners import Router
from handlers.slack.replies import FORM_TIMEOUT

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Services:
    """The clients; *members* by the names of their sites."""

    rules: RulesClient
    groups: GroupsClient
    members: Mapping[str, MembersClient]
    last_calls: Mapping[str, LastCall] = field(default_factory=dict)
    """How the last call of each service went."""

    def says(self) -> dict[str, str]:
        """How each service was when it was called last."""
        return {name: call.says() for name, call in self.last_calls.items()}

    def adapter(self, target: Target) -> Adapter:
        """The adapter for changes of *target*; raises Refused for a site that no setting names any more."""
        if target.service == "rules":
            return RuleAdapter(self.rules)
        if target.service == "groups":
            return GroupAdapter(self.groups)
        if (client := self.members.get(target.site or "")) is None:
            raise Refused("members", f"no setting names the site {target.site or ''} any more")
        return MemberAdapter(client)


@asynccontextmanager
async def open_services(settings: Settings, budgets: Sequence[Budget] = ()) -> AsyncIterator[Services]:
    """Clients for both services, until the block ends; what has one of *budgets* gets no more than that."""
    last_calls = {name: LastCall() for name in SERVICES}
    gates = {name: Gate(name) for name in SERVICES} | {one.service: Gate(one.service, one) for one in budgets}
    async with AsyncExitStack() as stack:

        async def opened(name: str, base_url: str, header: str, key: str) -> Service:
            service = Service(
                name,
                base_url,
                {header: key},
                limits=CallLimits(deadline=settings.service_timeout, max_bytes=settings.service_max_bytes),
                insecure_http=settings.insecure_http,
                redact=settings.redacted,
                gate=gates[name],
                last_call=last_calls[name],
                proxy=settings.proxy_for(base_url),
                ca_file=settings.ca_file,
            )
            return await stack.enter_async_context(service)

        rules = await opened("rules", settings.rules_base_url, "x-api-key", settings.rules_api_key.get_secret_value())
        members = {}
        for name, site in settings.members_sites.items():
            key = f"{settings.members_auth_scheme} {settings.key_of(name)}".strip()
            service = await opened("members", settings.members_base_url, settings.members_auth_header, key)
            members[name] = MembersClient(service, site)
        yield Services(RulesClient(rules), GroupsClient(rules), members, last_calls)


def _budgets(settings: Settings, store: Store) -> Sequence[Budget]:
    """The budgets of those services that have a limit."""
    limits = {"rules": settings.rules_requests_per_minute, "members": settings.members_requests_per_minute}
    return [Budget(store.session, name, most) for name, most in limits.items() if most is not None]


DAY = 86_400.0
DRAIN = 10.0
"""Seconds that work under way has at the end; what is stored and not done then is done by the next start."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How long things may take and how often is looked, in seconds; and, in drills, where the process is to die."""

    lease: float | None = None
    """None: as long as the services' timeout needs."""
    recover_every: float = 5.0
    look_every: float = 1.0
    pace: float = 1.0
    reconcile_after: tuple[float, ...] = RECONCILE_AFTER
    connecting: ConnectTimeouts = field(default_factory=ConnectTimeouts)
    failpoint: Failpoint = no_failpoint
    form_timeout: float = FORM_TIMEOUT
    directory_every: float = 3.0
    """Several workspaces: how soon a replica hears of a new one, of settings, and of a token that another one refreshed."""
    refresh_every: float = 60.0
    retry_workspace: float = 30.0


@dataclass(frozen=True, slots=True)
class Workspace:
    """Gatehouse at work in one workspace."""

    gatehouse: Gatehouse
    bolt: AsyncApp
    slack: Slack
    health: Callable[[], Awaitable[dict[str, str]]]
    """What each of its parts says of itself."""
    services: Callable[[], dict[str, str]]
    """How each service was when it was called last."""
    wake_workers: Callable[[], None]
    """Wakes the workers: for a clock that was set, of which nothing else tells them."""
    budgets: Sequence[Budget]

    async def measure(self) -> None:
        """Set the metrics that are read only when somebody asks for them."""
        await measure([self.gatehouse.store], self.health, self.gatehouse.policy_trouble, self.budgets)

    @property
    def gatehouses(self) -> Mapping[str, Gatehouse]:
        """The only one, which needs no id."""
        return {"": self.gatehouse}

    @property
    def routes(self) -> Sequence[Route]:
        """Nothing is installed from a browser."""
        return ()

    async def dispatch(self, request: AsyncBoltRequest) -> BoltResponse:
        """What Bolt answers to a request that was checked."""
        return await self.bolt.async_dispatch(request)


def utc_now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def open_workspace(
    settings: Settings,
    policy: CurrentPolicy,
    *,
    timing: Timing,
    now: Callable[[], datetime] | None,
    transport: Callable[[], Awaitable[dict[str, str]]],
) -> AsyncIterator[Workspace]:
    """Everything of one workspace built and at work, until the block ends; raises CannotStart with what to do about it.

    *now* is this machine's clock where none is given, and the database's where several machines may share it. *transport*:
    what the way from Slack to here says of itself.
    """
    owner = f"{os.getpid()}-{secrets.token_hex(4)}"
    _log_settings(settings)
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(open_slack(settings, settings.slack_bot_token.get_secret_value()))
        signing_in = await stack.enter_async_context(in_background(sign_in(slack, settings)))
        reading_authorities = await stack.enter_async_context(
            in_background(asyncio.to_thread(authorities, settings.ca_file))
        )
        store, clock = await stack.enter_async_context(open_locked_store(settings, now))
        await reading_authorities
        budgets = _budgets(settings, store)
        services = await stack.enter_async_context(open_services(settings, budgets))

        async def health() -> dict[str, str]:
            groups = {"user groups": f"{WARNING}{words}"} if (words := missing_groups()) else {}
            return {
                "slack": slack.says,
                **await transport(),
                "clock": slack.clock_says(),
                **await store.health(),
                **groups,
            }

        def missing_groups() -> str:
            """Which of the user groups that the policy names are gone, in words; nothing where none is."""
            gone = sorted(directory.missing_groups & policy().groups)
            return f"{', '.join(gone)} not found in Slack: nobody has a role through them" if gone else ""

        wakes = Wake(), Wake(), Wake()

        def wake_workers() -> None:
            for wake in wakes:
                wake()

        lease = lease_for(settings.service_timeout) if timing.lease is None else timedelta(seconds=timing.lease)
        directory = SlackDirectory(slack, clock)
        access = Access(policy, directory)
        pipeline = open_pipeline(
            store=store,
            adapter=services.adapter,
            access=access,
            now=clock,
            new_id=lambda: secrets.token_hex(16),
            owner=owner,
            wake_workers=wake_workers,
            reconcile_after=timing.reconcile_after,
            lease=lease,
            failpoint=timing.failpoint,
        )
        gatehouse = Gatehouse(
            rules=services.rules,
            groups=services.groups,
            sites={name: Site(name, settings.members_sites[name], one) for name, one in services.members.items()},
            changes=pipeline,
            access=access,
            store=store,
            files=SlackFiles(slack),
            limits=RateLimiter(clock),
            now=clock,
            health=health,
            extra_segments=settings.segments,
            places=_places(settings),
            reference=partial(reference, settings.members_api_key.get_secret_value().encode()),
            policy_trouble=lambda: policy.trouble and settings.redacted(policy.trouble),
        )
        router = Router(
            gatehouse,
            slack,
            owner=owner,
            lease=lease,
            failpoint=timing.failpoint,
            form_timeout=timing.form_timeout,
        )
        bolt = bolt_app(settings, slack)
        router.register(bolt)

        cards = Cards(
            slack,
            store,
            access.directory,
            dict(gatehouse.places),
            Pace(time.monotonic, timing.pace),
            timing.failpoint,
            services.groups,
        )
        outbox = OutboxWorker(pipeline.journal, cards.deliver, wake=wakes[0])
        slack.heard = outbox.slack_answered
        timers = TimerWorker(pipeline, wakes[1])
        sets = BatchWorker(pipeline.executor, pipeline.proposer.new_id, wakes[2])
        await signing_in
        await store.outbox.retry_given_up()
        for work in (
            router.resume(every=timing.recover_every),
            outbox.run(every=timing.look_every),
            timers.run(every=timing.look_every),
            pipeline.recover(every=timing.recover_every),
            sets.run(every=timing.recover_every),
            policy.watch(every=5),
            pipeline.refusals.run(every=timing.look_every),
            _once_a_day(store),
        ):
            await stack.enter_async_context(in_background(work))
        stack.push_async_callback(pipeline.refusals.flush)
        stack.push_async_callback(outbox.flush, DRAIN)
        stack.push_async_callback(router.tasks.drain, DRAIN)

        yield Workspace(gatehouse, bolt, slack, health, services.says, wake_workers, budgets)


def _log_settings(settings: Settings) -> None:
    """Say what it talks to, before any of that can keep it waiting."""
    log.info("rules_service", url=settings.shown("rules_base_url"))
    sites = ", ".join(f"{name}={site}" for name, site in settings.members_sites.items())
    log.info("membership_service", url=settings.shown("members_base_url"), sites=sites)


@asynccontextmanager
async def open_locked_store(
    settings: SharedSettings, now: Callable[[], datetime] | None
) -> AsyncIterator[tuple[Store, Callable[[], datetime]]]:
    """The store, and the clock that goes with it: *now* where it is given; raises CannotStart."""
    log.info("database", url=settings.shown("database_url"))
    shared = DatabaseClock() if now is None and settings.database_url.startswith("postgres") else None
    now = now or shared or utc_now
    async with AsyncExitStack() as stack:
        try:
            is_alone = stack.enter_context(alone(settings.database_url))
            store = await stack.enter_async_context(open_store(settings.database_url, now=now))
            if is_alone:
                await store.end_leases()
            if shared is not None:
                await shared.read(store.session)
                await stack.enter_async_context(in_background(shared.follow(store.session, every=60)))
        except StoreError as error:
            raise CannotStart(error.advice()) from error
        yield store, now


async def _once_a_day(store: Store) -> None:
    """Put the end of the audit into the log, where whoever can rewrite the database cannot rewrite it; and tidy up."""
    while True:
        try:
            number, seal = await store.audit.head()
            log.info("audit_head", number=number, hash=seal)
            await store.inbox.forget()
            await store.misses.forget()
            if newer := await store.left_to_newer_release():
                log.warning("changes_of_a_newer_release", count=newer)
        except StoreError as error:
            log.warning("daily_work_failed", error=str(error))
        await asyncio.sleep(DAY)


@asynccontextmanager
async def in_background(work: Coroutine[Any, Any, Any]) -> AsyncIterator[asyncio.Task[Any]]:
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def _places(settings: Settings) -> dict[str, str]:
    """The host of each service."""
    rules, members = urlsplit(settings.rules_base_url).netloc, urlsplit(settings.members_base_url).netloc
    return {"rules": rules, "groups": rules, "members": members}
