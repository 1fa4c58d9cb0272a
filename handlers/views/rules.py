"""Rules as messages: the menu, a list, one rule, a choice of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bot.domain.rule import Rule
from handlers.commands import (
    GatehouseHelp,
    RulesCopy,
    RulesDelete,
    RulesEdit,
    RulesList,
    RulesNew,
    RulesOff,
    RulesOn,
    RulesShow,
)
from handlers.views import parts, pickers
from handlers.views.effect import effect_line, source_line, status_name, type_name
from handlers.views.parts import Block, Message, code, esc

SHOWN_PAIRS: Final = 12


def menu(prefix: str) -> Message:
    """What can be done with rules, each a button or a line to type."""
    buttons = (
        parts.run_button("List rules", RulesList(), 0, style="primary"),
        parts.run_button("Only active", RulesList(status="active"), 1),
        parts.run_button("New rule", RulesNew(), 2),
        parts.run_button("Help", GatehouseHelp(topic="rules"), 3),
    )
    lines = (
        f"`/{prefix}rules list checkout` finds by any part of name, id or URL\n"
        f"`/{prefix}rules show #1` the first of your last list\n"
        f"`/{prefix}rules off #1 because it loops` switches off, announced in the channel\n"
        f"`/{prefix}rules delete #1` shows what goes, and waits for a click"
    )
    blocks = [
        parts.section("*Traffic rules*\nFind one as you type, or:", pickers.rule_menu()),
        *parts.actions(buttons),
        parts.section(lines),
    ]
    return parts.message("Traffic rules: list, show, new, edit, on, off, delete", blocks)


def rule_list(
    rules: Sequence[Rule], *, page: int, pages: int, total: int, command: RulesList, unreadable: int, first_number: int
) -> Message:
    """One page of a list. Each row has its number for ``#n`` and a button."""
    if not rules:
        return _nothing(command, unreadable)
    title = f"*{total:,} rule{'' if total == 1 else 's'}*{_filters(command)}"
    blocks = [parts.section(title)]
    for number, rule in enumerate(rules, start=first_number):
        blocks.append(parts.section(_row(number, rule), parts.run_button("Show", RulesShow(ref=rule.id), number)))
    blocks.append(parts.context(*_footer(page, pages, unreadable)))
    turns = (
        parts.turn_button("‹ Previous", replace(command, page=page - 1), "previous") if page > 1 else None,
        parts.turn_button("Next ›", replace(command, page=page + 1), "next") if page < pages else None,
        parts.share_button(replace(command, page=page)),
    )
    return parts.message(
        f"{total:,} rule{'' if total == 1 else 's'}, page {page} of {pages}", [*blocks, *parts.actions(turns)]
    )


def _row(number: int, rule: Rule) -> str:
    pairs = rule.pairs or ()
    line = f"{source_line(pairs[0], 90)} {effect_line(rule.rule_type, pairs[0], 90)}" if pairs else "_no pairs_"
    more = f"  _and {len(pairs) - 1} more_" if len(pairs) > 1 else ""
    return f"*{number}. {esc(rule.title, 120)}*\n{line}{more}\n{status_name(rule)}   {type_name(rule)}   {code(rule.id, 100)}"


def _filters(command: RulesList) -> str:
    said = [f"“{esc(command.text, 60)}”"] if command.text else []
    named = (("type", command.type), ("status", command.status), ("url", command.url), ("group", command.group))
    said += [f"{name} {code(value, 60)}" for name, value in named if value]
    return f"  for {', '.join(said)}" if said else ""


def _footer(page: int, pages: int, unreadable: int) -> list[str]:
    texts = [f"Page {page} of {pages}   ·   `#n` in your next command means a row of this list"]
    if unreadable:
        texts.append(f":warning: {unreadable} record{'' if unreadable == 1 else 's'} of the service could not be read.")
    return texts


def _nothing(command: RulesList, unreadable: int) -> Message:
    filtered = _filters(command)
    text = f":mag: No rule found{filtered}." if filtered else ":mag: There are no rules yet."
    buttons = (
        parts.turn_button("All rules", RulesList(), "all") if filtered else None,
        parts.run_button("New rule", RulesNew(), 0),
    )
    blocks = [parts.section(text), *([parts.context(*_footer(1, 1, unreadable))] if unreadable else [])]
    return parts.message("No rule found", [*blocks, *parts.actions(buttons)])


def rule_card(rule: Rule, *, command: RulesShow, actions: bool = True) -> Message:
    """One rule, whole as far as a message holds it."""
    blocks = [
        parts.section(f"*{esc(rule.title, 200)}*\n{status_name(rule)}   {type_name(rule)}   {code(rule.id, 100)}"),
        *([parts.section(esc(rule.description or "", 600))] if (rule.description or "").strip() else []),
        *pair_blocks(rule),
        *_rest(rule),
    ]
    if actions:
        blocks += parts.actions(_buttons(rule, command))
    return parts.message(f"Rule {esc(rule.title, 150)} ({rule.id})", blocks)


def pair_blocks(rule: Rule) -> list[Block]:
    """Every pair; of a long rule the first ones, and how many more."""
    pairs = rule.pairs or ()
    lines = [
        f"*Pair {number}*  {source_line(pair)}\n{effect_line(rule.rule_type, pair)}"
        for number, pair in enumerate(pairs, 1)
    ]
    if len(lines) == 1:
        lines = [lines[0].replace("*Pair 1*  ", "", 1)]
    blocks = [parts.section("\n".join(lines[at : at + 4])) for at in range(0, min(len(lines), SHOWN_PAIRS), 4)]
    if len(lines) > SHOWN_PAIRS:
        blocks.append(parts.context(f"…and {len(lines) - SHOWN_PAIRS} more pairs, which are kept as they are."))
    return blocks or [parts.section("_This rule has no pairs._")]


def _rest(rule: Rule) -> list[Block]:
    """When it changed, its group, and the fields that Gatehouse does not know."""
    texts = []
    if rule.modified:
        seconds = rule.modified // 1000
        texts.append(f"Last change <!date^{seconds}^{{date_short_pretty}} {{time}}|{seconds}>")
    if rule.group_id:
        texts.append(f"Group {code(rule.group_id, 60)}")
    unknown = [name for name in rule.model_extra or {} if name not in KNOWN_EXTRA]
    if unknown:
        texts.append(f"Also kept: {', '.join(code(name, 40) for name in unknown[:8])}")
    return [parts.context(*texts)] if texts else []


KNOWN_EXTRA: Final = frozenset(
    [
        "objectType",
        "creationDate",
        "createdBy",
        "lastModifiedBy",
        "currentOwner",
        "currentOwnerId",
        "isSample",
        "isFavourite",
        "schemaVersion",
        "version",
        "extensionRules",
        "preserveCookie",
        "removeCSPHeader",
        "isReadOnly",
    ]
)


def _buttons(rule: Rule, command: RulesShow) -> list[Block | None]:
    switch = RulesOff(refs=(rule.id,)) if rule.active else RulesOn(refs=(rule.id,))
    return [
        parts.run_button("Edit", RulesEdit(ref=rule.id), "edit"),
        parts.run_button("Switch off" if rule.active else "Switch on", switch, "switch"),
        parts.run_button("Copy", RulesCopy(ref=rule.id), "copy"),
        parts.run_button("Delete…", RulesDelete(refs=(rule.id,)), "delete"),
        parts.share_button(command),
    ]
