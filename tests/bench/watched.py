"""``python -m bot serve`` under a watch: on SIGUSR1 it writes a line with how long its loop worked in one go since the last."""

from __future__ import annotations

import asyncio
import gc
import json
import signal
import time
from functools import partial

from bot.environment import read_settings
from bot.server import collector, logs
from bot.server.process import serve
from bot.server.start import read_or_exit
from bot.settings import Settings
from tests.bench.measuring import Watching, run_watched


class Walks:
    """The walks of the garbage collector over everything: the seconds of the longest."""

    def __init__(self) -> None:
        self.longest, self._began = 0.0, 0.0
        gc.callbacks.append(self._note)

    def _note(self, phase: str, about: dict[str, int]) -> None:
        if about["generation"] < 2:
            return
        if phase == "start":
            self._began = time.thread_time()
        else:
            self.longest = max(self.longest, time.thread_time() - self._began)


async def _serve(settings: Settings, watching: Watching) -> None:
    walks = Walks()

    def tell() -> None:
        is_due = gc.get_count()[2] >= collector.MIN_WALKS
        told = {"longest": watching.longest, "longest_walk": walks.longest, "walk_is_due": is_due}
        watching.longest = 0.0
        print(json.dumps(told), flush=True)

    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, tell)
    await serve(settings)


if __name__ == "__main__":
    collector.pause()
    chosen = read_or_exit(read_settings)
    logs.configure("ERROR", "text")
    run_watched(partial(_serve, chosen))
