"""``/rules check``, and what a change of a rule would add to its findings, before it is made."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot.clients.errors import ClientError
from bot.gatehouse import Gatehouse
from bot.rules.lint.findings import Finding
from bot.rules.lint.route import is_effective
from bot.rules.lint.rule_set import check_all, check_change
from bot.rules.lint.single_rule import find_unjudged
from bot.rules.model import Rule, RuleDraft
from handlers.blocks.messages import ListPage, quote
from handlers.grammar.command import slash
from handlers.rules import check_view, views
from handlers.rules.commands import RulesCheck
from handlers.rules.pairs_view import status_words
from handlers.rules.rule_refs import find_rule, groups_of
from handlers.slack.registry import handles
from handlers.slack.reply import Caller, Private, Reply

FINDINGS_PER_PAGE: Final = 8
NEW: Final = "new"
"""Stands for the id that a rule will get."""


@handles(RulesCheck)
async def check(command: RulesCheck, caller: Caller, gatehouse: Gatehouse) -> Reply:
    with gatehouse.limits.one_at_a_time("rules check", caller.user):
        one = await find_rule(command.ref, gatehouse) if command.ref else None
        listing = await gatehouse.rules.all()
        groups = await groups_of(listing.known, gatehouse)
        if one is None:
            checked = await asyncio.to_thread(check_all, listing.known, groups)
        else:
            checked = await asyncio.to_thread(check_change, listing.known, None, one, groups)
        rules = listing.known if one is None else (one,)
        unjudged = await asyncio.to_thread(find_unjudged, rules)
    page = ListPage.of(checked.findings, command.page, FINDINGS_PER_PAGE)
    limits = [views.GROUPS_NOT_READ] if groups is None and any(rule.group_id for rule in listing.known) else []
    off = "" if one is None or is_effective(one, groups) else f"{quote(one.title, 80)} · {status_words(one, groups)}"
    limits += ["While it has no effect, it isn’t compared with the other rules."] if off else []
    limits += [] if checked.is_whole else [f":warning: {check_view.UNTRIED}"]
    return Private(
        check_view.findings_page(
            page,
            command=command,
            rules=len(rules),
            gap=listing.gap,
            public=caller.public,
            unjudged=unjudged,
            limits=limits,
            off=off,
        ),
        data={
            "total": page.total,
            "findings": [{"kind": each.kind, "rules": [place.rule.id for place in each.places]} for each in page.items],
        },
    )


@dataclass(frozen=True, slots=True)
class AddedFindings:
    """What a change would add to what is wrong, and the *limits* of looking at that before it is made, in plain lines."""

    findings: tuple[Finding, ...]
    limits: tuple[str, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the lines for its card, in plain text."""
        return (*check_view.warnings_of(self.findings), *self.limits)

    @property
    def loops(self) -> list[str]:
        """Return the loops, each in a sentence of plain text: they are shown before they are made."""
        return [check_view.words(finding) for finding in self.findings if finding.loops]


def not_compared() -> AddedFindings:
    """Return the AddedFindings for a change that was not compared with the other rules."""
    return AddedFindings((), (f"Not compared with the other rules; {slash('rules check')} does that.",))


async def find_added(gatehouse: Gatehouse, before: Rule | None, after: RuleDraft) -> AddedFindings:
    """Return what making *after* of *before* would add to what is wrong, by rules some seconds old.

    A list that cannot be read stops nobody: at night a switch is wanted more than advice. It is said, though.
    """
    rules: Sequence[Rule] = ()
    limits: list[str] = []
    if after.active:
        try:
            listing = await gatehouse.rules.recent()
        except ClientError:
            limits += not_compared().limits
        else:
            rules = listing.known
            limits += [f"{listing.gap.sentence('rules')} It was not compared with the others."] if listing.gap else []
    groups = await groups_of([*rules, after], gatehouse)
    added = await asyncio.to_thread(check_change, rules, before, as_rule(before, after), groups)
    return AddedFindings(added.findings, (*limits, *([] if added.is_whole else [check_view.UNTRIED])))


def as_rule(before: Rule | None, after: RuleDraft) -> Rule:
    """Return the rule that *after* will be."""
    body: dict[str, Any] = after.body()
    return Rule.model_validate({"id": before.id if before is not None else NEW} | body)
