"""The look at a part's target right before it is written: nothing is written over what nobody was shown."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.changes.effects import Document, Effects, Snapshot
from bot.changes.portions import fresh_for
from bot.domain.change import Change, Target


@dataclass(slots=True)
class Look:
    """The targets of a portion: all of them as they were read together, and each as it is when it is its turn.

    The services know no precondition: an edit between the last look and the write is lost, so nothing waits there.
    """

    effects: Effects
    targets: Sequence[Target]
    now: Callable[[], datetime]
    _all: Snapshot | None = None
    _counts_until: datetime | None = None
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def take(self) -> Snapshot:
        """Read all targets together; raises the clients' errors."""
        began = time.monotonic()
        self._all = await self.effects.snapshot(self.targets)
        self._counts_until = self.now() + timedelta(seconds=fresh_for(time.monotonic() - began))
        return self._all

    async def live(self, part: Change) -> Document | None:
        """The target of *part* as it is now; raises the clients' errors.

        Where its write replaces nothing, it is as it was some seconds ago: members can only be read all together, and
        that once for each of them would take longer than all that is to be done.
        """
        if self.effects.replaces(part):
            return await self.effects.live(part.target)
        async with self._reading:
            if self._all is None or self._counts_until is None or self.now() >= self._counts_until:
                return (await self.take()).live(part.target)
        return self._all.live(part.target)
