"""What is wrong with rules, alone and together: loops, chains, rules that never act, rules on one source.

`check` looks at all of them, `introduced_by` at what one change would add. Both have a form in steps, since a
large installation takes longer than an event loop may be held.
"""

from __future__ import annotations

from bot.domain.lint.examine import check, checking, introduced_by, introducing
from bot.domain.lint.findings import Finding, Kind, Place, Why, key_of, ordered
from bot.domain.lint.following import Effort

__all__ = [
    "Effort",
    "Finding",
    "Kind",
    "Place",
    "Why",
    "check",
    "checking",
    "introduced_by",
    "introducing",
    "key_of",
    "ordered",
]
