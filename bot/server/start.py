"""Start Gatehouse from the environment, or print what prevents that.

Bolt and the database are imported last, so that wrong settings are reported at once.
"""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
from collections.abc import Callable
from typing import TypeVar

from bot.environment import BadSettings, read_settings
from bot.settings import CannotStart

T = TypeVar("T")


def read_or_exit(read: Callable[[], T]) -> T:
    """Return the settings that *read* returns, or print everything that is wrong with them and exit with status 2."""
    try:
        return read()
    except BadSettings as error:
        print("Gatehouse can't run with these settings:", file=sys.stderr)
        print(*error.findings, sep="\n", file=sys.stderr)
        print("See .env.example for all of them. `python -m bot check` looks at the rest as well.", file=sys.stderr)
        sys.exit(2)


def serve() -> None:
    """Run Gatehouse until a signal stops it; exits with status 1 and a message where it can't start."""
    # Python's own handler raises wherever the process is: an import may swallow that, or end in a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    settings = read_or_exit(read_settings)
    gc.disable()  # 350 collections while all of it is imported would free nothing, and take a fifth of the time
    from bot.server import logs  # noqa: PLC0415

    logs.configure(settings.log_level, settings.log_format, settings.redact)
    from bot.server import process  # noqa: PLC0415

    gc.enable()
    try:
        asyncio.run(process.serve(settings))
    except CannotStart as error:
        print(f"Gatehouse cannot start: {settings.redact(str(error))}", file=sys.stderr)
        sys.exit(1)
