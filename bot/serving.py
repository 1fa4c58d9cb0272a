"""Gatehouse as a process: it serves until it is told to stop, and then finishes what is under way."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Iterator

import structlog
import uvicorn

from bot import collector
from bot.app import DRAIN, running
from bot.settings import Settings

log = structlog.get_logger(__name__)


async def serve(settings: Settings) -> None:
    """Run until SIGTERM or Ctrl-C, then finish what is under way."""
    async with running(settings) as gatehouse:
        config = uvicorn.Config(
            gatehouse.web,
            host=settings.host,
            port=settings.port,
            log_config=None,
            server_header=False,
            timeout_graceful_shutdown=int(DRAIN),
        )
        log.info("listening", host=settings.host, port=settings.port, socket_mode=settings.slack_app_token is not None)
        server = _Server(config)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, server.stop)
        collector.take_over()
        collecting = asyncio.create_task(collector.run())
        try:
            await server.serve()
        finally:
            collecting.cancel()


class _Server(uvicorn.Server):
    """Leaves signals to us: uvicorn would raise them again at its end, and so end us before the work under way is done."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop(self) -> None:
        self.should_exit = True
