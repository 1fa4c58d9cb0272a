"""Start Gatehouse from the environment, or say what keeps it from starting.

What works is imported last: wrong settings answer at once, without Bolt and a database.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from typing import TypeVar

from bot.environment import BadSettings, read_settings
from bot.server import collector
from bot.settings import CannotStart

T = TypeVar("T")


def read_or_exit(read: Callable[..., T], *name: str) -> T:
    """Return what *read* finds of settings, or exit with everything that is wrong with them."""
    try:
        return read(*name)
    except BadSettings as error:
        print("Gatehouse can't run with these settings:", file=sys.stderr)
        print(*error.findings, sep="\n", file=sys.stderr)
        print("See .env.example for all of them. `python -m bot check` looks at the rest as well.", file=sys.stderr)
        sys.exit(2)


def serve() -> None:
    """Run Gatehouse until it is told to stop; exits with a sentence where it cannot start."""
    collector.pause()
    settings = read_or_exit(read_settings)
    from bot.server import logs  # noqa: PLC0415

    logs.configure(settings.log_level, settings.log_format, settings.redact)
    from bot.server import process  # noqa: PLC0415

    try:
        asyncio.run(process.serve(settings))
    except CannotStart as error:
        print(f"Gatehouse cannot start: {settings.redact(str(error))}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(0)
