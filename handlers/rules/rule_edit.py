"""Commands that change rules and switch groups of rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from bot.changes.model.documents import canonical_form
from bot.changes.model.edits import Kind, Target
from bot.changes.model.parts import BulkAct, Purpose
from bot.clients.errors import ClientError
from bot.clients.lists import Listing
from bot.gatehouse import Gatehouse
from bot.rules.edit import BadField, Problem, ProblemKind, new_problems, problems, with_fields, with_status
from bot.rules.model import Group, Rule, RuleDraft
from bot.text.names import GROUP_REFERENCE, named_group, resolve_name
from handlers.blocks import menus, messages, modals
from handlers.blocks.messages import quote
from handlers.changes.coming import Thing, document_at, left_out_names, refuse_unchanged
from handlers.changes.requests import outlook_blocks, propose, resolve_start, start_of_command, submit, time_text
from handlers.errors import AlreadySo, InvalidDraft, NoGroups, NotOneGroup
from handlers.grammar.command import Command
from handlers.grammar.time_fields import Start
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
from handlers.rules.rule_check import find_added, not_compared, refuse_silent_loop
from handlers.rules.rule_form_view import RuleForm
from handlers.rules.rule_lookup import forecast_of
from handlers.rules.rule_refs import find_rule, find_rules, groups_of
from handlers.slack.registry import handles
from handlers.slack.reply import Caller, Modal, Private, Reply


@handles(RulesMenu)
async def menu(command: RulesMenu, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return Private(views.menu())


@handles(RulesShow)
async def show(command: RulesShow, caller: Caller, gatehouse: Gatehouse) -> Reply:
    if not command.ref.strip():
        return Modal(menus.rule_modal(caller.channel))
    rule = await find_rule(command.ref, gatehouse)
    if command.start is not None:
        return await _show_at(rule, command.start, caller, gatehouse)
    groups = await groups_of([rule], gatehouse)
    if not caller.public:
        gatehouse.last_shown.put(caller.user, Target(service="rules", key=rule.id))
    more = await outlook_blocks(Target(service="rules", key=rule.id), rule, gatehouse)
    return Private(views.rule_card(rule, public=caller.public, groups=groups, more=more))


async def _show_at(rule: Rule, start: Start, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Return the card of *rule* as it will be at *start*, after planned changes and reverts until then; it has no buttons."""
    moment, _ = await resolve_start(start, caller, gatehouse)
    found, lead = await forecast_of(moment, [rule], await groups_of([rule], gatehouse), gatehouse)
    then = next((each for each in found.rules if each.id == rule.id), None)
    if then is None:
        gone = f"{quote(rule.title, 200)} will be deleted by then."
        return Private(messages.message(gone, [*lead, messages.section(f":wastebasket: *{gone}*")]))
    groups = found.groups or await groups_of([then], gatehouse)
    card = views.rule_card(then, public=caller.public, groups=groups)
    return Private(replace(card, blocks=(*lead, *messages.without_buttons(card.blocks))))


@handles(RulesOn)
@handles(RulesOff)
async def switch(command: RulesOn | RulesOff, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return await _edit(command, caller, gatehouse, lambda rule: with_status(rule, on=isinstance(command, RulesOn)))


@handles(RulesSet)
async def set_fields(command: RulesSet, caller: Caller, gatehouse: Gatehouse) -> Reply:
    command = await _with_group_ids(command, gatehouse)
    try:
        return await _edit(command, caller, gatehouse, lambda rule: with_fields(rule, command.fields))
    except BadField as error:
        raise InvalidDraft([error.problem], _corrections(command, error.problem)) from error
    except InvalidDraft as error:
        again = _corrections(command, error.problems[0]) if len(error.problems) == 1 else {}
        raise InvalidDraft(error.problems, again) from error


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


def _corrections(command: RulesSet, problem: Problem) -> dict[str, Command]:
    """Return *command* with the field or value that was likely meant, by the label of its button."""
    if not problem.meant:
        return {}
    if problem.kind is ProblemKind.UNKNOWN_FIELD:
        fields = [(problem.meant if name == problem.field else name, value) for name, value in command.fields]
    else:
        fields = [(name, problem.meant if value == problem.value else value) for name, value in command.fields]
    return {f"Use {problem.meant}": replace(command, fields=tuple(fields))}


async def _edit(
    command: RulesOn | RulesOff | RulesSet,
    caller: Caller,
    gatehouse: Gatehouse,
    edit: Callable[[Rule], dict[str, Any]],
) -> Reply:
    """Request *edit* of each rule that *command* names, with warnings; rules that are so already are left out.

    Raises as `find_rules` and `submit` do, InvalidDraft, and NothingToChange or SoForAWhile where all of them are so.
    """
    wanted, so, at = [], list[Rule](), await start_of_command(command.start, caller, gatehouse)
    for found in (rules := await find_rules(command.refs, gatehouse)):
        rule, after = found, edit(found)
        # It is so already, but maybe not any more at the start that was asked for.
        if after == rule.body():
            rule = await _rule_at(rule, at, gatehouse)
            if (after := edit(rule)) == rule.body():
                so.append(found)
                continue
        draft = RuleDraft.model_validate(after)
        if wrong := new_problems(rule, draft):
            raise InvalidDraft(wrong)
        added = await find_added(gatehouse, rule, draft, at) if len(rules) <= LOOKED_AT else not_compared()
        refuse_silent_loop(added.findings, command.because)
        target, body = Target(service="rules", key=rule.id), draft.body()
        reason, warnings = command.because, added.warnings
        wanted.append(propose(caller, Kind.RULE_UPDATE, target, rule.document(), body, reason, warnings=warnings))
    if not wanted:
        is_set = isinstance(command, RulesSet)
        already_so = AlreadySo() if is_set else AlreadySo.with_status("on" if rules[0].active else "off")
        await refuse_unchanged([Thing.of_rule(rule) for rule in so], already_so, gatehouse)
    purpose = Purpose(act=EDITS[type(command)])
    already = await left_out_names([Thing.of_rule(rule) for rule in so], caller, gatehouse)
    return await submit(wanted, command, caller, gatehouse, purpose=purpose, already=already)


async def _rule_at(rule: Rule, at: datetime | None, gatehouse: Gatehouse) -> Rule:
    """Return *rule* as it will be *at* a time; as it is now where it will be gone, or for None."""
    then = await document_at(Target(service="rules", key=rule.id), rule.document(), at, gatehouse)
    return rule if then is None else Rule.model_validate({**then, "id": rule.id})


EDITS: Final = {RulesOn: BulkAct.SWITCH_ON, RulesOff: BulkAct.SWITCH_OFF, RulesSet: BulkAct.CHANGE}
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
    added = await find_added(gatehouse, None, draft, await start_of_command(command.start, caller, gatehouse))
    refuse_silent_loop(added.findings, command.because)
    target, reason, warnings = Target(service="rules"), command.because, added.warnings
    proposal = propose(caller, Kind.RULE_CREATE, target, None, draft.body(), reason, warnings=warnings)
    return await submit([proposal], command, caller, gatehouse)


async def _refuse_same(draft: RuleDraft, gatehouse: Gatehouse) -> None:
    """Raise where there is a rule that is all that *draft* is, also its name: who asks twice, or clicks twice, wants one."""
    with suppress(ClientError):  # as where findings are sought, a list that can't be read stops nobody
        named = [rule for rule in (await gatehouse.rules.recent()).known if rule.name == draft.name]
        if same := [rule for rule in named if canonical_form(rule.body()) == canonical_form(draft.body())]:
            await refuse_unchanged([Thing.of_rule(same[0])], AlreadySo("is there already"), gatehouse)


@handles(RulesEdit)
async def edit(command: RulesEdit, caller: Caller, gatehouse: Gatehouse) -> Reply:
    async def fill() -> dict[str, Any]:
        rule = await find_rule(command.ref, gatehouse)
        groups = await groups_of([rule], gatehouse)
        view = RuleForm.of(rule, channel=caller.channel, groups=groups).view()
        first = await outlook_blocks(Target(service="rules", key=rule.id), rule, gatehouse)
        return modals.with_blocks_above(first, view)

    return Modal(modals.loading_view("Edit rule"), fill)


@handles(RulesCopy)
async def copy(command: RulesCopy, caller: Caller, gatehouse: Gatehouse) -> Reply:
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
    now, at = group, await start_of_command(command.start, caller, gatehouse)
    if (after := group.with_status(on=is_on)) == group.body():
        then = await document_at(target, group.document(), at, gatehouse)
        group = group if then is None else Group.model_validate({**then, "id": group.id})
        if (after := group.with_status(on=is_on)) == group.body():
            already_so = AlreadySo.with_status(command.switch)
            await refuse_unchanged([Thing(now.title, target, now.document())], already_so, gatehouse)
    proposal = propose(caller, Kind.GROUP_UPDATE, target, group.document(), after, command.because)
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
