"""``/rules which``: every rule is looked at, in force or not, and what just misses is told."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from bot.rules.url import Url
from handlers.rules.rule_lookup import explain_url
from tests.bench.measuring import awaited, bare, rules
from tests.bench.sheets import Report, Sheet

LOOKED_UP = "https://shop42.example.com/campaign/999/"


def report(sizes: Sequence[int]) -> Report:
    """Time per rule as so many comparisons of two strings, for each number of rules in *sizes*."""
    columns = ("rules", "comparisons a rule", "in all", "longest wait of others")
    about = "How long it takes to explain a URL by all rules, as so many comparisons of two strings per rule."
    return Report("/rules which", about, [Sheet("Explain a URL", columns, [_row(size) for size in sizes])])


def _row(size: int) -> Sequence[str]:
    listed = rules(size)
    alone = bare([rule.id for rule in listed])
    took, waited = awaited(partial(explain_url, listed, Url.of(LOOKED_UP)))
    return f"{size:,}", f"{took / alone:.0f}", f"{took * 1000:.0f} ms", f"{waited * 1000:.0f} ms"
