"""Commands that change rules and switch groups of rules."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from bot.changes.model.documents import canonical_form
from bot.changes.model.edits import Kind, Target
from bot.changes.model.parts import BulkAct, Purpose
from bot.clients.errors import ClientError
from bot.clients.lists import Listing
from bot.gatehouse import Gatehouse
from bot.rules.edit import BadField, new_problems, problems, with_fields, with_status
from bot.rules.model import Group, Rule, RuleDraft
from bot.text.names import GROUP_REFERENCE, named_group, resolve_name
from handlers.blocks import modals
from handlers.changes.requests import Thing, outlook_blocks, propose, refuse_unchanged, submit, time_text
from handlers.errors import AlreadySo, InvalidDraft, NoGroups, NotOneGroup
from handlers.grammar.tokens import unquote_reason
from handlers.rules import views
from handlers.rules.commands import (
    RulesCopy,
    RulesDelete,
    RulesEdit,
    RulesGroup,
    RulesGroups,
    RulesMake,
    RulesMenu,
    RulesNew,
    RulesOff,
    RulesOn,
    RulesSet,
    RulesShow,
)
from handlers.rules.rule_check import find_added, not_compared
from handlers.rules.rule_form_view import RuleForm
from handlers.rules.rule_refs import find_rule, find_rules, groups_of, refs_on_host
from handlers.slack.registry import handles
from handlers.slack.reply import Caller, Modal, Private, Reply, ShownFirst


@handles(RulesMenu)
async def menu(command: RulesMenu, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return Private(views.menu())


@handles(RulesShow)
async def show(command: RulesShow, caller: Caller, gatehouse: Gatehouse) -> Reply:
    rule = await find_rule(command.ref, gatehouse)
    groups = await groups_of([rule], gatehouse)
    more = await outlook_blocks(Target(service="rules", key=rule.id), rule, gatehouse)
    card = views.rule_card(rule, public=caller.public, groups=groups, more=more)
    return Private(card, data={"id": rule.id, "name": rule.title, "on": rule.active})


@handles(RulesOn)
@handles(RulesOff)
async def switch(command: RulesOn | RulesOff, caller: Caller, gatehouse: Gatehouse) -> Reply:
    is_on = isinstance(command, RulesOn)
    if refs := await refs_on_host(command.refs, gatehouse, on=is_on):
        raise ShownFirst(command.with_fields(refs=refs))
    act = BulkAct.SWITCH_ON if is_on else BulkAct.SWITCH_OFF
    return await _edit(command, caller, gatehouse, act, lambda rule: with_status(rule, on=is_on))


@handles(RulesSet)
async def set_fields(command: RulesSet, caller: Caller, gatehouse: Gatehouse) -> Reply:
    command = await _with_group_ids(command, gatehouse)
    try:
        return await _edit(command, caller, gatehouse, BulkAct.CHANGE, lambda rule: with_fields(rule, command.fields))
    except BadField as error:
        raise InvalidDraft([error.problem]) from error


async def _with_group_ids(command: RulesSet, gatehouse: Gatehouse) -> RulesSet:
    """Return *command* with the ids of the groups that it names; raises NoGroups and NotOneGroup."""
    if not any(name.casefold() in GROUP_FIELDS and value for name, value in command.fields):
        return command
    groups = (await list_groups(gatehouse)).whole()
    fields = (
        (name, find_group(value, groups).id if name.casefold() in GROUP_FIELDS and value else value)
        for name, value in command.fields
    )
    return replace(command, fields=tuple(fields))


GROUP_FIELDS: Final = frozenset({"group", "groupid"})


async def _edit(
    command: RulesOn | RulesOff | RulesSet,
    caller: Caller,
    gatehouse: Gatehouse,
    act: BulkAct,
    edit: Callable[[Rule], dict[str, Any]],
) -> Reply:
    """Request *edit* of each rule that *command* names, with warnings; rules that are so already are left out.

    Raises as `find_rules` and `submit` do, InvalidDraft, and NothingToChange where all of them are so.
    """
    wanted, so, loops = [], list[Rule](), list[str]()
    for rule in (rules := await find_rules(command.refs, gatehouse)):
        before, after = rule, edit(rule)
        if after == rule.body():
            if command.start is None or isinstance(command, RulesSet):
                so.append(rule)
                continue
            before = _with_other_status(rule)  # a plan may follow another one: off at 18:00, and on again at 20:00
        draft = RuleDraft.model_validate(after)
        if wrong := new_problems(before, draft):
            raise InvalidDraft(wrong)
        added = await find_added(gatehouse, before, draft) if len(rules) <= LOOKED_AT else not_compared()
        loops += added.loops
        target, body = Target(service="rules", key=rule.id), draft.body()
        reason, warnings = command.because, added.warnings
        wanted.append(propose(caller, Kind.RULE_UPDATE, target, before.document(), body, reason, warnings=warnings))
    if not wanted:
        is_set = isinstance(command, RulesSet)
        already_so = AlreadySo() if is_set else AlreadySo.with_status("on" if rules[0].active else "off")
        await refuse_unchanged([_as_thing(rule) for rule in so], already_so, gatehouse)
    already = [rule.title for rule in so]
    return await submit(wanted, command, caller, gatehouse, purpose=Purpose(act=act), already=already, loops=loops)


def _with_other_status(rule: Rule) -> Rule:
    """Return *rule* on if it is off, and off if it is on."""
    return Rule.model_validate(rule.document() | with_status(rule, on=not rule.active))


def _as_thing(rule: Rule) -> Thing:
    return Thing(rule.title, Target(service="rules", key=rule.id), rule.document())


LOOKED_AT: Final = 5
"""Rules of one command, at most, that are compared with all others before they are changed: each takes a while."""


@handles(RulesDelete)
async def delete(command: RulesDelete, caller: Caller, gatehouse: Gatehouse) -> Reply:
    rules = await find_rules(command.refs, gatehouse)
    wanted = []
    for rule in rules:
        target = Target(service="rules", key=rule.id)
        wanted.append(propose(caller, Kind.RULE_DELETE, target, rule.document(), None, command.because))
    return await submit(wanted, command, caller, gatehouse, purpose=Purpose(act=BulkAct.DELETE))


@handles(RulesNew)
async def new(command: RulesNew, caller: Caller, gatehouse: Gatehouse) -> Reply:
    start, expiry = time_text(command.start), time_text(command.expiry)
    form = _blank_form(
        command, reason=unquote_reason(command.because), start=start, expiry=expiry, channel=caller.channel
    )
    return Modal(form.view())


def _blank_form(command: RulesNew | RulesMake, **more: Any) -> RuleForm:
    return RuleForm.blank(
        type=command.type, source=command.source, destination=command.destination, name=command.name, **more
    )


@handles(RulesMake)
async def make(command: RulesMake, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Request the rule that the form would create, without the form."""
    draft = _blank_form(command, reach=command.match).draft()
    if wrong := problems(draft):
        raise InvalidDraft(wrong)
    if command.start is None:
        await _refuse_same(draft, gatehouse)
    added = await find_added(gatehouse, None, draft)
    target, reason, warnings = Target(service="rules"), command.because, added.warnings
    proposal = propose(caller, Kind.RULE_CREATE, target, None, draft.body(), reason, warnings=warnings)
    return await submit([proposal], command, caller, gatehouse, loops=added.loops)


async def _refuse_same(draft: RuleDraft, gatehouse: Gatehouse) -> None:
    """Raise where there is a rule that is all that *draft* is, also its name: who asks twice, or clicks twice, wants one."""
    with suppress(ClientError):  # as where findings are sought, a list that can't be read stops nobody
        named = [rule for rule in (await gatehouse.rules.recent()).known if rule.name == draft.name]
        if same := [rule for rule in named if canonical_form(rule.body()) == canonical_form(draft.body())]:
            await refuse_unchanged([_as_thing(same[0])], AlreadySo("is there already"), gatehouse)


async def _refuse_unknown(ref: str, gatehouse: Gatehouse) -> None:
    """Raise what `find_rule` does before a form opens, so that a sentence is read as one; not where that takes too long."""
    if " " not in ref:  # an id, a row or a word: no sentence
        return
    with suppress(TimeoutError, ClientError):
        async with asyncio.timeout(SECONDS_BEFORE_FORM):
            await find_rule(ref, gatehouse)


SECONDS_BEFORE_FORM: Final = 1.0
"""Slack opens no form three seconds after what was typed."""


@handles(RulesEdit)
async def edit(command: RulesEdit, caller: Caller, gatehouse: Gatehouse) -> Reply:
    await _refuse_unknown(command.ref, gatehouse)

    async def fill() -> dict[str, Any]:
        rule = await find_rule(command.ref, gatehouse)
        view = RuleForm.of(rule, channel=caller.channel).view()
        first = await outlook_blocks(Target(service="rules", key=rule.id), rule, gatehouse)
        return modals.with_blocks_above(first, view)

    return Modal(modals.loading_view("Edit rule"), fill)


@handles(RulesCopy)
async def copy(command: RulesCopy, caller: Caller, gatehouse: Gatehouse) -> Reply:
    await _refuse_unknown(command.ref, gatehouse)

    async def fill() -> dict[str, Any]:
        rule = await find_rule(command.ref, gatehouse)
        return RuleForm.copy_of(rule, channel=caller.channel).view()

    return Modal(modals.loading_view("Copy rule"), fill)


@handles(RulesGroups)
async def show_groups(command: RulesGroups, caller: Caller, gatehouse: Gatehouse) -> Reply:
    groups = await list_groups(gatehouse)
    listing = await gatehouse.rules.all()
    rules = Counter(rule.group_id for rule in listing.known if rule.group_id)
    on = Counter(rule.group_id for rule in listing.known if rule.group_id and rule.active)
    found = sorted(groups.known, key=lambda group: group.title.casefold())
    gaps = {"groups": groups.gap, "rules": listing.gap}
    return Private(views.group_list(found, rules, on, gaps, public=caller.public))


@handles(RulesGroup)
async def switch_group(command: RulesGroup, caller: Caller, gatehouse: Gatehouse) -> Reply:
    group = find_group(command.group, (await list_groups(gatehouse)).whole())
    target, is_on = Target(service="groups", key=group.id), command.switch == "on"
    before, after = group.document(), group.with_status(on=is_on)
    if after == group.body():
        if command.start is None:
            await refuse_unchanged(
                [Thing(group.title, target, before)], AlreadySo.with_status(command.switch), gatehouse
            )
        before |= group.with_status(on=not is_on)
    proposal = propose(caller, Kind.GROUP_UPDATE, target, before, after, command.because)
    return await submit([proposal], command, caller, gatehouse)


async def list_groups(gatehouse: Gatehouse) -> Listing[Group]:
    groups = await gatehouse.groups.fresh()
    if not groups.known:
        groups.whole()  # raises where the list was cut off, so that there may be some
        raise NoGroups
    return groups


def find_group(ref: str, groups: Sequence[Group]) -> Group:
    """Return the one group that *ref* refers to; raises NotOneGroup."""
    found = resolve_name(ref, (named_group(group) for group in groups), GROUP_REFERENCE)
    if not found.is_sure:
        raise NotOneGroup(ref, found.things)
    return found.things[0]
