"""Findings in words, and what a change does to known URLs: the same for `/rules check`, forms, cards and refusals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Final

from bot.clients.lists import Gap
from bot.rules.lint.findings import Finding, FindingKind, Location, Reason
from bot.rules.matching import Difference, Fate, Impact
from handlers.blocks import messages
from handlers.blocks.messages import Block, ListPage, Message, clip, code, esc
from handlers.grammar.command import slash
from handlers.rules.commands import RulesCheck, RulesEdit, RulesSamples, RulesShow, RulesWhich
from handlers.rules.reasons import undecidable_words

MOST_NAMED: Final = 4
MOST_WARNINGS: Final = 5
"""Findings that stand on a card or in a form, each in a line; `/rules check` has the others."""

UNTRIED: Final = ":warning: So many conditions fit anywhere that not all rules were tried on each other."
TITLES: Final = {
    FindingKind.LOOP: ":rotating_light: Loops",
    FindingKind.ITSELF: ":rotating_light: Redirects to themselves",
    FindingKind.NO_ADDRESS: ":x: Destinations that are no address",
    FindingKind.NEVER: ":x: Conditions that never hold",
    FindingKind.ONE_ENGINE: ":warning: Conditions that one engine alone fulfills",
    FindingKind.NO_GROUP: ":warning: Captures that catch nothing",
    FindingKind.ONE_SOURCE: ":warning: Several rules on one source",
    FindingKind.HIDDEN: ":warning: Hidden by a block",
    FindingKind.REPEATS: ":warning: Replacements that come again",
    FindingKind.CHAIN: ":link: Redirects that another rule takes on",
    FindingKind.NO_EFFECT: ":white_circle: Replacements that change nothing",
    FindingKind.ONE_NAME: ":white_circle: One name for several rules",
    FindingKind.UNTOLD: ":grey_question: Cannot be told here",
}
ADVICE: Final = {
    FindingKind.LOOP: "Switch one of them off, or lead it elsewhere.",
    FindingKind.ITSELF: "Lead it elsewhere, or delete it.",
    FindingKind.NO_ADDRESS: "Write a whole address, with https://.",
    FindingKind.NEVER: "Correct the source.",
    FindingKind.ONE_ENGINE: "Write the source so that both read it alike.",
    FindingKind.NO_GROUP: "Use a number that the source has a * or a group for.",
    FindingKind.ONE_SOURCE: "Keep one of them: no engine promises which comes first.",
    FindingKind.HIDDEN: "Delete it, or narrow the block.",
    FindingKind.REPEATS: "Narrow the source so that it does not fit the result.",
    FindingKind.CHAIN: "Lead it straight to where it ends.",
    FindingKind.NO_EFFECT: "Correct what it looks for, or delete it.",
    FindingKind.ONE_NAME: "Rename them, so that nobody switches off the wrong one.",
    FindingKind.UNTOLD: "Try it in the browser, or write it without looking around or back.",
}


def words(finding: Finding) -> str:
    """What is wrong, in one sentence of plain text."""
    where = f" This happens in {finding.engine} only." if finding.engine and finding.kind in IN_ONE_ENGINE else ""
    return SENTENCES[finding.kind](finding) + where


def warnings(findings: Sequence[Finding]) -> tuple[str, ...]:
    """The findings as plain lines for a card or a form; the first of many."""
    lines = [clip(words(finding), 500) for finding in findings[:MOST_WARNINGS]]
    if more := len(findings) - MOST_WARNINGS:
        lines += [f"…and {more} more."] if more > 0 else []
    return tuple(lines)


def name(place: Location) -> str:
    """The rule, and its pair where there are several."""
    pair = f", pair {place.pair}" if place.pair and len(place.rule.pairs or ()) > 1 else ""
    return f"“{clip(place.rule.title, 80)}”{pair}"


def named(places: Sequence[Location]) -> str:
    """Several rules in a row; the first of many."""
    names = list(dict.fromkeys(name(place) for place in places))
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _loop(finding: Finding) -> str:
    if finding.grows:
        start = clip(finding.addresses[0], 120)
        return f"{named(finding.places)} takes on what it made itself, without end: {start} and so on."
    around = [clip(address, 120) for address in (*finding.addresses, finding.addresses[0])]
    shown = around if len(around) <= 6 else [*around[:4], "…", around[-1]]
    whose = "redirects in a circle" if len({p.rule.id for p in finding.places}) == 1 else "redirect in a circle"
    return f"{named(finding.places)} {whose}: {' → '.join(shown)}."


def _itself(finding: Finding) -> str:
    return f"{name(finding.places[0])} redirects to the address itself: {clip(finding.value, 160)}."


def _no_address(finding: Finding) -> str:
    return f"{name(finding.places[0])} leads to “{clip(finding.value, 160)}”, which is no address."


def _no_group(finding: Finding) -> str:
    count = {"0": "catches nothing", "1": "catches one text"}.get(finding.better, f"catches {finding.better} texts")
    return f"{name(finding.places[0])}: its source {count}, so a number in {clip(finding.value, 160)} stays as it is."


def _one_source(finding: Finding) -> str:
    return f"{named(finding.places)} act on the same: {clip(finding.value, 160) or 'every address'}."


def _hidden(finding: Finding) -> str:
    first, block = finding.places[:2]
    return f"{name(first)} never gets its turn: {name(block)} blocks all that it is for."


def _repeats(finding: Finding) -> str:
    start = clip(finding.addresses[0], 120)
    return f"{named(finding.places)} would replace in its own result again, in engines that look twice: {start}."


def _chain(finding: Finding) -> str:
    first, second = finding.places[:2]
    there, further = (clip(address, 120) for address in finding.addresses)
    then = f"takes on to {further}" if further else "blocks"
    return f"{name(first)} leads to {there}, which {name(second)} {then}."


def _no_effect(finding: Finding) -> str:
    if not finding.value:
        return f"{name(finding.places[0])} looks for nothing, so it replaces nothing."
    if finding.addresses:
        where = f"which is not in {clip(finding.addresses[0], 120)}"
        return f"{name(finding.places[0])} looks for {clip(finding.value, 120)}, {where}."
    return f"{name(finding.places[0])} replaces {clip(finding.value, 120)} by the same."


def _one_name(finding: Finding) -> str:
    ids = [place.rule.id for place in finding.places]
    more = f" and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else ""
    return f"{len(ids)} rules are called {name(finding.places[0])}: {', '.join(ids[:MOST_NAMED])}{more}."


def _untold(finding: Finding) -> str:
    why = undecidable_words(finding.untold) if finding.untold else ""
    return f"{name(finding.places[0])}: {why}."


def _never(finding: Finding) -> str:
    better = clip(finding.better, 160)
    because = {
        Reason.KEY: "no engine knows its key" + (f"; write {better}" if better else "; it is Url, host or path"),
        Reason.OPERATOR: "no engine knows its operator" + (f"; write {better}" if better else ""),
        Reason.SLASHES: "an expression needs slashes around it" + (f": {better}" if better else ": /…/"),
        Reason.FLAGS: f"the flags {better} are not taken, only i and g",
        Reason.SCHEME: "every address begins with its scheme" + (f": {better}" if better else ", such as https://"),
        Reason.SPELLING: f"a browser sends {better}" if better else "no browser sends it so",
        Reason.NO_ADDRESS: "no browser loads it",
        Reason.CHARACTER: f"a browser never sends “{better}” there",
        Reason.START: f"it begins with {better}",
    }[finding.why or Reason.NO_ADDRESS]
    return f"{name(finding.places[0])} never acts on “{clip(finding.value.split(' ', 2)[2], 160)}”: {because}."


def _one_engine(finding: Finding) -> str:
    better = finding.value.split(" ", 2)[2]
    because = {
        Reason.SLASHES: f"the desktop app needs slashes around an expression: /{clip(better, 160)}/",
        Reason.EMPTY: "the desktop app takes every URL where the source is empty; with Contains, the extension does, too",
        Reason.SWITCHED_OFF: "its source has isActive: false, which the desktop app does not look at",
    }[finding.why or Reason.EMPTY]
    return f"{name(finding.places[0])} acts in {finding.engine} only: {because}."


IN_ONE_ENGINE: Final = frozenset({FindingKind.LOOP, FindingKind.REPEATS})
"""Kinds whose words do not say in which engine they are true."""
SENTENCES: Final[dict[FindingKind, Callable[[Finding], str]]] = {
    FindingKind.LOOP: _loop,
    FindingKind.ITSELF: _itself,
    FindingKind.NO_ADDRESS: _no_address,
    FindingKind.NEVER: _never,
    FindingKind.ONE_ENGINE: _one_engine,
    FindingKind.NO_GROUP: _no_group,
    FindingKind.ONE_SOURCE: _one_source,
    FindingKind.HIDDEN: _hidden,
    FindingKind.REPEATS: _repeats,
    FindingKind.CHAIN: _chain,
    FindingKind.NO_EFFECT: _no_effect,
    FindingKind.ONE_NAME: _one_name,
    FindingKind.UNTOLD: _untold,
}


def findings_page(
    page: ListPage[Finding], *, command: RulesCheck, rules: int, gap: Gap | None, complete: bool, actions: bool
) -> Message:
    """One page of what was found, by kind."""
    count = messages.plural(page.total, "finding")
    among = messages.plural(rules, "rule")
    if not page.total:
        mark = ":warning:" if gap else ":white_check_mark:"
        blocks = [messages.section(f"{mark} *Nothing found* in {among}{' that could be read' if gap else ''}.")]
    else:
        blocks = [messages.section(f"*{count}* in {among}, the worst first")]
    number = page.first
    for kind, group in groupby(page.items, key=lambda finding: finding.kind):
        blocks.append(messages.section(f"*{TITLES[kind]}*\n_{ADVICE[kind]}_"))
        for finding in group:
            blocks += _one(finding, number, actions=actions)
            number += 1
    blocks += messages.gap_lines(gap, "rules")
    if not complete:
        blocks.append(messages.context(UNTRIED))
    if page.count > 1:
        blocks.append(messages.context(page.label))
    elif command.page and command.page > 1:
        blocks.append(messages.context("There is only one page."))
    buttons = [*page.turn_buttons(command), messages.share_button(command) if actions else None]
    return messages.message(f"{count} in {among}", [*blocks, *messages.actions(buttons)])


def _one(finding: Finding, number: int, *, actions: bool) -> list[Block]:
    line = messages.section(f"*{number}.* {esc(words(finding), 900)}")
    if not actions:
        return [line]
    ids = list(dict.fromkeys(place.rule.id for place in finding.places))
    buttons = [messages.run_button("Edit", RulesEdit(ref=ids[0]), f"edit.{number}")]
    for each, rule_id in enumerate(ids[:3], start=1):
        label = "Show" if len(ids) == 1 else f"Show {each}"
        buttons.append(messages.run_button(label, RulesShow(ref=rule_id), f"show.{number}.{each}"))
    return [line, *messages.actions(buttons)]


MOST_SHIFTS: Final = 5
MOST_LISTED: Final = 20


def lines(found: Impact) -> tuple[str, ...]:
    """The preview in plain text: how many change, and the first of those, before and after; nothing to say, no line."""
    if not found.known:
        return ()
    changed = len(found.shifts)
    head = f"{changed} of {messages.plural(found.known, 'known URL')} change{'s' if changed == 1 else ''}"
    told = [
        f"{clip(shift.address, 120)}: {_fate(shift.before, shift)} → {_fate(shift.after, shift)}"
        for shift in found.shifts[:MOST_SHIFTS]
    ]
    more = [f"…and {changed - MOST_SHIFTS} more"] if changed > MOST_SHIFTS else []
    return head, *told, *more


def _fate(fate: Fate, shift: Difference) -> str:
    """Where the address goes; what else acts on it only where nothing but that differs."""
    if fate.blocked:
        return "blocked"
    if fate.results:
        return clip(" or ".join(fate.results), 160)
    goes_the_same = (shift.before.blocked, shift.before.results) == (shift.after.blocked, shift.after.results)
    return f"touched by {clip(', '.join(fate.touched), 120)}" if fate.touched and goes_the_same else "stays"


def samples(urls: Sequence[str], *, said: str, actions: bool) -> Message:
    """The addresses of the channel, each with what to do about it. *said*: what was just done, mrkdwn."""
    count = f"{messages.plural(len(urls), 'URL')}"
    about = f"*{count} of this channel*: every change of a rule is tried on them, and its card says which change."
    blocks = [messages.section(f"{said}\n{about}" if said else about)]
    for number, url in enumerate(urls[:MOST_LISTED]):
        blocks.append(messages.section(code(url, 600)))
        if actions:
            buttons = (
                messages.run_button("Which rule?", RulesWhich(url=url), f"which.{number}"),
                messages.turn_button("Remove", RulesSamples(action="remove", urls=(url,)), f"remove.{number}"),
            )
            blocks += messages.actions(buttons)
    if len(urls) > MOST_LISTED:
        blocks.append(messages.context(f"…and {len(urls) - MOST_LISTED} more"))
    blocks.append(messages.context(f"`{slash('rules samples add URL …')}`   ·   `{slash('rules samples remove URL')}`"))
    return messages.message(f"{count} to try changes on", blocks)
