"""What each command about rules does: Command -> Reply."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from bot.changes.proposals import Proposal
from bot.changes.set_proposals import set_of
from bot.domain.change import Kind, Target
from bot.domain.checks import introduced
from bot.domain.editing import switched, with_fields
from bot.domain.rule import Rule, RuleDraft
from bot.gatehouse import Gatehouse
from handlers.check import Look, look_at, refuse_silent_loop
from handlers.commands.rules import (
    RulesCopy,
    RulesDelete,
    RulesEdit,
    RulesMenu,
    RulesNew,
    RulesOff,
    RulesOn,
    RulesSet,
    RulesShow,
)
from handlers.errors import InvalidDraft, NothingToChange
from handlers.grouping import groups_of
from handlers.lasting import as_typed, lasting
from handlers.refs import find_rule, find_rules
from handlers.reply import Announced, Caller, Modal, Private, Reply
from handlers.routes import handles
from handlers.samples import preview
from handlers.views import forms, pickers, rule_form
from handlers.views import rules as views


@handles(RulesMenu)
async def menu(command: RulesMenu, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return Private(views.menu())


@handles(RulesShow)
async def show(command: RulesShow, caller: Caller, gatehouse: Gatehouse) -> Reply:
    if not command.ref.strip():
        return Modal(pickers.rule_modal(caller.channel))
    rule = await find_rule(command, caller, gatehouse)
    groups = await groups_of([rule], gatehouse)
    return Private(views.rule_card(rule, command=RulesShow(ref=rule.id), audience=caller.audience, groups=groups))


@handles(RulesOn)
async def switch_on(command: RulesOn, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return await _edit(command, caller, gatehouse, lambda rule: switched(rule, on=True))


@handles(RulesOff)
async def switch_off(command: RulesOff, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return await _edit(command, caller, gatehouse, lambda rule: switched(rule, on=False))


@handles(RulesSet)
async def set_fields(command: RulesSet, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return await _edit(command, caller, gatehouse, lambda rule: with_fields(rule, command.fields))


async def _edit(
    command: RulesOn | RulesOff | RulesSet,
    caller: Caller,
    gatehouse: Gatehouse,
    edit: Callable[[Rule], dict[str, Any]],
) -> Reply:
    """Read, edit, write: quick, without a question unless the policy has one, announced by its card."""
    wanted = []
    for rule in (rules := await find_rules(command, caller, gatehouse)):
        after = edit(rule)
        if after == rule.body():
            continue
        draft = RuleDraft.model_validate(after)
        if wrong := introduced(rule, draft):
            raise InvalidDraft(wrong)
        look = await look_at(gatehouse, rule, draft) if len(rules) <= LOOKED_AT else NOT_LOOKED
        refuse_silent_loop(look.findings, command.because)
        proposal = update_of(rule, draft, caller, reason=command.because or "", warnings=look.warnings)
        shifts = (
            await preview(gatehouse, caller, rule, draft, (command.because, *command.refs)) if len(rules) == 1 else ()
        )
        wanted.append(replace(proposal, preview=shifts))
    if not wanted:
        status = rules[0].status if not isinstance(command, RulesSet) else None
        raise NothingToChange([rule.title for rule in rules], status)
    wanted[0] = await lasting(wanted[0], command.lasts, caller, gatehouse)
    return await submitted(f"{EDITS[type(command)]} {len(wanted)} rules", wanted, caller, gatehouse)


EDITS: Final = {RulesOn: "Switch on", RulesOff: "Switch off", RulesSet: "Change"}
LOOKED_AT: Final = 5
"""Rules of one command that are compared with all others before they are changed: it takes a while for each."""
NOT_LOOKED: Final = Look((), blind=True)


async def submitted(title: str, wanted: Sequence[Proposal], caller: Caller, gatehouse: Gatehouse) -> Reply:
    """One change, or several as one set; announced by their one card."""
    if len(wanted) == 1:
        await gatehouse.changes.submit(wanted[0], origin=caller.request)
    else:
        await gatehouse.changes.submit_set(set_of(title, wanted), origin=caller.request)
    return Announced()


def update_of(
    rule: Rule,
    draft: RuleDraft,
    caller: Caller,
    *,
    reason: str,
    warnings: tuple[str, ...] = (),
    quiet_refusal: bool = False,
) -> Proposal:
    return Proposal(
        kind=Kind.RULE_UPDATE,
        target=Target(service="rules", key=rule.id),
        before=rule.document(),
        after=draft.body(),
        requester=caller.user,
        channel=caller.channel,
        reason=reason,
        warnings=warnings,
        quiet_refusal=quiet_refusal,
    )


@handles(RulesDelete)
async def delete(command: RulesDelete, caller: Caller, gatehouse: Gatehouse) -> Reply:
    rules = await find_rules(command, caller, gatehouse)
    said = (command.because, *command.refs)
    wanted = [
        Proposal(
            kind=Kind.RULE_DELETE,
            target=Target(service="rules", key=rule.id),
            before=rule.document(),
            after=None,
            requester=caller.user,
            channel=caller.channel,
            reason=command.because or "",
            preview=await preview(gatehouse, caller, rule, None, said) if len(rules) == 1 else (),
        )
        for rule in rules
    ]
    return await submitted(f"Delete {len(wanted)} rules", wanted, caller, gatehouse)


@handles(RulesNew)
async def new(command: RulesNew, caller: Caller, gatehouse: Gatehouse) -> Reply:
    form = rule_form.RuleForm.blank(
        type=command.type,
        source=command.source,
        destination=command.destination,
        name=command.name,
        reason=command.because or "",
        lasts=as_typed(command.lasts),
        channel=caller.channel,
    )
    return Modal(form.view())


@handles(RulesEdit)
async def edit(command: RulesEdit, caller: Caller, gatehouse: Gatehouse) -> Reply:
    async def fill() -> dict[str, Any]:
        rule = await find_rule(command, caller, gatehouse)
        groups = await groups_of([rule], gatehouse)
        return rule_form.RuleForm.of(rule, channel=caller.channel, groups=groups).view()

    return Modal(forms.loading("Edit rule"), fill)


@handles(RulesCopy)
async def copy(command: RulesCopy, caller: Caller, gatehouse: Gatehouse) -> Reply:
    async def fill() -> dict[str, Any]:
        rule = await find_rule(command, caller, gatehouse)
        return rule_form.RuleForm.copy_of(rule, channel=caller.channel).view()

    return Modal(forms.loading("Copy rule"), fill)
