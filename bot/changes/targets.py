"""Read the targets of changes, and hold what must be so right before a write: as it was shown, in time, and in its turn."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Protocol

from bot.changes.model.change import Change
from bot.changes.model.documents import Document, canonical_form, contains_all
from bot.changes.model.edits import Kind, Target
from bot.clients.gate import CallContext, Priority
from bot.rules.model import Rule
from bot.text.documents import ServiceRecord


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of one service as it was read at one moment, for many changes at once."""

    find: Callable[[str], ServiceRecord | None]
    """Returns the thing with a key."""
    named: Mapping[str | None, Sequence[Rule]] = field(default_factory=dict)
    """Rules by their names; nothing else can have its like."""

    def live(self, target: Target) -> Document | None:
        """Return the target as it then was; None where it did not exist."""
        found = self.find(target.key or "")
        return None if found is None else found.document()

    def lookalikes(self, change: Change) -> list[str]:
        """Return the ids of the rules that look just like what *change* would create."""
        wanted = canonical_form(change.edit.after)
        rules = self.named.get((wanted or {}).get("name"), ())
        return [rule.id for rule in rules if contains_all(canonical_form(rule.document()), wanted)]


class Adapter(Protocol):
    """How changes to one service are read and written. Both methods raise the clients' errors."""

    async def snapshot(self, targets: Sequence[Target]) -> Snapshot:
        """Read these targets as they are now; one without a key, that is to be created, among all there is."""

    async def write(self, change: Change) -> Document | None:
        """Send the change once, and return what it created, as the service's answer has it; None for any other change.

        A refusal that is raised means that nothing was done: OutcomeUnknown where a part was, or may have been.
        """


AdapterOf = Callable[[Target, CallContext], Adapter]
"""The adapter that a target's service and site need, and that sends with this context; raises Unsendable where no setting names
the site any more."""
LOOKING: Final = CallContext(Priority.CHANGE)
"""Outside a lease, targets are only looked at: somebody decides, or counts on what is due, whatever others look up."""


async def read_live(adapter: Adapter, target: Target) -> Document | None:
    """Read one target as it is now; None, without a look, where it is yet to be created."""
    return None if target.key is None else (await adapter.snapshot([target])).live(target)


def key_of(change: Change) -> str:
    """Return the key of a target that exists already; raises ValueError where it has none."""
    if change.edit.target.key is None:
        raise ValueError(f"{change.edit.kind} without a key")
    return change.edit.target.key


def _replaces(change: Change) -> bool:
    """Whether the write puts a whole in the place of what is there: what somebody did since the look would be lost.

    Of a member, only a new name does, since PATCH may replace the segments that it takes along. A grant or a revocation
    names the segments that come or go, so what others gave or took since the look stays. A removal, or an addition at a
    service that takes it for an update, would lose that. Both come by the thousand, and the service has no read of one
    member, so for them a look some seconds old has to do.
    """
    if change.edit.target.service != "members":
        return True
    renamed = (change.edit.before or {}).get("name") != (change.edit.after or {}).get("name")
    return change.edit.kind is Kind.MEMBER_UPDATE and renamed


LOOK_FACTOR: Final = 10
"""Times as long as a look: where the list is long, or slow, it is not read more often than pays."""
MIN_LOOK_SECONDS, MAX_LOOK_SECONDS = 2.0, 10.0
"""Seconds for which a look at many members counts."""


def look_lifetime(look: float) -> float:
    """Return for how many seconds a look counts that took *look* seconds."""
    return max(MIN_LOOK_SECONDS, min(MAX_LOOK_SECONDS, LOOK_FACTOR * look))


@dataclass(slots=True)
class Look:
    """The targets of changes to one service and site: read together, and each as it is when it is its turn.

    The services know no precondition: an edit between the last look and the write is lost, so nothing waits there.
    """

    adapter_of: Callable[[Target], Adapter]
    targets: Sequence[Target]
    now: Callable[[], datetime]
    _taken: tuple[Snapshot, datetime] | None = None
    """What was read, and until when it counts."""
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def adapter(self) -> Adapter:
        """Return the adapter that all of the targets share; raises as `AdapterOf` does."""
        return self.adapter_of(self.targets[0])

    async def take(self) -> Snapshot:
        """Read all targets together; raises the clients' errors."""
        began = time.monotonic()
        snapshot = await self.adapter.snapshot(self.targets)
        self._taken = snapshot, self.now() + timedelta(seconds=look_lifetime(time.monotonic() - began))
        return snapshot

    async def live(self, change: Change) -> Document | None:
        """Return the target of *change* as it is now; raises the clients' errors.

        One of many whose write replaces nothing is as it was some seconds ago: members can only be read all together, and
        that once for each of them would take longer than all that is to be done.
        """
        if len(self.targets) == 1 or _replaces(change):
            return await read_live(self.adapter, change.edit.target)
        # One reads for all: the others wait, and find what it read.
        async with self._reading:
            if self._taken is not None and self.now() < self._taken[1]:
                return self._taken[0].live(change.edit.target)
            return (await self.take()).live(change.edit.target)


class Differs(Exception):
    """The target is not as it was shown, so nothing was sent."""

    code: Final = "Differs"

    def __init__(self, live: Document | None) -> None:
        super().__init__("the target is no longer as it was shown")
        self.live = live


class EndPassed(Exception):
    """The change was to last until a moment that is past, so nothing was sent."""

    code: Final = "EndPassed"
