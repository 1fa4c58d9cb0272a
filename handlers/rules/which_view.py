"""Where a URL ends up: the rules that take it there, those that change something else, and why the others don't match."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from bot.clients.lists import Gap
from bot.rules.lint.route import LEADING, Route, decider, rank, results
from bot.rules.matching import spared_text
from bot.rules.model import Rule
from bot.rules.outcomes import Explained, Match, Undecidable
from bot.rules.pair_fields import KNOWN_TYPES
from handlers.blocks import messages
from handlers.blocks.buttons import button, run_button, share_button
from handlers.blocks.messages import Block, Message, and_more, code, esc, join_words, plural, quote, url_code
from handlers.changes.times import when
from handlers.rules import match_view
from handlers.rules.commands import RulesList, RulesWhich
from handlers.rules.reasons import IS_OFF, off_words

MAX_CULPRITS: Final = 6
"""Rules on the way that are shown with their buttons."""
MAX_ALSO: Final = 6
"""Further rules that match and change something else."""
MAX_OTHERS: Final = 5
"""Rules of one kind that are named in small print."""
MAX_URLS: Final = 3
"""Further URLs of one question that are named, each with a button."""
MAX_SHOWN_HOPS: Final = 6


def answer(
    route: Route,
    *,
    command: RulesWhich,
    gap: Gap | None,
    assumed: bool,
    public: bool,
    back_on: datetime | None = None,
    leading: Sequence[str] = (),
) -> Message:
    """Return the outcome, then who does it. *assumed*: nobody typed the scheme; *public*: the channel reads it; *leading*: the
    names of the rules that redirect others to it.

    Where nothing redirects or blocks, what doesn't either is left out, unless *command* asks for details.
    *back_on*: when the rule of `off_decider` is switched on again.
    """
    if public:
        route = _without_secrets(route)
    outcome, way = _outcome(route, gap, back_on), _route_line(route)
    culprits, asleep = _deciding_matches(route), off_decider(route)
    if leading and not culprits:
        names = join_words([quote(name, 120) for name in leading], most=MAX_OTHERS)
        way = f"{names} redirect{'s' * (len(leading) == 1)} to it."
    blocks: list[Block] = [messages.section(f"{outcome}\n{way}" if way else outcome)]
    blocks += _culprit_blocks(culprits)
    details = None
    if not culprits and not command.details and (brief := _without_others(route, public)) != route:
        route, details = brief, button("Details", "v1.which.details", command.url)
    if asleep is not None:
        # Of a rule whose group is off, switching it on would change nothing.
        on = match_view.switch_on_button(asleep.rule) if asleep.off == (IS_OFF,) else None
        blocks += [
            match_view.match_section(asleep),
            *messages.actions([on, match_view.show_button(asleep.rule, "show")]),
        ]
    blocks += _other_change_blocks(route, culprits)
    element = messages.context if len(blocks) > 1 else messages.section
    blocks += [element(text) for text in messages.pack_lines(_no_effect_lines(route, asleep), 1_500)]
    small = list(_small_print(route, command, gap, assumed=assumed))
    blocks += [messages.context("\n".join(small))] if small else []
    urls = [
        run_button(f"Check URL {number}", RulesWhich(url), f"other.{number}")
        for number, url in enumerate(command.others[:MAX_URLS], start=2)
    ]
    lists = None if route.first.acting or details else run_button("List rules", RulesList(), "list")
    blocks += messages.actions([*urls, details, share_button(command), lists])
    return messages.message(match_view.plain_outcome(outcome), messages.without_buttons(blocks) if public else blocks)


def _culprit_blocks(culprits: Sequence[Match]) -> Iterator[Block]:
    """Yield the rules that decide, each with its buttons."""
    for number, match in enumerate(culprits[:MAX_CULPRITS]):
        show = match_view.show_button(match.rule, f"show.{number}")
        yield match_view.match_section(match)
        yield from messages.actions([show, match_view.switch_off_button("Switch off…", match.rule, f"off.{number}")])
    if more := and_more(len(culprits) - MAX_CULPRITS, "rule"):
        yield messages.context(f"{more} on the way.")


def _without_secrets(route: Route) -> Route:
    """Return *route* for all to read."""
    steps = (
        replace(step, acting=tuple(match_view.redact(match, route.first.url) for match in step.acting))
        for step in route.steps
    )
    return replace(route, steps=tuple(steps))


def _without_others(route: Route, public: bool) -> Route:
    """Return *route*, whose URL stays, without the matches that would neither redirect nor block it if they were on.

    In *public*, where no button shows them, those that change something else stay.
    """
    step, kept = route.first, route.first.changing if public else ()
    acting = (match for match in step.acting if match.decides or _may_lead_elsewhere(match) or match in kept)
    return replace(route, steps=(replace(step, acting=tuple(acting)),))


def _outcome(route: Route, gap: Gap | None, back_on: datetime | None) -> str:
    """Return the final outcome for the URL, in one bold line."""
    asked, last = url_code(route.first.url.full, 200), route.last
    found, condition = decider(last), match_view.condition_text(route.deciding)
    if route.is_loop:
        so_far = f"still redirecting after {len(route.steps) - 1} redirects" if route.is_endless else "it loops"
        return f":repeat: *{asked} never arrives: {so_far}{condition}*"
    if found is not None and found.blocks:
        after = f" after {plural(len(route.steps) - 1, 'redirect')}" if len(route.steps) > 1 else ""
        return f":no_entry: *{asked} is blocked{after}*{condition}"
    ends = results(last)
    if len(ends) > 1:
        never_surely = all(match_view.condition_text([match]) for match in last.changing if match.result is not None)
        may = "may redirect" if never_surely else "redirects"
        return f":twisted_rightwards_arrows: *{asked} {may} to one of {len(ends)} URLs*"
    if ends:
        return f":arrow_right_hook: *{asked} becomes {url_code(ends[0], 300)}*{condition}"
    if len(route.steps) > 1:
        return f":arrow_right_hook: *{asked} redirects to {url_code(last.url.full, 300)}*{condition}"
    if gap:
        return f":warning: *Can’t tell: none of the {gap.read:,} rules that could be read redirects or blocks {asked}*"
    unclear: list[Match | Undecidable] = [*last.undecidable, *last.active]
    if any(map(_may_lead_elsewhere, unclear)):
        return f":warning: *Can’t tell: none of the rules that could be judged redirects or blocks {asked}*"
    return _unchanged_line(route, asked, back_on)


def _unchanged_line(route: Route, asked: str, back_on: datetime | None) -> str:
    """Return that the URL stays, and which rule that is off would redirect or block it."""
    last = route.last
    if (asleep := off_decider(route)) is not None:
        would = "blocked" if asleep.blocks else "redirected"
        is_off, why = asleep.off == (IS_OFF,), esc(off_words(asleep.off), 200)
        until = f" until {when(back_on)}" if back_on else ""
        why = f"is off{until}" if is_off else f"has no effect: {why}"
        return f":white_circle: *{asked} isn’t {would}: {quote(asleep.rule.title, 120)} {why}*"
    if count := len(last.changing):
        changes = "1 rule changes" if count == 1 else f"{count:,} rules change"
        condition = match_view.condition_text(last.changing) if count == 1 else ""  # of several, each says it itself
        return f":large_green_circle: *{asked} isn’t redirected; {changes} something else*{condition}"
    is_sure = all(one.off for one in last.undecidable)
    head = f"No rule changes {asked}" if is_sure else f"{asked} isn’t redirected or blocked"
    return f":white_circle: *{head}*{_why_unchanged(last)}"


def _may_lead_elsewhere(found: Match | Undecidable) -> bool:
    """Whether *found* may redirect or block, for all that is known: it can't be judged, or is of a type that isn't known."""
    rule_type = found.rule.rule_type
    may = rule_type in LEADING or rule_type == "Cancel" if isinstance(found, Undecidable) else False
    return not found.off and (may or rule_type not in KNOWN_TYPES)


def _why_unchanged(step: Explained) -> str:
    if text := spared_text(step.url):
        return f": rules are ignored for URLs that contain {code(text)}"
    if step.near:
        return ", but there is a near miss" if len(step.near) == 1 else ", but there are near misses"
    return ""


def _route_line(route: Route) -> str:
    """Return every URL on the way, where there is more than one redirect."""
    urls = [step.url.full for step in route.steps]
    if route.is_endless:
        return f"{' → '.join(url_code(url, 120) for url in urls[:MAX_SHOWN_HOPS])} → …"
    if route.back_to is not None:
        urls.append(urls[route.back_to])
    elif (found := decider(route.last)) is not None and found.blocks:
        return f"{' → '.join(_url_codes(urls))} → blocked" if len(urls) > 1 else ""
    return " → ".join(_url_codes(urls)) if len(urls) > 2 or route.is_loop else ""


def _url_codes(urls: Sequence[str]) -> list[str]:
    """Return the URLs as code; of many the first and the last ones."""
    shown = [url_code(url, 120) for url in urls]
    return shown if len(shown) <= MAX_SHOWN_HOPS else [*shown[:3], f"… {len(shown) - 5} more …", *shown[-2:]]


def _deciding_matches(route: Route) -> list[Match]:
    """Return the matches that decide, each rule once, in the order of the way; at its end all that may."""
    ends = sorted((match for match in route.last.changing if match.decides), key=rank)
    inside = [found for step in route.steps[:-1] if (found := decider(step)) is not None]
    return list({(match.rule.id, match.pair): match for match in (*inside, *ends)}.values())


def off_decider(route: Route) -> Match | None:
    """Return the match that would decide if its rule were not off; None where another decides, or some rule may."""
    step = route.last
    if len(route.steps) > 1 or decider(step) or any(not one.off for one in step.undecidable) or spared_text(step.url):
        return None
    would = (match for match in step.acting if match.off and match.decides)
    return min(would, key=rank, default=None)


def _other_change_blocks(route: Route, culprits: Sequence[Match]) -> list[Block]:
    """Return the rules that change something else, of the URL that was asked about and of the one that is loaded in the end."""
    asked, told = ({match.rule.id for match in some} for some in (route.first.changing, culprits))
    found: dict[str, Match] = {}
    for step in (route.first,) if route.is_loop else (route.first, route.last):
        for match in sorted(step.changing, key=rank):
            if match.rule.id not in told:
                found.setdefault(match.rule.id, match)
    blocks = []
    for number, match in enumerate([*found.values()][:MAX_ALSO]):
        where = "" if match.rule.id in asked else " (on the last URL)"
        lines = [match_view.match_line(match, match_view.effect_text(match)) + where, *match_view.notes_of(match)]
        blocks.append(messages.section("\n".join(lines), match_view.show_button(match.rule, f"also.{number}")))
    if more := and_more(len(found) - MAX_ALSO, "rule"):
        verb = "changes" if len(found) == MAX_ALSO + 1 else "change"
        blocks.append(messages.context(f"{more} that {verb} it."))
    return blocks


def _no_effect_lines(route: Route, but: Match | None) -> Iterator[str]:
    """Yield the rules that do nothing to the URL, by the reason; all *but* the one that is told on its own.

    Those that can't be judged are of the whole way.
    """
    step = route.first
    idle = [match for match in step.active if match.idle]
    off = [match for match in step.acting if match.off and match is not but]
    near = sorted((miss for miss in step.near if not (miss.off and step.changing)), key=lambda miss: bool(miss.off))
    if near:
        title = "Near miss" if len(near) == 1 else "Near misses"
        yield _rules_with_reasons(title, [(miss.rule, match_view.reason_text(miss, step.url)) for miss in near])
    if idle:
        yield _rules_with_reasons("Also matches, changes nothing", [(match.rule, "") for match in idle])
    if off:
        reasons = ["" if match.off == (IS_OFF,) else esc(off_words(match.off), 200) for match in off]
        yield _rules_with_reasons(
            "Would match, but off" if but is None else "Also off",
            [(match.rule, why) for match, why in zip(off, reasons, strict=True)],
        )
    if unjudged := {one.rule.id: one for each in reversed(route.steps) for one in each.undecidable}:
        told = sorted(unjudged.values(), key=lambda one: bool(one.off))
        yield _rules_with_reasons("Can’t tell", [(one.rule, match_view.reason_text(one, step.url)) for one in told])


def _rules_with_reasons(title: str, rules: Sequence[tuple[Rule, str]]) -> str:
    """Return several rules in a row, each with its reason, which is mrkdwn; the first of many."""
    said = [quote(rule.title, 80) + (f" ({why})" if why else "") for rule, why in rules[:MAX_OTHERS]]
    more = f"; and {len(rules) - MAX_OTHERS:,} more" if len(rules) > MAX_OTHERS else ""
    return f"*{title}:* {'; '.join(said)}{more}"


def _small_print(route: Route, command: RulesWhich, gap: Gap | None, *, assumed: bool) -> Iterator[str]:
    """Yield which URL was taken, where that is not plain from what was typed, and what the answer does not cover."""
    if command.others:
        told = ", ".join(code(url, 120) for url in command.others[:MAX_URLS])
        yield f"This is about the first of {len(command.others) + 1:,} URLs. The others: {told}"
    if command.unknown:
        yield f"No single rule is called {code(command.unknown, 80)}, so this covers all of them."
    if command.within:
        yield "Only the URL was read. Put a URL with spaces in quotes."
    if assumed:
        yield match_view.ASSUMED
    if gap:
        yield f":warning: {gap.sentence('rules')} Others may match, too."
    if len(ends := [match for match in route.first.changing if match.decides]) > 1:
        yield f"{plural(len(ends), 'rule')} redirect or block this URL, and their order is not guaranteed."
