"""Type-ahead over an index that is there, and the making of one: what the first letter after a change costs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final, TypeVar

from rich.table import Table

from bot.clients.indexes import Indexed, looked_up
from bot.domain.search import text_of_member, text_of_rule
from tests.bench import measuring
from tests.bench.measuring import SIZES, awaited, bare

T = TypeVar("T")

RULES: Final = {
    "a part of a name": "campaign 9",
    "an address, whole": "https://shop32.example.com/campaign/614",
    "two words": "shop 999",
    "with a typo": "campagin 614 of",
    "nothing like it": "quetzalcoatl",
}
MEMBERS: Final = {
    "a part of an address": "company42",
    "an address, whole": "person99@company2.example.com",
    "with a typo": "persno99@company2",
    "nothing like it": "quetzalcoatl",
}


def rules() -> Table:
    """Time per rule as so many comparisons of two strings."""
    made = _table("rules")
    for size in SIZES:
        _rows(made, measuring.rules(size), text_of_rule, RULES)
    return made


def members() -> Table:
    made = _table("members")
    _rows(made, measuring.members(SIZES[-1]), text_of_member, MEMBERS)
    return made


def _table(what: str) -> Table:
    columns = (what, "typed", f"comparisons for each of the {what}", "in all", "longest wait of others")
    return Table(*columns, title=f"Type-ahead of {what}")


def _rows(made: Table, items: Sequence[T], text_of: Callable[[T], str], typed: Mapping[str, str]) -> None:
    alone = bare([text_of(item) for item in items])
    index = asyncio.run(Indexed(text_of).of(items))
    works = {"(the index is made)": lambda: Indexed(text_of).of(items)}
    works |= {about: partial(looked_up, index, text, most=100) for about, text in typed.items()}  # type: ignore[misc]  # both are awaited alike
    for about, work in works.items():
        took, waited = awaited(work)
        row = (f"{len(items):,}", about, f"{took / alone:.1f}", f"{took * 1000:.0f} ms", f"{waited * 1000:.0f} ms")
        made.add_row(*row)
