"""The composition root: settings -> clients -> Gatehouse -> Bolt -> HTTP or Socket Mode. Read it from top to bottom."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import structlog
from starlette.applications import Starlette

from bot import __version__
from bot.changes.batch import BatchWorker
from bot.changes.execute import RECONCILE_AFTER, Failpoint, no_failpoint
from bot.changes.journal import Journal
from bot.changes.notify import OutboxWorker, Pace
from bot.changes.pipeline import Pipeline, open_pipeline
from bot.changes.timers import TimerWorker
from bot.changes.worker import DRAIN_SECONDS, Wake, lease_for
from bot.clients.http import ssl_context
from bot.gatehouse import Gatehouse, Site
from bot.health import Health, Level, health_of
from bot.policy.access import Access
from bot.policy.file import BadPolicy, CurrentPolicy, summary
from bot.policy.limits import RateLimiter
from bot.policy.model import Policy
from bot.server.edge import AgentEndpoint, Verifier, slack_endpoint, web_app
from bot.server.figures import measure, watch_loop
from bot.server.manifest import missing_scopes_text, optional_scopes_text
from bot.server.services import open_services
from bot.server.slack import answer, bolt_app, open_slack, sign_in
from bot.server.socket_mode import ConnectTimeouts, SocketMode, connected
from bot.settings import CannotStart, Settings
from bot.store.db import StoreError
from bot.store.engine import DatabaseClock, Store, exclusive_lock, open_store
from handlers.changes.cards import Cards
from handlers.changes.coverage import find_covered
from handlers.grammar.command import command_prefix
from handlers.slack.directory import SlackDirectory
from handlers.slack.files import SlackFiles
from handlers.slack.forms import FORM_TIMEOUT
from handlers.slack.listeners import Router

log = structlog.get_logger(__name__)


DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Timing:
    """Durations and intervals of the process, in seconds; and, for drills, where the process dies (*failpoint*)."""

    lease: float | None = None
    """Seconds of a lease; None: derived from the services' timeout."""
    recover_every: float = 5.0
    look_every: float = 1.0
    pace: float = 1.0
    reconcile_after: tuple[float, ...] = RECONCILE_AFTER
    connecting: ConnectTimeouts = field(default_factory=ConnectTimeouts)
    failpoint: Failpoint = no_failpoint
    form_timeout: float = FORM_TIMEOUT


@dataclass(frozen=True, slots=True)
class Running:
    """A running Gatehouse: the ASGI app, and what a sandbox or a test may inspect."""

    web: Starlette
    gatehouse: Gatehouse
    wake_workers: Callable[[], None]
    """Wakes the workers after a test has set the clock, which they don't notice otherwise."""


@asynccontextmanager
async def running(
    settings: Settings, *, now: Callable[[], datetime] | None = None, timing: Timing | None = None
) -> AsyncIterator[Running]:
    """Build everything and run it until the block ends; raises CannotStart with what to do about it.

    *now* is the clock. By default it is this machine's, or the database's where several machines may share the database.
    """
    timing = timing or Timing()
    command_prefix.set(settings.command_prefix)
    # Not the process id alone: it is 1 in every container, and the same again after a restart.
    owner = f"{os.getpid()}-{secrets.token_hex(4)}"
    _log_settings(settings)
    policy = _policy(settings)
    async with AsyncExitStack() as stack:
        slack = await stack.enter_async_context(open_slack(settings, settings.slack_bot_token.get_secret_value()))
        # Started here and awaited below, so that the start takes only as long as the slowest of them.
        signing_in = await stack.enter_async_context(_in_background(sign_in(slack)))
        reading_authorities = await stack.enter_async_context(
            _in_background(asyncio.to_thread(ssl_context, settings.ca_file))
        )
        store, clock = await stack.enter_async_context(_open_locked_store(settings, now))
        await reading_authorities
        services = await stack.enter_async_context(open_services(settings))

        sockets: SocketMode | None = None

        async def health() -> dict[str, Health]:
            socket = {} if sockets is None else {"socket mode": sockets.health()}
            scopes = _scopes(slack.scopes)
            groups = _missing_groups(policy(), directory)
            own = {"slack": health_of(slack.trouble), **socket, "clock": health_of(slack.clock_trouble())}
            return {**own, **await store.health(), **scopes, **groups}

        wake_outbox, wake_batches = Wake(), Wake()

        def wake_workers() -> None:
            for wake in (wake_outbox, wake_batches):
                wake()

        lease = lease_for(settings.service_timeout) if timing.lease is None else timedelta(seconds=timing.lease)
        directory = SlackDirectory(slack, clock)
        access = Access(policy, directory)
        pipeline = open_pipeline(
            Journal(store, clock, owner, wake_outbox, wake_batches, lease),
            adapter=services.adapter,
            access=access,
            new_id=lambda: secrets.token_hex(16),
            reconcile_after=timing.reconcile_after,
            failpoint=timing.failpoint,
            covered=partial(find_covered, rules=services.rules.recent, groups=services.groups.groups),
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
            channels_of=directory.channels_of,
            agents=settings.agents,
            extra_segments=settings.segments,
            places=_service_hosts(settings),
            policy_trouble=lambda: policy.trouble and settings.redact(policy.trouble),
        )
        router = Router(
            gatehouse,
            slack,
            owner=owner,
            lease=lease,
            form_timeout=timing.form_timeout,
        )
        bolt = bolt_app(settings)
        router.register(bolt)

        cards = Cards(
            slack,
            store,
            access.directory,
            Pace(time.monotonic, timing.pace),
            services.groups.groups,
            pipeline.freezes,
        )
        outbox = OutboxWorker(pipeline.journal, cards.deliver, TimerWorker(pipeline).do, wake_outbox)
        batches = BatchWorker(pipeline.executor, pipeline.proposer.new_id, wake_batches)
        await signing_in
        # Somebody who has fixed what Slack refused often restarts Gatehouse, so such messages are tried again.
        await store.outbox.retry_given_up()
        for work in (
            policy.watch(every=2.5),
            _run_daily_work(store),
            watch_loop(),
        ):
            await stack.enter_async_context(_in_background(work))
        claiming = (
            router.resume(every=timing.recover_every),
            pipeline.recover(every=timing.recover_every),
            batches.run(every=timing.recover_every),
        )
        await stack.enter_async_context(_working(pipeline, router, claiming, outbox, every=timing.look_every))

        # Last, so that everything runs before Slack sends the first request.
        if settings.slack_app_token is not None:
            token = settings.slack_app_token.get_secret_value()
            app = await stack.enter_async_context(open_slack(settings, token))
            sockets = SocketMode(partial(answer, bolt), app, timing.connecting)
            await stack.enter_async_context(connected(sockets, within=timing.connecting.attempt, drain=DRAIN_SECONDS))
        verifier = Verifier(settings.signing_secrets, time.time)
        events = slack_endpoint(verifier, partial(answer, bolt)) if settings.signing_secrets else None
        measuring = partial(measure, store, health, gatehouse.policy_trouble)
        agents = _agents(gatehouse, verifier, directory.our_team, slack.post) if settings.agents else None
        yield Running(web_app(events, health, measuring, agents), gatehouse, wake_workers)


def _agents(*parts: Any) -> AgentEndpoint:
    """Return the endpoint for agents, whose SDK only those install who let them in; raises CannotStart."""
    try:
        from bot.server.agents import agent_endpoint  # noqa: PLC0415  others don't wait for it at the start
    except ImportError as error:
        raise CannotStart(f"AGENTS=true needs requirements/agents.lock, or gatehouse[agents] ({error}).") from error
    return agent_endpoint(*parts)


def _log_settings(settings: Settings) -> None:
    """Log what starts and which servers it uses, before any of them can make it wait."""
    transport = "HTTP" if settings.slack_app_token is None else "Socket Mode"
    log.info("starting", version=__version__, transport=transport, slack=settings.display_value("slack_api_url"))
    if settings.outgoing_proxy is not None:
        log.info("outgoing_proxy", url=settings.display_value("outgoing_proxy"))
    log.info("rules_service", url=settings.display_value("rules_base_url"))
    sites = ", ".join(f"{name}={site}" for name, site in settings.members_sites.items())
    log.info("membership_service", url=settings.display_value("members_base_url"), sites=sites)


def _policy(settings: Settings) -> CurrentPolicy:
    try:
        policy = CurrentPolicy(settings.policy_file)
    except BadPolicy as error:
        raise CannotStart(f"the policy file is wrong. {error}") from error
    log.info("policy", found=summary(settings.policy_file, policy()))
    return policy


@asynccontextmanager
async def _open_locked_store(
    settings: Settings, now: Callable[[], datetime] | None
) -> AsyncIterator[tuple[Store, Callable[[], datetime]]]:
    """Open the store; yield it and its clock, which is *now* where that is given. Raises CannotStart."""
    log.info("database", url=settings.display_value("database_url"))
    # SQLite is used by one process on one machine, so that machine's clock is enough.
    shared = DatabaseClock() if now is None and settings.database_url.startswith("postgres") else None
    now = now or shared or partial(datetime.now, UTC)
    async with AsyncExitStack() as stack:
        try:
            is_alone = stack.enter_context(exclusive_lock(settings.database_url))
            store = await stack.enter_async_context(open_store(settings.database_url, now=now))
            # No other process can have the file open, so the owners of all leases in it are dead.
            if is_alone:
                await store.end_leases()
            if shared is not None:
                await shared.read(store.session)
                await stack.enter_async_context(_in_background(shared.follow(store.session, every=60)))
        except StoreError as error:
            raise CannotStart(error.advice()) from error
        yield store, now


def _scopes(granted: str) -> Mapping[str, Health]:
    """Return what does not work because the app lacks scopes; empty where it lacks none."""
    if words := missing_scopes_text(granted):
        return {"scopes": Health(Level.NEEDS_ATTENTION, words)}
    words = optional_scopes_text(granted)
    return {"scopes": Health(Level.WORKS, words)} if words else {}


def _missing_groups(policy: Policy, directory: SlackDirectory) -> Mapping[str, Health]:
    """Return a warning that names the user groups of the policy that Slack doesn't have; empty where none is missing."""
    gone = ", ".join(sorted(directory.missing_groups & policy.groups))
    words = f"{gone} not found in Slack: nobody has a role through them"
    return {"user groups": Health(Level.NEEDS_ATTENTION, words)} if gone else {}


async def _run_daily_work(store: Store) -> None:
    """Once a day, clean up the inbox."""
    while True:
        try:
            await store.inbox.forget()
        except StoreError as error:
            log.warning("daily_work_failed", error=str(error))
        await asyncio.sleep(DAY)


@asynccontextmanager
async def _working(
    pipeline: Pipeline,
    router: Router,
    claiming: Iterable[Coroutine[Any, Any, Any]],
    outbox: OutboxWorker,
    *,
    every: float,
) -> AsyncIterator[None]:
    """Run the workers until the block ends, then drain them.

    Draining claims no more work, waits for running work to finish, delivers its results, and gives back all leases.
    """
    async with AsyncExitStack() as stack:
        delivering = await stack.enter_async_context(_in_background(outbox.run(every=every)))
        claims = [await stack.enter_async_context(_in_background(work)) for work in claiming]
        try:
            yield
        finally:
            # First, or a long bulk change would start more items until it is cut off.
            pipeline.journal.stopping.set()
            await asyncio.gather(router.drain(), *map(_cancel_and_wait, claims))
            # Deliveries run until here, since the work that has just ended enqueued some.
            await _cancel_and_wait(delivering)
            await outbox.flush(DRAIN_SECONDS)
            with contextlib.suppress(StoreError):  # then its work waits until the leases expire
                await pipeline.journal.store.give_back_leases(pipeline.journal.owner)


async def _cancel_and_wait(task: asyncio.Task[Any]) -> None:
    """Cancel *task*, and wait for its end."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def _in_background(work: Coroutine[Any, Any, Any]) -> AsyncIterator[asyncio.Task[Any]]:
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def _service_hosts(settings: Settings) -> dict[str, str]:
    """Return the host of each service."""
    rules, members = urlsplit(settings.rules_base_url).netloc, urlsplit(settings.members_base_url).netloc
    return {"rules": rules, "groups": rules, "members": members}
