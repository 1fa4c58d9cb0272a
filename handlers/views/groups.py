"""Groups of rules as a message: each with how many rules it has, and what can be done with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from bot.clients.listing import Gap
from bot.domain.group import Group
from handlers.commands.command import slash
from handlers.commands.rules import RulesGroup, RulesGroups, RulesList
from handlers.views import parts
from handlers.views.parts import Block, Message, code, esc

MOST_GROUPS: Final = 15
"""Groups that a message shows: three blocks each of fifty."""


def group_list(
    groups: Sequence[Group],
    rules: Mapping[str, int],
    on: Mapping[str, int],
    gaps: Mapping[str, Gap | None],
    *,
    command: RulesGroups,
    actions: bool,
) -> Message:
    """*rules* and *on*: group id -> how many rules it has, and how many of those are Active.

    *gaps*: what was not read of which list.
    """
    title = f"{parts.plural(len(groups), 'group')}"
    blocks: list[Block] = [parts.section(f"*{title} of rules*")]
    blocks += [line for plural, gap in gaps.items() for line in parts.gap_lines(gap, plural)]
    for number, group in enumerate(groups[:MOST_GROUPS]):
        blocks.append(parts.section(_row(group, rules.get(group.id, 0), on.get(group.id, 0))))
        if actions:
            blocks += parts.actions(_buttons(group, number))
    blocks += _rest(groups, rules)
    blocks += parts.actions([parts.share_button(command)] if actions else [])
    return parts.message(title, blocks)


def state(group: Group) -> str:
    """In force or not, as a sign and words."""
    if group.active:
        return ":large_green_circle: Active"
    return f":double_vertical_bar: {esc(group.status or 'no status', 40)}: none of its rules is in force"


def _row(group: Group, rules: int, on: int) -> str:
    count = "no rules" if not rules else f"{parts.plural(rules, 'rule')}, {on:,} of them Active"
    return f":file_folder: *{esc(group.title, 120)}*   {code(group.id, 100)}\n{state(group)}   {count}"


def _buttons(group: Group, number: int) -> list[Block | None]:
    switch = RulesGroup(switch="off" if group.active else "on", group=group.id)
    return [
        parts.run_button("Its rules", RulesList(group=group.id), f"rules.{number}"),
        parts.run_button("Switch off" if group.active else "Switch on", switch, f"switch.{number}"),
    ]


def _rest(groups: Sequence[Group], rules: Mapping[str, int]) -> list[Block]:
    known = {group.id for group in groups}
    lost = [f"{code(group_id, 60)} ({count})" for group_id, count in rules.items() if group_id not in known]
    texts = []
    if len(groups) > MOST_GROUPS:
        texts.append(f"…and {len(groups) - MOST_GROUPS} more; name one: `{slash('rules list group:NAME')}`")
    if lost:
        more = f" and {len(lost) - 8} more" if len(lost) > 8 else ""
        texts.append(f":grey_question: Rules are in groups that are unknown: {', '.join(lost[:8])}{more}")
    return [parts.context(*texts)] if texts else []
