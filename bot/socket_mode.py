"""Slack's requests over a connection that we open: for deployments without a public address."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog
from aiohttp import ClientError
from slack_bolt.adapter.socket_mode.async_base_handler import AsyncBaseSocketModeHandler
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.async_app import AsyncApp
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from bot.settings import CannotStart
from handlers.slack import FATAL, Slack, SlackRefused, SlackUnreachable

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Patience:
    """In seconds: how long an attempt to connect may take, and from the end of one to the next, failed or not."""

    attempt: float = 10.0
    pause: float = 5.0


class Client(SocketModeClient):
    """The SDK's, which reconnects once for each connection that ends, and asks for a new address each time.

    A refresh says *disconnect* and then closes: the SDK reconnects for either, and would hang up the connection it has
    just opened, with whatever Slack has sent through it by then. And it would repeat an attempt that failed for ever with
    the address that it has, though each is good for one attempt and some seconds.
    """

    def __init__(self, bolt: AsyncApp, slack: Slack, patience: Patience) -> None:
        super().__init__(str(slack.client.token), logger=bolt.logger, web_client=slack.client)
        self.proxy = None  # the SDK takes one from the environment where it is given none
        self.has_started = False
        self._slack = slack
        self._patience = patience
        self._renewing = asyncio.Lock()
        self._connected = 0.0

    async def connect_to_new_endpoint(self, force: bool = False) -> None:
        ended = self.current_session
        async with self._renewing:
            if self.current_session is ended and (force or not await self.is_connected()):
                # Slack may end each one at once: with too many of them, or with Socket Mode switched off.
                await asyncio.sleep(self._connected + self._patience.pause - time.monotonic())
                try:
                    await self.connect_anew()
                finally:  # an attempt that was given up leaves it off, and with it the SDK's watch over the connection
                    self.auto_reconnect_enabled = self.default_auto_reconnect_enabled

    async def issue_new_wss_url(self) -> str:
        return str((await self._slack.form("apps.connections.open")).get("url"))

    async def connect_anew(self) -> None:
        """Connect, however long it takes; during the start raises CannotStart where Slack will never have this app token."""
        while not self.closed:
            pause = self._patience.pause
            try:
                self.wss_uri = await self.issue_new_wss_url()
                async with asyncio.timeout(self._patience.attempt):
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
        raise CannotStart(
            f"Slack does not accept SLACK_APP_TOKEN ({code}). Make an app-level token with the scope connections:write "
            "on the app's page Basic Information; it begins with xapp-."
        )


class Envelopes(AsyncBaseSocketModeHandler):
    """Slack's requests to Bolt. It keeps hold of what is under way: the SDK would drop it, to be collected or cut off."""

    client: Client

    def __init__(self, bolt: AsyncApp, slack: Slack, patience: Patience) -> None:
        self.app: AsyncApp = bolt
        self.client = Client(bolt, slack, patience)
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
