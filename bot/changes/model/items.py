"""The items of a bulk change, and their outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Self

from bot.changes.model.documents import Document
from bot.changes.model.edits import Edit, Kind, Target


class Outcome(StrEnum):
    """The outcome of an item so far; once it is begun, it has the name of its change's state."""

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
"""Outcomes of items that have not ended: they wait, or are being applied, or their process died."""
NOT_DONE: Final = frozenset({Outcome.FAILED, Outcome.STALE, Outcome.BUSY, Outcome.STOPPED})
"""Outcomes of items that may be requested again: nothing of them was done."""


@dataclass(frozen=True, slots=True)
class ImportRow:
    """What the import of one row of a file would do: an *edit*, or nothing, for the reason *why*."""

    number: int
    """The line of a table where it begins, or the number of a record, from 1."""
    title: str
    """The name of a rule, or an email."""
    edit: Edit | None = None
    why: str = ""
    """The rest of a sentence."""
    is_refused: bool = False
    """Whether something is wrong with the row; if not, there is nothing to do."""
    lost_group: str = ""
    """The group in the file that isn't here: the rule is created without one."""


@dataclass(frozen=True, kw_only=True)
class Item:
    """One item of a bulk change: the edit that it is to do, and its outcome."""

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
    outcome: Outcome = Outcome.WAITING
    change_id: str | None = None
    why: str = ""
    """Why it was not done: in a word of who asked for it, or in the service's words."""

    @classmethod
    def of(cls, number: int, edit: Edit, **about: Any) -> Self:
        """Return an item that is to do *edit*."""
        return cls(number=number, kind=edit.kind, target=edit.target, before=edit.before, after=edit.after, **about)

    @property
    def edit(self) -> Edit:
        """Return the edit that it is to do; raises ValueError for an item that is only on record."""
        if self.kind is None:
            raise ValueError(self.number)
        return Edit(kind=self.kind, target=self.target, before=self.before, after=self.after)

    @property
    def name(self) -> str:
        """Return the name that people use for the target; may be an email."""
        document = self.before or self.after or {}
        return str(document.get("name") or self.target.key or "")


class Tally(Counter[Outcome]):
    """How many items of a bulk change have each outcome."""

    def of(self, outcomes: Iterable[Outcome]) -> int:
        return sum(self[outcome] for outcome in outcomes)

    @property
    def meant(self) -> int:
        """Items that were to be done."""
        return self.total() - self[Outcome.SKIPPED]

    @property
    def left(self) -> int:
        return self.of(OPEN)
