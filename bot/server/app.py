"""The composition root: settings -> clients -> Gatehouse -> Bolt -> one ASGI application. Read it from top to bottom."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import structlog
from starlette.applications import Starlette

from bot import __version__
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
from bot.policy.file import BadPolicy, CurrentPolicy, summary
from bot.policy.limits import RateLimiter
from bot.server.edge import WARNING, Verifier, slack_endpoint, web_app
from bot.server.figures import measure, watch_loop
from bot.server.slack import answer, bolt_app, open_slack, sign_in
from bot.server.socket_mode import ConnectTimeouts, Envelopes, connected
from bot.settings import CannotStart, Settings
from bot.store.budgets import Budget
from bot.store.db import StoreError
from bot.store.engine import DatabaseClock, Store, alone, open_store
from handlers.changes.cards import Cards
from handlers.grammar.command import command_prefix
from handlers.grammar.parser import VERBS
from handlers.slack.directory import SlackDirectory
from handlers.slack.files import SlackFiles
from handlers.slack.forms import FORM_TIMEOUT
from handlers.slack.listeners import Router

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
    last_calls = {"rules": LastCall(), "members": LastCall()}
    gates = {name: Gate(name) for name in ("rules", "members")} | {
        one.service: Gate(one.service, one) for one in budgets
    }
    async with AsyncExitStack() as stack:
        rules, groups = await stack.enter_async_context(_rules(settings, gates["rules"], last_calls["rules"]))
        members = {
            name: await stack.enter_async_context(_members(settings, name, gates["members"], last_calls["members"]))
            for name in settings.members_sites
        }
        yield Services(rules, groups, members, last_calls)


@asynccontextmanager
async def _rules(settings: Settings, gate: Gate, last: LastCall) -> AsyncIterator[tuple[RulesClient, GroupsClient]]:
    headers = {"x-api-key": settings.rules_api_key.get_secret_value()}
    async with _service("rules", settings.rules_base_url, headers, settings, gate, last) as service:
        yield RulesClient(service), GroupsClient(service)


@asynccontextmanager
async def _members(settings: Settings, name: str, gate: Gate, last: LastCall) -> AsyncIterator[MembersClient]:
    headers = {settings.members_auth_header: f"{settings.members_auth_scheme} {settings.key_of(name)}".strip()}
    async with _service("members", settings.members_base_url, headers, settings, gate, last) as service:
        yield MembersClient(service, settings.members_sites[name])


def _budgets(settings: Settings, store: Store) -> Sequence[Budget]:
    """The budgets of those services that have a limit."""
    limits = {"rules": settings.rules_requests_per_minute, "members": settings.members_requests_per_minute}
    return [Budget(store.session, name, most) for name, most in limits.items() if most is not None]


def _service(
    name: str, base_url: str, headers: dict[str, str], settings: Settings, gate: Gate, last: LastCall
) -> Service:
    limits = CallLimits(deadline=settings.service_timeout, max_bytes=settings.service_max_bytes)
    return Service(
        name,
        base_url,
        headers,
        limits=limits,
        insecure_http=settings.insecure_http,
        redact=settings.redacted,
        gate=gate,
        last_call=last,
        proxy=settings.proxy_for(base_url),
        ca_file=settings.ca_file,
    )


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


@dataclass(frozen=True, slots=True)
class Running:
    """Gatehouse at work: what serves HTTP, and what a sandbox or a test may look into."""

    web: Starlette
    gatehouse: Gatehouse
    wake_workers: Callable[[], None]
    """Wakes the workers: for a clock that was set, of which nothing else tells them."""


def utc_now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def running(
    settings: Settings, *, now: Callable[[], datetime] | None = None, timing: Timing | None = None
) -> AsyncIterator[Running]:
    """Everything built and at work, until the block ends; raises CannotStart with what to do about it.

    *now* is this machine's clock where none is given, and the database's where several machines may share it.
    """
    timing = timing or Timing()
    command_prefix.set(settings.command_prefix)
    owner = f"{os.getpid()}-{secrets.token_hex(4)}"
    _log_settings(settings)
    async with AsyncExitStack() as stack:
        policy = _policy(settings)
        slack = await stack.enter_async_context(open_slack(settings, settings.slack_bot_token.get_secret_value()))
        signing_in = await stack.enter_async_context(_in_background(sign_in(slack)))
        reading_authorities = await stack.enter_async_context(
            _in_background(asyncio.to_thread(authorities, settings.ca_file))
        )
        store, clock = await stack.enter_async_context(_store(settings, now))
        await reading_authorities
        budgets = _budgets(settings, store)
        services = await stack.enter_async_context(open_services(settings, budgets))

        envelopes: Envelopes | None = None

        async def health() -> dict[str, str]:
            socket = {} if envelopes is None else {"socket mode": await envelopes.says()}
            groups = {"user groups": f"{WARNING}{words}"} if (words := missing_groups()) else {}
            return {"slack": slack.says, **socket, "clock": slack.clock_says(), **await store.health(), **groups}

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
        bolt = bolt_app(settings)
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
        outbox = OutboxWorker(store, cards.deliver, owner=owner, now=clock, wake=wakes[0], lease=lease)
        slack.heard = outbox.slack_answered
        timers = TimerWorker(pipeline, owner=owner, wake=wakes[1], lease=lease)
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
            watch_loop(),
        ):
            await stack.enter_async_context(_in_background(work))
        stack.push_async_callback(pipeline.refusals.flush)
        stack.push_async_callback(outbox.flush, DRAIN)
        stack.push_async_callback(router.tasks.drain, DRAIN)

        if settings.slack_app_token is not None:
            token = settings.slack_app_token.get_secret_value()
            envelopes = Envelopes(bolt, await stack.enter_async_context(open_slack(settings, token)), timing.connecting)
            await stack.enter_async_context(connected(envelopes, within=timing.connecting.attempt, drain=DRAIN))
        verifier = Verifier(settings.signing_secrets, time.time)
        events = slack_endpoint(verifier, partial(answer, bolt)) if settings.signing_secrets else None
        yield Running(
            web_app(events, health, services.says, partial(measure, store, health, gatehouse.policy_trouble, budgets)),
            gatehouse,
            wake_workers,
        )


def _log_settings(settings: Settings) -> None:
    """Say what starts and what it talks to, before any of that can keep it waiting."""
    transport = "HTTP" if settings.slack_app_token is None else "Socket Mode"
    log.info("starting", version=__version__, transport=transport, slack=settings.shown("slack_api_url"))
    if settings.outgoing_proxy is not None:
        log.info("outgoing_proxy", url=settings.shown("outgoing_proxy"))
    log.info("rules_service", url=settings.shown("rules_base_url"))
    sites = ", ".join(f"{name}={site}" for name, site in settings.members_sites.items())
    log.info("membership_service", url=settings.shown("members_base_url"), sites=sites)


@asynccontextmanager
async def _store(
    settings: Settings, now: Callable[[], datetime] | None
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
                await stack.enter_async_context(_in_background(shared.follow(store.session, every=60)))
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


def _policy(settings: Settings) -> CurrentPolicy:
    try:
        policy = CurrentPolicy(settings.policy_file, VERBS)
    except BadPolicy as error:
        raise CannotStart(f"the policy file is wrong. {error}") from error
    log.info("policy", found=summary(settings.policy_file, policy()))
    return policy


@asynccontextmanager
async def _in_background(work: Coroutine[Any, Any, Any]) -> AsyncIterator[asyncio.Task[Any]]:
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
