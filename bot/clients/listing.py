"""What a list of rules came to."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.rule import Rule


@dataclass(frozen=True, slots=True)
class Listing:
    """Every rule that could be read, and how many records could not."""

    rules: list[Rule]
    unreadable: int = 0
