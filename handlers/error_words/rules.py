"""Words for what was asked of rules and their groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.domain.address import NoAddress
from bot.domain.checks import Problem
from bot.domain.editing import BadField
from handlers.commands.command import slash
from handlers.commands.shorthand import NoSuchNumber
from handlers.error_words.words import Table, Words
from handlers.errors import InvalidDraft, LoopNeedsReason, NoGroups, NotOneGroup
from handlers.refs import BareNumber, TooMany
from handlers.views.parts import code, esc, plural


def _problem_lines(problems: Sequence[Problem]) -> str:
    return "\n".join(f"• {f'Pair {one.pair}: ' if one.pair else ''}{esc(one.words)}" for one in problems)


def _bare_number(error: BareNumber) -> Words:
    what = f"No rule has the id or the name {code(error.ref)}, and a number alone is never a part of one."
    if error.again is None:
        return Words(what, next=f"Write `#1` for the first row of your last list; `{slash('rules list')}` makes one.")
    rows = ", ".join(f"{code(number)} (*{esc(rule.title, 100)}*)" for number, rule in error.rows.items())
    return Words(what, next=f"Did you mean {rows}?", again={f"Use {' '.join(error.rows)}"[:75]: error.again})


WORDS: Final[Table] = {
    NoGroups: lambda _: Words("This rules service has no groups.", next=f"`{slash('rules list')}` shows its rules."),
    NotOneGroup: lambda e: Words(
        f"{code(e.ref)} fits {len(e.candidates)} groups: "
        + ", ".join(f"*{esc(group.title, 60)}* ({code(group.id, 60)})" for group in e.candidates[:8])
        if e.candidates
        else f"No group is called {code(e.ref)}.",
        next=f"Name it by its id; `{slash('rules groups')}` lists them.",
    ),
    InvalidDraft: lambda e: Words(
        f"That would not be a working rule:\n{_problem_lines(e.problems)}", next="Put that right and ask again."
    ),
    BadField: lambda e: Words(esc(e.words)),
    NoAddress: lambda e: Words(
        f"That is {esc(str(e))}.", next="Write it like `https://shop.example.com/old`.", unchanged=None
    ),
    NoSuchNumber: lambda e: Words(
        f"{code(e.ref)} is not on your last list of {e.service}, which has {plural(e.shown, e.service.removesuffix('s'))}."
        if e.shown
        else f"{code(e.ref)}: you have no list of {e.service} yet.",
        next=f"`{slash(f'{e.service} list')}` makes one; its numbers are yours alone.",
    ),
    BareNumber: _bare_number,
    TooMany: lambda e: Words(
        f"You named {e.count:,} rules; one command takes {e.most:,}.", next="Split them over several commands."
    ),
    LoopNeedsReason: lambda e: Words(
        " ".join(esc(loop, 500) for loop in e.loops[:3]),
        next="Lead it elsewhere. If it is wanted so, ask again and say why: `… because TEXT`.",
    ),
}
