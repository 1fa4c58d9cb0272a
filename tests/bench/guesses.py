"""Reading what is no command, with the names of many rules and members known."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from handlers.grammar.known import Known
from handlers.grammar.readings import read
from tests.bench import measuring
from tests.bench.measuring import bare, best
from tests.bench.sheets import Report, Sheet

TYPED: Final = {
    "a URL to block": "block https://shop.example.com/promo for 2h because incident",
    "a part of a name": "turn off campaign 614",
    "a part of a member's name": "give person 99 vip until 18:00",
    "a name with a typo": "campagin 614 of shop",
    "nothing that exists": "quetzalcoatl and friends",
    "a letter that asks for much": (
        "Hello! I am writing on behalf of a colleague: person 99 needs vip until Friday, as they're sharing the testing of "
        "campaign 614, and please don't touch what the agency has set up for the shop. Many thanks, best wishes"
    ),
    "many words": "please " + "shop campaign " * 25,
}


def report(sizes: Sequence[int]) -> Report:
    """Time per text, as so many comparisons of two strings for each rule that is known."""
    about = "What it takes to read a text that is no command, with as many rules as members known."
    columns = ("rules", "typed", "comparisons for each of the rules", "in all")
    return Report(
        "Reading guesses", about, [Sheet("Reading guesses", columns, [row for size in sizes for row in _rows(size)])]
    )


def _rows(size: int) -> list[Sequence[str]]:
    rules, members = measuring.rules(size), {"blog": measuring.members(size)}
    alone = bare([rule.title for rule in rules])
    make = partial(Known.of, rules=rules, members=members, segments=("vip",), hosts=("shop.example.com",))
    known = make()
    works = {"(the names are made)": make} | {
        about: partial(read, "rules", text, known) for about, text in TYPED.items()
    }
    took = {about: best(work) for about, work in works.items()}
    return [(f"{size:,}", about, f"{time / alone:.1f}", f"{time * 1000:.1f} ms") for about, time in took.items()]
