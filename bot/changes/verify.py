"""Compare a target with what it was and what it should be: right before a write, and as read back after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final, Protocol

from bot.changes.model import Change, Kind, Target, canonical_form
from bot.clients.errors import ClientError, OutcomeUnknown, Refusal

Document = dict[str, Any]


class Truth(Enum):
    """What reading back says of a change."""

    DONE = auto()
    NOT_DONE = auto()
    DIVERGED = auto()
    """The target is neither as it was nor as it should be: somebody must look."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The target as it was read back, and what that says."""

    truth: Truth
    live: Document | None


SEVERAL: Final = Reading(Truth.DIVERGED, None)
"""Of things that were created, where there should be one: somebody must look."""


class Snapshot(Protocol):
    """One service as it was read at one moment, for many changes at once."""

    def live(self, target: Target) -> Document | None:
        """The target as it then was, or None where it did not exist."""

    def lookalikes(self, change: Change) -> list[str]:
        """Keys of the things that look just like what *change* would create."""


class Adapter(Protocol):
    """How changes to one service are read and written. Both methods raise the clients' errors."""

    async def snapshot(self, targets: Sequence[Target], *, shared: bool = False) -> Snapshot:
        """These targets as they are now; one without a key, that is to be created, among all there is.

        *shared*: what the same command read of all there is, since it began, will do.
        """

    async def write(self, change: Change) -> str:
        """Send the change once. Return what the service answered, for people; a created thing's key where it tells.

        A refusal that is raised means that nothing was done: OutcomeUnknown where a part was, or may have been.
        """


AdapterOf = Callable[[Target], Adapter]
"""The adapter that a target's service and site need; raises Refused where no setting names the site any more."""


async def read_live(adapter: Adapter, target: Target) -> Document | None:
    """Read one target as it is now; None, without a look, where it is yet to be created."""
    return None if target.key is None else (await adapter.snapshot([target])).live(target)


async def read_back(adapter: Adapter, change: Change) -> Reading:
    """Read the target of a change that was sent, and say what that shows.

    What was created is looked for among all there is before it is read by its key: a gateway may have sent the request
    twice, and then one of the two is too many.
    """
    if change.kind is not Kind.RULE_CREATE:
        return judge(change, await adapter.snapshot([change.target]))
    born = _born(change, await adapter.snapshot([_with_key(change.target, None)]))
    if len(born) > 1:
        return SEVERAL
    key = change.target.key or next(iter(born), None)
    return verdict(change, await read_live(adapter, _with_key(change.target, key)))


def judge(change: Change, snapshot: Snapshot) -> Reading:
    """Say what *snapshot* shows of a change that was sent."""
    if change.kind is not Kind.RULE_CREATE or change.target.key is not None:
        return verdict(change, snapshot.live(change.target))
    born = _born(change, snapshot)
    return (
        SEVERAL if len(born) > 1 else verdict(change, snapshot.live(_with_key(change.target, next(iter(born), None))))
    )


def _born(change: Change, snapshot: Snapshot) -> list[str]:
    """The keys of what looks just like the thing that *change* creates, and was not there before."""
    known = alike_before(change)
    return [key for key in snapshot.lookalikes(change) if key not in known]


def _with_key(target: Target, key: str | None) -> Target:
    return target.model_copy(update={"key": key})


def alike_before(change: Change) -> Sequence[str]:
    """The keys of what looked just like the thing to be created before it was: noted by the pipeline."""
    found: Sequence[str] = (change.result or {}).get("twins", ())
    return found


def replaces(change: Change) -> bool:
    """Whether the write puts a whole in the place of what is there: what somebody did since the look would be lost.

    Of a member, only a new name does, since PATCH may replace the segments that it takes along. A grant or a revocation
    names the segments that come or go, so what others gave or took since the look stays. A removal, or an addition at a
    service that takes it for an update, would lose that. Both come by the thousand, and the service has no read of one
    member, so for them a look some seconds old has to do.
    """
    if change.target.service != "members":
        return True
    renamed = (change.before or {}).get("name") != (change.after or {}).get("name")
    return change.kind is Kind.MEMBER_UPDATE and renamed


def key_of(change: Change) -> str:
    """The key of a target that is there already."""
    if change.target.key is None:
        raise ValueError(f"{change.kind} without a key")
    return change.target.key


def verdict(change: Change, live: Document | None) -> Reading:
    """What *live* says of *change*. As it was before is not done, even where the change only takes fields away."""
    now, before, after = canonical_form(live), canonical_form(change.before), canonical_form(change.after)
    if now == before != after:
        return Reading(Truth.NOT_DONE, live)
    done = holds(now, after) and not _still_there(before, after, now)
    return Reading(Truth.DONE if done else Truth.DIVERGED, live)


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


async def accept_if_done(refused: Refusal, adapter: Adapter, change: Change) -> str:
    """Raise *refused*, unless the target is as it should be: then return the service's words.

    The target was read a moment before the write. If it is "not found" for a deletion, or "there already" for an
    addition, the likely reason is a gateway that sent our request twice, and passed on what the second one got.
    """
    try:
        reading = await read_back(adapter, change)
    except ClientError as error:
        raise OutcomeUnknown(refused.service, f"{refused}; and then it could not be read: {error}") from error
    if reading.truth is not Truth.DONE:
        raise refused
    return str(refused)
