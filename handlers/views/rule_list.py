"""A list of rules as a message: rows with numbers, buttons to turn and to sort, and what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bot.clients.listing import Gap
from bot.domain.group import Groups
from bot.domain.rule import Rule
from bot.domain.secrets import without_secrets
from handlers.commands.rules import RulesList, RulesNew, RulesShow
from handlers.views import parts
from handlers.views.effect import effect_line, group_name, source_line, status_name, type_name
from handlers.views.parts import Audience, Block, Message, code, esc, moment

SORTS: Final = {"name": "Sort by name", "type": "Sort by type", "changed": "Sort by last change"}


def rule_list(
    rules: Sequence[Rule],
    *,
    page: int,
    pages: int,
    total: int,
    command: RulesList,
    gap: Gap | None,
    first_number: int,
    groups: Groups | None,
    audience: Audience,
) -> Message:
    """One page of a list. Each row has a button and, for the one who asked, its number for ``#n``."""
    if not rules:
        return _nothing(command, gap)
    title = f"*{parts.plural(total, 'rule')}*{_filters(command)}{_order(command)}"
    blocks = [parts.section(title), *parts.gap_lines(gap, "rules")]
    for number, rule in enumerate(rules, start=first_number):
        blocks.append(
            parts.section(
                _row(number, rule, command, groups, audience), parts.run_button("Show", RulesShow(ref=rule.id), number)
            )
        )
    blocks.append(parts.context(f"Page {page} of {pages}{parts.row_hint(audience)}"))
    if command.group and groups is None:
        blocks.append(
            parts.context("The service does not tell the names of its groups, so only their ids were looked at.")
        )
    orders = [order for order in SORTS if total > 1 and order != (command.sort or "name")]
    buttons = [*_turns(command, page, pages), *(_sort_button(command, order) for order in orders)]
    return parts.message(f"{parts.plural(total, 'rule')}, page {page} of {pages}", [*blocks, *parts.actions(buttons)])


def _row(number: int, rule: Rule, command: RulesList, groups: Groups | None, audience: Audience) -> str:
    if audience == "channel":
        rule = without_secrets(rule)
    pairs = rule.pairs or ()
    line = (
        f"{source_line(rule.rule_type, pairs[0], 90)} {effect_line(rule.rule_type, pairs[0], 90)}"
        if pairs
        else "_no pairs_"
    )
    more = f"  _and {len(pairs) - 1} more_" if len(pairs) > 1 else ""
    about = [status_name(rule, groups), type_name(rule), code(rule.id, 100), group_name(rule, groups)]
    if command.sort == "changed":
        about.append(moment(rule.modified) if rule.modified else "_no date_")
    lead = f"{number}. " if audience == "private" else ""
    return f"*{lead}{esc(rule.title, 120)}*\n{line}{more}\n{'   '.join(filter(None, about))}"


def _turns(command: RulesList, page: int, pages: int) -> list[Block | None]:
    """The pages before and after this one, and this one for all to see."""
    return [
        parts.turn_button("‹ Previous", replace(command, page=page - 1), "previous") if page > 1 else None,
        parts.turn_button("Next ›", replace(command, page=page + 1), "next") if page < pages else None,
        parts.share_button(replace(command, page=page)),
    ]


def _sort_button(command: RulesList, order: str) -> Block | None:
    """The same list in another order, from its start."""
    return parts.turn_button(SORTS[order], replace(command, sort=order, page=None), f"sort.{order}")


def _filters(command: RulesList) -> str:
    said = [f"“{esc(command.text, 60)}”"] if command.text else []
    named = (("type", command.type), ("status", command.status), ("url", command.url), ("group", command.group))
    said += [f"{name} {code(value, 60)}" for name, value in named if value]
    return f"  for {', '.join(said)}" if said else ""


def _order(command: RulesList) -> str:
    """In which order, where it is not the usual one."""
    return {"type": ", by type", "changed": ", the last changed first"}.get(command.sort or "", "")


def _nothing(command: RulesList, gap: Gap | None) -> Message:
    filtered = _filters(command)
    read = " among those that could be read" if gap else ""
    text = f":mag: No rule found{filtered}{read}." if filtered or gap else ":mag: There are no rules yet."
    buttons = (
        parts.turn_button("All rules", RulesList(), "all") if filtered else None,
        parts.run_button("New rule", RulesNew(), 0),
    )
    blocks = [parts.section(text), *parts.gap_lines(gap, "rules"), *parts.actions(buttons)]
    return parts.message(f"No rule found{read}", blocks)
