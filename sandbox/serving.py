"""A uvicorn server inside this process, on loopback, for as long as a block lasts."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.types import ASGIApp


def listening(port: int) -> socket.socket:
    """A socket on loopback: at *port*, or at a free one where it is 0. Raises OSError where the port is taken."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind(("127.0.0.1", port))
    except OSError:
        found.close()
        raise
    return found


class _Server(uvicorn.Server):
    """One of several servers in a process: signals are for the process, not for it."""

    def install_signal_handlers(self) -> None:
        return


@asynccontextmanager
async def serving(app: ASGIApp, *, port: int = 0) -> AsyncIterator[str]:
    """Serve *app* on 127.0.0.1; gives its address, such as http://127.0.0.1:8801."""
    listener = listening(port)
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # faults are what some of these servers are for
    config = uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=1, ws="websockets-sansio")
    server = _Server(config)
    config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=[listener])
    running = asyncio.create_task(server.main_loop())
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        server.force_exit = True
        await running
        await server.shutdown(sockets=[listener])
