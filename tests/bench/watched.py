"""``python -m bot serve`` under a watch: on SIGUSR1 it writes a line with how long its loop worked in one go since the last."""

from __future__ import annotations

import asyncio
import json
import selectors
import signal
import time

from bot.environment import read_settings
from bot.server import logs
from bot.server.process import serve
from bot.server.start import read_or_exit
from bot.settings import Settings


class Watching(selectors.DefaultSelector):
    """A loop's own selector, which looks how long the loop works between two times that it asks for news: by its own time,
    not that of others on the machine.
    """

    longest = 0.0
    """Seconds, since this was last set to 0."""
    _since: float | None = None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if self._since is not None:
            self.longest = max(self.longest, time.thread_time() - self._since)
        found = super().select(timeout)
        self._since = time.thread_time()
        return found


async def _serve(settings: Settings, watching: Watching) -> None:
    def tell() -> None:
        print(json.dumps({"longest": watching.longest}), flush=True)
        watching.longest = 0.0

    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, tell)
    await serve(settings)


if __name__ == "__main__":
    chosen = read_or_exit(read_settings)
    logs.configure("ERROR", "text")
    watching = Watching()
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(watching)) as runner:
        runner.run(_serve(chosen, watching))
