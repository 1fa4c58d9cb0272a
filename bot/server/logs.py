"""Logging: one line per event, with secrets redacted and emails masked."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, MutableMapping
from typing import Any, Final

import structlog

from bot.text.emails import MAX_EMAIL, mask_emails
from bot.text.secrets import hide_in_text

MAX_LOGGED: Final = 20_000
"""Characters of one value: a traceback has fewer, and a whole body that an error quotes does not belong in a log."""

NUMBERS: Final = (int, float, type(None))

CHATTY: Final = (
    "httpx",
    "httpcore",
    "aiohttp",
    "aiosqlite",
    "slack_bolt",
    "slack_sdk",
    "sqlalchemy",
    "alembic",
    "mcp",
    "uvicorn.access",
)
"""Libraries whose informational lines have URLs, bodies or tokens in them, or nothing that an operator needs."""

Event = MutableMapping[str, Any]


def redact_text(text: str) -> str:
    """Return *text* with tokens and keys cut out and emails masked, up to the length that a log line may have."""
    # A little more than is shown, so that an email at the cut is recognised as one.
    shown = mask_emails(hide_in_text(text[: MAX_LOGGED + MAX_EMAIL]), MAX_LOGGED)
    return shown if len(text) <= MAX_LOGGED else f"{shown}… ({len(text):,} characters)"


def _redact_event(_: object, __: str, event: Event) -> Event:
    """Redact all values of an *event*, right before it is rendered; a value that is not a text is redacted as its repr."""
    event.pop("color_message", None)  # uvicorn's message again, with terminal codes
    return {name: value if isinstance(value, NUMBERS) else _redact_value(value) for name, value in event.items()}


def _redact_value(value: object) -> str:
    return redact_text(value if isinstance(value, str) else repr(value))


def configure(level: str, form: str, redact: Callable[[str], str] = str) -> None:
    """Set up logging for the whole process: *level* by name, *form* ``text`` or ``json``, to standard error.

    *redact* is applied to each line as it is written, wherever its text came from.
    """

    def without_secrets(_: object, __: str, line: Any) -> str:
        return redact(str(line))

    shared: list[structlog.types.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    renderer: structlog.types.Processor = structlog.processors.JSONRenderer()
    if form == "text":
        renderer = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.ExtraAdder()],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _redact_event,
                renderer,
                without_secrets,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in CHATTY:
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLevelName(level)))
