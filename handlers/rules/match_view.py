"""What one rule does to a URL and why, as a card says it; and the buttons of a rule that is shown so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from bot.rules.matching import judge
from bot.rules.model import Rule
from bot.rules.outcomes import Match, NearKind, NearMiss, NoteKind, Undecidable, Verdict
from bot.rules.secrets import without_secrets
from bot.rules.url import Url
from bot.text.secrets import MARK, hide_in_text
from handlers.blocks import messages
from handlers.blocks.buttons import ask_button, run_button
from handlers.blocks.messages import Block, Message, and_more, code, esc, plural, quote, url_code
from handlers.rules.commands import RulesEdit, RulesOff, RulesOn, RulesShow, RulesWhich
from handlers.rules.pairs_view import effect_line, filters_words, source_line
from handlers.rules.reasons import near_words, note_words, off_words

MAX_PAIRS: Final = 4
ASSUMED: Final = "Assumed https://."


def answer_about_rule(rule: Rule, verdict: Verdict | None, url: Url, *, assumed: bool, public: bool) -> Message:
    """Return why *rule* matches the URL, or why it doesn't."""
    outcome = f"{_verdict_line(rule, verdict)}\n{url_code(url.full, 300)}"
    if isinstance(verdict, Match):
        match = redact(verdict, url) if public else verdict
        lines = ["" if match.idle else f"{effect_text(match)}{_pair_numbers(match)}", *notes_of(match)]
    else:
        lines = [
            _why_not(verdict, url),
            _sources_line(without_secrets(rule, range(1, MAX_PAIRS + 1)) if public else rule),
        ]
    text = "\n".join(filter(None, lines))
    blocks = [
        messages.section(outcome),
        *([messages.section(text)] if text else []),
        *([messages.context(ASSUMED)] if assumed else []),
        *messages.actions(_rule_buttons(rule, verdict, url)),
    ]
    return messages.message(plain_outcome(outcome), messages.without_buttons(blocks) if public else blocks)


def _sources_line(rule: Rule) -> str:
    """Return the sources of *rule*; of many the first."""
    pairs = rule.pairs or ()
    sources = [source_line(pair) for pair in pairs[:MAX_PAIRS]]
    more = [plural(len(pairs) - MAX_PAIRS, "other")] if len(pairs) > MAX_PAIRS else []
    return f"Its source: {' or '.join([*sources, *more])}" if sources else ""


def _verdict_line(rule: Rule, verdict: Verdict | None) -> str:
    name = quote(rule.title, 120)
    match verdict:
        case Match(off=off) if off:
            return f":double_vertical_bar: *{name} would match, but {esc(off_words(off), 200)}*"
        case Match(idle=True):
            return f":white_circle: *{name} matches, but changes nothing*"
        case Match():
            return f":large_green_circle: *{name} matches*{condition_text([verdict])}"
        case Undecidable():
            return f":grey_question: *Can’t tell whether {name} matches*"
        case _:
            return f":white_circle: *{name} doesn’t match*"


def _why_not(verdict: Verdict | None, url: Url) -> str:
    match verdict:
        case NearMiss() | Undecidable():
            words = reason_text(verdict, url)
        case _:
            return ""
    return f"{words[:1].upper()}{words[1:]}."


def reason_text(one: NearMiss | Undecidable, url: Url) -> str:
    """Return why *one* doesn't match, or can't be judged, and why it is off, if it is."""
    why = near_reason(one, url) if isinstance(one, NearMiss) else one.why
    return esc("; ".join([why, *([off_words(one.off)] if one.off else [])]), 200)


def _rule_buttons(rule: Rule, verdict: Verdict | None, url: Url) -> list[Block | None]:
    """Return the likely next step first: off for what matches, on for what is off, a correction for what doesn't."""
    if isinstance(verdict, Match) and not verdict.off:
        first = switch_off_button("Switch off…", rule, "off")
    elif isinstance(verdict, Match) and not rule.active:
        first = switch_on_button(rule)
    else:
        first = edit_button(rule, "edit")
    return [
        first,
        show_button(rule, "show"),
        run_button("Check all rules", RulesWhich(url.full), "all"),
    ]


def redact(match: Match, url: Url) -> Match:
    """Return *match* for all to read: without secrets, and without captures where the *url* has a secret."""
    rule = without_secrets(match.rule, (match.pair, *match.also[: MAX_PAIRS - 1]))
    return replace(match, rule=rule, captures=() if MARK in hide_in_text(url.full) else match.captures)


def condition_text(matches: Iterable[Match]) -> str:
    """Return the conditions of an outcome that *matches* decide, as the end of a sentence."""
    found = []
    for match in matches:
        found += ["if its filters match"] if any(note.kind is NoteKind.FILTERS for note in match.notes) else []
        found += ["if its group is on"] if any(note.kind is NoteKind.GROUP for note in match.notes) else []
        found += [f"if pair {note.pair} doesn’t match" for note in match.notes if note.kind is NoteKind.UNTRIED_PAIR]
    return f", {' and '.join(dict.fromkeys(found))}" if found else ""


def match_section(match: Match) -> Block:
    """Return the section on a rule that decides, or would."""
    return messages.section("\n".join([match_line(match, _result_text(match)), *notes_of(match)]))


def match_line(match: Match, does: str) -> str:
    """Return the rule of *match* by name, with what it *does*."""
    return f"*{esc(match.rule.title, 120)}*{_pair_numbers(match)}   {does}"


def notes_of(match: Match) -> Iterator[str]:
    """Yield the conditions of *match*, and notes about it."""
    pairs = match.rule.pairs or ()
    pair = pairs[match.pair - 1] if 0 < match.pair <= len(pairs) else None
    destination = (pair.destination if pair is not None else "") or ""
    captured = [(f"${number}", text) for number, text in enumerate(match.captures, 1) if text]
    if told := [f"{name} = {code(text, 80)}" for name, text in captured if name in destination]:
        yield f"Captured {', '.join(told[:6])}"
    filters = filters_words(pair) if pair is not None else ""
    if filters:
        yield filters[:1].upper() + filters[1:]
    for note in match.notes:
        if note.kind is not NoteKind.FILTERS:
            words = esc(note_words(note), 300)
            yield f"_{words[:1].upper()}{words[1:]}_"


def _result_text(match: Match) -> str:
    if match.blocks:
        return f":no_entry: {'would block' if match.off else 'blocks'} it"
    return f"→ {url_code(match.result, 300)}"


def effect_text(match: Match) -> str:
    if match.decides:
        return _result_text(match)
    pairs = match.rule.pairs or ()
    lines = [effect_line(match.rule.rule_type, pairs[number - 1]) for number in (match.pair, *match.also)[:MAX_PAIRS]]
    return "; ".join(filter(None, [*lines, and_more(len(match.also) + 1 - MAX_PAIRS, "pair")]))


def _pair_numbers(match: Match) -> str:
    """Return which pairs match, where the rule has several."""
    if len(match.rule.pairs or ()) < 2:
        return ""
    numbers = [match.pair, *match.also]
    return f" (pair{'s' if match.also else ''} {', '.join(map(str, numbers[:8]))}{'…' if len(numbers) > 8 else ''})"


def near_reason(miss: NearMiss, url: Url) -> str:
    """Return what would have to be different; without the query, also what the rule would do then."""
    if miss.kind is not NearKind.QUERY:
        return near_words(miss)
    bare, _, query = url.full.partition("?")
    found = judge(miss.rule, Url.of(bare))
    if not isinstance(found, Match) or found.off or found.result is None:
        return near_words(miss)
    return f"without ?{messages.clip(query, 60)} it redirects to {messages.clip(found.result, 160)}"


def show_button(rule: Rule, number: str) -> Block | None:
    return run_button("Show", RulesShow(ref=rule.id), number, spoken=f"Show {rule.title}")


def edit_button(rule: Rule, number: str) -> Block | None:
    return run_button("Edit…", RulesEdit(ref=rule.id), number, spoken=f"Edit {rule.title}")


def switch_off_button(label: str, rule: Rule, number: str) -> Block | None:
    """Return a button that switches *rule* off, for as long as is chosen then."""
    return ask_button(label, RulesOff(refs=(rule.id,)), number, spoken=f"Switch off {rule.title}")


def switch_on_button(rule: Rule) -> Block | None:
    return run_button("Switch on", RulesOn(refs=(rule.id,)), "on", spoken=f"Switch on {rule.title}")


def plain_outcome(outcome: str) -> str:
    """Return *outcome* as a notification shows it: without its sign and its marks."""
    return outcome.partition(": ")[2].partition("\n")[0].replace("*", "").replace("`", "")
