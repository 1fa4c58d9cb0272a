"""A uvicorn server inside this process, on loopback, for as long as a block lasts."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from typing import Final

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

GRACE: Final = 0.1
"""Seconds that responses under way may still take at shutdown."""
BACKLOG: Final = 2048
"""Connections that may wait to be accepted, as uvicorn has it."""
IDLE_SECONDS: Final = 75
"""How long a connection stays open after a response: longer than any client here keeps one, or it might close while in use."""
TURNS_TO_CONNECT: Final = 3
"""Turns of the event loop until the server knows a connection that was accepted, and can close it."""


def bind_socket(port: int) -> socket.socket:
    """Return a socket on loopback: at *port*, or at a free one where it is 0. Raises OSError where the port is taken.

    It names its protocol, since asyncio sets TCP_NODELAY only on sockets that do: on others, the body of a response waits
    40 ms for the client to acknowledge the head, unless the connection is new.
    """
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind(("127.0.0.1", port))
    except OSError:
        found.close()
        raise
    return found


def _open_listener(wanted: int) -> socket.socket:
    """Return a socket that listens at port *wanted*, or at a free one where another program does.

    It listens at once: with SO_REUSEADDR, two sockets can be bound to a port as long as neither listens.
    """
    with ExitStack() as unless_it_listens:
        try:
            found = unless_it_listens.enter_context(bind_socket(wanted))
            found.listen(BACKLOG)
        except OSError:
            if not wanted:
                raise
            return _open_listener(0)
        unless_it_listens.pop_all()
    return found


class _Server(uvicorn.Server):
    """One of several servers in a process, and of thousands in a test run: it shuts down without uvicorn's sleeps."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for listener in sockets or []:
            listener.close()
        for _ in range(TURNS_TO_CONNECT):
            await asyncio.sleep(0)
        for connection in list(self.server_state.connections):
            connection.shutdown()
        answering = set(self.server_state.tasks)
        if answering:
            await asyncio.wait(answering, timeout=GRACE)
        for task in answering:
            task.cancel()
        await asyncio.gather(*answering, return_exceptions=True)
        for connection in list(self.server_state.connections):
            connection.transport.abort()  # a connection whose client doesn't read would stay open
        await asyncio.sleep(0)


class Line(WebSocketsSansIOProtocol):
    """The server's side of a websocket, which its endpoint finds in ``scope["line"]``, to break it."""

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        self.scope["line"] = self  # type: ignore[typeddict-unknown-key]  # the endpoint starts after this

    def stop_pinging(self) -> None:
        """Send no more pings, but answer those of the other side, like a proxy that has lost its server."""
        self.stop_keepalive()

    def fall_silent(self) -> None:
        """Stop reading and answering, but leave the connection open."""
        self.stop_keepalive()
        self.transport.pause_reading()


@asynccontextmanager
async def serving(app: ASGIApp, *, port: int = 0, ping_every: float = 10.0, dates: bool = True) -> AsyncIterator[str]:
    """Serve *app* on 127.0.0.1; yields its URL, such as http://127.0.0.1:8801. Websockets are pinged, as Slack does.

    *port*: the wanted one; where it is taken, a free one is used.
    *dates*: whether each response has a Date header; the app may set it itself, by its own clock.
    """
    listener = _open_listener(port)
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # faults are what some of these servers are for
    config = uvicorn.Config(
        app,
        log_config=None,
        lifespan="off",
        ws=Line,
        ws_ping_interval=ping_every,
        date_header=dates,
        timeout_keep_alive=IDLE_SECONDS,
    )
    server = _Server(config)
    config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=[listener])
    running = asyncio.create_task(server.main_loop())
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await server.shutdown(sockets=[listener])
