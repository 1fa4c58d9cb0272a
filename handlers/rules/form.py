"""The form of a rule coming back: its errors at once, its work after, and the refusals of the service where they belong."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from pydantic import ValidationError

from bot.changes.model import Change, Kind, State, Target, canonical_form, fingerprint
from bot.changes.proposals import Proposal
from bot.clients.errors import GroupNotFound, InvalidPairs, NotFound, TypeChangeRefused
from bot.gatehouse import Gatehouse
from bot.policy.access import NotAllowed
from bot.rules.edit import Problem, introduced, problems
from bot.rules.lint.findings import key_of
from bot.rules.model import Rule, RuleDraft
from handlers.blocks import inputs, modals
from handlers.blocks.modals import MOVED, ended, lasts_errors, working_form
from handlers.changes.expiry import lasting
from handlers.changes.full_view import draft_warnings
from handlers.explain.table import words_for
from handlers.grammar.fields import parse_lasts
from handlers.rules import form_view
from handlers.rules.edit import update_of
from handlers.rules.form_fields_view import NotPairs
from handlers.rules.form_reading import read_form
from handlers.rules.form_view import RuleForm
from handlers.rules.lookup import Look, look_at, preview
from handlers.rules.problems import problem_words
from handlers.slack.registry import Click, Form, clicks, submits
from handlers.slack.reply import Caller, Refilled, Reply, View


def _rule_errors(view: View) -> dict[str, str]:
    """What is wrong with the typed rule, under the inputs; what was wrong before and is not shown is left alone."""
    form = read_form(view)
    shown = tuple(pair for pair in form.pairs if pair.key in form.held)
    looked_at = replace(form, pairs=shown) if form.typed else form
    try:
        draft = looked_at.draft()
    except ValidationError:
        return {form.pairs_block if not form.typed else "name": "Texts must be texts, and each source an object."}
    except NotPairs as error:
        return {form.pairs_block: str(error)[:300]}
    inputs = _inputs(view)
    wrong: dict[str, str] = {}
    for problem in problems(draft):
        block_id = looked_at.block_of(problem)
        if block_id in inputs and _is_asked(problem, form):
            wrong.setdefault(block_id, problem_words(problem))
    return wrong | lasts_errors(form.lasts)


def _is_asked(problem: Problem, form: RuleForm) -> bool:
    """Whether *problem* can be put right in the form: a type that was never asked for, or pairs not shown, cannot."""
    if problem.field == "ruleType":
        return form.mode == "new"
    if form.mode == "edit" and problem.field in {"operator", "key", "status"}:
        return False  # menus offer what is known and what is stored, which stays until it is touched
    return problem.field != "pairs" or not form.typed or not form.pairs


def _inputs(view: View) -> set[str]:
    return {str(block.get("block_id")) for block in view.get("blocks") or () if block.get("type") == "input"}


async def _base(view: View, gatehouse: Gatehouse) -> Rule | None:
    """The rule that the form edits or copies, as it is now."""
    rule_id = modals.metadata(view).get("id")
    return None if rule_id is None else await gatehouse.rules.get(rule_id)


async def _save_rule(view: View, caller: Caller, gatehouse: Gatehouse) -> View:
    try:
        base = await _base(view, gatehouse)
    except NotFound:
        return modals.unsaved("Gatehouse", ":wastebasket: This rule does not exist any more. Nothing was saved.")
    form = read_form(view, base)
    if base is not None and fingerprint(canonical_form(base.document())) != form.seen:
        return modals.unsaved("Gatehouse", f":arrows_counterclockwise: {MOVED}")
    draft = form.draft()
    edited = base if form.mode == "edit" else None
    if edited is not None and (unfit := _unfit(edited, draft, form)) is not None:
        return unfit
    look = await look_at(gatehouse, edited, draft)
    shifts = await preview(gatehouse, caller, edited, draft, (form.reason,))
    before = edited.document() if edited is not None else None
    doubts = await asyncio.to_thread(draft_warnings, before, draft.body())
    if (warned := _warned(form, look, shifts, doubts)) is not None:
        return warned.view()
    if edited is not None:
        proposal = update_of(edited, draft, caller, reason=form.reason, quiet_refusal=True)
    else:
        proposal = _creation(draft, form, caller)
    proposal = replace(proposal, warnings=look.warnings, preview=shifts)
    proposal = await lasting(proposal, parse_lasts(form.lasts), caller, gatehouse)
    return await _submitted(proposal, form, draft.title, caller, gatehouse)


def _unfit(rule: Rule, draft: RuleDraft, form: RuleForm) -> View | None:
    """What the form says of an edit that cannot be saved, or need not be."""
    if wrong := introduced(rule, draft):
        return form.noted({form.block_of(wrong[0]): problem_words(wrong[0])}).view()
    if draft.body() == rule.body():
        return modals.done("Edit rule", "Nothing was different, so nothing was saved.")
    return None


def _warned(form: RuleForm, look: Look, shifts: Sequence[str], doubts: Sequence[str]) -> RuleForm | None:
    """The form with what is wrong, to be sent again; None where nothing is, or where that was seen and answered.

    *doubts*: warnings about text that looks like something else, which the card repeats on its own.
    """
    if not look.findings and not doubts:
        return None
    seen = fingerprint([[list(key_of(finding)) for finding in look.findings], *doubts])
    silent = any(finding.needs_reason for finding in look.findings) and not form.reason.strip()
    if form.warned == seen and not silent:
        return None
    then = "It needs a reason: see “Why” below." if silent else "Send it again to save it all the same."
    notes = {"": " ".join(["Not saved yet.", *look.warnings, *doubts, *shifts[:1], then])}
    if silent:
        notes[inputs.REASON] = "This loops, so it needs a reason. Say why here, or lead it elsewhere."
    return replace(form, warned=seen).noted(notes)


def _creation(draft: RuleDraft, form: RuleForm, caller: Caller) -> Proposal:
    return Proposal(
        kind=Kind.RULE_CREATE,
        target=Target(service="rules"),
        before=None,
        after=draft.body(),
        requester=caller.user,
        channel=caller.channel,
        reason=form.reason,
        quiet_refusal=True,
    )


async def _submitted(proposal: Proposal, form: RuleForm, title: str, caller: Caller, gatehouse: Gatehouse) -> View:
    """What the form says in the end. A channel that was chosen in it, and does not fit, is refused right there."""
    try:
        change = await gatehouse.changes.proposer.submit(proposal, origin=caller.request)
    except NotAllowed as error:
        if form.channel:
            raise
        await gatehouse.changes.refusals.refused(error.operation, caller.user, caller.channel, error.why)
        return form.noted({inputs.CHANNEL: f"{words_for(error).what} Nothing was changed."}).view()
    if change.state is State.FAILED:
        return form.noted(_rule_notes(change, form)).view()
    return ended(change, title)


def _rule_notes(change: Change, form: RuleForm) -> dict[str, str]:
    """The service's refusal, by the field that it belongs to."""
    first = form.shown[0].block_id("value") if form.typed and form.shown else form.pairs_block
    where = {
        InvalidPairs.__name__: first,
        TypeChangeRefused.__name__: "type" if form.mode == "new" else "name",
        GroupNotFound.__name__: "",
    }
    return {where.get(change.refusal or "", ""): f"The rules service refused: {change.outcome} Nothing was changed."}


@clicks("form.type")
async def other_type(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Another type was chosen: its fields, with all that was typed so far."""
    return Refilled(read_form(click.view or {}).view())


@clicks("form.add")
async def add_pair(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return Refilled((await _as_left(click, gatehouse)).with_pair().view())


@clicks("form.remove")
async def remove_pair(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return Refilled((await _as_left(click, gatehouse)).without_pair(click.value).view())


async def _as_left(click: Click, gatehouse: Gatehouse) -> RuleForm:
    """The form with what was typed; pairs it does not show come from the rule."""
    view = click.view or {}
    return read_form(view, await _base(view, gatehouse))


submits(form_view.CALLBACK, Form(_rule_errors, working_form, _save_rule))
