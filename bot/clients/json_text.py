"""Parse the JSON of a service, and refuse what another reader might read otherwise."""

from __future__ import annotations

import json
import sys
from typing import Any, Final

from bot.threads import run_uncollected

SMALL_BYTES: Final = 128 * 1024
"""Bytes that are parsed at once, which takes well under two milliseconds; more are parsed in a thread."""
MAX_INTEGER_DIGITS: Final = 4_000
"""Characters of an integer that Python converts; it refuses longer ones."""


def _reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raises ValueError where a name comes twice, since another reader may take the other value.

    The names are interned, so that all records of a list share them: otherwise they are a tenth of its memory.
    """
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name comes twice in an object")
    return {sys.intern(name): value for name, value in found.items()}


def _parse_integer(digits: str) -> int | float:
    """Return the integer, or infinity (as for ``1e999``) where Python can't convert it: other records stay readable."""
    return int(digits) if len(digits) <= MAX_INTEGER_DIGITS else float(digits)


DECODER: Final = json.JSONDecoder(
    parse_constant=_reject_constant, parse_int=_parse_integer, object_pairs_hook=_unique_names
)


def parse_json(body: bytes) -> Any:
    """Parse *body* as JSON; raises ValueError where it isn't valid, has NaN, or has an object with the same name twice."""
    try:
        return DECODER.decode(body.decode("utf-8-sig"))
    except RecursionError as error:
        raise ValueError("nested too deep") from error


async def parse_large_json(body: bytes) -> Any:
    """Parse *body* as `parse_json` does; a large one in a thread, in which the event loop gets a turn at each object."""
    return parse_json(body) if len(body) <= SMALL_BYTES else await run_uncollected(lambda: parse_json(body))
