"""Forms coming back: their errors at once, their work after, and the refusals of the service where they belong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import ValidationError

from bot.access import NotAllowed
from bot.changes.proposals import Proposal
from bot.clients.errors import GroupNotFound, InvalidPairs, NotFound, TypeChangeRefused
from bot.domain.change import Change, Kind, State, Target, essence, fingerprint
from bot.domain.checks import BadEmail, Problem, checked_email, introduced, problems
from bot.domain.lint import key_of
from bot.domain.member import Member
from bot.domain.rule import Rule, RuleDraft
from bot.domain.segments import spelled, strangers
from bot.gatehouse import Gatehouse
from handlers.check import Look, look_at
from handlers.error_words.table import words_for
from handlers.lasting import lasting
from handlers.members import find_member
from handlers.parsers.lasts import parse_lasts
from handlers.reply import Caller, Refilled, Reply, View
from handlers.routes import Click, Form, clicks, submits
from handlers.rules import update_of
from handlers.samples import preview
from handlers.sites import catalogue
from handlers.views import fields, forms, member_form, rule_form
from handlers.views.json_pairs import NotPairs
from handlers.views.parts import esc
from handlers.views.rule_form import RuleForm
from handlers.views.rule_form_reading import read_form

MOVED = "This changed after you opened the form, so nothing was saved. Open it again to see how it is now."


def _rule_errors(view: View) -> dict[str, str]:
    """What is wrong with the typed rule, under the inputs; what was wrong before and is not shown is left alone."""
    form = read_form(view)
    try:
        draft = form.draft()
    except ValidationError:
        return {form.pairs_block if not form.typed else "name": "Texts must be texts, and each source an object."}
    except NotPairs as error:
        return {form.pairs_block: str(error)[:300]}
    inputs = _inputs(view)
    shown = {block_id for pair in form.shown for block_id in inputs if block_id.startswith(f"p.{pair.key}.")}
    wrong: dict[str, str] = {}
    for problem in problems(draft):
        block_id = form.block_of(problem)
        asked = problem.pair is None or not form.typed or block_id in shown
        if asked and block_id in inputs and _is_asked(problem, form, view):
            wrong.setdefault(block_id, problem.words)
    return wrong | _lasts_errors(form.lasts)


def _lasts_errors(text: str) -> dict[str, str]:
    if not text.strip() or parse_lasts(text):
        return {}
    return {fields.LASTS: "Write a while such as 2h or 7d, or a time of day such as 18:00."}


def _is_asked(problem: Problem, form: RuleForm, view: View) -> bool:
    """Whether the form shows what *problem* is about at all."""
    if problem.field == "pairs" or problem.pair is not None:
        return form.typed or form.pairs_block in _inputs(view)
    return True


def _inputs(view: View) -> set[str]:
    return {str(block.get("block_id")) for block in view.get("blocks") or () if block.get("type") == "input"}


async def _base(form: RuleForm, gatehouse: Gatehouse) -> Rule | None:
    """The rule that the form edits or copies, as it is now."""
    return None if form.rule_id is None else await gatehouse.rules.get(form.rule_id)


async def _save_rule(view: View, caller: Caller, gatehouse: Gatehouse) -> View:
    shown = read_form(view)
    try:
        base = await _base(shown, gatehouse)
    except NotFound:
        return forms.done("Gatehouse", ":wastebasket: This rule does not exist any more. Nothing was saved.")
    form = read_form(view, base)
    if base is not None and fingerprint(essence(base.document())) != form.seen:
        return forms.done("Gatehouse", f":arrows_counterclockwise: {MOVED}")
    draft = form.draft()
    edited = base if form.mode == "edit" else None
    if edited is not None and (unfit := _unfit(edited, draft, form)) is not None:
        return unfit
    look = await look_at(gatehouse, edited, draft)
    shifts = await preview(gatehouse, caller, edited, draft, (form.reason,))
    if (warned := _warned(form, look, shifts)) is not None:
        return warned.view()
    if edited is not None:
        proposal = update_of(edited, draft, caller, reason=form.reason, quiet_refusal=True)
    else:
        proposal = _creation(draft, form, caller)
    proposal = replace(proposal, warnings=look.warnings, preview=shifts)
    proposal = await lasting(proposal, parse_lasts(form.lasts), caller, gatehouse)
    try:
        change = await gatehouse.changes.submit(proposal, origin=caller.request)
    except NotAllowed as error:
        if form.channel:
            raise
        await gatehouse.changes.refused(error.operation, caller.user, caller.channel, error.why)
        return form.noted({fields.CHANNEL: f"{words_for(error).what} Nothing was changed."}).view()
    if change.state is State.FAILED:
        return form.noted(_rule_notes(change, form)).view()
    return _ended(change, draft.title)


def _unfit(rule: Rule, draft: RuleDraft, form: RuleForm) -> View | None:
    """What the form says of an edit that cannot be saved, or need not be."""
    if wrong := introduced(rule, draft):
        return form.noted({form.block_of(wrong[0]): wrong[0].words}).view()
    if draft.body() == rule.body():
        return forms.done("Edit rule", "Nothing was different, so nothing was saved.")
    return None


def _warned(form: RuleForm, look: Look, shifts: Sequence[str]) -> RuleForm | None:
    """The form with what is wrong, to be sent again; None where nothing is, or where that was seen and answered."""
    if not look.findings:
        return None
    seen = fingerprint([list(key_of(finding)) for finding in look.findings])
    silent = any(finding.needs_reason for finding in look.findings) and not form.reason.strip()
    if form.warned == seen and not silent:
        return None
    then = "It needs a reason: see “Why” below." if silent else "Send it again to save it all the same."
    notes = {"": " ".join(["Not saved yet.", *look.warnings, *shifts[:1], then])}
    if silent:
        notes[fields.REASON] = "This loops, so it needs a reason. Say why here, or lead it elsewhere."
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


def _rule_notes(change: Change, form: RuleForm) -> dict[str, str]:
    """The service's refusal, by the field that it belongs to."""
    first = form.shown[0].block_id("value") if form.typed and form.shown else form.pairs_block
    where = {
        InvalidPairs.__name__: first,
        TypeChangeRefused.__name__: "type" if form.mode == "new" else "name",
        GroupNotFound.__name__: "",
    }
    return {where.get(change.refusal or "", ""): f"The rules service refused: {change.outcome} Nothing was changed."}


def _ended(change: Change, title: str) -> View:
    """What the form says in the end; the card in the channel says the rest."""
    words = {
        State.APPLIED: f":white_check_mark: Saved *{esc(title)}*. Its card is in <#{change.channel}>.",
        State.STALE: f":arrows_counterclockwise: {MOVED}",
        State.PROPOSED: f":hourglass_flowing_sand: *{esc(title)}* waits for a decision. Its card is in <#{change.channel}>.",
    }
    unknown = (
        ":grey_question: The service gave no clear answer. Gatehouse keeps looking, and the card in the channel "
        "says what became of it. Do not send it again before."
    )
    return forms.done("Gatehouse", words.get(change.state, unknown))


def _member_errors(view: View) -> dict[str, str]:
    form = member_form.read_form(view)
    if form.mode == "edit":
        return {}
    try:
        checked_email(form.email)
    except BadEmail as error:
        return {"email": f"This is not an e-mail address: {error}"[:300]}
    return _lasts_errors(form.lasts)


async def _save_member(view: View, caller: Caller, gatehouse: Gatehouse) -> View:
    form = member_form.read_form(view)
    site = gatehouse.site(form.site)
    form = form.noted({}, await catalogue(site, caller, gatehouse))
    base: Member | None = None
    if form.mode == "edit":
        base = await find_member(form.email, site)
        if fingerprint(essence(base.document())) != form.seen:
            return forms.done("Gatehouse", f":arrows_counterclockwise: {MOVED}")
    elif await site.members.find(checked_email(form.email)) is not None:
        words = "This person is a member already. Edit them instead: /members edit, and the address."
        return form.noted({"email": words}, form.known).view()
    names = spelled(form.segments, form.known)
    if unknown := strangers(names, (*form.known, *(base.segments if base else ()))):
        return form.noted(member_form.segment_notes(unknown, form.known), form.known).view()
    after = replace(form, segments=names).document(base)
    if base is not None and after == base.document() | {
        "name": base.name or "",
        "allowedSegments": list(base.segments),
    }:
        return forms.done("Edit member", "Nothing was different, so nothing was saved.")
    proposal = Proposal(
        kind=Kind.MEMBER_ADD if base is None else Kind.MEMBER_UPDATE,
        target=Target(service="members", site=site.name, key=str(after["email"]).strip()),
        before=None if base is None else base.document(),
        after=after | {"email": str(after["email"]).strip()},
        requester=caller.user,
        channel=caller.channel,
        reason=form.reason,
        quiet_refusal=True,
    )
    proposal = await lasting(proposal, parse_lasts(form.lasts), caller, gatehouse)
    change = await gatehouse.changes.submit(proposal, origin=caller.request)
    if change.state is State.FAILED:
        field = "segments" if "segment" in change.outcome.lower() and form.known else ""
        words = f"The membership service refused: {change.outcome} Nothing was changed."
        return form.noted({field: words}, form.known).view()
    return _ended(change, form.name or form.email)


def _working(view: View) -> View:
    return forms.working(str((view.get("title") or {}).get("text") or "Gatehouse"))


submits(rule_form.CALLBACK, Form(_rule_errors, _working, _save_rule))
submits(member_form.CALLBACK, Form(_member_errors, _working, _save_member))


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
    return read_form(view, await _base(read_form(view), gatehouse))
