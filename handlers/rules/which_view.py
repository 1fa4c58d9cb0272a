"""What happens to an address: the rules that act, what they make of it, and those that only just miss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from bot.clients.lists import Gap
from bot.rules.matching import left_alone
from bot.rules.model import Rule
from bot.rules.outcomes import Explained, Match, NearMiss, Undecidable
from bot.rules.secrets import MARK, hidden_text, without_secrets
from handlers.blocks import messages
from handlers.blocks.messages import Block, Message, code, esc
from handlers.rules.commands import RulesList, RulesShow, RulesWhich
from handlers.rules.pairs_view import effect_line, type_name
from handlers.rules.reasons import near_words, note_words, off_words, undecidable_words

MOST_ACTING: Final = 12
MOST_OTHERS: Final = 8
MOST_PAIRS: Final = 4
MOST_URLS: Final = 3
"""Further URLs of one question that are named, each with a button."""


def answer(found: Explained, *, command: RulesWhich, gap: Gap | None, assumed: bool, actions: bool) -> Message:
    """The answer, in its first line; with buttons where one person reads it. *assumed*: nobody typed the scheme."""
    verdict = _verdict(found, gap)
    blocks: list[Block] = [messages.section(f"{verdict}\n{code(found.address.full, 600)}")]
    blocks += [
        _acting(acts, number, actions=actions, holds_secret=MARK in hidden_text(found.address.full))
        for number, acts in enumerate(sorted(found.is_effective, key=_weight)[:MOST_ACTING])
    ]
    if (more := len(found.is_effective) - MOST_ACTING) > 0:
        blocks.append(messages.context(f"…and {more:,} more rules act on it."))
    if off := [acts for acts in found.acting if acts.off]:
        blocks.append(messages.section("*Would act, but is not in force*\n" + _bullets(map(_off, off), len(off))))
    if found.near:
        blocks.append(messages.section("*Only just misses*\n" + _bullets(map(_near, found.near), len(found.near))))
    if found.untold:
        blocks.append(
            messages.section("*Cannot be told here*\n" + _bullets(map(_untold, found.untold), len(found.untold)))
        )
    blocks += [messages.context(line) for line in (*_which_url(command), *_small_print(found, gap, assumed=assumed))]
    share = messages.share_button(command) if actions else None
    others = [
        messages.run_button(f"URL {number}", RulesWhich(url), f"other.{number}")
        for number, url in enumerate(command.others[:MOST_URLS] if actions else (), start=2)
    ]
    lists = messages.run_button("List rules", RulesList(), "list") if not found.acting else None
    blocks += messages.actions([*others, share, lists])
    return messages.message(verdict.replace("*", "").replace("`", ""), blocks)


def _which_url(command: RulesWhich) -> Iterator[str]:
    """Which URL was taken, where that is not plain from what was typed."""
    if command.others:
        told = ", ".join(code(url, 120) for url in command.others[:MOST_URLS])
        yield f"This is about the first of {len(command.others) + 1:,} URLs. The others: {told}"
    if command.within:
        yield "The rest of the text was left out. Put a URL with spaces in quotes."


def _weight(acts: Match) -> int:
    """What decides comes first: a block, then a change of the address, then the rest, then what changes nothing."""
    if acts.blocks:
        return 0
    return 3 if acts.idle else 1 if acts.result is not None else 2


def _small_print(found: Explained, gap: Gap | None, *, assumed: bool) -> Iterator[str]:
    if assumed:
        yield "Taken as https://, since no scheme was given."
    if gap:
        yield f":warning: {gap.sentence('rules')} Others may act on it, too."
    if len(found.changing) > 1:
        yield "No engine promises an order between rules: where several act, it may depend on luck."


def _verdict(found: Explained, gap: Gap | None) -> str:
    """What happens to the address now, in one line."""
    acting = sorted(found.changing, key=_weight)
    if not acting and gap:
        return f":warning: *Not known: none of the {gap.read:,} rules that could be read acts on this address*"
    if not acting:
        return f":white_circle: *No rule acts on this address*{_why_none(found)}"
    results = list(dict.fromkeys(each.result for each in acting if each.result is not None))
    by = f"by *{esc(acting[0].rule.title, 80)}*{_condition(acting[0])}{_others(len(acting) - 1)}."
    if acting[0].blocks:
        return f":no_entry: *Blocked* {by}"
    if len(results) > 1:
        return f":arrow_right_hook: *Leads to one of {len(results)} places*: {len(acting)} rules act on it."
    if results:
        return f":arrow_right_hook: *Leads to* {code(results[0], 300)}, {by}"
    stays = "No rule that could be read changes the address" if gap else "The address stays"
    return f":large_green_circle: *{stays}*, and something else is changed {by}"


def _condition(acts: Match) -> str:
    where = f", in {acts.only} only" if acts.only else ""
    return f"{where}, if what it depends on holds" if acts.depends else where


def _others(count: int) -> str:
    if not count:
        return ""
    return "; 1 more rule acts" if count == 1 else f"; {count} more rules act"


def _why_none(found: Explained) -> str:
    """Why no rule acts, since the person who asks expected one."""
    if text := left_alone(found.address):
        return f": no engine touches one with {text} in it."
    off = len(found.acting) - len(found.is_effective)
    said = [
        _many(len(found.is_effective), "fits and changes nothing", "fit and change nothing"),
        _many(off, "would, but is not in force", "would, but are not in force"),
        _many(len(found.near), "only just misses", "only just miss"),
        _many(len(found.untold), "cannot be judged here", "cannot be judged here"),
    ]
    reasons = "; ".join(filter(None, said))
    return f": {reasons}." if reasons else ". It loads as it is."


def _many(count: int, one: str, several: str) -> str:
    return "" if not count else f"1 {one}" if count == 1 else f"{count:,} {several}"


def _acting(acts: Match, number: int, *, actions: bool, holds_secret: bool) -> Block:
    if not actions:
        acts = replace(acts, rule=without_secrets(acts.rule), captures=() if holds_secret else acts.captures)
    lines = [f"{_named(acts.rule)}{_pairs(acts)}", _effect(acts)]
    if caught := [f"${n} = {code(text, 80)}" for n, text in enumerate(acts.captures, start=1) if text is not None]:
        lines.append(f"caught {'  '.join(caught[:6])}")
    lines += [f"_{esc(note_words(note), 300)}_" for note in acts.notes]
    button = messages.run_button("Show", RulesShow(ref=acts.rule.id), number) if actions else None
    return messages.section("\n".join(lines), button)


def _effect(acts: Match) -> str:
    if acts.blocks:
        return ":no_entry: blocked"
    if acts.result is not None:
        return f"→ {code(acts.result, 400)}"
    if acts.idle:
        return "changes nothing"
    pairs = acts.rule.pairs or ()
    lines = [effect_line(acts.rule.rule_type, pairs[number - 1]) for number in (acts.pair, *acts.also)[:MOST_PAIRS]]
    more = len(acts.also) + 1 - MOST_PAIRS
    return "\n".join([*lines, *([f"…and {more} more pairs"] if more > 0 else [])])


def _pairs(acts: Match) -> str:
    """Which pairs act, where the rule has several."""
    if len(acts.rule.pairs or ()) < 2:
        return ""
    numbers = [acts.pair, *acts.also]
    return f"   pair{'s' if acts.also else ''} {', '.join(map(str, numbers[:8]))}{'…' if len(numbers) > 8 else ''}"


def _named(rule: Rule) -> str:
    return f"*{esc(rule.title, 120)}*   {type_name(rule)}   {code(rule.id, 100)}"


def _off(acts: Match) -> str:
    return f"• {_named(acts.rule)}: {esc(off_words(acts.off), 120)}"


def _near(miss: NearMiss) -> str:
    return f"• {_named(miss.rule)}: {esc(near_words(miss), 160)}"


def _untold(untold: Undecidable) -> str:
    return f"• {_named(untold.rule)}: {esc(undecidable_words(untold.why), 160)}"


def _bullets(lines: Iterator[str], total: int) -> str:
    shown = [line for line, _ in zip(lines, range(MOST_OTHERS), strict=False)]
    more = f"\n…and {total - MOST_OTHERS} more" if total > MOST_OTHERS else ""
    return "\n".join(shown) + more
