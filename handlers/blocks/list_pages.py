"""The pages of a list, as messages show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from handlers.blocks.buttons import turn_button
from handlers.blocks.messages import Block

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ListPage(Generic[T]):
    """One page of a list: its *items*, the *first* of them by its number, and which page it is of how many."""

    items: Sequence[T]
    number: int
    count: int
    total: int
    first: int

    @classmethod
    def of(cls, found: Sequence[T], number: int | None, size: int) -> ListPage[T]:
        """Return the page *number* of what was *found*, or the nearest that there is."""
        count = max(1, -(-len(found) // size))
        number = min(max(number or 1, 1), count)
        start = (number - 1) * size
        return cls(found[start : start + size], number, count, len(found), start + 1)

    @classmethod
    def of_part(cls, found: Sequence[T], number: int | None, size: int) -> ListPage[T]:
        """Return the page *number* of a list that is read a page at a time: *found* begins there, with one more if it goes on."""
        number = number or 1
        first = (number - 1) * size
        return cls(found[:size], number, number + (len(found) > size), first + len(found), first + 1)

    @property
    def last(self) -> int:
        """The number of its last item: ``#n`` goes no further, for nobody was shown what comes then."""
        return self.first - 1 + len(self.items)

    @property
    def label(self) -> str:
        return f"Page {self.number} of {self.count}"

    def turn_buttons(self, command: Any) -> tuple[Block | None, Block | None]:
        """Return buttons for the pages of *command* before and after this one."""
        return (
            turn_button("‹ Previous", replace(command, page=self.number - 1), "previous") if self.number > 1 else None,
            turn_button("Next ›", replace(command, page=self.number + 1), "next") if self.number < self.count else None,
        )
