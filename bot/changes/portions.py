"""Which parts of a change set are next: as many as are sent in some seconds, and never two of the same thing at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from bot.domain.change_set import Part
from bot.domain.essence import essence, fingerprint
from bot.store.parts import Parts

FEWEST: Final = 100
"""Parts of a portion, where a service is slow, and of the first one."""
MOST: Final = 500
SHORTEST, LONGEST = 2.0, 10.0
"""Seconds that a portion should take to be sent, and for which a look at many members counts."""
LOOKS: Final = 10
"""Times as long as a look: where the list is long, or slow, it is not read more often than pays."""


class Portions:
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
    return str(part.target) if part.target.key else fingerprint(essence(part.after))
