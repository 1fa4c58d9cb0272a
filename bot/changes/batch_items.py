"""What became of a part: by what its service said, and by what was read back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from bot.changes.batch_journal import Ended
from bot.changes.execute import said
from bot.changes.model import Change, Kind, Move, Part, Target, canonical_form, fingerprint
from bot.changes.verify import Adapter, AdapterOf, Document, Reading, Snapshot, Truth, read_live, replaces
from bot.clients.errors import ClientError, NotFound, OutcomeUnknown
from bot.store.items import Parts


@dataclass(frozen=True, slots=True)
class Sent:
    """What became of one part that was to be sent: the answer of its service, its error, or that it was left."""

    part: Change
    answer: str = ""
    error: ClientError | None = None
    moved_to: tuple[Document | None] | None = None
    """What its target had become, where it was not sent for that."""

    @property
    def named(self) -> Change:
        """The part with the id that its creation got."""
        if self.part.kind is not Kind.RULE_CREATE or not self.answer:
            return self.part
        return self.part.model_copy(update={"target": self.part.target.model_copy(update={"key": self.answer})})


def is_to_be_taken_up(sent: Sent, reading: Reading | None) -> bool:
    """Whether the answer was lost, and nothing shows that the write happened: a service that is slow for a while is no
    reason to fail one of many. It stays under way, and is looked at and sent again like that of a process that died.

    Not a create, which must not be made twice: what came of it may show later.
    """
    lost = isinstance(sent.error, OutcomeUnknown) and sent.part.kind is not Kind.RULE_CREATE
    return lost and (reading is None or reading.truth is Truth.NOT_DONE)


def ending(sent: Sent, reading: Reading | None) -> Ended:
    """The part with its last move, by what was said of it and by what was read back, if that could be read."""
    part, error = sent.named, sent.error
    if sent.moved_to is not None:
        return part.model_copy(update={"result": sent.moved_to[0]}), Move.OUTDATE
    if isinstance(error, NotFound) and part.after is None:
        return part.model_copy(update=said(error)), Move.OUTDATE
    if error is not None and not isinstance(error, OutcomeUnknown):
        return part.model_copy(update=said(error)), Move.FAIL
    if reading is not None:
        stored = error is None and reading.truth is Truth.DIVERGED and None not in (reading.live, part.after)
        if reading.truth is Truth.DONE or stored:
            key = part.target.key or (reading.live or {}).get("id")
            target = part.target.model_copy(update={"key": key})
            return part.model_copy(
                update={"result": reading.live, "outcome": sent.answer, "target": target}
            ), Move.FINISH
    known = {"outcome": sent.answer, "accepted": True} if error is None else said(error)
    return part.model_copy(update=known), Move.LOSE


FEWEST: Final = 100
"""Parts of a portion, where a service is slow, and of the first one."""
MOST: Final = 500
SHORTEST, LONGEST = 2.0, 10.0
"""Seconds that a portion should take to be sent, and for which a look at many members counts."""
LOOKS: Final = 10
"""Times as long as a look: where the list is long, or slow, it is not read more often than pays."""


class Batches:
    """The parts of one set that are not at their end, dealt out in their order to several who work at once."""

    def __init__(self, parts: Parts, set_id: str) -> None:
        self._parts = parts
        self._set_id = set_id
        self._size = FEWEST
        self._at_work: dict[int, str] = {}
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def next(self) -> AsyncIterator[Sequence[Part]]:
        """The parts to be done within the block; none where all others are done, or must wait for what is at work."""
        async with self._turn:
            portion = self._apart(await self._parts.left(self._set_id, self._size + len(self._at_work)))
            self._at_work |= {part.number: _thing(part) for part in portion}
        try:
            yield portion
        finally:
            for part in portion:
                del self._at_work[part.number]

    def _apart(self, left: Sequence[Part]) -> Sequence[Part]:
        """The first of *left* that are not at work, up to one whose thing another one is about.

        The look at its target must come after what the other one does to it; and of two rules that are alike, the
        first one must exist before the second is sent, or neither could be told from the other by reading back.
        """
        things = set(self._at_work.values())
        portion: list[Part] = []
        for part in left:
            if part.number in self._at_work:
                continue
            thing = _thing(part)
            if thing in things or len(portion) == self._size:
                break
            things.add(thing)
            portion.append(part)
        return portion

    def took(self, many: int, seconds: float, look: float) -> None:
        """Note how long so many parts took to be sent, and the *look* at them to be read."""
        self._size = max(FEWEST, min(MOST, int(many * fresh_for(look) / max(seconds, 0.001))))


def fresh_for(look: float) -> float:
    """Seconds for which a *look* counts that took so many: where a list is long, it is not read more often than pays."""
    return max(SHORTEST, min(LONGEST, LOOKS * look))


def _thing(part: Part) -> str:
    """What a part is about: its target, or, where that is yet to be created, what it will look like."""
    return str(part.target) if part.target.key else fingerprint(canonical_form(part.after))


@dataclass(slots=True)
class Look:
    """The targets of a portion: all of them as they were read together, and each as it is when it is its turn.

    The services know no precondition: an edit between the last look and the write is lost, so nothing waits there.
    """

    adapter_of: AdapterOf
    targets: Sequence[Target]
    now: Callable[[], datetime]
    _all: Snapshot | None = None
    _counts_until: datetime | None = None
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def adapter(self) -> Adapter:
        """The adapter that all of the targets share; raises as `AdapterOf` does."""
        return self.adapter_of(self.targets[0])

    async def take(self) -> Snapshot:
        """Read all targets together; raises the clients' errors."""
        began = time.monotonic()
        self._all = await self.adapter.snapshot(self.targets)
        self._counts_until = self.now() + timedelta(seconds=fresh_for(time.monotonic() - began))
        return self._all

    async def live(self, part: Change) -> Document | None:
        """The target of *part* as it is now; raises the clients' errors.

        Where its write replaces nothing, it is as it was some seconds ago: members can only be read all together, and
        that once for each of them would take longer than all that is to be done.
        """
        if replaces(part):
            return await read_live(self.adapter, part.target)
        async with self._reading:
            if self._all is None or self._counts_until is None or self.now() >= self._counts_until:
                return (await self.take()).live(part.target)
        return self._all.live(part.target)
