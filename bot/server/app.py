"""The composition root: what a process has once, in front of what its workspace has (bot/server/workspace.py)."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

import structlog
from starlette.applications import Starlette

from bot import __version__
from bot.gatehouse import Gatehouse
from bot.policy.file import BadPolicy, CurrentPolicy, summary
from bot.server.edge import Verifier, slack_endpoint, web_app
from bot.server.figures import watch_loop
from bot.server.slack import answer, open_slack
from bot.server.socket_mode import Envelopes, connected
from bot.server.workspace import DRAIN, Timing, Workspace, in_background, open_workspace
from bot.settings import CannotStart, OAuthSettings, Settings, SharedSettings
from handlers.grammar.command import command_prefix
from handlers.grammar.parser import VERBS

if TYPE_CHECKING:
    from bot.server.workspaces import Workspaces

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Running:
    """Gatehouse at work: what serves HTTP, and what a sandbox or a test may look into."""

    web: Starlette
    served: Workspace | Workspaces

    @property
    def gatehouse(self) -> Gatehouse:
        """The only one."""
        (gatehouse,) = self.served.gatehouses.values()
        return gatehouse

    @property
    def wake_workers(self) -> Callable[[], None]:
        """Wakes the workers: for a clock that was set, of which nothing else tells them."""
        return self.served.wake_workers


@asynccontextmanager
async def running(
    settings: Settings | OAuthSettings, *, now: Callable[[], datetime] | None = None, timing: Timing | None = None
) -> AsyncIterator[Running]:
    """Everything built and at work, until the block ends; raises CannotStart with what to do about it.

    *now* is this machine's clock where none is given, and the database's where several machines may share it.
    """
    timing = timing or Timing()
    command_prefix.set(settings.command_prefix)
    _log_start(settings)
    envelopes: Envelopes | None = None

    async def transport() -> dict[str, str]:
        return {} if envelopes is None else {"socket mode": await envelopes.says()}

    async with AsyncExitStack() as stack:
        served: Workspace | Workspaces
        if isinstance(settings, OAuthSettings):
            from bot.server.workspaces import open_workspaces  # noqa: PLC0415  one workspace needs none of it

            several = open_workspaces(settings, timing=timing, now=now, transport=transport)
            served = await stack.enter_async_context(several)
        else:
            one = open_workspace(settings, _policy(settings), timing=timing, now=now, transport=transport)
            served = await stack.enter_async_context(one)
        await stack.enter_async_context(in_background(watch_loop()))
        if settings.slack_app_token is not None:
            token = settings.slack_app_token.get_secret_value()
            slack = await stack.enter_async_context(open_slack(settings, token))
            envelopes = Envelopes(served.dispatch, slack, timing.connecting)
            await stack.enter_async_context(connected(envelopes, within=timing.connecting.attempt, drain=DRAIN))
        verifier = Verifier(settings.signing_secrets, time.time)
        events = slack_endpoint(verifier, partial(answer, served.dispatch)) if settings.signing_secrets else None
        yield Running(web_app(events, served.health, served.services, served.measure, served.routes), served)


def _log_start(settings: SharedSettings) -> None:
    """Say what starts before anything can keep it waiting."""
    transport = "HTTP" if settings.slack_app_token is None else "Socket Mode"
    log.info("starting", version=__version__, transport=transport, slack=settings.shown("slack_api_url"))
    if settings.outgoing_proxy is not None:
        log.info("outgoing_proxy", url=settings.shown("outgoing_proxy"))


def _policy(settings: Settings) -> CurrentPolicy:
    try:
        policy = CurrentPolicy(settings.policy_file, VERBS)
    except BadPolicy as error:
        raise CannotStart(f"the policy file is wrong. {error}") from error
    log.info("policy", found=summary(settings.policy_file, policy()))
    return policy
