"""Set up Slack's libraries from the settings: the client, sign-in, and Bolt."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from ssl import SSLContext
from typing import Any, Final

import structlog
from aiohttp import (
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    TCPConnector,
    TraceConfig,
    TraceRequestEndParams,
)
from slack_bolt.adapter.starlette.async_handler import to_starlette_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.logger.messages import warning_client_prioritized_and_token_skipped
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.http_retry.builtin_async_handlers import (
    AsyncConnectionErrorRetryHandler,
    AsyncRateLimitErrorRetryHandler,
)
from slack_sdk.web.async_client import AsyncWebClient
from starlette.responses import Response

from bot.clients.http import ssl_context
from bot.metrics import ACKNOWLEDGEMENTS, SLACK_RATE_LIMITS
from bot.server.manifest import missing_scopes_text
from bot.settings import DESCRIPTIONS, CannotStart, Settings
from handlers.slack.client import FATAL, Slack, SlackRefused, SlackUnreachable

log = structlog.get_logger(__name__)

TOO_MANY: Final = 429
KINDS: Final = {
    "block_actions": "click",
    "block_suggestion": "menu",
    "event_callback": "event",
    "message_action": "shortcut",
    "shortcut": "shortcut",
    "view_closed": "form",
    "view_submission": "form",
}
"""Slack's payload types -> the kind that metrics count them as."""
API_TIMEOUT: Final = ClientTimeout(total=15)
RESPONSE_TIMEOUT: Final = ClientTimeout(total=10)
FILE_TIMEOUT: Final = ClientTimeout(total=60, sock_connect=10)


@asynccontextmanager
async def open_slack(settings: Settings, token: str) -> AsyncIterator[Slack]:
    """Yield a client of Slack with *token* and pools of connections, which are closed when the block ends."""
    async with (
        _session(settings, API_TIMEOUT) as api,
        _session(settings, RESPONSE_TIMEOUT) as responses,
        # Files are never decompressed: a small one could grow to any size, and the limit counts received bytes.
        _session(settings, FILE_TIMEOUT, auto_decompress=False) as files,
    ):
        yield Slack(_web_client(settings, token, api), responses, files, settings.redact)


def _session(settings: Settings, timeout: ClientTimeout, *, auto_decompress: bool = True) -> ClientSession:
    """Return a pool of connections that keeps no cookies and ignores the environment.

    The proxy of SLACK_API_URL is used for response URLs and files, too.
    """
    trace = TraceConfig()
    trace.on_request_end.append(_count_rate_limit)
    return ClientSession(
        # True is aiohttp's default: the certificate authorities that this machine trusts.
        connector=TCPConnector(ssl=_ssl_context(settings) or True),
        proxy=settings.proxy_for(settings.slack_api_url),
        timeout=timeout,
        auto_decompress=auto_decompress,
        cookie_jar=DummyCookieJar(),
        trust_env=False,
        trace_configs=[trace],
    )


def _ssl_context(settings: Settings) -> SSLContext | None:
    """Return the SSL context for Slack; None for the default one."""
    return None if settings.ca_file is None else ssl_context(settings.ca_file)


async def _count_rate_limit(_: ClientSession, __: object, ended: TraceRequestEndParams) -> None:
    """Count a 429, even where the SDK waits and retries."""
    if ended.response.status == TOO_MANY:
        SLACK_RATE_LIMITS.inc()


def _web_client(settings: Settings, token: str, session: ClientSession) -> AsyncWebClient:
    """Return a client for SLACK_API_URL that uses only the proxy of the settings, whatever the environment says.

    Writes need the retry of connection errors: where Slack closes an idle connection just as the next request is sent,
    aiohttp repeats only reads.
    """
    client = AsyncWebClient(
        token=token,
        base_url=settings.slack_api_url,
        session=session,
        retry_handlers=[AsyncConnectionErrorRetryHandler(), AsyncRateLimitErrorRetryHandler(max_retry_count=2)],
    )
    client.proxy = settings.proxy_for(settings.slack_api_url)  # otherwise the SDK takes one from the environment
    client.ssl = _ssl_context(settings)
    return client


async def sign_in(slack: Slack) -> None:
    """Sign in with the bot's token; raises CannotStart where Slack will never accept it."""
    try:
        answer = await slack.call("auth.test")
    except SlackRefused as refusal:
        if refusal.code in FATAL:
            mend = DESCRIPTIONS["slack_bot_token"]
            raise CannotStart(f"Slack does not accept SLACK_BOT_TOKEN ({refusal.code}). {mend}") from refusal
        # Any other error may be temporary: Gatehouse starts, and its readiness shows the error.
        slack.trouble = refusal.code
        log.warning("slack_sign_in", code=refusal.code, url=slack.client.base_url)
    except SlackUnreachable as error:
        slack.trouble = "unreachable"
        log.warning("slack_sign_in", error=str(error), url=slack.client.base_url)
    else:
        log.info("slack_signed_in", team=answer.get("team"), bot=answer.get("user"))
        if trouble := missing_scopes_text(slack.scopes):
            log.warning("slack_scopes", trouble=trouble)


class App(AsyncApp):
    """Bolt, with a check of the shape of each body: Bolt reads parts that may be missing where its errors can't be caught."""

    async def async_dispatch(self, req: AsyncBoltRequest) -> BoltResponse:
        if not _is_well_shaped(req.body):
            return BoltResponse(status=400, body="shape")
        if req.body.get("type") == "app_rate_limited":  # not an event, so Bolt would report it as unhandled
            log.warning("slack_withholds_events", minute=req.body.get("minute_rate_limited"))
            return BoltResponse(status=200)
        kind = "command" if "command" in req.body else KINDS.get(str(req.body.get("type")), "other")
        with ACKNOWLEDGEMENTS.labels(kind).time():
            return await super().async_dispatch(req)


async def answer(bolt: AsyncApp, headers: Mapping[str, str], body: dict[str, Any]) -> Response:
    """Return Bolt's answer to a request that is verified and parsed already, as requests over Socket Mode always are."""
    request = AsyncBoltRequest(body=body, headers=dict(headers), mode="socket_mode")
    return to_starlette_response(await bolt.async_dispatch(request))


def _is_well_shaped(body: Mapping[str, Any]) -> bool:
    """Whether *body* has the actions, the view or the event that its type requires."""
    kind = body.get("type")
    if kind in {"block_actions", "interactive_message"}:
        actions = body.get("actions")
        return isinstance(actions, list) and bool(actions) and all(isinstance(action, Mapping) for action in actions)
    part = {"view_submission": "view", "view_closed": "view", "event_callback": "event"}.get(str(kind))
    found = body.get(part) if part else {}
    is_step = kind == "workflow_step_edit" or (
        part == "view" and isinstance(found, Mapping) and found.get("type") == "workflow_step"
    )
    # Bolt reads these parts, too, though Slack has retired steps from apps.
    return isinstance(found, Mapping) and (not is_step or isinstance(body.get("workflow_step"), Mapping))


def bolt_app(settings: Settings) -> AsyncApp:
    """Return the Bolt app. The signature is checked before it (bot/server/edge.py), the token once, at the start."""
    token = settings.slack_bot_token.get_secret_value()
    own_log = logging.getLogger("slack_bolt")  # Bolt's default logger has the root's level, not that of CHATTY
    own_log.addFilter(_is_useful)

    async def authorize(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult:
        return AuthorizeResult(enterprise_id=enterprise_id, team_id=team_id, bot_token=token)

    return App(
        logger=own_log,
        name="gatehouse",  # otherwise Bolt reads the source files of all its callers to derive one
        client=AsyncWebClient(base_url=settings.slack_api_url),  # without the token, which authorize returns
        authorize=authorize,
        signing_secret=settings.signing_secrets[0] if settings.signing_secrets else None,
        request_verification_enabled=False,
        # Our listeners end with their acknowledgement. Otherwise Bolt polls for it every 10 ms, and acknowledges events
        # before they are stored.
        process_before_response=True,
    )


def _is_useful(record: logging.LogRecord) -> bool:
    # Bolt reads SLACK_BOT_TOKEN from the environment, and then warns at every start that it will not use it.
    return record.msg != warning_client_prioritized_and_token_skipped()
