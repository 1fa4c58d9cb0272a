"""Socket Mode: two connections to Slack, each of which may bring any request, and the way of a request to Bolt."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import structlog
from aiohttp import ClientError, ClientSession, ClientWebSocketResponse, ClientWSTimeout, WSMsgType

from bot.health import WORKS, Health, Level, health_of
from bot.server.edge import SlackHandler
from bot.settings import DESCRIPTIONS, CannotStart
from handlers.slack.client import FATAL, Slack, SlackRefused, SlackUnreachable

log = structlog.get_logger(__name__)

CONNECTIONS: Final = 2
"""Two, so that one receives while the other is replaced or dead. Slack allows ten per app, over all replicas."""
ACKNOWLEDGE_SECONDS: Final = 3.0
"""Seconds that Slack waits for an acknowledgement."""


@dataclass(frozen=True, slots=True)
class ConnectTimeouts:
    """Timeouts of the connections, in seconds.

    *attempt*: of one attempt to connect. *pause*: from the end of one attempt to the next, failed or not. *deaf*: without
    anything from Slack, after which a connection counts as dead (Slack pings more often; its client for Node waits as long).
    """

    attempt: float = 10.0
    pause: float = 5.0
    deaf: float = 30.0


class SocketMode:
    """Keeps the connections up, and passes what comes through them to *answer*.

    Slack announces the end of a connection some ten seconds before. The next one is opened at once, and the old one is read
    until Slack closes it, so that nothing is lost, even where both are refreshed together.
    """

    def __init__(self, answer: SlackHandler, slack: Slack, timeouts: ConnectTimeouts) -> None:
        self.has_started = False
        self._answer = answer
        self._slack = slack
        self._timeouts = timeouts
        self._sessions = ClientSession()
        self._open: list[ClientWebSocketResponse] = []
        self._opened = asyncio.Condition()
        self._reading: set[asyncio.Task[None]] = set()
        self._answering: set[asyncio.Task[None]] = set()

    async def keep_connected(self) -> None:
        """Open one connection, and the next one whenever it ends; raises CannotStart where Slack refuses the token of a start."""
        while True:
            leaving, pause = asyncio.Event(), self._timeouts.pause
            try:
                socket = await self._connect()
            except SlackRefused as refusal:
                self._handle_refusal(refusal.code)
                leaving.set()
                pause = max(pause, refusal.seconds or 0.0)
            except (OSError, ValueError, ClientError, TimeoutError, SlackUnreachable) as error:
                log.warning("socket_mode_connect", error=type(error).__name__)
                leaving.set()
            else:
                _start(self._read(socket, leaving), self._reading)
            tried = time.monotonic()
            await leaving.wait()
            # Slack may end each connection at once, if there are too many or Socket Mode is off.
            await asyncio.sleep(tried + pause - time.monotonic())

    def _handle_refusal(self, code: str) -> None:
        # After the start, a refused token may be fixed while Gatehouse runs on.
        if self.has_started or code not in {*FATAL, "not_allowed_token_type"}:
            log.warning("socket_mode_connect", code=code)
            return
        raise CannotStart(f"Slack does not accept SLACK_APP_TOKEN ({code}). {DESCRIPTIONS['slack_app_token']}")

    async def _connect(self) -> ClientWebSocketResponse:
        """Open a connection with a URL of its own: each is good for one attempt, within some seconds."""
        url = str((await self._slack.post_form("apps.connections.open")).get("url"))
        async with asyncio.timeout(self._timeouts.attempt):
            return await self._sessions.ws_connect(
                url,
                # Answers to pings of ours would not count, since a proxy in between may send them.
                timeout=ClientWSTimeout(ws_receive=self._timeouts.deaf),
                proxy=self._slack.client.proxy,
                ssl=self._slack.client.ssl or True,
            )

    async def _read(self, socket: ClientWebSocketResponse, leaving: asyncio.Event) -> None:
        """Take what comes through *socket* until it ends; set *leaving* once that is announced, or has come."""
        async with self._opened:
            self._open.append(socket)
            self._opened.notify_all()
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    self._take(message.data, socket, leaving)
        except TimeoutError:
            log.warning("socket_mode_deaf", seconds=self._timeouts.deaf)
        except (ClientError, OSError) as error:
            log.warning("socket_mode_broke_off", error=type(error).__name__)
        finally:
            self._open.remove(socket)
            leaving.set()
            await socket.close()

    def _take(self, text: str, socket: ClientWebSocketResponse, leaving: asyncio.Event) -> None:
        try:
            frame = json.loads(text)
        except ValueError:
            return
        match frame:
            case {"type": "disconnect"}:
                leaving.set()
            case {"envelope_id": str(envelope_id), "payload": dict(payload)}:
                _start(self._respond(socket, envelope_id, payload), self._answering)
            case _:  # a greeting, or what nobody knows yet
                pass

    async def _respond(self, socket: ClientWebSocketResponse, envelope_id: str, payload: dict[str, Any]) -> None:
        response = await self._answer({}, payload)
        if response.status_code != HTTPStatus.OK:
            return
        acknowledgement: dict[str, Any] = {"envelope_id": envelope_id}
        if text := bytes(response.body).decode():
            is_json = response.headers.get("content-type", "").startswith("application/json")
            acknowledgement["payload"] = json.loads(text) if is_json else {"text": text}
        try:
            async with asyncio.timeout(ACKNOWLEDGE_SECONDS):
                await self._send(json.dumps(acknowledgement), socket)
        except TimeoutError:
            log.warning("not_acknowledged")

    async def _send(self, text: str, own: ClientWebSocketResponse) -> None:
        """Send an acknowledgement through its *own* connection, or another one: where none is up, once one is."""
        tried: list[ClientWebSocketResponse] = []
        while True:
            for socket in (own, *self._open):
                if socket not in tried and await _try_send(socket, text):
                    return
                tried.append(socket)
            async with self._opened:
                await self._opened.wait_for(lambda: any(socket not in tried for socket in self._open))

    def health(self) -> Health:
        """Return the health of all connections: Slack's requests arrive as long as one is up."""
        if not self._open:
            return health_of("not connected: no request from Slack can arrive")
        if len(self._open) >= CONNECTIONS:
            return WORKS
        return Health(Level.NEEDS_ATTENTION, f"{len(self._open)} of {CONNECTIONS} connections")

    async def wait_until_connected(self) -> None:
        async with self._opened:
            await self._opened.wait_for(lambda: len(self._open) >= CONNECTIONS)

    async def close(self, seconds: float) -> None:
        """Wait at most *seconds* until all received requests are acknowledged, then close the connections."""
        if self._answering:
            await asyncio.wait(self._answering, timeout=seconds)
        # Together: what came through one that is still open would be done, and could no longer be acknowledged.
        await _cancel(*self._reading)
        await self._sessions.close()


def _start(work: Coroutine[Any, Any, None], tasks: set[asyncio.Task[None]]) -> None:
    """Start *work* as a task in *tasks* until it is done, since a task that nothing refers to may be collected."""
    task = asyncio.create_task(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)


async def _cancel(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _try_send(socket: ClientWebSocketResponse, text: str) -> bool:
    """Send *text* through *socket*; return whether it was sent."""
    if socket.closed:
        return False
    try:
        await socket.send_str(text)
    except (ClientError, ConnectionError):
        return False
    return True


@asynccontextmanager
async def connected(sockets: SocketMode, *, within: float, drain: float) -> AsyncIterator[None]:
    """Connect, and close at the end of the block. Where Slack can't be reached, the start goes on after *within* seconds.

    Raises CannotStart. *drain*: seconds for requests under way at the end.
    """
    keeping = [asyncio.create_task(sockets.keep_connected()) for _ in range(CONNECTIONS)]
    connecting = asyncio.create_task(sockets.wait_until_connected())
    try:
        done, _ = await asyncio.wait([connecting, *keeping], timeout=within, return_when=asyncio.FIRST_COMPLETED)
        sockets.has_started = True
        for task in done:
            task.result()
        yield
    finally:
        await _cancel(connecting, *keeping)
        await sockets.close(drain)
