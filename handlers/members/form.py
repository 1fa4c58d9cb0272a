"""The form of a member coming back: its errors at once, its work after."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bot.changes.model import Kind, State, Target, canonical_form, fingerprint
from bot.changes.proposals import Proposal
from bot.gatehouse import Gatehouse, Site
from bot.members.model import Member, spelled
from bot.text.emails import BadEmail, checked_email
from handlers.blocks import modals
from handlers.blocks.modals import MOVED, ended, lasts_errors, working_form
from handlers.changes.expiry import lasting
from handlers.grammar.command import slash
from handlers.grammar.fields import parse_lasts
from handlers.members import form_view
from handlers.members.form_view import MemberForm
from handlers.members.refs import catalogue, find_member
from handlers.slack.registry import Form, submits
from handlers.slack.reply import Caller, View


def _member_errors(view: View) -> dict[str, str]:
    form = form_view.read_form(view)
    if form.mode == "edit":
        return {}
    try:
        checked_email(form.email)
    except BadEmail as error:
        return {"email": f"This is not an e-mail address: {error}"[:300]}
    return lasts_errors(form.lasts)


async def _save_member(view: View, caller: Caller, gatehouse: Gatehouse) -> View:
    form = form_view.read_form(view)
    site = gatehouse.site(form.site)
    known = await catalogue(site, caller, gatehouse)
    form = form.noted({}, known.names)
    base: Member | None = None
    if form.mode == "edit":
        base = await find_member(form.email, site)
        if fingerprint(canonical_form(base.document())) != form.seen:
            return modals.unsaved("Gatehouse", f":arrows_counterclockwise: {MOVED}")
    elif await site.members.find(checked_email(form.email)) is not None:
        words = f"This person is a member already. Edit them instead: {slash('members edit')}, and the address."
        return form.noted({"email": words}, form.known).view()
    names = spelled(form.segments, form.known)
    if unknown := known.strangers(names, base.segments if base else ()):
        return form.noted(form_view.segment_notes(unknown, form.known), form.known).view()
    after = replace(form, segments=names).document(base)
    if base is not None and after == _as_it_is(base):
        return modals.done("Edit member", "Nothing was different, so nothing was saved.")
    proposal = _proposal(form, base, after, site, caller)
    proposal = await lasting(proposal, parse_lasts(form.lasts), caller, gatehouse)
    change = await gatehouse.changes.proposer.submit(proposal, origin=caller.request)
    if change.state is State.FAILED:
        field = "segments" if "segment" in change.outcome.lower() and form.known else ""
        words = f"The membership service refused: {change.outcome} Nothing was changed."
        return form.noted({field: words}, form.known).view()
    return ended(change, form.name or form.email)


def _as_it_is(member: Member) -> dict[str, Any]:
    """*member* as a form says it in which nothing was changed."""
    return member.document() | {"allowedSegments": list(member.segments)}


def _proposal(form: MemberForm, base: Member | None, after: dict[str, Any], site: Site, caller: Caller) -> Proposal:
    email = str(after["email"]).strip()
    return Proposal(
        kind=Kind.MEMBER_ADD if base is None else Kind.MEMBER_UPDATE,
        target=Target(service="members", site=site.name, key=email),
        before=None if base is None else base.document(),
        after=after | {"email": email},
        requester=caller.user,
        channel=caller.channel,
        reason=form.reason,
        quiet_refusal=True,
    )


submits(form_view.CALLBACK, Form(_member_errors, working_form, _save_member))
