"""``/rules list``: filters, order, pages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, Final

from bot.domain.editing import SWITCHES
from bot.domain.group import Groups
from bot.domain.rule import Rule
from bot.gatehouse import Gatehouse
from handlers.commands.rules import RulesList
from handlers.commands.shorthand import NUMBERED_ROWS
from handlers.grouping import groups_of
from handlers.reply import Caller, Private, Reply
from handlers.routes import handles
from handlers.views import rule_list as views

PAGE: Final = 10

ORDERS: Final[dict[str, Callable[[Rule], Any]]] = {
    "name": lambda rule: rule.title.casefold(),
    "type": lambda rule: ((rule.rule_type or "").casefold(), rule.title.casefold()),
    "changed": lambda rule: (-(rule.modified or 0), rule.title.casefold()),
}
"""What rules are sorted by; what was changed last comes first, and what has no date last."""


@handles(RulesList)
async def show_list(command: RulesList, caller: Caller, gatehouse: Gatehouse) -> Reply:
    listing = await gatehouse.rules.all()
    groups = await groups_of(listing.known, gatehouse)
    found = await asyncio.to_thread(_in_order, listing.known, command, groups)
    pages = max(1, -(-len(found) // PAGE))
    page = min(max(command.page or 1, 1), pages)
    if not caller.public:
        await gatehouse.store.lists.put(caller.user, "rules", [rule.id for rule in found[:NUMBERED_ROWS]])
    first = (page - 1) * PAGE
    return Private(
        views.rule_list(
            found[first : first + PAGE],
            page=page,
            pages=pages,
            total=len(found),
            command=command,
            gap=listing.gap,
            first_number=first + 1,
            groups=groups,
            audience=caller.audience,
        )
    )


def _in_order(rules: Sequence[Rule], command: RulesList, groups: Groups | None) -> list[Rule]:
    return sorted(fitting(rules, command, groups), key=ORDERS[command.sort or "name"])


def fitting(rules: Sequence[Rule], command: RulesList, groups: Groups | None) -> list[Rule]:
    """The rules that pass every filter that was given. Texts are parts, in any case of letters; a status is a whole."""
    status = SWITCHES.get((command.status or "").strip().casefold())
    members = groups.fitting(command.group) if groups is not None and command.group else frozenset()
    return [
        rule
        for rule in rules
        if _has_parts(rule, command, status)
        and (status is None or rule.status == status)
        and (not command.group or _in_group(rule, command.group, members))
    ]


def _has_parts(rule: Rule, command: RulesList, status: str | None) -> bool:
    wanted: tuple[tuple[str | None, Callable[[], str]], ...] = (
        (command.text, lambda: "\n".join((rule.title, rule.id, rule.description or "", *_addresses(rule)))),
        (command.type, lambda: rule.rule_type or ""),
        (command.url, lambda: "\n".join(_addresses(rule))),
        (None if status else command.status, lambda: rule.status or ""),
    )
    return all(part.casefold() in whole().casefold() for part, whole in wanted if part)


def _in_group(rule: Rule, wanted: str, members: frozenset[str]) -> bool:
    """Whether the rule is in one of *members*, or in a group that nobody knows and whose id has *wanted* in it."""
    held = rule.group_id or ""
    return bool(held) and (held in members or wanted.strip().casefold() in held.casefold())


def _addresses(rule: Rule) -> list[str]:
    pairs = rule.pairs or ()
    return [text for pair in pairs for text in (pair.source and pair.source.value, pair.destination) if text]
