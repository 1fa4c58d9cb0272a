"""The items of a bulk change, and their outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Self

from bot.changes.model.documents import Document
from bot.changes.model.edits import Edit, Kind, Target
from bot.text.documents import Stored


class Outcome(StrEnum):
    """How far an item has come; once it was begun, by the name of its change's state."""

    WAITING = "waiting"
    APPLYING = "applying"
    APPLIED = "applied"
    UNDONE = "undone"
    """Done, and undone since."""
    FAILED = "failed"
    STALE = "stale"
    UNKNOWN = "unknown"
    UNSETTLED = "unsettled"
    BUSY = "busy"
    """Another change held its target, so it was not begun."""
    STOPPED = "stopped"
    """Somebody stopped the bulk change first."""
    SKIPPED = "skipped"
    """There was nothing to do, or it was impossible: known before the bulk change was requested."""


DONE: Final = frozenset({Outcome.APPLIED, Outcome.UNDONE})
OPEN: Final = frozenset({Outcome.WAITING, Outcome.APPLYING})
"""Items that are not at their end: waiting, or at work, maybe left by a process that died."""
NOT_DONE: Final = frozenset({Outcome.FAILED, Outcome.STALE, Outcome.BUSY, Outcome.STOPPED})
"""Items that may be asked for again: nothing of them happened."""


class NotSent(StrEnum):
    """Why a step of a bulk change was not sent, where no service said why."""

    THERE_ALREADY = "there_already"
    """It need not be done."""
    NOT_CONFIRMED = "not_confirmed"
    """What a step before it made is not confirmed, or not there."""
    NEXT_CHANGED = "next_changed"
    """What a step after it is about is not as it was shown."""


class Item(Stored):
    """One thing of a bulk change: what a change of it would be, and what became of it."""

    number: int
    kind: Kind | None = None
    """None for an item that is only on record, because nothing was to be done."""
    target: Target
    before: Document | None = None
    after: Document | None = None
    undoes: str | None = None
    """The change that this item undoes."""
    source: str = ""
    """Where the item comes from, such as the line of a file."""
    cells: tuple[str, ...] = ()
    """The row that it came from, under the columns of the bulk change."""
    follows: int = 0
    """The number of the item that it is done together with, if it is."""
    outcome: Outcome = Outcome.WAITING
    change_id: str | None = None
    why: str = ""
    """Why it was not done: a `NotSent`, in a word of who asked for it, or in the service's words."""

    @classmethod
    def of(cls, number: int, edit: Edit, **about: Any) -> Self:
        """The item that is to do *edit*."""
        return cls(number=number, kind=edit.kind, target=edit.target, before=edit.before, after=edit.after, **about)

    @property
    def edit(self) -> Edit:
        """What it is to do; raises ValueError for an item that is only on record."""
        if self.kind is None:
            raise ValueError(self.number)
        return Edit(kind=self.kind, target=self.target, before=self.before, after=self.after)

    @property
    def name(self) -> str:
        """What people call the thing; may be an address."""
        document = self.before or self.after or {}
        return str(document.get("name") or self.target.key or "")


@dataclass(frozen=True, slots=True)
class Tally:
    """How many items of a bulk change have each outcome."""

    counts: Mapping[Outcome, int]

    def __getitem__(self, outcome: Outcome) -> int:
        return self.counts.get(outcome, 0)

    def of(self, outcomes: Iterable[Outcome]) -> int:
        return sum(self[outcome] for outcome in outcomes)

    @property
    def meant(self) -> int:
        """Items that were to be done."""
        return sum(self.counts.values()) - self[Outcome.SKIPPED]

    @property
    def left(self) -> int:
        return self.of(OPEN)
