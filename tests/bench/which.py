"""``/rules which``: every rule is looked at, in force or not, and what just misses is told."""

from __future__ import annotations

from functools import partial

from rich.table import Table

from bot.domain.address import Address
from handlers.which import explained
from tests.bench.measuring import SIZES, awaited, bare, rules

ADDRESS = "https://shop42.example.com/campaign/999/"


def table() -> Table:
    """Time per rule as so many comparisons of two strings."""
    made = Table("rules", "comparisons a rule", "in all", "longest wait of others", title="/rules which")
    for size in SIZES:
        listed = rules(size)
        alone = bare([rule.id for rule in listed])
        took, waited = awaited(partial(explained, listed, Address.of(ADDRESS)))
        made.add_row(f"{size:,}", f"{took / alone:.0f}", f"{took * 1000:.0f} ms", f"{waited * 1000:.0f} ms")
    return made
