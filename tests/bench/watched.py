"""``python -m bot serve`` under a watch: on SIGUSR1 it writes a line with how long its loop worked in one go since the last."""

from __future__ import annotations

import asyncio
import json
import signal
from functools import partial

from bot.environment import read_settings
from bot.server import logs
from bot.server.process import serve
from bot.server.start import read_or_exit
from bot.settings import Settings
from tests.bench.measuring import Watching, run_watched


async def _serve(settings: Settings, watching: Watching) -> None:
    def tell() -> None:
        told = {"longest": watching.longest}
        watching.longest = 0.0
        print(json.dumps(told), flush=True)

    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, tell)
    await serve(settings)


if __name__ == "__main__":
    chosen = read_or_exit(read_settings)
    logs.configure("ERROR", "text")
    run_watched(partial(_serve, chosen))
