"""Start Gatehouse from the environment, or say what keeps it from starting.

What works is imported last: wrong settings answer at once, without Bolt and a database.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TypeVar

from pydantic import ValidationError

from bot.server import collector
from bot.settings import CannotStart, ManifestSettings, Settings

S = TypeVar("S", Settings, ManifestSettings)


def settings_of(kind: type[S]) -> S:
    """Return the settings of the environment, or exit with what is wrong, variable by variable."""
    try:
        return kind()
    except ValidationError as error:
        print("Gatehouse cannot start with these settings:", file=sys.stderr)
        for problem in error.errors(include_input=False, include_url=False):
            name = str(problem["loc"][0]).upper() if problem["loc"] else "settings"
            missing = problem["type"] == "missing"
            print(f"  {name}: {'is not set' if missing else problem['msg']}", file=sys.stderr)
        print("See .env.example for all of them.", file=sys.stderr)
        sys.exit(2)


def serve() -> None:
    """Run Gatehouse until it is told to stop; exits with a sentence where it cannot start."""
    collector.pause()
    # structlog and httpx load these where they find them, for colours that no log has: None is a module that is not there.
    for name in ("pygments", "rich"):
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]
    settings = settings_of(Settings)
    from bot.server import logs  # noqa: PLC0415

    logs.configure(settings.log_level, settings.log_format, settings.redacted)
    from bot.server import process  # noqa: PLC0415

    try:
        asyncio.run(process.serve(settings))
    except CannotStart as error:
        print(f"Gatehouse cannot start: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(0)
