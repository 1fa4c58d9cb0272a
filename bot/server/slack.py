"""Slack's libraries as this deployment uses them: the client, sign-in, Bolt, and Socket Mode."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ssl import SSLContext
from typing import Any, Final

import structlog
from aiohttp import (
    ClientError,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    TCPConnector,
    TraceConfig,
    TraceRequestEndParams,
)
from slack_bolt.adapter.socket_mode.async_base_handler import AsyncBaseSocketModeHandler
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
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
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient
from starlette.responses import Response

from bot.clients.http import authorities
from bot.metrics import ACKNOWLEDGEMENTS, SLACK_RATE_LIMITS
from bot.settings import MEND, CannotStart, Settings
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
"""What a payload of each of Slack's types is counted as."""
API_TIMEOUT: Final = ClientTimeout(total=15)
RESPONSE_TIMEOUT: Final = ClientTimeout(total=10)
FILE_TIMEOUT: Final = ClientTimeout(total=60, sock_connect=10)


@asynccontextmanager
async def open_slack(settings: Settings, token: str) -> AsyncIterator[Slack]:
    """Slack with *token*, over connections that are kept for the next request; closed when the block ends."""
    async with (
        _session(settings, API_TIMEOUT) as api,
        _session(settings, RESPONSE_TIMEOUT) as responses,
        _session(settings, FILE_TIMEOUT, auto_decompress=False) as files,
    ):
        yield Slack(_web_client(settings, token, api), responses, files, settings.redacted)


def _session(settings: Settings, timeout: ClientTimeout, *, auto_decompress: bool = True) -> ClientSession:
    """A pool of connections that carries nothing from one request to the next, and ignores the environment.

    The proxy is that of SLACK_API_URL, for response URLs and files, too.
    """
    trace = TraceConfig()
    trace.on_request_end.append(_count_rate_limit)
    return ClientSession(
        connector=TCPConnector(ssl=_authorities(settings) or True),
        proxy=settings.proxy_for(settings.slack_api_url),
        timeout=timeout,
        auto_decompress=auto_decompress,
        cookie_jar=DummyCookieJar(),
        trust_env=False,
        trace_configs=[trace],
    )


def _authorities(settings: Settings) -> SSLContext | None:
    """Whom to trust for Slack; None: whom this machine trusts."""
    return None if settings.ca_file is None else authorities(settings.ca_file)


async def _count_rate_limit(_: ClientSession, __: object, ended: TraceRequestEndParams) -> None:
    """Count an answer 429, also one that the SDK then waits for and tries again."""
    if ended.response.status == TOO_MANY:
        SLACK_RATE_LIMITS.inc()


def _web_client(settings: Settings, token: str, session: ClientSession) -> AsyncWebClient:
    """A client for SLACK_API_URL, by the proxy of the settings and no other, whatever the environment says.

    The retry of connection errors is needed for writes: aiohttp repeats only reads where Slack closed an idle
    connection just as the next request left.
    """
    client = AsyncWebClient(
        token=token,
        base_url=settings.slack_api_url,
        session=session,
        retry_handlers=[AsyncConnectionErrorRetryHandler(), AsyncRateLimitErrorRetryHandler(max_retry_count=2)],
    )
    client.proxy = settings.proxy_for(settings.slack_api_url)  # given none, the SDK takes one from the environment
    client.ssl = _authorities(settings)
    return client


async def sign_in(slack: Slack) -> None:
    """Hear what Slack says of our token; raises CannotStart where it never will be right."""
    try:
        answer = await slack.call("auth.test")
    except SlackRefused as refusal:
        if refusal.code in FATAL:
            raise CannotStart(
                f"Slack does not accept SLACK_BOT_TOKEN ({refusal.code}). {MEND['slack_bot_token']}"
            ) from refusal
        slack.says = refusal.code
        log.warning("slack_sign_in", code=refusal.code)
    except SlackUnreachable as error:
        slack.says = "unreachable"
        log.warning("slack_sign_in", error=str(error))
    else:
        log.info("slack_signed_in", team=answer.get("team"), bot=answer.get("user"))


class App(AsyncApp):
    """Bolt, for bodies that have what it takes for granted: it looks into them before anybody could catch its errors."""

    async def async_dispatch(self, req: AsyncBoltRequest) -> BoltResponse:
        if not _is_well_shaped(req.body):
            return BoltResponse(status=400, body="shape")
        if req.body.get("type") == "app_rate_limited":  # no event, so Bolt would call it unhandled
            log.warning("slack_withholds_events", minute=req.body.get("minute_rate_limited"))
            return BoltResponse(status=200)
        kind = "command" if "command" in req.body else KINDS.get(str(req.body.get("type")), "other")
        with ACKNOWLEDGEMENTS.labels(kind).time():
            return await super().async_dispatch(req)


async def answer(bolt: AsyncApp, headers: Mapping[str, str], body: dict[str, Any]) -> Response:
    """Bolt's answer to a request that was checked and parsed before it, as one over Socket Mode always is."""
    request = AsyncBoltRequest(body=body, headers=dict(headers), mode="socket_mode")
    return to_starlette_response(await bolt.async_dispatch(request))


def _is_well_shaped(body: Mapping[str, Any]) -> bool:
    """Whether a body of its type has the acts, the view or the event that it is about."""
    kind = body.get("type")
    if kind == "block_actions":
        actions = body.get("actions")
        return isinstance(actions, list) and bool(actions) and all(isinstance(action, Mapping) for action in actions)
    part = {"view_submission": "view", "view_closed": "view", "event_callback": "event"}.get(str(kind))
    return part is None or isinstance(body.get(part), Mapping)


def bolt_app(settings: Settings) -> AsyncApp:
    """Bolt for one workspace. The signature is checked before it (bot/server/edge.py), the token once, at the start."""
    token = settings.slack_bot_token.get_secret_value()

    own_log = logging.getLogger("slack_bolt")  # one of Bolt's own making has the root's level, not what CHATTY says
    own_log.addFilter(_useful)

    async def authorize(enterprise_id: str | None, team_id: str | None) -> AuthorizeResult:
        return AuthorizeResult(enterprise_id=enterprise_id, team_id=team_id, bot_token=token)

    return App(
        logger=own_log,
        name="gatehouse",  # or Bolt reads the source files of all its callers to make one up
        client=AsyncWebClient(base_url=settings.slack_api_url),  # without the token: that is for authorize to say
        authorize=authorize,
        signing_secret=settings.signing_secrets[0] if settings.signing_secrets else None,
        request_verification_enabled=False,
        # Our listeners end with their acknowledgement. Otherwise Bolt polls for it every 10 ms, and acknowledges events
        # before they are stored.
        process_before_response=True,
    )


def _useful(record: logging.LogRecord) -> bool:
    # Bolt finds SLACK_BOT_TOKEN in the environment, unasked, and then warns at every start that it will not use it.
    return record.msg != warning_client_prioritized_and_token_skipped()


@dataclass(frozen=True, slots=True)
class ConnectTimeouts:
    """In seconds: how long an attempt to connect may take, and from the end of one to the next, failed or not."""

    attempt: float = 10.0
    pause: float = 5.0


class Client(SocketModeClient):
    """The SDK's, which reconnects once for each connection that ends, and asks for a new address each time.

    A refresh says *disconnect* and then closes: the SDK reconnects for either, and would hang up the connection it has
    just opened, with whatever Slack has sent through it by then. And it would repeat an attempt that failed for ever with
    the address that it has, though each is good for one attempt and some seconds.
    """

    def __init__(self, bolt: AsyncApp, slack: Slack, timeouts: ConnectTimeouts) -> None:
        super().__init__(str(slack.client.token), logger=bolt.logger, web_client=slack.client)
        self.proxy = slack.client.proxy  # given none, the SDK takes one from the environment
        self.has_started = False
        self._slack = slack
        self._timeouts = timeouts
        self._renewing = asyncio.Lock()
        self._connected = 0.0

    async def connect_to_new_endpoint(self, force: bool = False) -> None:
        ended = self.current_session
        async with self._renewing:
            if self.current_session is ended and (force or not await self.is_connected()):
                # Slack may end each one at once: with too many of them, or with Socket Mode switched off.
                await asyncio.sleep(self._connected + self._timeouts.pause - time.monotonic())
                try:
                    await self.connect_anew()
                finally:  # an attempt that was given up leaves it off, and with it the SDK's watch over the connection
                    self.auto_reconnect_enabled = self.default_auto_reconnect_enabled

    async def issue_new_wss_url(self) -> str:
        return str((await self._slack.form("apps.connections.open")).get("url"))

    async def connect_anew(self) -> None:
        """Connect, however long it takes; during the start raises CannotStart where Slack will never have this app token."""
        while not self.closed:
            pause = self._timeouts.pause
            try:
                self.wss_uri = await self.issue_new_wss_url()
                async with asyncio.timeout(self._timeouts.attempt):
                    await self.connect()  # type: ignore[no-untyped-call]  # the SDK's own
            except SlackRefused as refusal:
                self._refused(refusal.code)
                pause = max(pause, refusal.seconds or 0.0)
            except (OSError, ClientError, TimeoutError, SlackUnreachable) as error:
                log.warning("socket_mode_connect", error=type(error).__name__)
            else:
                self._connected = time.monotonic()
                return
            await asyncio.sleep(pause)

    def _refused(self, code: str) -> None:
        if self.has_started or code not in {*FATAL, "not_allowed_token_type"}:
            log.warning("socket_mode_connect", code=code)
            return
        raise CannotStart(f"Slack does not accept SLACK_APP_TOKEN ({code}). {MEND['slack_app_token']}")


class Envelopes(AsyncBaseSocketModeHandler):
    """Slack's requests to Bolt. It keeps hold of what is under way: the SDK would drop it, to be collected or cut off."""

    client: Client

    def __init__(self, bolt: AsyncApp, slack: Slack, timeouts: ConnectTimeouts) -> None:
        self.app: AsyncApp = bolt
        self.client = Client(bolt, slack, timeouts)
        self.client.socket_mode_request_listeners.append(self.handle)  # type: ignore[arg-type]  # as Bolt does
        self._tasks: set[asyncio.Task[None]] = set()

    async def handle(self, client: SocketModeClient, req: SocketModeRequest) -> None:  # type: ignore[override]  # as Bolt's
        task = asyncio.create_task(self._answer(client, req))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await task

    async def _answer(self, client: SocketModeClient, req: SocketModeRequest) -> None:
        began = time.time()
        await send_async_response(client, req, await run_async_bolt_app(self.app, req), began)

    async def says(self) -> str:
        return "ok" if await self.client.is_connected() else "not connected"

    async def close(self, seconds: float) -> None:
        """Let what has arrived be acknowledged, for at most so many *seconds*, then hang up."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        await self.client.close()  # type: ignore[no-untyped-call]  # the SDK's own


@asynccontextmanager
async def connected(envelopes: Envelopes, *, within: float, drain: float) -> AsyncIterator[None]:
    """Connected soon: where Slack cannot be reached now, the rest of the start does not wait for it."""
    connecting = asyncio.create_task(envelopes.client.connect_anew())
    done, _ = await asyncio.wait({connecting}, timeout=within)
    envelopes.client.has_started = True
    try:
        for task in done:
            task.result()
        yield
    finally:
        connecting.cancel()
        await asyncio.gather(connecting, return_exceptions=True)
        await envelopes.close(drain)
