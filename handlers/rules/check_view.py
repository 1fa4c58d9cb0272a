"""Words for findings: the same in `/rules check`, forms, cards and refusals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from bot.clients.lists import Gap
from bot.rules.lint.findings import Finding, FindingKind, Location, Reason
from bot.rules.model import Rule
from handlers.blocks import messages
from handlers.blocks.buttons import share_button, turn_buttons
from handlers.blocks.messages import (
    Block,
    ListPage,
    Message,
    clip,
    esc,
    join_words,
    quote_plain,
)
from handlers.grammar.command import slash
from handlers.rules.commands import RulesCheck
from handlers.rules.match_view import edit_button, switch_off_button

MAX_NAMED: Final = 4
MAX_WARNINGS: Final = 5
"""Findings that a card or a form shows, each in a line; `/rules check` shows all."""

UNTRIED: Final = "Too many rules to compare each with all others, so some loops and blocks may be missing."
ONLY_SWITCHED_OFF: Final = frozenset({FindingKind.LOOP, FindingKind.ONE_SOURCE, FindingKind.HIDDEN})
"""Findings that editing the first rule alone rarely fixes, so they have no button for that."""


def advice(finding: Finding) -> str:
    """Return what to do about *finding*, in one sentence."""
    is_own = finding.kind is FindingKind.HIDDEN and not _is_of_several(finding)
    return "Put the narrower pair first, or remove this one." if is_own else FINDINGS[finding.kind].advice


def words(finding: Finding) -> str:
    """Return *finding* in one sentence of plain text."""
    return FINDINGS[finding.kind].sentence(finding)


def warnings_of(findings: Sequence[Finding]) -> tuple[str, ...]:
    """Return the first findings as plain lines for a card or a form, and how many more there are."""
    lines = [clip(words(finding), 500) for finding in findings[:MAX_WARNINGS]]
    more = [f"…and {len(findings) - MAX_WARNINGS} more."] if len(findings) > MAX_WARNINGS else []
    return (*lines, *more)


def location_name(place: Location) -> str:
    """Return the rule, and its pair where there are several."""
    pair = f", pair {place.pair}" if place.pair and len(place.rule.pairs or ()) > 1 else ""
    return f"{quote_plain(place.rule.title, 80)}{pair}"


def location_names(places: Sequence[Location]) -> str:
    """Return the names of the first rules, and how many more there are."""
    names = list(dict.fromkeys(location_name(place) for place in places))
    count = len({place.rule.id for place in places})
    return f"{count} rules called {names[0]}" if len(names) == 1 < count else join_words(names, most=MAX_NAMED)


def _loop_words(finding: Finding) -> str:
    if finding.grows:
        start = clip(finding.urls[0], 120)
        matches = "keep matching each other’s result" if _is_of_several(finding) else "keeps matching its own result"
        return f"{location_names(finding.places)} {matches} without end, starting at {start}."
    around = [clip(url, 120) for url in (*finding.urls, finding.urls[0])]
    shown = around if len(around) <= 6 else [*around[:4], "…", around[-1]]
    loops = "loop" if _is_of_several(finding) else "loops"
    return f"{location_names(finding.places)} {loops}: {' → '.join(shown)}."


def _is_of_several(finding: Finding) -> bool:
    return len({place.rule.id for place in finding.places}) > 1


def _self_redirect_words(finding: Finding) -> str:
    return f"{location_name(finding.places[0])} redirects to the same URL: {clip(finding.value, 160)}."


def _one_source_words(finding: Finding) -> str:
    return f"{location_names(finding.places)} match the same URL: {clip(finding.value, 160) or 'every URL'}."


def _hidden_words(finding: Finding) -> str:
    first, before = finding.places[:2]
    if not _is_of_several(finding):
        return f"{location_name(first)} is never reached: pair {before.pair} takes every URL it matches."
    return f"{location_name(first)} is never reached: {location_name(before)} blocks every URL it matches."


def _never_words(finding: Finding) -> str:
    better = clip(finding.better, 160)
    because = {
        Reason.KEY: "its key is unknown" + (f"; use {better}" if better else "; use Url, host or path"),
        Reason.OPERATOR: "its operator is unknown" + (f"; use {better}" if better else ""),
        Reason.SLASHES: "an expression needs slashes around it" + (f": {better}" if better else ": /…/"),
        Reason.FLAGS: f"the flags {better} are not supported, only i and g",
        Reason.SCHEME: "a URL starts with its scheme" + (f": {better}" if better else ", such as https://"),
        Reason.SPELLING: f"a browser sends {better}" if better else "no browser sends it like that",
        Reason.NOT_A_URL: "it isn’t a URL that a browser loads",
        Reason.CHARACTER: f"a browser never sends “{better}” there",
        Reason.START: f"it starts with {better}",
    }[finding.why or Reason.NOT_A_URL]
    return f"{location_name(finding.places[0])} never matches “{clip(finding.value.split(' ', 2)[2], 160)}”: {because}."


@dataclass(frozen=True, slots=True)
class FindingWords:
    """The words for one kind of finding. *sentence*: what is wrong; *advice*: what to do about it."""

    sentence: Callable[[Finding], str]
    advice: str
    mark: str = ":warning:"


FINDINGS: Final = {
    FindingKind.LOOP: FindingWords(
        _loop_words, "Switch one of them off, or change where it redirects.", ":rotating_light:"
    ),
    FindingKind.ITSELF: FindingWords(
        _self_redirect_words, "Change where it redirects, or switch it off.", ":rotating_light:"
    ),
    FindingKind.NEVER: FindingWords(_never_words, "Correct the source.", ":x:"),
    FindingKind.ONE_SOURCE: FindingWords(_one_source_words, "Keep one of them on: their order is not guaranteed."),
    FindingKind.HIDDEN: FindingWords(_hidden_words, "Switch off the block, or narrow it."),
}


def findings_page(
    page: ListPage[Finding],
    *,
    command: RulesCheck,
    rules: int,
    gap: Gap | None,
    public: bool,
    unjudged: Sequence[Rule] = (),
    limits: Sequence[str] = (),
    off: str = "",
) -> Message:
    """Return one page of findings, the worst first. *rules*: how many were checked, with those *unjudged*.

    *limits*: what was not looked at; *off*: why the only rule has no effect, in mrkdwn.
    """
    checked = messages.plural(rules - len(unjudged), "rule")
    if page.total:
        title = f"{messages.plural(page.total, 'finding')} in {checked}"
        blocks = [messages.section(f"*{title}*")]
    else:
        title = off or f"No findings in {checked}{' that could be read' if gap else ''}"
        blocks = [messages.section(f"{':warning:' if gap or unjudged or off else ':white_check_mark:'} *{title}*")]
    for number, finding in enumerate(page.items, start=page.first):
        blocks.append(messages.section(f"{FINDINGS[finding.kind].mark} {esc(words(finding), 900)}\n{advice(finding)}"))
        blocks += [] if public else messages.actions(_finding_buttons(finding, number))
    notes = [f":warning: {gap.sentence('rules')}"] if gap else []
    if unjudged:
        names = join_words([quote_plain(rule.title, 80) for rule in unjudged], most=MAX_NAMED)
        notes.append(f":warning: Can’t judge {esc(names)}; `{slash('rules which URL')}` says why.")
    notes += limits
    if page.count > 1:
        notes.append(page.label)
    elif command.page and command.page > 1:
        notes.append("There is only one page.")
    blocks += [messages.context("\n".join(notes))] if notes else []
    buttons = [*turn_buttons(page, command), None if public else share_button(command)]
    return messages.message(title, [*blocks, *messages.actions(buttons)])


def _finding_buttons(finding: Finding, number: int) -> list[Block | None]:
    """Return the buttons that edit the first rule of *finding*, and switch its rules off."""
    rules = list({place.rule.id: place.rule for place in finding.places}.values())[:MAX_FINDING_RULES]
    edit = None if finding.kind in ONLY_SWITCHED_OFF else edit_button(rules[0], f"edit.{number}")
    return [
        edit,
        *(
            switch_off_button(f"Switch off {quote_plain(rule.title, 40)}…", rule, f"off.{number}.{at}")
            for at, rule in enumerate(rules, start=1)
            if rule.active
        ),
    ]


MAX_FINDING_RULES: Final = 3
"""Rules of a finding that get buttons."""
