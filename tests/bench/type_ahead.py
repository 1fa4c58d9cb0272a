"""Type-ahead over an index that is there, and the making of one: what the first letter after a change costs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Final, TypeVar

from bot.clients.cache import make_index, search_in_thread
from bot.text.search import text_of_member, text_of_rule
from tests.bench import measuring
from tests.bench.measuring import awaited, bare
from tests.bench.sheets import Report, Sheet

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


def report(sizes: Sequence[int]) -> Report:
    """Time per entry as so many comparisons of two strings; of members only for the largest of *sizes*."""
    about = "What a menu offers while somebody types, as so many comparisons of two strings per entry."
    rules = [row for size in sizes for row in _rows(measuring.rules(size), text_of_rule, RULES)]
    members = _rows(measuring.members(sizes[-1]), text_of_member, MEMBERS)
    return Report("Type-ahead", about, [_sheet("rules", rules), _sheet("members", members)])


def _sheet(what: str, rows: Sequence[Sequence[str]]) -> Sheet:
    columns = (what, "typed", f"comparisons for each of the {what}", "in all", "longest wait of others")
    return Sheet(f"Type-ahead of {what}", columns, rows)


def _rows(items: Sequence[T], text_of: Callable[[T], str], typed: Mapping[str, str]) -> list[Sequence[str]]:
    alone = bare([text_of(item) for item in items])
    index = asyncio.run(make_index(items, text_of))
    works: dict[str, Callable[[], Awaitable[object]]] = {"(the index is made)": lambda: make_index(items, text_of)}
    works |= {about: partial(search_in_thread, index, text, most=100) for about, text in typed.items()}
    return [(f"{len(items):,}", about, *_cells(work, alone)) for about, work in works.items()]


def _cells(work: Callable[[], Awaitable[object]], alone: float) -> tuple[str, str, str]:
    took, waited = awaited(work)
    return f"{took / alone:.1f}", f"{took * 1000:.0f} ms", f"{waited * 1000:.0f} ms"
