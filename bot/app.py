"""The composition root: settings -> gatehouse -> Bolt -> one ASGI application. From top to bottom: the architecture."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import secrets
import signal
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import structlog
import uvicorn
from slack_bolt.adapter.starlette.async_handler import AsyncSlackRequestHandler
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
)
from slack_sdk.web.async_client import AsyncWebClient
from starlette.applications import Starlette

from bot.access import Access
from bot.changes.applying import SETTLE_AFTER, Checkpoint, nowhere
from bot.changes.effects import Effects
from bot.changes.group_effects import GroupEffects
from bot.changes.ledger import LEASE
from bot.changes.member_effects import MemberEffects
from bot.changes.outbox import Outbox, Pace, Wake
from bot.changes.pipeline import Pipeline
from bot.changes.rule_effects import RuleEffects
from bot.changes.sets import Sets
from bot.changes.timers import Timers
from bot.clients.groups import GroupsClient
from bot.clients.http import Limits, Service
from bot.clients.members import MembersClient
from bot.clients.rules import RulesClient
from bot.domain.change import Target
from bot.domain.member import reference
from bot.gatehouse import Gatehouse, Site, UnknownSite
from bot.policy_file import BadPolicy, CurrentPolicy
from bot.settings import CannotStart, Settings
from bot.socket_mode import Envelopes, connected
from bot.store.clock import DatabaseClock
from bot.store.engine import Store, open_store
from bot.store.errors import StoreError
from bot.store.lock import alone
from bot.web import Verifier, slack_endpoint, web_app
from handlers.cards import Cards
from handlers.directory import SlackDirectory
from handlers.router import Router
from handlers.slack import FATAL, Slack, SlackRefused, SlackUnreachable
from handlers.slackfiles import SlackFiles

log = structlog.get_logger(__name__)

DAY = 86_400.0
DRAIN = 10.0
"""Seconds that work under way has at the end; what is stored and not done then is done by the next start."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How long things may take and how often is looked, in seconds; and, in drills, where the process is to die."""

    lease: float = LEASE.total_seconds()
    recover_every: float = 5.0
    look_every: float = 1.0
    pace: float = 1.0
    settle_after: tuple[float, ...] = SETTLE_AFTER
    reached: Checkpoint = nowhere


@dataclass(frozen=True, slots=True)
class Running:
    """Gatehouse at work: what serves HTTP, and what a sandbox or a test may look into."""

    web: Starlette
    gatehouse: Gatehouse


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
    shared = DatabaseClock() if now is None and settings.database_url.startswith("postgres") else None
    now = now or shared or utc_now
    owner = f"{os.getpid()}-{secrets.token_hex(4)}"
    async with AsyncExitStack() as stack:
        policy = _policy(settings)
        try:
            stack.enter_context(alone(settings.database_url))
            store = await stack.enter_async_context(open_store(settings.database_url, now=now))
            if shared is not None:
                await shared.read(store.session)
                await stack.enter_async_context(_in_background(shared.follow(store.session, every=60)))
        except StoreError as error:
            raise CannotStart(str(error)) from error
        rules, groups = await stack.enter_async_context(_rules(settings))
        members = {name: await stack.enter_async_context(_members(settings, name)) for name in settings.members_sites}
        sites = {name: Site(name, settings.members_sites[name], client) for name, client in members.items()}
        slack = Slack(_web_client(settings, settings.slack_bot_token.get_secret_value()))
        await _sign_in(slack)

        envelopes: Envelopes | None = None

        async def health() -> dict[str, str]:
            socket = {} if envelopes is None else {"socket mode": await envelopes.says()}
            return {"slack": slack.says, **socket, "clock": slack.clock_says(), **await store.health()}

        wakes = Wake(), Wake(), Wake()

        def tell() -> None:
            for wake in wakes:
                wake()

        lease = timedelta(seconds=timing.lease)
        access = Access(policy, SlackDirectory(slack, now))
        pipeline = Pipeline(
            store=store,
            effects=_effects(rules, groups, members),
            access=access,
            now=now,
            new_id=lambda: secrets.token_hex(16),
            owner=owner,
            tell=tell,
            settle_after=timing.settle_after,
            lease=lease,
            reached=timing.reached,
        )
        gatehouse = Gatehouse(
            rules=rules,
            groups=groups,
            sites=sites,
            changes=pipeline,
            access=access,
            store=store,
            files=SlackFiles(slack),
            now=now,
            health=health,
            prefix=settings.command_prefix,
            extra_segments=settings.segments,
            places={
                "rules": _host(settings.rules_base_url),
                "groups": _host(settings.rules_base_url),
                "members": _host(settings.members_base_url),
            },
            reference=partial(reference, settings.members_api_key.get_secret_value().encode()),
            policy_trouble=lambda: policy.trouble,
        )
        router = Router(gatehouse, slack, owner=owner, lease=lease, reached=timing.reached)
        bolt = _bolt(settings)
        router.register(bolt)

        cards = Cards(slack, store, dict(gatehouse.places), Pace(time.monotonic, timing.pace), timing.reached, groups)
        outbox = Outbox(store, cards.deliver, owner=owner, now=now, wake=wakes[0], lease=lease)
        timers = Timers(pipeline, owner=owner, wake=wakes[1], lease=lease)
        sets = Sets(pipeline.set_ledger, pipeline.applier, pipeline.new_id, wakes[2])
        await store.outbox.try_again()
        for work in (
            router.resume(every=timing.recover_every),
            outbox.run(every=timing.look_every),
            timers.run(every=timing.look_every),
            pipeline.recover(every=timing.recover_every),
            sets.run(every=timing.recover_every),
            policy.watch(every=5),
            _once_a_day(store),
        ):
            await stack.enter_async_context(_in_background(work))
        stack.push_async_callback(outbox.flush, DRAIN)
        stack.push_async_callback(router.tasks.drain, DRAIN)

        if settings.slack_app_token is not None:
            envelopes = Envelopes(bolt, settings.slack_app_token.get_secret_value(), _web_client(settings))
            await stack.enter_async_context(connected(envelopes, drain=DRAIN))
        verifier = Verifier(settings.signing_secrets, time.time)
        events = slack_endpoint(verifier, AsyncSlackRequestHandler(bolt).handle) if settings.signing_secrets else None
        yield Running(web_app(events, health), gatehouse)


async def _once_a_day(store: Store) -> None:
    """Put the end of the audit into the log, where whoever can rewrite the database cannot rewrite it; and tidy up."""
    while True:
        try:
            number, seal = await store.audit.head()
            log.info("audit_head", number=number, hash=seal)
            await store.inbound.forget()
        except StoreError as error:
            log.warning("daily_work_failed", error=str(error))
        await asyncio.sleep(DAY)


def _policy(settings: Settings) -> CurrentPolicy:
    try:
        return CurrentPolicy(settings.policy_file)
    except BadPolicy as error:
        raise CannotStart(f"the policy file is wrong. {error}") from error


async def serve(settings: Settings) -> None:
    """Run until SIGTERM or Ctrl-C, then finish what is under way."""
    async with running(settings) as gatehouse:
        config = uvicorn.Config(
            gatehouse.web,
            host=settings.host,
            port=settings.port,
            log_config=None,
            server_header=False,
            timeout_graceful_shutdown=int(DRAIN),
        )
        log.info("listening", host=settings.host, port=settings.port, socket_mode=settings.slack_app_token is not None)
        server = _Server(config)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, server.stop)
        leave_alone_what_stays()
        await server.serve()


def leave_alone_what_stays() -> None:
    """Take what the start built out of the garbage collector's sight: each walk over it held everybody up for 0.1 s."""
    gc.collect()
    gc.freeze()


class _Server(uvicorn.Server):
    """Leaves signals to us: uvicorn would raise them again at its end, and so end us before the work under way is done."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop(self) -> None:
        self.should_exit = True


@asynccontextmanager
async def _rules(settings: Settings) -> AsyncIterator[tuple[RulesClient, GroupsClient]]:
    headers = {"x-api-key": settings.rules_api_key.get_secret_value()}
    async with _service("rules", settings.rules_base_url, headers, settings) as service:
        yield RulesClient(service), GroupsClient(service)


@asynccontextmanager
async def _members(settings: Settings, name: str) -> AsyncIterator[MembersClient]:
    headers = {settings.members_auth_header: f"{settings.members_auth_scheme} {settings.key_of(name)}".strip()}
    async with _service("members", settings.members_base_url, headers, settings) as service:
        yield MembersClient(service, settings.members_sites[name])


def _service(name: str, base_url: str, headers: dict[str, str], settings: Settings) -> Service:
    limits = Limits(deadline=settings.service_timeout, max_bytes=settings.service_max_bytes)
    return Service(name, base_url, headers, limits=limits, insecure_http=settings.insecure_http)


def _effects(
    rules: RulesClient, groups: GroupsClient, members: dict[str, MembersClient]
) -> Callable[[Target], Effects]:
    def of(target: Target) -> Effects:
        if target.service == "rules":
            return RuleEffects(rules)
        if target.service == "groups":
            return GroupEffects(groups)
        client = members.get(target.site or "")
        if client is None:
            raise UnknownSite(target.site, tuple(members))
        return MemberEffects(client)

    return of


def _web_client(settings: Settings, token: str | None = None) -> AsyncWebClient:
    """A client that goes straight to SLACK_API_URL, whatever the environment says of proxies."""
    client = AsyncWebClient(
        token=token,
        base_url=settings.slack_api_url,
        timeout=15,
        trust_env_in_session=False,
        retry_handlers=[AsyncConnectionErrorRetryHandler(), AsyncRateLimitErrorRetryHandler(max_retry_count=2)],
    )
    client.proxy = None  # the SDK takes one from the environment where it is given none
    return client


async def _sign_in(slack: Slack) -> None:
    """Hear what Slack says of our token; raises CannotStart where it never will be right."""
    try:
        answer = await slack.call("auth.test")
    except SlackRefused as refusal:
        if refusal.code in FATAL:
            raise CannotStart(
                f"Slack does not accept SLACK_BOT_TOKEN ({refusal.code}). Copy the Bot User OAuth Token of the "
                "installed app from its page OAuth & Permissions; it begins with xoxb-."
            ) from refusal
        slack.says = refusal.code
        log.warning("slack_sign_in", code=refusal.code)
    except SlackUnreachable as error:
        slack.says = "unreachable"
        log.warning("slack_sign_in", error=str(error))
    else:
        log.info("slack_signed_in", team=answer.get("team"), bot=answer.get("user"))


def _bolt(settings: Settings) -> AsyncApp:
    """Bolt for one workspace. The signature is checked before it (bot/web.py), the token once, at the start."""
    token = settings.slack_bot_token.get_secret_value()

    async def authorize(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult:
        return AuthorizeResult(enterprise_id=enterprise_id, team_id=team_id, bot_token=token)

    return AsyncApp(
        client=AsyncWebClient(base_url=settings.slack_api_url),  # without the token: that is for authorize to say
        authorize=authorize,
        signing_secret=settings.signing_secrets[0] if settings.signing_secrets else None,
        request_verification_enabled=False,
        process_before_response=False,
    )


@asynccontextmanager
async def _in_background(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def _host(base_url: str) -> str:
    return urlsplit(base_url).netloc
