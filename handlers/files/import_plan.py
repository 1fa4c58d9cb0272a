"""The plan of an import, for any kind: its rows, and the texts and questions about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.changes.model.documents import fingerprint
from bot.changes.model.items import Item
from handlers.blocks.messages import Block
from handlers.grammar.time_fields import Expiry


@dataclass(frozen=True, slots=True)
class RowKind:
    """How one kind of entry is called, how one of it reads, and why nothing is done with it.

    Kinds without *line* are only counted, those without *why* are always done.
    """

    type: type
    mark: str
    title: str
    line: Callable[[Any], str] | None = None
    why: Callable[[Any], str] | None = None


@dataclass(frozen=True, slots=True)
class TableEnd:
    """Until when the rules of a table are to last: an *expiry*, and when that is, which is None for a length of time."""

    expiry: Expiry
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What importing a file would do: for each row the planner's entry, and an item with its edit or why there is none."""

    entries: Sequence[Any]
    items: Sequence[Item]
    kinds: Sequence[RowKind]
    record: str
    """The noun for a row of the file."""
    site: str = ""
    columns: tuple[str, ...] = ()
    separator: str = ","
    notes: Sequence[Block] = ()
    """The blocks below the rows in a preview."""
    asked: Sequence[Block] = ()
    """What people choose below that."""

    expiry: Expiry | None = None
    """Until when all of it is to last, where the file says so."""
    loops: Sequence[str] = ()
    """The loops that the choices would cause, in plain lines: they need a reason."""
    unanswered: bool = False
    """Whether something has to be chosen before anything can be imported."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing can be imported, whatever is chosen."""
        return not any(entry.basis for entry in self.entries)

    def fingerprint(self) -> str:
        """Return a short text that stands for what could be written, and over what."""
        rows = ([type(entry).__name__, *entry.basis] for entry in self.entries)
        return fingerprint([fingerprint(row) for row in rows])[:16]
