"""What each command about rules does: Command -> Reply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bot.changes.proposals import Proposal
from bot.domain.change import Kind, Target
from bot.domain.checks import introduced
from bot.domain.editing import switched, with_fields
from bot.domain.rule import Rule, RuleDraft
from bot.gatehouse import Gatehouse
from handlers.check import look_at, refuse_silent_loop
from handlers.commands import (
    RulesCopy,
    RulesDelete,
    RulesEdit,
    RulesList,
    RulesMenu,
    RulesNew,
    RulesOff,
    RulesOn,
    RulesSet,
    RulesShow,
)
from handlers.errors import InvalidDraft, NotBuiltYet, NothingToChange
from handlers.lasting import as_typed, lasting
from handlers.refs import find_rule
from handlers.reply import Announced, Caller, Modal, Private, Reply
from handlers.routes import handles
from handlers.samples import preview
from handlers.views import forms, rule_form
from handlers.views import rules as views

PAGE = 10
NUMBERED = 1000
"""How many rows of a list ``#n`` reaches."""


@handles(RulesMenu)
async def menu(command: RulesMenu, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return Private(views.menu(gatehouse.prefix))


@handles(RulesList)
async def show_list(command: RulesList, caller: Caller, gatehouse: Gatehouse) -> Reply:
    listing = await gatehouse.rules.all()
    found = sorted((rule for rule in listing.rules if _fits(rule, command)), key=lambda rule: rule.title.casefold())
    pages = max(1, -(-len(found) // PAGE))
    page = min(max(command.page or 1, 1), pages)
    await gatehouse.store.lists.put(caller.user, "rules", [rule.id for rule in found[:NUMBERED]])
    first = (page - 1) * PAGE
    return Private(
        views.rule_list(
            found[first : first + PAGE],
            page=page,
            pages=pages,
            total=len(found),
            command=command,
            unreadable=listing.unreadable,
            first_number=first + 1,
        )
    )


def _fits(rule: Rule, command: RulesList) -> bool:
    """Whether *rule* passes every filter that was given; all are parts, in any case of letters."""
    wanted = (
        (command.text, _searched(rule)),
        (command.type, rule.rule_type or ""),
        (command.status, rule.status or ""),
        (command.url, " ".join(_addresses(rule))),
        (command.group, rule.group_id or ""),
    )
    exact = (command.status or "").casefold()
    if exact in {"active", "inactive"} and (rule.status or "").casefold() != exact:
        return False
    return all(part.casefold() in whole.casefold() for part, whole in wanted if part)


def _searched(rule: Rule) -> str:
    return "\n".join((rule.title, rule.id, rule.description or "", *_addresses(rule)))


def _addresses(rule: Rule) -> list[str]:
    pairs = rule.pairs or ()
    return [text for pair in pairs for text in (pair.source and pair.source.value, pair.destination) if text]


@handles(RulesShow)
async def show(command: RulesShow, caller: Caller, gatehouse: Gatehouse) -> Reply:
    rule = await find_rule(command.ref, caller, gatehouse)
    return Private(views.rule_card(rule, command=RulesShow(ref=rule.id), actions=not caller.public))


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
    rule = await find_rule(_only(command.refs), caller, gatehouse)
    after = edit(rule)
    if after == rule.body():
        raise NothingToChange(rule.title, rule.status if not isinstance(command, RulesSet) else None)
    draft = RuleDraft.model_validate(after)
    if wrong := introduced(rule, draft):
        raise InvalidDraft(wrong)
    look = await look_at(gatehouse, rule, draft)
    refuse_silent_loop(look.findings, command.because)
    proposal = update_of(rule, draft, caller, reason=command.because or "", warnings=look.warnings)
    said = (command.because, *command.refs)
    proposal = replace(proposal, preview=await preview(gatehouse, caller, rule, draft, said))
    proposal = await lasting(proposal, command.lasts, caller, gatehouse)
    await gatehouse.changes.submit(proposal, origin=caller.request)
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
    rule = await find_rule(_only(command.refs), caller, gatehouse)
    proposal = Proposal(
        kind=Kind.RULE_DELETE,
        target=Target(service="rules", key=rule.id),
        before=rule.document(),
        after=None,
        requester=caller.user,
        channel=caller.channel,
        reason=command.because or "",
        preview=await preview(gatehouse, caller, rule, None, (command.because, *command.refs)),
    )
    await gatehouse.changes.submit(proposal, origin=caller.request)
    return Announced()


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
        rule = await find_rule(command.ref, caller, gatehouse)
        return rule_form.RuleForm.of(rule, channel=caller.channel).view()

    return Modal(forms.loading("Edit rule"), fill)


@handles(RulesCopy)
async def copy(command: RulesCopy, caller: Caller, gatehouse: Gatehouse) -> Reply:
    async def fill() -> dict[str, Any]:
        rule = await find_rule(command.ref, caller, gatehouse)
        return rule_form.RuleForm.copy_of(rule, channel=caller.channel).view()

    return Modal(forms.loading("Copy rule"), fill)


def _only(refs: tuple[str, ...]) -> str:
    if len(refs) != 1:
        raise NotBuiltYet("several rules at once")
    return refs[0]
