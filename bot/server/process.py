"""Gatehouse as a process: signals and a graceful stop."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import signal
import socket
from collections.abc import Iterator
from typing import Any, Final

import structlog
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from bot.changes.worker import DRAIN_SECONDS
from bot.server.app import running
from bot.settings import CannotStart, Settings

log = structlog.get_logger(__name__)

REQUEST_SECONDS: Final = 5.0
"""Seconds within which a request must have arrived, headers and body."""
IDLE_SECONDS: Final = 75
"""Seconds that a connection stays open after an answer. Proxies keep theirs for a minute, and a command that a proxy sends
just as Gatehouse closes the connection is lost: people see *dispatch_failed*."""
MAX_CONNECTIONS: Final = 500
BUSY: Final = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


async def serve(settings: Settings) -> None:
    """Run until SIGTERM or Ctrl-C, then finish the work under way; raises CannotStart."""
    with bind_socket(settings.host, settings.port) as sock:
        await _serve(settings, sock)


async def _serve(settings: Settings, sock: socket.socket) -> None:
    async with running(settings) as gatehouse:
        host, port = sock.getsockname()[:2]
        log.info("listening", host=host, port=port, socket_mode=settings.slack_app_token is not None)
        server = web_server(gatehouse.web, host=host, port=port)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, server.stop)
        await server.serve(sockets=[sock])


def bind_socket(host: str, port: int) -> socket.socket:
    """Return a socket bound to *host* and *port*, which doesn't listen yet; raises CannotStart where that isn't possible."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        sock = socket.socket(family, kind, protocol)
        try:
            # Otherwise a restart can't bind the port while connections of the old process are in TIME_WAIT.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind(address)
        except OSError:
            sock.close()
            raise
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            words = f"another program listens on port {port} of {host}. Stop it, or set PORT to another one."
        else:
            words = f"it can't listen on port {port} of {host} ({error.strerror}). Set HOST and PORT to what it may listen on."
        raise CannotStart(words) from error
    return sock


def web_server(
    web: ASGIApp,
    *,
    host: str,
    port: int,
    request_seconds: float = REQUEST_SECONDS,
    max_connections: int = MAX_CONNECTIONS,
) -> Server:
    """Return the server of *web*, with a timeout for slow requests (*request_seconds*) and a limit of connections."""
    arriving: dict[_HttpConnection, asyncio.TimerHandle] = {}

    class Connection(_HttpConnection):
        def __init__(self, **uvicorn_arguments: Any) -> None:
            super().__init__(arriving, request_seconds, max_connections, **uvicorn_arguments)

    config = uvicorn.Config(
        web,
        host=host,
        port=port,
        http=Connection,
        timeout_keep_alive=IDLE_SECONDS,
        ws="none",
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=int(DRAIN_SECONDS),
    )
    return Server(config)


class _HttpConnection(H11Protocol):
    """A connection that is closed unless a request arrives in full in time, and the next one within IDLE_SECONDS.

    *arriving*: the connections of this server that wait for a request or the rest of one, the oldest first. Where there
    are too many connections, the oldest of these is closed: Slack's requests arrive in one go, so they don't wait for long.
    """

    def __init__(
        self, arriving: dict[_HttpConnection, asyncio.TimerHandle], seconds: float, limit: int, **uvicorn_arguments: Any
    ) -> None:
        super().__init__(**uvicorn_arguments)
        self._arriving = arriving
        self._seconds = seconds
        self._limit = limit
        self._is_idle = False
        """Whether all requests are answered and nothing of the next one has arrived."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        if len(self.connections) > self._limit:
            # A dict keeps insertion order, so the first one has waited the longest.
            oldest = next(iter(self._arriving), None)
            if oldest is None:
                transport.write(BUSY)
                transport.close()
                return
            oldest.give_up()
        self._wait_for_the_rest(self._seconds)

    def data_received(self, data: bytes) -> None:
        if self._is_idle:
            self._is_idle = False
            self._stop_waiting()
        super().data_received(data)
        # Once the request is complete, the timeout no longer applies: the answer may take longer.
        if _is_answering(self.cycle):
            self._stop_waiting()
        else:
            self._wait_for_the_rest(self._seconds)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        is_answered = self.cycle.response_complete and not self.cycle.more_body
        self._is_idle = is_answered and not self.conn.trailing_data[0]
        self._wait_for_the_rest(IDLE_SECONDS if self._is_idle else self._seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def give_up(self) -> None:
        """Abort the connection, even in the middle of a request."""
        self._stop_waiting()
        self.connections.discard(self)
        self.transport.abort()

    def _wait_for_the_rest(self, seconds: float) -> None:
        if self not in self._arriving and not self.transport.is_closing():
            self._arriving[self] = self.loop.call_later(seconds, self.give_up)

    def _stop_waiting(self) -> None:
        if timer := self._arriving.pop(self, None):
            timer.cancel()


def _is_answering(cycle: RequestResponseCycle | None) -> bool:
    return cycle is not None and not cycle.more_body and not cycle.response_complete


class Server(uvicorn.Server):
    """A server without signal handlers: uvicorn raises signals again at its end, which would kill the process while work runs."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop(self) -> None:
        self.should_exit = True
