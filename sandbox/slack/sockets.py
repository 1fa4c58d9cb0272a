"""Socket Mode: the websockets of the app, and the envelopes that go through them."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from sandbox.slack.delivery import Ack
from sandbox.slack.ids import Ids

MAX_CONNECTIONS: Final = 10
LIFE: Final = 18_060
"""The approximate connection time in seconds that hello announces; here a connection lives until it is refreshed on request."""
HOST: Final = "applink-local"


@dataclass(slots=True, eq=False)
class Connection:
    """One websocket of the app. *is_leaving*: it was asked to disconnect, and gets no new envelope.

    *is_deaf*: what is sent through it gets lost.
    """

    websocket: WebSocket
    is_leaving: bool = False
    is_deaf: bool = False

    async def send(self, frame: Mapping[str, Any]) -> bool:
        """Send *frame*; return whether it went out."""
        if self.is_deaf:
            return True  # as far as Slack can tell
        try:
            await self.websocket.send_text(json.dumps(frame))
        except (RuntimeError, WebSocketDisconnect, OSError):  # it closed in the meantime
            return False
        return True

    def go_deaf(self) -> None:
        """Drop everything that Slack sends, while the app's own pings are still answered."""
        self.is_deaf = True
        self.websocket.scope["line"].stop_pinging()

    def fall_silent(self) -> None:
        """Stop all traffic in both directions, but leave the connection open."""
        self.is_deaf = True
        self.websocket.scope["line"].fall_silent()

    async def close(self) -> None:
        if self.websocket.application_state is WebSocketState.CONNECTED:
            with contextlib.suppress(RuntimeError, OSError):  # it closed in the meantime
                await self.websocket.close()


@dataclass(slots=True)
class Sockets:
    """Issues single-use URLs, accepts connections, and sends envelopes and waits for their acknowledgements."""

    app_id: str
    is_enabled: bool = True
    ids: Ids = field(default_factory=Ids)
    connections: list[Connection] = field(default_factory=list)
    cuts: int = 0
    """How many of the next envelopes reach the app on a connection that breaks off at once."""
    spent: int = 0
    """How many of the next URLs have expired when the app connects to them."""
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set whenever a connection opens or closes; a waiter clears it first."""
    _tickets: set[str] = field(default_factory=set)
    _awaited: dict[str, asyncio.Future[Any]] = field(default_factory=dict)
    last: Connection | None = None
    """The connection that got the latest envelope."""
    _turn: int = 0

    def new_url(self, origin: str) -> str:
        """Return a new URL to connect to, valid for one connection; *origin*: that of the local Slack."""
        ticket = self.ids.secret(16)
        if self.spent > 0:
            self.spent -= 1
        else:
            self._tickets.add(ticket)
        query = urlencode({"ticket": ticket, "app_id": self.app_id})
        return f"{origin.replace('http', 'ws', 1)}/link/?{query}"

    async def endpoint(self, websocket: WebSocket) -> None:
        """Serve one connection, for as long as it lasts."""
        ticket = websocket.query_params.get("ticket", "")
        if ticket not in self._tickets:
            await websocket.close(1008)
            return
        self._tickets.remove(ticket)
        await websocket.accept()
        connection = Connection(websocket)
        if reason := self._refusal_reason():
            await connection.send(_disconnect_frame(reason))
            await connection.close()
            return
        # Slack would detect silent connections by its pings; here they are dropped once the app has reconnected.
        self.connections = [*(one for one in self.connections if not one.is_deaf), connection]
        self.changed.set()
        try:
            await connection.send(self._hello_frame())
            await self._receive_acks(connection)
        finally:
            self.connections = [one for one in self.connections if one is not connection]
            self.changed.set()

    def _refusal_reason(self) -> str:
        if not self.is_enabled:
            return "link_disabled"
        return "too_many_websockets" if len(self.connections) >= MAX_CONNECTIONS else ""

    def _hello_frame(self) -> dict[str, Any]:
        return {
            "type": "hello",
            "num_connections": len(self.connections),
            "debug_info": {"host": HOST, "build_number": 1, "approximate_connection_time": LIFE},
            "connection_info": {"app_id": self.app_id},
        }

    async def _receive_acks(self, connection: Connection) -> None:
        """Receive acknowledgements. One may come through another connection than its envelope: Slack's SDKs answer through
        their current one, which changes with a refresh.
        """
        try:
            while True:
                self._take_ack(await connection.websocket.receive_text())
        except (WebSocketDisconnect, RuntimeError):
            return

    def _take_ack(self, text: str) -> None:
        try:
            answer = json.loads(text)
        except ValueError:
            return
        waiting = self._awaited.get(str(answer.get("envelope_id"))) if isinstance(answer, dict) else None
        if waiting is not None and not waiting.done():
            waiting.set_result(answer.get("payload"))

    async def deliver(
        self, kind: str, payload: Mapping[str, Any], *, patience: float, retry: tuple[int, str] | None = None
    ) -> Ack:
        """Send an envelope through one of the connections and wait for *patience* seconds for its acknowledgement.

        *kind*: ``slash_commands``, ``interactive`` or ``events_api``; *retry*: of an event, the attempt and why.
        """
        connection = self._next_connection()
        if connection is None:
            return Ack("dispatch_failed", reason="connection_failed")
        # Slack takes a response in the acknowledgement of a command or a click, but not of an event.
        accepts = kind != "events_api"
        envelope_id = self.ids.secret(16)
        frame = {
            "envelope_id": envelope_id,
            "payload": payload,
            "type": kind,
            "accepts_response_payload": accepts,
            **({} if retry is None else {"retry_attempt": retry[0], "retry_reason": retry[1]}),
        }
        self._awaited[envelope_id] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(patience):
                await connection.send(frame)
                if self.cuts > 0:
                    self.cuts -= 1
                    await connection.close()
                body = await self._awaited[envelope_id]
        except TimeoutError:
            return Ack("dispatch_failed", reason="timeout")
        finally:
            del self._awaited[envelope_id]
        return Ack(body=body) if accepts else Ack()

    def _next_connection(self) -> Connection | None:
        """Return the connection whose turn it is: any may get an envelope, and no app can count on the same one."""
        staying = [one for one in self.connections if not one.is_leaving]
        found = staying or self.connections
        self._turn += 1
        self.last = found[self._turn % len(found)] if found else None
        return self.last

    async def warn(self, connection: Connection) -> None:
        """Warn the app that *connection* will be refreshed in some seconds."""
        connection.is_leaving = True
        await connection.send(_disconnect_frame("warning"))

    async def refresh(self, connection: Connection) -> None:
        """Close *connection* as Slack does every few hours: the app has to open another one."""
        connection.is_leaving = True
        await connection.send(_disconnect_frame("refresh_requested"))
        await connection.close()

    async def disable(self) -> None:
        """Close all connections, as when somebody switches Socket Mode off in the app's settings."""
        self.is_enabled = False
        for connection in list(self.connections):
            await connection.send(_disconnect_frame("link_disabled"))
            await connection.close()

    async def close(self) -> None:
        for connection in list(self.connections):
            await connection.close()


def _disconnect_frame(reason: str) -> dict[str, Any]:
    return {"type": "disconnect", "reason": reason, "debug_info": {"host": HOST}}
