"""A URL in limited space: whatever is left out, its host never is."""

from __future__ import annotations

from typing import Final

from bot.domain.address import authority
from handlers.views.parts import clip, code

MAX_HOST: Final = 260
"""Characters of a host and its port: DNS has no longer ones, and of anything longer the end counts."""
MAX_SHORTENED: Final = 600
MIN_PATH: Final = 20
"""Characters of the path that are shown even after a long host."""


def shortened(text: str, limit: int, at: int = 0) -> str:
    """Return *text* in about *limit* characters, the true host of a URL always whole, and the rest from near *at*.

    What is left out shows as ``…``. A user name before the host is masked, so that it can't pass for the host.
    """
    if len(text) <= limit:
        return text
    place = authority(text)
    if place is None:
        return _window(text, limit, at)
    scheme = text[: place.end].partition(":")[0].strip()
    host = place.host if len(place.host) <= MAX_HOST else f"…{place.host[-MAX_HOST:]}"
    head = f"{scheme}://{'…***@' if place.user_info else ''}{host}"
    return head + _window(text[place.end :], max(MIN_PATH, limit - len(head)), at - place.end)


def url_code(text: str | None, limit: int, at: int = 0) -> str:
    """The same as code, for a message."""
    return code(shortened(text or "", limit, at), MAX_SHORTENED)


def _window(text: str, limit: int, at: int) -> str:
    start = max(0, at - limit // 3) if len(text) > limit else 0
    return clip(("…" if start else "") + text[start:], limit)
