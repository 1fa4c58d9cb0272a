"""Gatehouse as a process: signals and a graceful stop."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import signal
import socket
from collections.abc import Iterator
from typing import Final

import structlog
import uvicorn
from starlette.types import ASGIApp

from bot.changes.worker import DRAIN_SECONDS
from bot.server.app import running
from bot.settings import CannotStart, Settings

log = structlog.get_logger(__name__)

IDLE_SECONDS: Final = 75
"""Seconds that a connection stays open after an answer. Proxies keep theirs for a minute, and a command that a proxy sends
just as Gatehouse closes the connection is lost: people see *dispatch_failed*."""
MAX_CONNECTIONS: Final = 200
"""Connections at a time; requests of any more are answered 503. Each may bring `edge.MAX_BODY`."""


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


def web_server(web: ASGIApp, *, host: str, port: int) -> Server:
    """Return the server of *web*. A proxy is always in front, since Slack needs TLS, and sees to slow requests."""
    config = uvicorn.Config(
        web,
        host=host,
        port=port,
        http="h11",
        timeout_keep_alive=IDLE_SECONDS,
        limit_concurrency=MAX_CONNECTIONS,
        ws="none",
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=int(DRAIN_SECONDS),
    )
    return Server(config)


class Server(uvicorn.Server):
    """A server without signal handlers: uvicorn raises signals again at its end, which would kill the process while work runs."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop(self) -> None:
        self.should_exit = True
