"""Socket Mode: two connections to Slack, each of which may receive any request, and the way of a request to Bolt."""

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

from bot.health import WORKS, Health, Level, health_of
from bot.settings import MEND, CannotStart
from handlers.slack.client import FATAL, Slack, SlackRefused, SlackUnreachable

log = structlog.get_logger(__name__)

CONNECTIONS: Final = 2
"""Two, so that one receives while the other is replaced or dead. Slack allows ten per app, over all replicas."""
LINGER_SECONDS: Final = 15.0
"""Seconds for which a replaced connection is still read: Slack announces the end of one some ten seconds before."""
ACKNOWLEDGE_SECONDS: Final = 3.0
"""Seconds that Slack waits for an acknowledgement."""


@dataclass(frozen=True, slots=True)
class ConnectTimeouts:
    """Timeouts of the connections, in seconds.

    *attempt*: of one attempt to connect. *pause*: from the end of one attempt to the next, failed or not. *deaf*: without
    anything from Slack, after which a connection counts as dead (Slack pings more often; its client for Node waits as long).
    *apart*: from the start until one connection is renewed, so that Slack, which ends each after five hours, does not end both
    at once. *ping*: between two of our pings.
    """

    attempt: float = 10.0
    pause: float = 5.0
    deaf: float = 30.0
    apart: float = 9000.0
    ping: float = 5.0


class Heard(ClientWebSocketResponse):
    """A websocket that records when Slack last sent a message or a ping. Answers to our pings don't count, since a proxy
    in between may have sent them.
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
    """The SDK's client, changed to reconnect once per connection that ends or goes deaf, with a new URL each time.

    On a refresh, Slack sends *disconnect* and then closes. The SDK reconnects for both, and so would close the connection that
    it has just opened. It also closes the old connection before it opens another, and loses what Slack has sent through it;
    here the old one stays until another is up, and is read to its end. And it would retry a failed attempt for ever with the
    same URL, though each URL is valid for one attempt and some seconds.
    """

    def __init__(self, bolt: AsyncApp, slack: Slack, timeouts: ConnectTimeouts, came: asyncio.Event) -> None:
        super().__init__(
            str(slack.client.token), logger=bolt.logger, web_client=slack.client, ping_interval=timeouts.ping
        )
        self.proxy = slack.client.proxy  # given none, the SDK takes one from the environment
        self.has_started = False
        self.came = came
        """Set whenever a connection of the app is up again."""
        self.answer: Callable[[str], Awaitable[None]] = super().send_message
        """Sends an acknowledgement, through this connection or another."""
        self._slack = slack
        self._timeouts = timeouts
        self._renewing = asyncio.Lock()
        self._connected = 0.0
        self._reading_out: set[asyncio.Task[None]] = set()
        # The SDK's own creates websockets of another class.
        self._sessions = ClientSession(ws_response_class=Heard)

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
                # Wait first: Slack may end each connection at once, if there are too many or Socket Mode is off.
                await asyncio.sleep(self._connected + self._timeouts.pause - time.monotonic())
                await self.connect_with_retries()

    async def issue_new_wss_url(self) -> str:
        return str((await self._slack.post_form("apps.connections.open")).get("url"))

    async def connect_with_retries(self) -> None:
        """Connect, however long it takes; during the start, raises CannotStart where Slack will never accept the app token."""
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
        """Connect once; what had been connected stays so until then, and is read out afterwards."""
        url = await self.issue_new_wss_url()
        async with asyncio.timeout(self._timeouts.attempt):
            session = await self._sessions.ws_connect(
                url,
                autoping=False,
                heartbeat=self.ping_interval,
                proxy=self.proxy,
                ssl=True if self.web_client.ssl is None else self.web_client.ssl,
            )
        old, reader, monitor = self.current_session, self.message_receiver, self.current_session_monitor
        self.current_session, self.stale, self.last_ping_pong_time = session, False, None
        self.message_receiver = asyncio.create_task(self.receive_messages())
        self.current_session_monitor = asyncio.create_task(self.monitor_current_session())
        if old is not None and reader is not None and monitor is not None:
            reader.cancel()
            monitor.cancel()
            task = asyncio.create_task(self._drain(old, reader))
            self._reading_out.add(task)
            task.add_done_callback(self._reading_out.discard)

    async def _drain(self, old: ClientWebSocketResponse, reader: asyncio.Future[None]) -> None:
        """Receive what Slack still sends through the *old* connection, until Slack closes it, for at most LINGER_SECONDS.

        Only one task may read at a time, so this waits for the end of the SDK's *reader*, which is cancelled already.
        """
        try:
            await asyncio.gather(reader, return_exceptions=True)
            with suppress(TimeoutError, ClientError, ConnectionError):
                async with asyncio.timeout(LINGER_SECONDS):
                    while not old.closed:
                        message = await old.receive()
                        if message.type is WSMsgType.PING:
                            await old.pong(message.data)
                        elif message.type is WSMsgType.TEXT and not _announces_end(message.data):
                            await self.enqueue_message(message.data)
        finally:
            await old.close()

    async def close(self) -> None:
        for task in self._reading_out:
            task.cancel()
        # Before the SDK closes, since the drained connections enqueue messages there.
        await asyncio.gather(*self._reading_out, return_exceptions=True)
        await super().close()  # type: ignore[no-untyped-call]  # the SDK's own
        await self._sessions.close()

    def _handle_refusal(self, code: str) -> None:
        # After the start, a refused token may be fixed while Gatehouse runs on.
        if self.has_started or code not in {*FATAL, "not_allowed_token_type"}:
            log.warning("socket_mode_connect", code=code)
            return
        raise CannotStart(f"Slack does not accept SLACK_APP_TOKEN ({code}). {MEND['slack_app_token']}")


class Envelopes:
    """Passes Slack's requests to Bolt. It keeps references to running tasks: the SDK doesn't, so they could be collected."""

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
        """Send an acknowledgement through *own*, or through another connection while that one is renewed, once one is up."""
        try:
            async with asyncio.timeout(ACKNOWLEDGE_SECONDS):
                while True:
                    # Cleared before the attempts, or a connection that comes up right after them would not be noticed.
                    self._came.clear()
                    # False sorts first: its own connection comes before the other one.
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

    async def health(self) -> Health:
        """Return the health of all connections: Slack's requests arrive as long as one is up."""
        hearing = [await client.is_connected() for client in self.clients].count(True)
        if hearing == 0:
            return health_of("not connected: no request from Slack can arrive")
        is_whole = hearing == CONNECTIONS
        return WORKS if is_whole else Health(Level.NEEDS_ATTENTION, f"{hearing} of {CONNECTIONS} connections")

    async def stagger_renewals(self) -> None:
        """Renew one connection, once, so that Slack doesn't end both at the same time."""
        # Halfway through the five hours after which Slack ends a connection.
        await asyncio.sleep(self._timeouts.apart)
        await self.clients[-1].connect_to_new_endpoint(force=True)

    async def close(self, seconds: float) -> None:
        """Wait at most *seconds* until all received requests are acknowledged, then close the connections."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        # Together: what came through one that is still open would be done, and could no longer be acknowledged.
        await asyncio.gather(*(client.close() for client in self.clients))


def _announces_end(text: str) -> bool:
    """Whether *text* is Slack's announcement that a connection ends."""
    try:
        frame = json.loads(text)
    except ValueError:
        return False
    return isinstance(frame, dict) and frame.get("type") == "disconnect"


async def _try_send(session: ClientWebSocketResponse | None, message: str) -> bool:
    """Send *message* through *session*; return whether it was sent."""
    if session is None or session.closed:
        return False
    try:
        await session.send_str(message)
    except (ClientError, ConnectionError):
        return False
    return True


@asynccontextmanager
async def connected(envelopes: Envelopes, *, within: float, drain: float) -> AsyncIterator[None]:
    """Connect, and close at the end of the block. Where Slack can't be reached, the start goes on after *within* seconds.

    Raises CannotStart. *drain*: seconds for requests under way at the end.
    """
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
