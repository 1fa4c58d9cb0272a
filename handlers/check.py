"""``/rules check``, and the same look at a change before it is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from bot.clients.errors import ClientError
from bot.clients.listing import Gap
from bot.clients.parsing import aside
from bot.domain.lint import Effort, Finding, checking, introducing, ordered
from bot.domain.rule import Rule, RuleDraft
from bot.gatehouse import Gatehouse
from handlers.commands.command import slash
from handlers.commands.rules import RulesCheck
from handlers.errors import LoopNeedsReason
from handlers.grouping import groups_of
from handlers.refs import find_rule
from handlers.reply import Caller, Private, Reply
from handlers.routes import handles
from handlers.views import check as views

PAGE: Final = 8
PARTLY: Final = "So many conditions fit anywhere that it was not tried on all other rules."
NEW: Final = "new"
"""Stands for the id that a rule will get."""


@handles(RulesCheck)
async def check(command: RulesCheck, caller: Caller, gatehouse: Gatehouse) -> Reply:
    with gatehouse.limits.one_at_a_time("rules check", caller.user):
        return await _checked(command, caller, gatehouse)


async def _checked(command: RulesCheck, caller: Caller, gatehouse: Gatehouse) -> Reply:
    one = await find_rule(command, caller, gatehouse) if command.ref else None
    listing = await gatehouse.rules.all()
    groups = await groups_of(listing.known, gatehouse)
    effort = Effort()
    if one is None:
        found = await _gathered(checking(listing.known, groups, effort=effort))
    else:
        found = await _gathered(introducing(listing.known, None, one, groups, effort=effort))
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
            rules=len(listing.known) if one is None else 1,
            gap=listing.gap,
            complete=effort.enough,
            actions=not caller.public,
        )
    )


@dataclass(frozen=True, slots=True)
class Look:
    """A look at a change before it is made. *blind*: the other rules could not be read, or not all of them (*gap*);
    *partly*: not all were tried.
    """

    findings: tuple[Finding, ...]
    blind: bool = False
    partly: bool = False
    gap: Gap | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What its card and its form say of it, in plain lines."""
        compare = f"This was not compared with the other rules; `{slash('rules check')}` does that."
        blind, partly = [compare] if self.blind else [], [PARTLY] if self.partly else []
        unread = [f"{self.gap.sentence('rules')} It was compared with no others."] if self.gap else []
        return (*views.warnings(self.findings), *blind, *unread, *partly)


async def look_at(gatehouse: Gatehouse, before: Rule | None, after: RuleDraft) -> Look:
    """What making *after* of *before* would add to what is wrong, by rules some seconds old.

    A list that cannot be read stops nobody: at night a switch is wanted more than advice. It is said, though.
    """
    rules: list[Rule] = []
    blind, gap = False, None
    if after.active or before is None or before.name != after.name:
        try:
            listing = await gatehouse.rules.recent()
            rules, gap = listing.known, listing.gap
        except ClientError:
            blind = True
    groups = await groups_of([*rules, after], gatehouse)
    effort = Effort()
    found = await _gathered(introducing(rules, before, as_rule(before, after), groups, effort=effort))
    return Look(found, blind, partly=not effort.enough, gap=gap)


def as_rule(before: Rule | None, after: RuleDraft) -> Rule:
    """The rule that *after* will be."""
    body: dict[str, Any] = after.body()
    return Rule.model_validate({"id": before.id if before is not None else NEW} | body)


def refuse_silent_loop(findings: Iterable[Finding], reason: str | None) -> None:
    """Raise LoopNeedsReason where something loops and nobody says why."""
    loops = [finding for finding in findings if finding.needs_reason]
    if loops and not (reason or "").strip():
        raise LoopNeedsReason([views.words(loop) for loop in loops])


async def _gathered(steps: Iterator[tuple[Finding, ...]]) -> tuple[Finding, ...]:
    return ordered(finding for step in await aside(steps) for finding in step)
