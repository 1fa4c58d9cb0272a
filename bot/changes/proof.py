"""Whether a write came true: the target as it was read back, against what it was and what it should have become."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.changes.effects import Document, Effects, Reading, Truth
from bot.clients.errors import ClientError, OutcomeUnknown, Refusal
from bot.domain.change import Change
from bot.domain.essence import essence


def verdict(change: Change, live: Document | None) -> Reading:
    """What *live* says of *change*. As it was before is not done, even where the change only takes fields away."""
    now, before, after = essence(live), essence(change.before), essence(change.after)
    if now == before != after:
        return Reading(Truth.NOT_DONE, live)
    done = holds(now, after) and not _still_there(before, after, now)
    return Reading(Truth.DONE if done else Truth.NEITHER, live)


def _still_there(before: Any, after: Any, now: Any) -> bool:
    """Whether *now* has a field that was there *before* and is not to be there *after*."""
    if isinstance(before, Mapping) and isinstance(after, Mapping) and isinstance(now, Mapping):
        gone = before.keys() - after.keys()
        return bool(gone & now.keys()) or any(
            _still_there(before[name], after[name], now.get(name)) for name in before.keys() & after.keys()
        )
    if isinstance(before, list) and isinstance(after, list) and isinstance(now, list):
        return len(before) == len(after) and any(map(_still_there, before, after, now))
    return False


def holds(live: Document | None, wanted: Document | None) -> bool:
    """Whether *live* has all that was *wanted*; a service may add fields of its own to what it was sent."""
    if live is None or wanted is None:
        return live is wanted
    return all(_same(live.get(name), value) for name, value in wanted.items())


def _same(live: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping) and isinstance(live, Mapping):
        return all(_same(live.get(name), value) for name, value in wanted.items())
    if isinstance(wanted, list) and isinstance(live, list):
        return len(live) == len(wanted) and all(map(_same, live, wanted))
    return bool(live == wanted)


async def believed(refused: Refusal, effects: Effects, change: Change) -> str:
    """Raise *refused*, unless the target is as it should be: then return the service's words.

    The target was read a moment before the write. If it is "not found" for a deletion, or "there already" for an
    addition, the likely reason is a gateway that sent our request twice, and passed on what the second one got.
    """
    try:
        reading = await effects.read_back(change, ())
    except ClientError as error:
        raise OutcomeUnknown(refused.service, f"{refused}; and then it could not be read: {error}") from error
    if reading.truth is not Truth.DONE:
        raise refused
    return str(refused)
