"""``/rules check``, and the same look at a change before it is made."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any, Final

from bot.domain.lint import Finding, checking, introducing, ordered
from bot.domain.rule import Rule, RuleDraft
from bot.gatehouse import Gatehouse
from handlers.commands import RulesCheck
from handlers.refs import find_rule
from handlers.reply import Caller, Private, Reply
from handlers.routes import handles
from handlers.views import check as views

PAGE: Final = 8
SLICE: Final = 50
"""Steps that are taken in one go: others want the loop in between."""
NEW: Final = "new"
"""Stands for the id that a rule will get."""


class LoopNeedsReason(Exception):
    """A change that would make a loop, without a word on why. *findings*: the loops."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        super().__init__("loop")
        self.findings = tuple(findings)


@handles(RulesCheck)
async def check(command: RulesCheck, caller: Caller, gatehouse: Gatehouse) -> Reply:
    one = await find_rule(command.ref, caller, gatehouse) if command.ref else None
    listing = await gatehouse.rules.all()
    found = await _gathered(checking(listing.rules) if one is None else introducing(listing.rules, None, one))
    pages = max(1, -(-len(found) // PAGE))
    page = min(max(command.page or 1, 1), pages)
    first = (page - 1) * PAGE
    return Private(
        views.checked(
            found[first : first + PAGE],
            command=command,
            page=page,
            pages=pages,
            first=first + 1,
            total=len(found),
            rules=len(listing.rules) if one is None else 1,
            unreadable=listing.unreadable,
            actions=not caller.public,
        )
    )


async def found_in(gatehouse: Gatehouse, before: Rule | None, after: RuleDraft | None) -> tuple[Finding, ...]:
    """What making *after* of *before* would add to what is wrong, the worst first; by rules some seconds old."""
    if after is None:
        return ()
    listing = await gatehouse.rules.recent()
    return await _gathered(introducing(listing.rules, before, as_rule(before, after)))


def as_rule(before: Rule | None, after: RuleDraft) -> Rule:
    """The rule that *after* will be."""
    body: dict[str, Any] = after.body()
    return Rule.model_validate({"id": before.id if before is not None else NEW} | body)


def refuse_silent_loop(findings: Iterable[Finding], reason: str | None) -> None:
    """Raise LoopNeedsReason where something loops and nobody says why."""
    loops = [finding for finding in findings if finding.needs_reason]
    if loops and not (reason or "").strip():
        raise LoopNeedsReason(loops)


async def _gathered(steps: Iterator[tuple[Finding, ...]]) -> tuple[Finding, ...]:
    found: list[Finding] = []
    for number, step in enumerate(steps):
        found += step
        if number % SLICE == 0:
            await asyncio.sleep(0)
    return ordered(found)
