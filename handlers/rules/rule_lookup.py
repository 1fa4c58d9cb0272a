"""``/rules list`` and ``which``: which rules there are, and what they do to a URL."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from bot.changes.model.edits import Target
from bot.clients.cache import search_items
from bot.clients.lists import Incomplete
from bot.gatehouse import Gatehouse
from bot.rules.edit import status_of
from bot.rules.lint.route import MAX_HOPS, Route, is_effective, next_url
from bot.rules.matching import judge, judge_all, why_not_understood
from bot.rules.model import ACTIVE, INACTIVE, Group, Groups, Rule, texts_in, why_group_is_off
from bot.rules.outcomes import Explained
from bot.rules.pair_fields import KNOWN_TYPES
from bot.rules.url import MISTYPED_SCHEME, SCHEME, Url, is_url
from bot.text.names import NARROWED, named_group, resolve_name
from bot.text.search import has_words
from bot.text.times import parse_time
from bot.threads import run_over
from handlers.blocks import menus
from handlers.blocks.inputs import MAX_OPTIONS
from handlers.blocks.messages import ROWS_PER_PAGE, Block, ListPage
from handlers.changes.requests import upcoming_changes
from handlers.errors import BadFilter, NotOneGroup, UnknownFilterValue
from handlers.gatehouse.answers import facts_of
from handlers.grammar.command import Command
from handlers.grammar.vocabulary import may_filter
from handlers.rules import views, which_view
from handlers.rules.commands import (
    RulesFiltered,
    RulesList,
    RulesShow,
    RulesWhich,
)
from handlers.rules.match_view import answer_about_rule
from handlers.rules.past import look_back, past_answer
from handlers.rules.reasons import type_word
from handlers.rules.rule_refs import BareNumber, NotOne, find_rule, groups_of, no_rule_error
from handlers.slack.registry import Click, clicks, handles, offers
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
    found = await run_over(listing.known, _filter_and_sort, listing.known, command, groups)
    if not (found or listing.gap) and command.text and command == RulesList(command.text):
        error = await no_rule_error(command.text, gatehouse)
        if error.near:
            raise error
    if not (found or listing.gap):
        refuse_unknown_values(command, listing.known, groups)
    page = ListPage.of(found, command.page, ROWS_PER_PAGE)
    numbered = () if caller.public else found[: page.last]
    if not caller.agent:
        # Before the message is drawn: under load, hundreds wait here, and each message takes 50 KB.
        await gatehouse.store.lists.put(caller.user, "rules", [rule.id for rule in numbered])
    message = views.rule_list(page, command=command, gap=listing.gap, groups=groups, public=caller.public)
    is_doubtful = command.text is not None and (not (found or listing.gap) or may_filter(command.text))
    return Private(message, is_doubtful, data={"total": page.total, "rules": [*map(_data, page.items)]})


def _data(rule: Rule) -> Mapping[str, Any]:
    return {"id": rule.id, "name": rule.title, "type": type_word(rule.rule_type), "on": rule.active}


def _filter_and_sort(rules: Sequence[Rule], command: RulesList, groups: Groups | None) -> list[Rule]:
    return sorted(filter_rules(rules, command, groups), key=ORDERS[command.sort or "name"])


def filter_rules(rules: Sequence[Rule], command: RulesFiltered, groups: Groups | None) -> list[Rule]:
    """Return the rules that pass every filter that was given. Texts are parts, in any case of letters; a status is a whole."""
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
    """Return the type in the service's word and in those of people, also of more than one: “blocks”, “redirects”."""
    word = type_word(rule_type)
    return f"{rule_type or ''} {word} {word}s {'blocked' if rule_type == 'Cancel' else ''}"


def _has_parts(rule: Rule, command: RulesFiltered, status: str | None) -> bool:
    wanted: tuple[tuple[str | None, Callable[[], str]], ...] = (
        (command.text, lambda: "\n".join((rule.title, rule.id, rule.description or "", *rule.texts()))),
        (command.type, lambda: _type_words(rule.rule_type)),
        (command.url, lambda: "\n".join(_urls(rule))),
        (None if status else command.status, lambda: rule.status or ""),
    )
    return all(has_words(part, whole()) for part, whole in wanted if part)


def _group_ids(wanted: str, rules: Sequence[Rule], groups: Groups | None) -> Collection[str]:
    """Return the ids of the groups called *wanted*, or else with it in their names; of some only the id is known."""
    names = {rule.group_id: None for rule in rules if rule.group_id} | dict(groups.names if groups is not None else {})
    found = resolve_name(wanted, (named_group(Group(id=key, name=name)) for key, name in names.items()), NARROWED)
    return {group.id for group in found.things}


def _urls(rule: Rule) -> list[str]:
    """Return the texts in *rule* that URLs are compared with or made of, and each whole URL in its other fields."""
    pairs = rule.pairs or ()
    others = [text for pair in pairs for text in texts_in(pair.model_extra) if is_url(text)]
    return [*(text for pair in pairs for text in pair.urls()), *others]


@handles(RulesWhich)
async def which(command: RulesWhich, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return await _explain(command, caller, gatehouse)


async def _explain(command: RulesWhich, caller: Caller, gatehouse: Gatehouse) -> Private:
    url = Url.from_typed(command.url)
    listing = await gatehouse.rules.all()
    then = await look_back(command, caller, gatehouse) if command.at is not None else None
    rules = then.rules if then is not None else listing.known
    groups = then.groups if then is not None else await groups_of(rules, gatehouse)
    typed = command.url.strip()
    assumed = not (SCHEME.match(typed) or MISTYPED_SCHEME.match(typed))
    if command.ref:
        try:
            rule = await find_rule(command.ref, gatehouse)
        except (NotOne, BareNumber, Incomplete):  # words that name none, or several, are left out of the question
            time = parse_time(command.ref.split(), 0)
            if time is not None and time.count == len(command.ref.split()):  # “last weekend”
                raise BadFilter(f"“{command.ref[:40]}” isn’t a moment.", "rules which URL at 02:10") from None
            command = replace(command, ref=None, unknown=command.ref)
        else:
            verdict = next(judge_all([rule], url, groups))
            message = answer_about_rule(rule, verdict, url, assumed=assumed, public=caller.public)
            return Private(message, data=_data(rule))
    route = await follow(await explain_url(rules, url, groups), rules, groups)
    asleep = which_view.off_decider(route) if then is None else None
    back_on = await _on_again_at(asleep.rule, gatehouse) if asleep is not None else None
    answer = which_view.answer(
        route,
        command=command if then is None else replace(command, details=True),
        gap=listing.gap,
        assumed=assumed,
        public=caller.public,
        back_on=back_on,
        leading=[rule.title for rule in rules if _leads_to(rule, route.first.url.full, groups)],
    )
    deciding = [match.rule for match in route.deciding]
    data = {"ends_at": route.last.url.full, "is_loop": route.is_loop, "by": [*map(_data, deciding)]}
    if then is None:
        return Private(answer, data=data)
    matching = [match.rule for step in route.steps for match in step.acting]
    keys = {key for rule in matching for key in (rule.id, rule.group_id)}
    changes = [each for each in then.changes if each.edit.target.key in keys]
    facts = await facts_of(changes, gatehouse)
    return Private(past_answer(answer, then, changes, facts, command=command, public=caller.public), data=data)


@clicks("which.details")
async def which_details(click: Click, caller: Caller, gatehouse: Gatehouse) -> Command:
    return RulesWhich(click.value, details=True)


def _leads_to(rule: Rule, url: str, groups: Groups | None) -> bool:
    """Whether *rule*, which is on, redirects to *url*, with any query."""
    ends = (pair.destination for pair in rule.pairs or () if pair.destination and rule.rule_type == "Redirect")
    is_on = rule.active and why_group_is_off(rule, groups) is None
    return is_on and any(end.partition("?")[0].rstrip("/") == url.partition("?")[0].rstrip("/") for end in ends)


async def _on_again_at(rule: Rule, gatehouse: Gatehouse) -> datetime | None:
    """Return when *rule*, which is off, is switched on again as its temporary change ends; None where it isn't."""
    coming = await upcoming_changes(Target(service="rules", key=rule.id), gatehouse)
    if not coming or not coming[0].is_temporary or (coming[0].edit.before or {}).get("status") != ACTIVE:
        return None
    return coming[0].request.reverts_at


async def explain_url(rules: Sequence[Rule], url: Url, groups: Groups | None = None) -> Explained:
    """Return what *rules* do to *URL*, in a thread, as some expressions take a millisecond each."""
    return Explained.of(url, await asyncio.to_thread(list, judge_all(rules, url, groups)))


async def follow(first: Explained, rules: Sequence[Rule], groups: Groups | None = None) -> Route:
    """Follow the URL of *first* through *rules*, as far as browsers do."""
    steps, effective = [first], [rule for rule in rules if is_effective(rule, groups) or why_not_understood(rule)]
    seen = {first.url.full: 0}
    while (there := next_url(steps[-1])) is not None:
        if (back_to := seen.get(there.full)) is not None:
            return Route(tuple(steps), back_to=back_to)
        if len(steps) > MAX_HOPS:
            return Route(tuple(steps), is_endless=True)
        seen[there.full] = len(steps)
        verdicts = await asyncio.to_thread(lambda url: [judge(rule, url, groups) for rule in effective], there)
        steps.append(Explained.of(there, verdicts))
    return Route(tuple(steps))


@offers("pick.rule", needs="rule.read")
async def offer_rules(typed: str, caller: Caller, gatehouse: Gatehouse) -> Sequence[Block]:
    hits = await search_items(await gatehouse.rules.index(), typed, most=MAX_OPTIONS)
    hits.sort(key=lambda hit: (hit.rank, hit.item.title.casefold()))
    gap = None if hits else (await gatehouse.rules.recent()).gap
    return menus.notice_options(gap.sentence("rules")) if gap else menus.rule_options(hit.item for hit in hits)


@clicks("pick.rule")
async def pick_rule(click: Click, caller: Caller, gatehouse: Gatehouse) -> Command:
    return RulesShow(ref=menus.picked_value(click.value))


@offers("pick.group", needs="rule.read")
async def offer_groups(typed: str, caller: Caller, gatehouse: Gatehouse) -> Sequence[Block]:
    groups = await gatehouse.groups.groups()
    return menus.named_options(typed, dict(groups.names) if groups is not None else {})
