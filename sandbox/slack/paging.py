"""Pages of a list, as the Web API cuts them: so many at a time, and a cursor that names the first of the next page."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any


def page(
    names: Sequence[str], arguments: Mapping[str, Any], *, kind: str = "user", usual: int = 100, most: int = 1000
) -> tuple[list[str], str]:
    """Return the page of *names* that *arguments* ask for, and the cursor of the next page, empty where there is none.

    *kind*: the prefix of the name in the cursor; *usual* and *most*: the default and the maximum of ``limit``.
    Raises ValueError with Slack's error code: invalid_limit or invalid_cursor.
    """
    limit, start = _limit(arguments, usual, most), _start(arguments, names, kind)
    following = names[start + limit : start + limit + 1]
    cursor = base64.b64encode(f"{kind}:{following[0]}".encode()).decode() if following else ""
    return list(names[start : start + limit]), cursor


def _limit(arguments: Mapping[str, Any], usual: int, most: int) -> int:
    try:
        limit = int(arguments.get("limit") or usual)
    except (TypeError, ValueError):
        raise ValueError("invalid_limit") from None
    if not 1 <= limit <= most:
        raise ValueError("invalid_limit")
    return limit


def _start(arguments: Mapping[str, Any], names: Sequence[str], kind: str) -> int:
    if not arguments.get("cursor"):
        return 0
    try:
        named = base64.b64decode(str(arguments["cursor"]), validate=True).decode()
        return names.index(named.removeprefix(f"{kind}:"))
    except (binascii.Error, ValueError):
        raise ValueError("invalid_cursor") from None
