"""What happens to an address: the rules that act, what they make of it, and those that only just miss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bot.domain.matching import Acts, Explained, NearMiss, Untold
from bot.domain.rule import Rule
from handlers.commands import RulesList, RulesShow, RulesWhich
from handlers.views import parts
from handlers.views.effect import effect_line, type_name
from handlers.views.parts import Block, Message, code, esc

MOST_ACTING: Final = 12
MOST_OTHERS: Final = 8


def explained(found: Explained, *, command: RulesWhich, unreadable: int, actions: bool) -> Message:
    """The answer; with buttons where one person reads it."""
    blocks: list[Block] = [parts.section(f"{_verdict(found)}\n{code(found.address.full, 600)}")]
    blocks += [
        _acting(acts, number, actions=actions)
        for number, acts in enumerate(sorted(found.in_force, key=lambda each: each.idle)[:MOST_ACTING])
    ]
    if off := [acts for acts in found.acting if acts.off]:
        blocks.append(parts.section("*Would act, but is not in force*\n" + _listed(map(_off, off), len(off))))
    if found.near:
        blocks.append(parts.section("*Only just misses*\n" + _listed(map(_near, found.near), len(found.near))))
    if found.untold:
        blocks.append(parts.section("*Cannot be told here*\n" + _listed(map(_untold, found.untold), len(found.untold))))
    if unreadable:
        blocks.append(parts.context(f":warning: {unreadable} records of the service could not be read."))
    if len(found.in_force) > 1:
        blocks.append(parts.context("No engine promises an order between rules: several that act may depend on luck."))
    share = parts.share_button(command) if actions else None
    blocks += parts.actions([share, parts.run_button("List rules", RulesList(), "list") if not found.acting else None])
    return parts.message(_verdict(found).replace("*", ""), blocks)


def _verdict(found: Explained) -> str:
    acting = found.in_force
    if not acting:
        return ":white_circle: *No rule acts on this address.*"
    if any(each.blocks for each in acting):
        return f":no_entry: *{_count(len(acting))} on this address: it is blocked.*"
    if results := [each.result for each in acting if each.result is not None]:
        leads = "leads elsewhere" if len(set(results)) == 1 else "may lead to different places"
        return f":arrow_right_hook: *{_count(len(acting))} on this address: it {leads}.*"
    return f":large_green_circle: *{_count(len(acting))} on this address.*"


def _count(number: int) -> str:
    return "1 rule acts" if number == 1 else f"{number} rules act"


def _acting(acts: Acts, number: int, *, actions: bool) -> Block:
    lines = [f"{_named(acts.rule)}   pair {acts.pair}", _effect(acts)]
    if caught := [f"${n} = {code(text, 80)}" for n, text in enumerate(acts.captures, start=1) if text is not None]:
        lines.append(f"caught {'  '.join(caught[:6])}")
    lines += [f"_{esc(note, 300)}_" for note in acts.notes]
    button = parts.run_button("Show", RulesShow(ref=acts.rule.id), number) if actions else None
    return parts.section("\n".join(lines), button)


def _effect(acts: Acts) -> str:
    if acts.blocks:
        return ":no_entry: blocked"
    if acts.result is not None:
        return f"→ {code(acts.result, 400)}"
    if acts.idle:
        return "changes nothing"
    pair = (acts.rule.pairs or ())[acts.pair - 1]
    return effect_line(acts.rule.rule_type, pair)


def _named(rule: Rule) -> str:
    return f"*{esc(rule.title, 120)}*   {type_name(rule)}   {code(rule.id, 100)}"


def _off(acts: Acts) -> str:
    return f"• {_named(acts.rule)}: {esc(acts.off, 120)}"


def _near(miss: NearMiss) -> str:
    return f"• {_named(miss.rule)}: {esc(miss.why, 160)}"


def _untold(untold: Untold) -> str:
    return f"• {_named(untold.rule)}: {esc(untold.why, 160)}"


def _listed(lines: Iterator[str], total: int) -> str:
    shown = [line for line, _ in zip(lines, range(MOST_OTHERS), strict=False)]
    more = f"\n…and {total - MOST_OTHERS} more" if total > MOST_OTHERS else ""
    return "\n".join(shown) + more
