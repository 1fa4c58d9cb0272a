"""Words for findings: the same in `/rules check`, forms, cards and refusals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from bot.changes.forecast import PLANNED
from bot.clients.lists import Gap
from bot.rules.engines import Engine, Trait
from bot.rules.lint.findings import Finding, FindingKind, Location, Reason
from handlers.blocks import messages
from handlers.blocks.buttons import share_button, turn_buttons
from handlers.blocks.messages import (
    Block,
    ListPage,
    Message,
    clip,
    esc,
    first_few,
    join_commas,
    join_words,
    quote_plain,
)
from handlers.changes.times import when
from handlers.rules.commands import RulesCheck
from handlers.rules.match_view import edit_button, show_button, switch_off_button

MAX_NAMED: Final = 4
MAX_WARNINGS: Final = 5
"""Findings that a card or a form shows, each in a line; `/rules check` shows all."""

UNTRIED: Final = (
    ":warning: Too many rules to compare each with all others, so some loops, chains and blocks may be missing."
)
ADVICE_ON_ENGINES: Final[dict[Trait | None, str]] = {
    Trait.READS_FIND: "Find the text without slashes around it.",
    Trait.NEEDS_VERSION: "Export the rule, give it version 2, and import it again.",
}
ONLY_SWITCHED_OFF: Final = frozenset({FindingKind.LOOP, FindingKind.ONE_SOURCE, FindingKind.HIDDEN})
"""Findings that editing the first rule alone rarely fixes, so they have no button for that."""
ONLY_SHOWN: Final = frozenset({FindingKind.ONE_NAME, FindingKind.UNDECIDABLE})
"""Findings that switching off a rule doesn't fix, so they only have buttons that show rules."""


def advice(finding: Finding) -> str:
    """Return what to do about *finding*, in one sentence."""
    is_blocked = finding.kind is FindingKind.CHAIN and not finding.urls[1]
    usual = ADVICE_ON_ENGINES.get(finding.trait) or FINDINGS[finding.kind].advice
    return "Redirect it elsewhere, or switch off the block." if is_blocked else usual


def words(finding: Finding) -> str:
    """Return *finding* in one sentence of plain text."""
    where = f" Only in {finding.engine}." if finding.engine and finding.kind in IN_ONE_ENGINE else ""
    return FINDINGS[finding.kind].sentence(finding) + where


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


def _not_a_url_words(finding: Finding) -> str:
    return f"{location_name(finding.places[0])} redirects to “{clip(finding.value, 160)}”, which isn’t a URL."


def _one_source_words(finding: Finding) -> str:
    return f"{location_names(finding.places)} match the same URL: {clip(finding.value, 160) or 'every URL'}."


def _no_group_words(finding: Finding) -> str:
    count = {"0": "nothing", "1": "one text"}.get(finding.better, f"{finding.better} texts")
    shown = clip(finding.value, 160)
    return f"{location_name(finding.places[0])} captures {count}, so a number in {shown} isn’t replaced."


def _hidden_words(finding: Finding) -> str:
    first, block = finding.places[:2]
    return f"{location_name(first)} is never reached: {location_name(block)} blocks every URL it matches."


def _repeats_words(finding: Finding) -> str:
    start = clip(finding.urls[0], 120)
    changes = "keep changing each other’s result" if _is_of_several(finding) else "keeps changing its own result"
    return f"{location_names(finding.places)} {changes}, starting at {start}."


def _chain_words(finding: Finding) -> str:
    first, second = finding.places[:2]
    there, further = (clip(url, 120) for url in finding.urls)
    then = f"redirects on to {further}" if further else "blocks"
    return f"{location_name(first)} redirects to {there}, which {location_name(second)} {then}."


def _no_effect_words(finding: Finding) -> str:
    if not finding.value:
        return f"{location_name(finding.places[0])} has no text to find, so it replaces nothing."
    if finding.urls:
        where = f"which isn’t in {clip(finding.urls[0], 120)}"
        return f"{location_name(finding.places[0])} looks for {clip(finding.value, 120)}, {where}."
    return f"{location_name(finding.places[0])} replaces {clip(finding.value, 120)} with the same text."


def _one_name_words(finding: Finding) -> str:
    ids = ["planned" if place.rule.id.startswith(PLANNED) else place.rule.id for place in finding.places]
    return f"{len(ids)} rules are called {location_name(finding.places[0])}: {join_commas(ids, MAX_NAMED)}."


def _unchecked_words(finding: Finding) -> str:
    return f"{location_name(finding.places[0])} can’t be checked: {finding.undecidable}."


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


def _engines_differ_words(finding: Finding) -> str:
    where, because = WHERE_ENGINES_DIFFER[finding.trait or Trait.READS_WILDCARD]
    source, better = clip(finding.value.split(" ", 2)[-1], 160), clip(finding.better, 160)
    return f"{location_name(finding.places[0])} {where}: {because.format(source=source, better=better)}."


ONLY_IN: Final = "matches in {} only"
WHERE_ENGINES_DIFFER: Final = {
    Trait.ADDS_SLASHES: (
        ONLY_IN.format(Engine.EXTENSION),
        "the desktop app needs slashes around an expression: /{source}/",
    ),
    Trait.TAKES_EMPTY_SOURCE: (
        ONLY_IN.format(Engine.DESKTOP),
        "with an empty source, the desktop app matches every URL; the extension only with Contains",
    ),
    Trait.MINDS_SWITCH: (
        ONLY_IN.format(Engine.DESKTOP),
        "its source has isActive: false, which the desktop app ignores",
    ),
    Trait.READS_WILDCARD: (
        "may match different URLs in the desktop app and the extension",
        "the extension reads {better} in the source as a special character",
    ),
    Trait.READS_FIND: (
        "replaces different text in the desktop app and the extension",
        "the desktop app reads {better} as an expression, without its slashes",
    ),
    Trait.NEEDS_VERSION: (
        f"changes headers in {Engine.EXTENSION} only",
        "without version 2, the desktop app reads headers in an older format",
    ),
}
"""How the engines differ for each trait, and why; words of a sentence after the name of the rule."""


IN_ONE_ENGINE: Final = frozenset({FindingKind.LOOP, FindingKind.REPEATS})
"""Kinds whose words do not say in which engine they are true."""


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
    FindingKind.NOT_A_URL: FindingWords(_not_a_url_words, "Enter a full URL, starting with https://.", ":x:"),
    FindingKind.NEVER: FindingWords(_never_words, "Correct the source.", ":x:"),
    FindingKind.ENGINES_DIFFER: FindingWords(
        _engines_differ_words, "Change the source so that both read it the same way."
    ),
    FindingKind.NO_GROUP: FindingWords(_no_group_words, "Use a number that the source has a * or a group for."),
    FindingKind.ONE_SOURCE: FindingWords(_one_source_words, "Keep one of them on: their order is not guaranteed."),
    FindingKind.HIDDEN: FindingWords(_hidden_words, "Switch off the block, or narrow it."),
    FindingKind.REPEATS: FindingWords(_repeats_words, "Narrow the source so that it doesn’t match the result."),
    FindingKind.CHAIN: FindingWords(_chain_words, "Redirect straight to the last URL.", ":link:"),
    FindingKind.NO_EFFECT: FindingWords(
        _no_effect_words, "Correct the text to find, or delete the rule.", ":white_circle:"
    ),
    FindingKind.ONE_NAME: FindingWords(
        _one_name_words, "Rename them, so that nobody switches off the wrong one.", ":white_circle:"
    ),
    FindingKind.UNDECIDABLE: FindingWords(
        _unchecked_words, "Try it in the browser, or simplify its source.", ":grey_question:"
    ),
}


def findings_page(
    page: ListPage[Finding],
    *,
    command: RulesCheck,
    rules: int,
    gap: Gap | None,
    public: bool,
    ahead: Sequence[tuple[datetime, Finding]] = (),
    limits: Sequence[str] = (),
) -> Message:
    """Return one page of findings, the worst first. *rules*: how many were checked.

    *ahead*: findings that planned changes will cause, each with the time when it begins; *limits*: what was not looked at.
    """
    checked = messages.plural(rules, "rule")
    if page.total:
        title = f"{messages.plural(page.total, 'finding')} in {checked}"
        blocks = [messages.section(f"*{title}*")]
    else:
        title = f"No findings in {checked}{' that could be read' if gap else ''}"
        blocks = [messages.section(f"{':warning:' if gap else ':white_check_mark:'} *{title}*")]
    for number, finding in enumerate(page.items, start=page.first):
        blocks.append(messages.section(f"{FINDINGS[finding.kind].mark} {esc(words(finding), 900)}\n{advice(finding)}"))
        blocks += [] if public else messages.actions(_finding_buttons(finding, number))
    blocks += _ahead_blocks(ahead)
    notes = [f":warning: {gap.sentence('rules')}"] if gap else []
    notes += limits
    if page.count > 1:
        notes.append(page.label)
    elif command.page and command.page > 1:
        notes.append("There is only one page.")
    blocks += [messages.context("\n".join(notes))] if notes else []
    buttons = [*turn_buttons(page, command), None if public else share_button(command)]
    return messages.message(title, [*blocks, *messages.actions(buttons)])


def _ahead_blocks(ahead: Sequence[tuple[datetime, Finding]]) -> list[Block]:
    if not ahead:
        return []
    title = "*In the next seven days, by what is planned*"
    lines = [f":alarm_clock: {when(at)}: {esc(words(finding), 500)}" for at, finding in ahead]
    return [messages.section(text) for text in messages.pack_lines([title, *first_few(lines, MAX_WARNINGS)])]


def _finding_buttons(finding: Finding, number: int) -> list[Block | None]:
    """Return the buttons that show the rules of *finding*, edit or switch them off."""
    rules = list({place.rule.id: place.rule for place in finding.places}.values())[:MAX_FINDING_RULES]
    if finding.kind in ONLY_SHOWN:
        return [
            show_button(
                rule, f"show.{number}.{at}", f"Show {quote_plain(rule.title, 40)}" if len(rules) > 1 else "Show"
            )
            for at, rule in enumerate(rules, start=1)
        ]
    return [
        edit_button(rules[0], f"edit.{number}") if finding.kind not in ONLY_SWITCHED_OFF else None,
        *(
            switch_off_button(f"Switch off {quote_plain(rule.title, 40)}…", rule, f"off.{number}.{at}")
            for at, rule in enumerate(rules, start=1)
            if rule.active
        ),
    ]


MAX_FINDING_RULES: Final = 3
"""Rules of a finding that get buttons."""
