"""What an import asks for: plain values from which whoever writes makes changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.domain.change import Kind

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Intended:
    """One change to propose. *number* is where it stands in the file: a record from 1, or a line of a table."""

    number: int
    kind: Kind
    key: str | None
    """The rule's id or the member's address as the service spells it; None for a rule to be created."""
    before: Document | None
    after: Document | None
