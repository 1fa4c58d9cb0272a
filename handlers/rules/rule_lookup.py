"""``/rules list``, ``which``, ``check`` and the test URLs of a channel: what reads rules and changes none."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from bot.changes import forecast
from bot.changes.forecast import Forecast
from bot.clients.cache import search_in_slices
from bot.clients.errors import ClientError
from bot.clients.json_stream import run_in_slices, run_in_thread
from bot.clients.lists import Incomplete
from bot.gatehouse import Gatehouse
from bot.policy.model import SETTINGS
from bot.rules.edit import status_of
from bot.rules.lint.findings import Finding, key_of, sort_findings
from bot.rules.lint.redirects import MAX_HOPS, Effort, is_effective
from bot.rules.lint.route import Route, next_url
from bot.rules.lint.rule_set import check_all, check_change, check_loops
from bot.rules.matching import impact, judge, judge_all
from bot.rules.model import ACTIVE, INACTIVE, Group, Groups, Rule, RuleDraft
from bot.rules.outcomes import Explained
from bot.rules.pair_fields import KNOWN_TYPES
from bot.rules.url import SCHEME, Url, is_url
from bot.store.channel_settings import MAX_TEST_URLS
from bot.text.names import NARROWED, named_group, resolve_name
from bot.text.search import has_words
from handlers.blocks import menus
from handlers.blocks.inputs import MOST_OPTIONS
from handlers.blocks.messages import Block, ListPage, code, join_commas
from handlers.blocks.tables import ROWS_PER_PAGE
from handlers.changes.coming import events_until
from handlers.changes.requests import resolve_start
from handlers.errors import LoopNeedsReason, NotOneGroup, UnknownFilterValue
from handlers.grammar.command import Command, slash
from handlers.grammar.time_fields import MAX_DURATION_SECONDS, Start
from handlers.rules import check_view, views, which_view
from handlers.rules.commands import RulesCheck, RulesFiltered, RulesList, RulesSamples, RulesShow, RulesWhich
from handlers.rules.reasons import type_word
from handlers.rules.rule_refs import BareNumber, NotOne, find_rule, groups_of, no_rule_error
from handlers.slack.registry import Click, Typed, clicks, handles, offers
from handlers.slack.reply import Caller, Private, Reply

ORDERS: Final[dict[str, Callable[[Rule], Any]]] = {
    "name": lambda rule: rule.title.casefold(),
    "type": lambda rule: ((rule.rule_type or "").casefold(), rule.title.casefold()),
    "changed": lambda rule: (-(rule.modified or 0), rule.title.casefold()),
}
"""What rules are sorted by; what was changed last comes first, and what has no date last."""


@handles(RulesList)
async def show_list(command: RulesList, caller: Caller, gatehouse: Gatehouse) -> Reply:
    listing = await gatehouse.rules.all()
    groups = await groups_of(listing.known, gatehouse)
    found = await asyncio.to_thread(_filter_and_sort, listing.known, command, groups)
    if not (found or listing.gap) and command.text and command == RulesList(command.text):
        error = await no_rule_error(command.text, gatehouse)
        if error.near:
            raise error
    if not (found or listing.gap):
        refuse_unknown_values(command, listing.known, groups)
    page = ListPage.of(found, command.page, ROWS_PER_PAGE)
    numbered = not (caller.public or caller.guessed)
    message = views.rule_list(
        page, command=command, gap=listing.gap, groups=groups, public=caller.public, numbered=numbered
    )
    if found and numbered:
        await gatehouse.store.lists.put(caller.user, "rules", [rule.id for rule in found[: page.last]])
    return Private(message, is_empty=not (found or listing.gap) and command.text is not None)


def _filter_and_sort(rules: Sequence[Rule], command: RulesList, groups: Groups | None) -> list[Rule]:
    return sorted(filter_rules(rules, command, groups), key=ORDERS[command.sort or "name"])


def filter_rules(rules: Sequence[Rule], command: RulesFiltered, groups: Groups | None) -> list[Rule]:
    """The rules that pass every filter that was given. Texts are parts, in any case of letters; a status is a whole."""
    status = status_of(command.status or "")
    held = _group_ids(command.group, rules, groups) if command.group else None
    return [
        rule
        for rule in rules
        if _has_parts(rule, command, status)
        and (status is None or rule.status == status)
        and (held is None or rule.group_id in held)
    ]


def refuse_unknown_values(command: RulesFiltered, rules: Sequence[Rule], groups: Groups | None) -> None:
    """Raise `UnknownFilterValue` or `NotOneGroup` where *command* narrows by what is no type, status or group of *rules*.

    “No rules” would be untrue: there are some, under another word.
    """
    types = {rule.rule_type or "" for rule in rules}
    if command.type and not any(has_words(command.type, _type_words(each)) for each in (*types, *KNOWN_TYPES)):
        raise UnknownFilterValue("type", command.type, sorted(map(type_word, types)))
    statuses = {rule.status or "" for rule in rules} - {ACTIVE, INACTIVE}
    if command.status and not (status_of(command.status) or any(has_words(command.status, each) for each in statuses)):
        raise UnknownFilterValue("status", command.status, ["on", "off", *sorted(statuses)])
    if command.group and groups is not None and not _group_ids(command.group, rules, groups):
        raise NotOneGroup(command.group, ())


def _type_words(rule_type: str | None) -> str:
    """The type in the service's word and in those of people, also of more than one: “blocks”, “redirects”."""
    word = type_word(rule_type)
    return f"{rule_type or ''} {word} {word}s {'blocked' if rule_type == 'Cancel' else ''}"


def _has_parts(rule: Rule, command: RulesFiltered, status: str | None) -> bool:
    wanted: tuple[tuple[str | None, Callable[[], str]], ...] = (
        (command.text, lambda: "\n".join((rule.title, rule.id, rule.description or "", *_urls(rule)))),
        (command.type, lambda: _type_words(rule.rule_type)),
        (command.url, lambda: "\n".join(_urls(rule))),
        (None if status else command.status, lambda: rule.status or ""),
    )
    return all(has_words(part, whole()) for part, whole in wanted if part)


def _group_ids(wanted: str, rules: Sequence[Rule], groups: Groups | None) -> Collection[str]:
    """The ids of the groups that are called *wanted*, or else have it in what they are called; of some only the id is known."""
    names = {rule.group_id: None for rule in rules if rule.group_id} | dict(groups.names if groups is not None else {})
    found = resolve_name(wanted, (named_group(Group(id=key, name=name)) for key, name in names.items()), NARROWED)
    return {group.id for group in found.things}


def _urls(rule: Rule) -> list[str]:
    pairs = rule.pairs or ()
    return [text for pair in pairs for text in (pair.source and pair.source.value, pair.destination) if text]


@handles(RulesWhich)
async def which(command: RulesWhich, caller: Caller, gatehouse: Gatehouse) -> Reply:
    url = Url.from_typed(command.url)
    listing = await gatehouse.rules.all()
    groups = await groups_of(listing.known, gatehouse)
    assumed = not SCHEME.match(command.url.strip())
    one, command = await _rule_asked_about(command, caller, gatehouse)
    if one is not None:
        verdict = next(judge_all([one], url, groups))
        return Private(which_view.answer_about_rule(one, verdict, url, assumed=assumed, public=caller.public))
    rules: Sequence[Rule] = listing.known
    lead: Sequence[Block] = ()
    moment = gatehouse.now()
    if command.start is not None:
        moment, _ = await resolve_start(command.start, caller, gatehouse)
        then, lead = await forecast_of(moment, listing.known, groups, gatehouse)
        rules, groups = then.rules, then.groups
    route = await follow(await explain_url(rules, url, groups), rules, groups)
    off = which_view.off_rule(route)
    back_on = await _on_again_at(off, rules, groups, moment, gatehouse) if off is not None else None
    answer = which_view.answer(
        route, command=command, gap=listing.gap, assumed=assumed, public=caller.public, back_on=back_on
    )
    return Private(replace(answer, blocks=(*lead, *answer.blocks)))


async def forecast_of(
    moment: datetime, rules: Sequence[Rule], groups: Groups | None, gatehouse: Gatehouse
) -> tuple[Forecast, Sequence[Block]]:
    """The *rules* and *groups* at a time to come, and lines that say so."""
    then = forecast.predict(rules, await events_until(moment, gatehouse), groups)
    return then, which_view.forecast_blocks(moment, then)


async def start_of_command(start: Start | None, caller: Caller, gatehouse: Gatehouse) -> datetime | None:
    """The moment that *start* means to *caller*; None for at once."""
    return None if start is None else (await resolve_start(start, caller, gatehouse))[0]


async def _on_again_at(
    rule: Rule, rules: Sequence[Rule], groups: Groups | None, moment: datetime, gatehouse: Gatehouse
) -> datetime | None:
    """When *rule*, which is off at *moment* among *rules*, is switched on again as its change ends; None where it isn't."""
    coming = [
        event
        for event in await events_until(moment + timedelta(seconds=MAX_DURATION_SECONDS), gatehouse)
        if event.at > moment
    ]
    about = [each for each in forecast.predict(rules, coming, groups).happens if each.target.key == rule.id]
    return about[0].at if about and about[0].is_end and (about[0].after or {}).get("status") == ACTIVE else None


async def _rule_asked_about(
    command: RulesWhich, caller: Caller, gatehouse: Gatehouse
) -> tuple[Rule | None, RulesWhich]:
    """The rule that comes after the URL; words that name none, or several, are left out of the question."""
    if not command.ref:
        return None, command
    try:
        return await find_rule(command, caller, gatehouse), command
    except (NotOne, BareNumber, Incomplete):
        return None, replace(command, ref=None, unknown=command.ref)


async def explain_url(rules: Sequence[Rule], url: Url, groups: Groups | None = None) -> Explained:
    """Return what *rules* do to *URL*; yields to the event loop in between, as some expressions take a millisecond each."""
    return Explained.of(url, await run_in_slices(judge_all(rules, url, groups)))


async def follow(first: Explained, rules: Sequence[Rule], groups: Groups | None = None) -> Route:
    """Follow the URL of *first* through *rules*, as far as browsers do."""
    steps, effective = [first], [rule for rule in rules if is_effective(rule, groups)]
    seen = {first.url.full: 0}
    while (there := next_url(steps[-1])) is not None:
        if (back_to := seen.get(there.full)) is not None:
            return Route(tuple(steps), back_to=back_to)
        if len(steps) > MAX_HOPS:
            return Route(tuple(steps), is_endless=True)
        seen[there.full] = len(steps)
        verdicts = await run_in_slices(judge(rule, there, groups) for rule in effective)
        steps.append(Explained.of(there, verdicts))
    return Route(tuple(steps))


FINDINGS_PER_PAGE: Final = 8
PARTLY: Final = "There are too many rules, so this was not compared with all of them."
NEW: Final = "new"
"""Stands for the id that a rule will get."""


@handles(RulesCheck)
async def check(command: RulesCheck, caller: Caller, gatehouse: Gatehouse) -> Reply:
    with gatehouse.limits.one_at_a_time("rules check", caller.user):
        one = await find_rule(command, caller, gatehouse) if command.ref else None
        listing = await gatehouse.rules.all()
        groups = await groups_of(listing.known, gatehouse)
        effort = Effort()
        ahead: Sequence[tuple[datetime, Finding]] = ()
        if one is None:
            found = await _gather(check_all(listing.known, groups, effort=effort))
            ahead = await _findings_ahead(listing.known, groups, gatehouse)
        else:
            found = await _gather(check_change(listing.known, None, one, groups, effort=effort))
    page = ListPage.of(found, command.page, FINDINGS_PER_PAGE)
    count, complete = len(listing.known) if one is None else 1, effort.enough
    return Private(
        check_view.findings_page(
            page, command=command, rules=count, gap=listing.gap, complete=complete, public=caller.public, ahead=ahead
        )
    )


async def findings_about(keys: Collection[str], gatehouse: Gatehouse) -> Sequence[Finding]:
    """What is wrong now with rules of which some have these ids, or of groups that do; raises a ClientError."""
    rules = (await gatehouse.rules.all()).whole()
    found = await _gather(check_all(rules, await groups_of(rules, gatehouse), effort=Effort()))
    return [each for each in found if any({place.rule.id, place.rule.group_id} & {*keys} for place in each.places)]


AHEAD: Final = timedelta(days=7)
MOST_AHEAD: Final = 20
"""Planned starts and ends of these days that are looked at."""


async def _findings_ahead(
    rules: Sequence[Rule], groups: Groups | None, gatehouse: Gatehouse
) -> Sequence[tuple[datetime, Finding]]:
    """What will be wrong within some days by what is planned and what ends, and is not yet, with when it begins."""
    found: list[tuple[datetime, Finding]] = []
    coming = await events_until(gatehouse.now() + AHEAD, gatehouse)
    for event in forecast.predict(rules, coming, groups).happens[:MOST_AHEAD]:
        then = forecast.predict(rules, [event], groups)
        before, after = (
            next((rule for rule in there if rule.id == event.target.key), None) for there in (rules, then.rules)
        )
        found += [(event.at, finding) for finding in await _gather(check_change(rules, before, after, then.groups))]
        rules, groups = then.rules, then.groups
    return found


@dataclass(frozen=True, slots=True)
class Look:
    """What a change would add to what is wrong, and the *limits* of looking at that before it is made, in plain lines."""

    findings: tuple[Finding, ...]
    limits: tuple[str, ...]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the lines for its card, in plain text."""
        return (*check_view.warnings_of(self.findings), *self.limits)


def unchecked_look() -> Look:
    """Return the Look for a change that was not compared with the other rules."""
    return Look((), (f"Not compared with the other rules; {slash('rules check')} does that.",))


async def look_at(gatehouse: Gatehouse, before: Rule | None, after: RuleDraft, at: datetime | None = None) -> Look:
    """What making *after* of *before* would add to what is wrong, by rules some seconds old.

    *at*: when it begins, so by the rules of then.

    A list that cannot be read stops nobody: at night a switch is wanted more than advice. It is said, though.
    """
    rules: Sequence[Rule] = ()
    limits: list[str] = []
    if after.active or before is None or before.name != after.name:
        try:
            listing = await gatehouse.rules.recent()
        except ClientError:
            limits += unchecked_look().limits
        else:
            rules = listing.known
            limits += [f"{listing.gap.sentence('rules')} It was not compared with the others."] if listing.gap else []
    groups = await groups_of([*rules, after], gatehouse)
    if at is not None:
        then = forecast.predict(rules, await events_until(at, gatehouse), groups)
        rules, groups = then.rules, then.groups
    effort = Effort()
    found = await _gather(check_change(rules, before, as_rule(before, after), groups, effort=effort))
    return Look(found, (*limits, *([] if effort.enough else [PARTLY])))


async def added_loops(
    live: Sequence[Rule], made: Sequence[Rule], groups: Groups | None, effort: Effort
) -> Sequence[Finding]:
    """The loops that there would be with *made* among *live*, or in place of those with the same id, and aren't now."""
    ids = {rule.id for rule in made}
    then = [*(rule for rule in live if rule.id not in ids), *made]
    if not (found := await _gather(check_loops(then, ids, groups, effort=effort))):
        return ()
    known = {key_of(loop) for loop in await _gather(check_loops(live, ids, groups))}
    return [loop for loop in found if key_of(loop) not in known]


def as_rule(before: Rule | None, after: RuleDraft) -> Rule:
    """The rule that *after* will be."""
    body: dict[str, Any] = after.body()
    return Rule.model_validate({"id": before.id if before is not None else NEW} | body)


def refuse_silent_loop(findings: Iterable[Finding], reason: str | None) -> None:
    """Raise LoopNeedsReason where something loops and nobody says why."""
    loops = [finding for finding in findings if finding.needs_reason]
    if loops and not (reason or "").strip():
        raise LoopNeedsReason([check_view.words(loop) for loop in loops])


async def _gather(steps: Iterator[tuple[Finding, ...]]) -> tuple[Finding, ...]:
    found = await run_in_thread(steps)
    return await asyncio.to_thread(lambda: sort_findings(finding for step in found for finding in step))


@offers("pick.rule", needs="rule.read")
async def offer_rules(typed: Typed, caller: Caller, gatehouse: Gatehouse) -> Sequence[Block]:
    hits = await search_in_slices(await gatehouse.rules.index(), typed.text, most=MOST_OPTIONS)
    hits.sort(key=lambda hit: (hit.rank, hit.item.title.casefold()))
    gap = None if hits else (await gatehouse.rules.recent()).gap
    return menus.notice_options(gap.sentence("rules")) if gap else menus.rule_options(hit.item for hit in hits)


@clicks("pick.rule")
async def pick_rule(click: Click, caller: Caller, gatehouse: Gatehouse) -> Command:
    return RulesShow(ref=menus.picked_value(click.value))


URL: Final = re.compile(r"https?://[^\s<>|\"]+")


@handles(RulesSamples)
async def samples(command: RulesSamples, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """The URLs of a channel. Changing them is changing what the channel has set."""
    said = ""
    if command.action in {"add", "remove"}:
        await gatehouse.access.require(SETTINGS, caller.user, caller.channel)
    if command.action == "add":
        said = await _add(command, caller, gatehouse)
    elif command.action == "remove":
        url = Url.of(command.urls[0]).full
        gone = await gatehouse.store.test_urls.remove(caller.channel, url)
        said = f"{code(url)} {'removed' if gone else 'isn’t a test URL here'}"
    urls = await gatehouse.store.test_urls.get(caller.channel)
    return Private(check_view.test_urls(urls, said=said, public=caller.public))


async def _add(command: RulesSamples, caller: Caller, gatehouse: Gatehouse) -> str:
    """Keep the URLs, as a browser sends them; raises NotAUrl before any is kept."""
    urls = [Url.of(text).full for text in command.urls]
    new = await gatehouse.store.test_urls.add(caller.channel, urls)
    if new:
        return f"Added {join_commas([code(url, 120) for url in new], 5)}"
    return f"Nothing added: already there, or the channel has its {MAX_TEST_URLS} test URLs"


async def preview(
    gatehouse: Gatehouse, caller: Caller, before: Rule | None, after: RuleDraft | None, said: Iterable[str | None] = ()
) -> tuple[str, ...]:
    """What the change does to the test URLs of the channel and to those in what was *said*, in plain lines."""
    written = [url for text in said for url in URL.findall(text or "")]
    texts = filter(is_url, [*await gatehouse.store.test_urls.get(caller.channel), *written])
    urls = {url.full: url for url in map(Url.of, texts)}
    if not urls:
        return ()
    try:
        rules = (await gatehouse.rules.recent()).whole()
    except ClientError:
        return ()
    made = None if after is None else as_rule(before, after)
    groups = await groups_of([rule for rule in (*rules, made) if rule is not None], gatehouse)
    return check_view.lines(await asyncio.to_thread(impact, rules, before, made, list(urls.values()), groups))
