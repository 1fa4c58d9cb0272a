"""Socket Mode: two connections to Slack, each of which may bring any request, and what they bring on its way to Bolt."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

import structlog
from aiohttp import ClientError, ClientSession, ClientWebSocketResponse, WSMessage, WSMsgType
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app, send_async_response
from slack_bolt.async_app import AsyncApp
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest

from bot.server.edge import WARNING
from bot.settings import MEND, CannotStart
from handlers.slack.client import FATAL, Slack, SlackRefused, SlackUnreachable

log = structlog.get_logger(__name__)

CONNECTIONS: Final = 2
"""While one is replaced or has gone deaf, the other hears. Slack allows ten for an app, all replicas together."""
LINGER_SECONDS: Final = 15.0
"""How long a connection is still read that was replaced: Slack says some ten seconds ahead that it will end one."""
ACKNOWLEDGE_SECONDS: Final = 3.0
"""How long Slack waits for an acknowledgement."""


@dataclass(frozen=True, slots=True)
class ConnectTimeouts:
    """In seconds. *attempt*: to connect. *pause*: from the end of one attempt to the next, failed or not. *deaf*: without
    anything from Slack, which pings more often (its own client for Node waits as long). *apart*: after the start, until
    one connection is renewed so that Slack, which ends each after five hours, does not end both together. *ping*: from
    one of our pings to the next.
    """

    attempt: float = 10.0
    pause: float = 5.0
    deaf: float = 30.0
    apart: float = 9000.0
    ping: float = 5.0


class Heard(ClientWebSocketResponse):
    """A websocket that knows when Slack last sent something of its own accord: an answer to our ping proves less, for
    what stands between us and Slack may have sent it.
    """

    def __init__(self, *arguments: object, **named: object) -> None:
        super().__init__(*arguments, **named)  # type: ignore[arg-type]  # whatever aiohttp makes it with
        self.heard = time.monotonic()

    async def receive(self, timeout: float | None = None) -> WSMessage:  # noqa: ASYNC109  as aiohttp's
        message = await super().receive(timeout)
        if message.type in {WSMsgType.TEXT, WSMsgType.PING}:
            self.heard = time.monotonic()
        return message


class Client(SocketModeClient):
    """The SDK's, which reconnects once for each connection that ends or goes deaf, and asks for a new address each time.

    A refresh says *disconnect* and then closes: the SDK reconnects for either, and would hang up the connection it has
    just opened. It hangs up the old one before it opens another, too, with whatever Slack has sent through it by then;
    here that is read to its end. And it would repeat an attempt that failed for ever with the address that it has, though
    each is good for one attempt and some seconds.
    """

    def __init__(self, bolt: AsyncApp, slack: Slack, timeouts: ConnectTimeouts, came: asyncio.Event) -> None:
        super().__init__(
            str(slack.client.token), logger=bolt.logger, web_client=slack.client, ping_interval=timeouts.ping
        )
        self.proxy = slack.client.proxy  # given none, the SDK takes one from the environment
        self.has_started = False
        self.came = came
        """Set whenever an app's connection is there again."""
        self.answer: Callable[[str], Awaitable[None]] = super().send_message
        """Sends an acknowledgement, by this connection or another."""
        self._slack = slack
        self._timeouts = timeouts
        self._renewing = asyncio.Lock()
        self._connected = 0.0
        self._reading_out: set[asyncio.Task[None]] = set()
        self._sessions: ClientSession | None = None

    async def is_connected(self) -> bool:
        return await super().is_connected() and not self._is_deaf()

    def _is_deaf(self) -> bool:
        session = self.current_session
        return isinstance(session, Heard) and time.monotonic() - session.heard > self._timeouts.deaf

    async def send_message(self, message: str) -> None:
        await self.answer(message)

    async def connect_to_new_endpoint(self, force: bool = False) -> None:
        ended = self.current_session
        async with self._renewing:
            if self.current_session is ended and (force or not await self.is_connected()):
                if self._is_deaf():
                    log.warning("socket_mode_deaf", seconds=self._timeouts.deaf)
                # Slack may end each one at once: with too many of them, or with Socket Mode switched off.
                await asyncio.sleep(self._connected + self._timeouts.pause - time.monotonic())
                try:
                    await self.connect_with_retries()
                finally:  # an attempt that was given up leaves it off, and with it the SDK's watch over the connection
                    self.auto_reconnect_enabled = self.default_auto_reconnect_enabled

    async def issue_new_wss_url(self) -> str:
        return str((await self._slack.post_form("apps.connections.open")).get("url"))

    async def connect_with_retries(self) -> None:
        """Connect, however long it takes; during the start raises CannotStart where Slack will never have this app token."""
        while not self.closed:
            pause = self._timeouts.pause
            try:
                await self._attempt()
            except SlackRefused as refusal:
                self._handle_refusal(refusal.code)
                pause = max(pause, refusal.seconds or 0.0)
            except (OSError, ClientError, TimeoutError, SlackUnreachable) as error:
                log.warning("socket_mode_connect", error=type(error).__name__)
            else:
                self._connected = time.monotonic()
                self.came.set()
                return
            await asyncio.sleep(pause)

    async def _attempt(self) -> None:
        self.wss_uri = await self.issue_new_wss_url()
        if self._sessions is None:  # the SDK's own makes websockets of another kind
            await self.aiohttp_client_session.close()
            self._sessions = self.aiohttp_client_session = ClientSession(ws_response_class=Heard)
        old, reader, self.current_session = self.current_session, self.message_receiver, None
        try:
            async with asyncio.timeout(self._timeouts.attempt):
                await self.connect()  # type: ignore[no-untyped-call]  # the SDK's own
        # Also where the attempt is cancelled: the old connection may still be good.
        except BaseException:
            self.current_session = old
            raise
        if old is not None and reader is not None:
            task = asyncio.create_task(self._drain(old, reader))
            self._reading_out.add(task)
            task.add_done_callback(self._reading_out.discard)

    async def _drain(self, old: ClientWebSocketResponse, reader: asyncio.Future[None]) -> None:
        """Take what Slack still sends through the *old* connection, until it ends that, or for some seconds.

        Only one may read at a time: the SDK has cancelled its *reader*.
        """
        try:
            await asyncio.gather(reader, return_exceptions=True)
            with suppress(TimeoutError, ClientError, ConnectionError):
                async with asyncio.timeout(LINGER_SECONDS):
                    while not old.closed:
                        message = await old.receive()
                        if message.type is WSMsgType.PING:
                            await old.pong(message.data)
                        elif message.type is WSMsgType.TEXT and json.loads(message.data).get("type") != "disconnect":
                            await self.enqueue_message(message.data)
        finally:
            await old.close()

    async def close(self) -> None:
        for task in self._reading_out:
            task.cancel()
        # Before the SDK closes: what is still read out enqueues messages there.
        await asyncio.gather(*self._reading_out, return_exceptions=True)
        await super().close()  # type: ignore[no-untyped-call]  # the SDK's own

    def _handle_refusal(self, code: str) -> None:
        # Once it has started, a token that is refused may be put right while other work goes on.
        if self.has_started or code not in {*FATAL, "not_allowed_token_type"}:
            log.warning("socket_mode_connect", code=code)
            return
        raise CannotStart(f"Slack does not accept SLACK_APP_TOKEN ({code}). {MEND['slack_app_token']}")


class Envelopes:
    """Slack's requests to Bolt. It keeps hold of what is under way: the SDK would drop it, to be collected or cut off."""

    def __init__(self, bolt: AsyncApp, slack: Slack, timeouts: ConnectTimeouts) -> None:
        self._bolt = bolt
        self._timeouts = timeouts
        self._came = asyncio.Event()
        self.clients: Sequence[Client] = [Client(bolt, slack, timeouts, self._came) for _ in range(CONNECTIONS)]
        for client in self.clients:
            client.socket_mode_request_listeners.append(self._handle)
            client.answer = partial(self._send, client)
        self._tasks: set[asyncio.Task[None]] = set()

    async def _send(self, own: Client, message: str) -> None:
        """Send an acknowledgement by *own*, or by another connection while that one is renewed, as soon as there is one."""
        try:
            async with asyncio.timeout(ACKNOWLEDGE_SECONDS):
                while True:
                    # Before the look, or a connection that comes right after it would not be noticed.
                    self._came.clear()
                    # False sorts first: its own connection, and only then the other one.
                    for client in sorted(self.clients, key=lambda client: client is not own):
                        if await _try_send(client.current_session, message):
                            return
                    await self._came.wait()
        except TimeoutError:
            log.warning("not_acknowledged")

    async def _handle(self, client: AsyncBaseSocketModeClient, req: SocketModeRequest) -> None:
        task = asyncio.create_task(self._answer(client, req))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await task

    async def _answer(self, client: AsyncBaseSocketModeClient, req: SocketModeRequest) -> None:
        began = time.time()
        await send_async_response(client, req, await run_async_bolt_app(self._bolt, req), began)

    async def health(self) -> str:
        """Return "ok", a warning while some connections are down, or that none is up."""
        hearing = [await client.is_connected() for client in self.clients].count(True)
        if hearing == 0:
            return "not connected: no request from Slack can arrive"
        return "ok" if hearing == CONNECTIONS else f"{WARNING}{hearing} of {CONNECTIONS} connections"

    async def stagger_renewals(self) -> None:
        """Renew one connection, once, so that Slack doesn't end both at the same time."""
        # Halfway through the five hours after which Slack ends a connection.
        await asyncio.sleep(self._timeouts.apart)
        await self.clients[-1].connect_to_new_endpoint(force=True)

    async def close(self, seconds: float) -> None:
        """Let what has arrived be acknowledged, for at most so many *seconds*, then hang up."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        for client in self.clients:
            await client.close()


async def _try_send(session: ClientWebSocketResponse | None, message: str) -> bool:
    """Send *message* through *session*; return whether it went out."""
    if session is None or session.closed:
        return False
    try:
        await session.send_str(message)
    except (ClientError, ConnectionError):
        return False
    return True


@asynccontextmanager
async def connected(envelopes: Envelopes, *, within: float, drain: float) -> AsyncIterator[None]:
    """Connected soon: where Slack cannot be reached now, the rest of the start does not wait for it."""
    connecting = [asyncio.create_task(client.connect_with_retries()) for client in envelopes.clients]
    done, _ = await asyncio.wait(connecting, timeout=within)
    for client in envelopes.clients:
        client.has_started = True
    renewing = asyncio.create_task(envelopes.stagger_renewals())
    try:
        for task in done:
            task.result()
        yield
    finally:
        for task in (*connecting, renewing):
            task.cancel()
        await asyncio.gather(*connecting, renewing, return_exceptions=True)
        await envelopes.close(drain)
