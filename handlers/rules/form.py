"""Read a submitted form of a rule without losing anything, check it at once, and save it afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from pydantic import ValidationError

from bot.changes.model.change import Change
from bot.changes.model.documents import canonical_form, fingerprint
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.states import State
from bot.clients.errors import NotFound
from bot.gatehouse import Gatehouse
from bot.rules.edit import Problem, new_problems, problems
from bot.rules.lint.findings import key_of
from bot.rules.model import ACTIVE, Rule, RuleDraft
from bot.rules.pair_fields import Document
from bot.rules.pair_values import new_pair, normalize_breaks
from handlers.blocks import inputs, modals
from handlers.blocks.messages import as_sentence
from handlers.blocks.modals import View, end_of_form, metadata, time_errors
from handlers.changes.coverage import find_covered
from handlers.changes.entries import draft_warnings
from handlers.changes.requests import propose, record, with_times
from handlers.grammar.time_fields import parse_expiry, parse_start
from handlers.rules import rule_form_view
from handlers.rules.form_fields_view import (
    JSON,
    NEW_SOURCE,
    BadInputs,
    FormPair,
    pairs_of_body,
    typed_pairs,
)
from handlers.rules.reasons import problem_words
from handlers.rules.rule_check import AddedFindings, find_added
from handlers.rules.rule_form_view import HEAD, RuleForm, head_text
from handlers.slack.registry import Click, Form, Recorded, clicks, submits
from handlers.slack.reply import Caller, Refilled, Reply


async def form_on_rule(view: View, gatehouse: Gatehouse) -> tuple[Rule | None, RuleForm]:
    """Return the rule that the form in *view* edits or copies, as it is now, and the form with what it does not show of it."""
    form = read_form(view)
    if form.rule_id is None:
        return None, form
    base = await gatehouse.rules.get(form.rule_id)
    return base, read_form(view, base)


def rule_errors(view: View) -> dict[str, str]:
    """Return what is wrong with the typed rule, by block id of the input; problems that the form doesn't show are ignored."""
    form = read_form(view)
    try:
        draft = form.draft()
    except ValidationError as error:  # only JSON can say such a thing
        at = next((int(one["loc"][1]) for one in error.errors() if one["loc"][:1] == ("pairs",)), 0)
        words = "A text is not a text, or a source is not an object. Correct the JSON."
        return {form.pairs[at].block_id(JSON): words}
    except BadInputs as error:
        return _asked_errors(error.words, form, view) | time_errors(form.start, form.expiry)
    inputs_shown = {block.get("block_id") for block in view.get("blocks") or () if block.get("type") == "input"}
    wrong: dict[str, str] = {}
    for problem in problems(draft):
        block_id = form.block_of(problem)
        if block_id in inputs_shown and _is_asked(problem, form):
            wrong.setdefault(block_id, problem_words(problem))
    return _asked_errors(wrong, form, view) | time_errors(form.start, form.expiry)


def _asked_errors(wrong: Mapping[str, str], form: RuleForm, view: View) -> dict[str, str]:
    """Return those of *wrong* that have to be corrected: in an edit, an old flaw doesn't keep anybody from changing the rest."""
    kept = inputs.find_untouched(view) if form.mode == "edit" else frozenset[str]()
    return {block_id: words for block_id, words in wrong.items() if block_id not in kept}


def _is_asked(problem: Problem, form: RuleForm) -> bool:
    """Whether *problem* can be corrected in the form: one of a fixed type, or of pairs that aren't shown, can't be."""
    if problem.field == "ruleType":
        return form.asks_type
    if form.mode == "edit" and problem.field in {"operator", "key", "status"}:
        return False  # menus offer what is known and what is stored, which stays until it is touched
    return problem.field != "pairs"


async def _save_rule(view: View, caller: Caller, gatehouse: Gatehouse) -> View | Recorded:
    try:
        base, form = await form_on_rule(view, gatehouse)
    except NotFound:
        return modals.unsaved_view("Gatehouse", ":wastebasket: *This rule was deleted.* Nothing was saved.")
    # Somebody changed the rule since the form was opened: saving it would overwrite that.
    if base is not None and fingerprint(canonical_form(base.document())) != form.seen:
        return modals.changed_view()
    try:
        draft = form.draft()
    except BadInputs as error:  # typed before the form was drawn again, so that it counted as untouched
        return form.with_notes(error.words).view()
    edited = base if form.mode == "edit" else None
    if edited is not None and (unfit := _unfit_view(edited, draft, form)) is not None:
        return unfit
    added = await find_added(gatehouse, edited, draft)
    kind, key, before = Kind.RULE_CREATE, None, None
    if edited is not None:
        kind, key, before = Kind.RULE_UPDATE, edited.id, edited.document()
    edit = Edit(kind=kind, target=Target(service="rules", key=key), before=before, after=draft.body())
    covered = await find_covered([edit], gatehouse.rules.recent, gatehouse.groups.groups)
    doubts = await asyncio.to_thread(draft_warnings, before, draft.body())
    if (warned := _with_warnings(form, added, [*covered, *doubts])) is not None:
        return warned.view()
    warnings = (*covered, *added.warnings)
    proposal = propose(caller, kind, edit.target, before, edit.after, form.reason, warnings=warnings)
    proposal = await with_times(
        proposal, caller, gatehouse, start=parse_start(form.start), expiry=parse_expiry(form.expiry)
    )
    return await record(proposal, caller, gatehouse, partial(_end_view, form))


def _unfit_view(rule: Rule, draft: RuleDraft, form: RuleForm) -> View | None:
    """Return the view for an edit that can't be saved, or needn't be; None for any other."""
    if wrong := new_problems(rule, draft):
        return form.with_notes({form.block_of(wrong[0]): problem_words(wrong[0])}).view()
    if draft.body() == rule.body():
        return modals.done_view("Edit rule", "*No changes.* Nothing was saved.")
    return None


def _with_warnings(form: RuleForm, added: AddedFindings, doubts: Sequence[str]) -> RuleForm | None:
    """Return the form below its warnings, to be submitted again; None without any, or once they were seen and accepted.

    *doubts*: warnings about text that looks like something else.
    """
    if not added.findings and not doubts:
        return None
    seen = fingerprint([[list(key_of(finding)) for finding in added.findings], *doubts])
    if form.warned == seen:
        return None
    anyway = "Save anyway" if form.mode == "edit" else "Create anyway"
    above = filter(None, [*added.warnings, " ".join(doubts)])
    then = f"Not saved yet. Press {anyway} if that is what you want."
    return replace(form, warned=seen).with_notes(
        {"": then} | {f"above.{number}": words for number, words in enumerate(above)}
    )


def _end_view(form: RuleForm, change: Change) -> View:
    """Return the outcome; of what the service refused, the form with its words."""
    if change.state is not State.FAILED:
        return end_of_form(change)
    return form.with_notes({"": f"Nothing was changed. {as_sentence(change.run.refusal.words)}"}).view()


@clicks("form.type")
async def change_type(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Show the fields of the newly chosen type, with all that was typed so far."""
    return Refilled(read_form(click.view or {}).view())


@clicks("form.add")
@clicks("form.remove")
@clicks("form.more")
@clicks("form.json")
async def redraw(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Redraw the form with one more pair, without one, with all its inputs or as JSON; what was typed so far stays."""
    _, form = await form_on_rule(click.view or {}, gatehouse)
    match click.action:
        case "form.add":
            form = form.with_pair()
        case "form.remove":
            form = form.without_pair(click.value)
        case "form.more":
            form = replace(form, more=True)
        case _:
            form = form.with_json()
    return Refilled(form.view())


submits(rule_form_view.CALLBACK, Form(dict, _save_rule, rule_errors))


UNREAD_PAIR: Final[Document] = {"source": {}}
"""Stands for a stored pair while its rule is not read: only what the form shows of it can be checked."""


def read_form(view: View, base: Rule | None = None) -> RuleForm:
    """Return the form as it was submitted: *view* with its state. *base*: the rule that it edits or copies.

    What the form does not show comes from *base*; without it, the form can be checked, but not shown again or saved.
    """
    about = metadata(view)
    values = inputs.values_of(view)
    mode, document = about.get("mode", "new"), _document(about, values, base)
    drawn_as = str((about.get("type") if mode == "new" else document.get("ruleType")) or "")
    form = RuleForm(
        mode=mode,
        document=document,
        pairs=_pairs(drawn_as, values, document, about.get("removed") or ()),
        channel=str(about.get("channel") or ""),
        rule_id=about.get("id"),
        seen=about.get("seen"),
        reason=inputs.typed_value(values, inputs.REASON) or "",
        warned=str(about.get("warned") or ""),
        start=inputs.typed_value(values, inputs.START) or "",
        expiry=inputs.typed_value(values, inputs.EXPIRY) or "",
        more=bool(about.get("more")),
        as_json=bool(about.get("json")),
    )
    if form.rule_type == drawn_as:
        return form
    # Another type was chosen: of what was typed for the one before, only the sources stay.
    new = [FormPair(one.key, form.rule_type, new_pair(form.rule_type, _source(one))) for one in form.pairs]
    return form.with_new_pairs(new)


def _pairs(
    rule_type: str, values: Mapping[str, Any], document: Document, removed: Collection[str]
) -> tuple[FormPair, ...]:
    """Return the pairs of the rule without those *removed*, then the new ones, each with what was typed."""
    typed = typed_pairs(values)
    new = new_pair(rule_type, NEW_SOURCE)
    bases = {key: new if key.startswith("n") else UNREAD_PAIR for key in typed}
    bases |= {pair.key: pair.base for pair in pairs_of_body(document)}
    pairs = (FormPair(key, rule_type, bases[key], typed.get(key, {})) for key in bases if key not in removed)
    return tuple(sorted(pairs, key=lambda pair: (pair.is_new, pair.number)))


def _document(about: Mapping[str, Any], values: Mapping[str, Any], base: Rule | None) -> Document:
    """Return the body of the rule, with name, description, status and type as typed."""
    document: Document = {"ruleType": about.get("type"), "description": "", "status": ACTIVE}
    if base is not None:
        document = rule_form_view.body_to_copy(base) if about.get("mode") == "copy" else base.body()
    for name in HEAD:
        typed = inputs.typed_value(values, name) or ""
        # What was not touched stays as it is stored, such as null, or a number in the place of a text.
        is_kept = about.get("mode") == "edit" and normalize_breaks(typed) == normalize_breaks(head_text(document, name))
        if name in values and not is_kept:
            document[name] = typed
    rule_type = inputs.typed_value(values, "type") or document.get("ruleType")
    return document | {"ruleType": rule_type}


def _source(pair: FormPair) -> Document:
    """Return the source of *pair*, as typed."""
    texts = {each.path: pair.text(each) for each in pair.fields}
    return {name: texts[f"source.{name}"] or value for name, value in NEW_SOURCE.items()}
