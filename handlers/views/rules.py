"""Rules as messages: the menu, and one rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from bot.domain.group import Groups
from bot.domain.rule import TYPED, Pair, Rule
from bot.domain.secrets import without_secrets
from handlers.commands.command import slash
from handlers.commands.gatehouse import GatehouseHelp
from handlers.commands.rules import RulesCopy, RulesDelete, RulesEdit, RulesList, RulesNew, RulesOff, RulesOn, RulesShow
from handlers.views import parts, pickers
from handlers.views.effect import effect_line, group_name, other_lines, source_line, status_name, type_name
from handlers.views.parts import Audience, Block, Message, code, esc

SHOWN_PAIRS: Final = 12
SHOWN_LINES: Final = 8
"""Of one pair that does many things, such as changing ten headers."""
SECTION: Final = 1500
"""Characters after which a section is full, well under what Slack takes."""


def menu() -> Message:
    """What can be done with rules, each a button or a line to type."""
    buttons = (
        parts.run_button("List rules", RulesList(), 0, style="primary"),
        parts.run_button("Only active", RulesList(status="active"), 1),
        parts.run_button("New rule", RulesNew(), 2),
        parts.run_button("Help", GatehouseHelp(topic="rules"), 3),
    )
    lines = (
        f"`{slash('rules list checkout')}` finds by any part of name, id or URL\n"
        f"`{slash('rules show #1')}` the first of your last list\n"
        f"`{slash('rules off #1 because it loops')}` switches off, announced in the channel\n"
        f"`{slash('rules delete #1')}` shows what goes, and waits for a click"
    )
    blocks = [
        parts.section("*Traffic rules*\nFind one as you type, or:", pickers.rule_menu()),
        *parts.actions(buttons),
        parts.section(lines),
    ]
    return parts.message("Traffic rules: list, show, new, edit, on, off, delete", blocks)


def rule_card(rule: Rule, *, command: RulesShow, audience: Audience, groups: Groups | None = None) -> Message:
    """One rule, whole as far as a message holds it; without its secrets, and with a way to them, where all see it."""
    if audience == "channel":
        rule = without_secrets(rule)
    blocks = [
        parts.section(
            f"*{esc(rule.title, 200)}*\n{status_name(rule, groups)}   {type_name(rule)}   {code(rule.id, 100)}"
        ),
        *([parts.section(esc(rule.description or "", 600))] if (rule.description or "").strip() else []),
        *pair_blocks(rule),
        *_rest(rule, groups),
    ]
    privately = parts.run_button("Show to me", command, "privately")
    blocks += parts.actions(_buttons(rule, command) if audience == "private" else [privately])
    return parts.message(f"Rule {esc(rule.title, 150)} ({rule.id})", blocks)


def pair_blocks(rule: Rule) -> list[Block]:
    """Every pair; of a long rule the first ones, and how many more."""
    pairs = rule.pairs or ()
    alone = len(pairs) == 1
    told = [_pair_text(rule, pair, 0 if alone else number) for number, pair in enumerate(pairs[:SHOWN_PAIRS], 1)]
    blocks = [parts.section(text) for text in _packed(told)]
    if len(pairs) > SHOWN_PAIRS:
        blocks.append(parts.context(f"…and {len(pairs) - SHOWN_PAIRS} more pairs, which are kept as they are."))
    return blocks or [parts.section("_This rule has no pairs._")]


def _pair_text(rule: Rule, pair: Pair, number: int) -> str:
    """One pair: its condition, and what happens, as a list where that is more than a line."""
    source = source_line(rule.rule_type, pair)
    head = f"*Pair {number}*  {source}" if number else source
    if rule.rule_type in TYPED:
        return f"{head}\n{effect_line(rule.rule_type, pair)}"
    lines = other_lines(rule.rule_type, pair)
    if len(lines) == 1:
        return f"{head}\n{lines[0]}"
    more = [f"• …and {len(lines) - SHOWN_LINES} more"] if len(lines) > SHOWN_LINES else []
    return "\n".join([head, *(f"• {line}" for line in lines[:SHOWN_LINES]), *more])


def _packed(texts: Sequence[str]) -> list[str]:
    """The texts in as few sections as hold them."""
    packed: list[str] = []
    for text in texts:
        if packed and len(packed[-1]) + len(text) < SECTION:
            packed[-1] += f"\n{text}"
        else:
            packed.append(text)
    return packed


def _rest(rule: Rule, groups: Groups | None) -> list[Block]:
    """When it changed, its group, and the fields that Gatehouse does not know."""
    texts = []
    if rule.modified:
        texts.append(f"Last change {parts.moment(rule.modified)}")
    if rule.group_id:
        texts.append(f"Group {group_name(rule, groups)}" + (UNTOLD if groups is None else ""))
    unknown = [name for name in rule.model_extra or {} if name not in KNOWN_EXTRA]
    if unknown:
        texts.append(f"Also kept: {', '.join(code(name, 40) for name in unknown[:8])}")
    return [parts.context(*texts)] if texts else []


UNTOLD: Final = ", of which the service does not tell whether it is on"

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
