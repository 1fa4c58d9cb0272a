"""Commands and the form that change members: add, edit, remove, grant, revoke, another email, and offboarding from every site."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from bot.changes.model.change import Change
from bot.changes.model.documents import canonical_form, fingerprint
from bot.changes.model.edits import Kind, Target
from bot.changes.model.items import Item, Outcome
from bot.changes.model.parts import BulkAct, ChangeRequest, Purpose
from bot.changes.model.states import State
from bot.changes.proposals import Proposal
from bot.clients.errors import ClientError
from bot.gatehouse import Gatehouse, Site
from bot.members.model import Catalogue, Member, email_key, find_alike, nearest_segments, use_known_spelling
from bot.text.emails import BadEmail, checked_email, checked_new_email, mask_email
from handlers.blocks import modals
from handlers.blocks.messages import as_sentence, code, esc, join_words, quote, quote_plain
from handlers.blocks.modals import View, end_of_form, time_errors
from handlers.changes.decisions import change_of_click
from handlers.changes.requests import Thing, propose, record, refuse_unchanged, submit, time_text, with_times
from handlers.errors import AlreadySo, NoMember, Refusal, UnknownSegment, Words
from handlers.grammar.command import Command, slash
from handlers.grammar.time_fields import parse_expiry, parse_start
from handlers.grammar.tokens import unquote_reason
from handlers.members.commands import (
    MembersAdd,
    MembersEdit,
    MembersGrant,
    MembersMove,
    MembersOffboard,
    MembersRemove,
    MembersRevoke,
    MembersShow,
)
from handlers.members.member_form_view import CALLBACK, SEGMENTS, MemberForm, read_form, segment_notes
from handlers.members.member_refs import (
    catalogue,
    find_member,
    find_members,
    member_or_none,
    other_sites,
    refuse_many,
    sites_with_member,
)
from handlers.slack.registry import Click, Form, Recorded, clicks, handles, submits
from handlers.slack.reply import Caller, Modal, Reply


@handles(MembersAdd)
async def add(command: MembersAdd, caller: Caller, gatehouse: Gatehouse) -> Reply:
    there = [each for each in command.segments if each in gatehouse.sites and command.site is None]
    if len(there) == 1:  # “add anna to docs”
        command = replace(
            command, site=there[0], segments=tuple(each for each in command.segments if each not in there)
        )
    site = gatehouse.site(command.site)

    async def fill() -> dict[str, Any]:
        known = await catalogue(site, gatehouse)
        names = use_known_spelling(command.segments, known.names)
        wrong = known.unknown_names(names)
        form = MemberForm(
            "add",
            site.name,
            email=command.email or "",
            name=command.name or "",
            segments=tuple(name for name in names if name not in wrong),
            known=known.names,
            reason=unquote_reason(command.because),
            start=time_text(command.start),
            expiry=time_text(command.expiry),
            channel=caller.channel,
        )
        return form.with_notes(segment_notes(form, wrong)).view()

    return Modal(modals.loading_view("Add member"), fill)


@handles(MembersEdit)
async def edit(command: MembersEdit, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = gatehouse.site(command.site)
    if "@" not in command.email:
        checked_email(command.email)  # refused before a form opens, so that it is looked up as a name instead

    async def fill() -> dict[str, Any]:
        (member,) = await find_members(command, [command.email], site, gatehouse)
        known = await catalogue(site, gatehouse)
        form = MemberForm.of(member, site=site.name, known=known.names, channel=caller.channel)
        return replace(form, name=command.name or form.name).view()

    return Modal(modals.loading_view("Edit member"), fill)


@handles(MembersRemove)
async def remove(command: MembersRemove, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = gatehouse.site(command.site)
    proposals = []
    for member in await find_members(command, command.emails, site, gatehouse):
        target = Target(service="members", site=site.name, key=member.email)
        proposals.append(propose(caller, Kind.MEMBER_REMOVE, target, member.document(), None, command.because))
    return await submit(proposals, command, caller, gatehouse, purpose=Purpose(act=BulkAct.REMOVE))


def _member_errors(form: MemberForm) -> dict[str, str]:
    wrong = time_errors(form.start, form.expiry)
    if form.mode == "edit":
        return wrong
    try:
        checked_new_email(form.email)
    except BadEmail as error:
        return {"email": f"This is not an email. {error}"[:300]} | wrong
    return wrong


async def _save_member(form: MemberForm, caller: Caller, gatehouse: Gatehouse) -> View | Recorded:
    site = gatehouse.site(form.site)
    known = await catalogue(site, gatehouse)
    form = replace(form, known=known.names)
    base: Member | None = None
    if form.mode == "edit":
        base = await find_member(form.email, site)
        # Somebody changed the member since the form was opened: saving it would overwrite that.
        if fingerprint(canonical_form(base.document())) != form.seen:
            return modals.changed_view()
    elif await site.members.find(checked_email(form.email)) is not None:
        words = f"This person is already a member. Use {slash('members edit')} instead."
        return form.with_notes({"email": words}).view()
    names = use_known_spelling(form.segments, form.known)
    if unknown := known.unknown_names(names, base.segments if base else ()):
        return form.with_notes(segment_notes(form, unknown)).view()
    after = replace(form, segments=names).document(base)
    if base is not None and after == base.document() | {"allowedSegments": list(base.segments)}:
        return modals.done_view("Edit member", "You changed nothing, so nothing was saved.")
    kind, before = (Kind.MEMBER_ADD, None) if base is None else (Kind.MEMBER_UPDATE, base.document())
    after |= {"email": str(after["email"]).strip()}
    target = Target(service="members", site=site.name, key=after["email"])
    proposal = propose(caller, kind, target, before, after, form.reason)
    proposal = await with_times(
        proposal, caller, gatehouse, start=parse_start(form.start), expiry=parse_expiry(form.expiry)
    )
    return await record(proposal, caller, gatehouse, partial(_end_view, form))


def _end_view(form: MemberForm, change: Change) -> View:
    if change.state is not State.FAILED:
        return end_of_form(change)
    field = SEGMENTS if "segment" in change.run.refusal.words.lower() else ""
    words = f"Nothing was changed. {as_sentence(change.run.refusal.words)}"
    return form.with_notes({field: words}).view()


submits(CALLBACK, Form(read_form, _save_member, _member_errors))


MAX_SEGMENTS_IN_TITLE: Final = 3


@handles(MembersGrant)
@handles(MembersRevoke)
async def change_segments(command: MembersGrant | MembersRevoke, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Request the grant or the revocation for each member; those who need no change are named, and left out."""
    is_grant = isinstance(command, MembersGrant)
    site = gatehouse.site(command.site)
    members = await find_members(command, command.emails, site, gatehouse)
    have = () if is_grant else tuple(dict.fromkeys(name for member in members for name in member.segments))
    names = _resolve_segments(command, await catalogue(site, gatehouse), site, have)
    kind, proposals, so = Kind.MEMBER_GRANT if is_grant else Kind.MEMBER_REVOKE, [], list[Thing]()
    for member in members:
        target = Target(service="members", site=site.name, key=member.email)
        document: dict[str, Any] = member.document()
        others = [name for name in member.segments if name not in names]
        granted = [*member.segments, *(name for name in names if name not in member.segments)]
        has, wanted = list(member.segments), granted if is_grant else others
        if has == wanted:
            if command.start is None:
                so.append(Thing(member.email, target, document))
                continue
            has = others if is_grant else granted  # a plan may follow another one
        before, after = (document | {"allowedSegments": segments} for segments in (has, wanted))
        proposals.append(propose(caller, kind, target, before, after, command.because))
    called = join_words([quote_plain(name, 60) for name in names], most=MAX_SEGMENTS_IN_TITLE)
    if not proposals:
        await refuse_unchanged(so, _already_so(command, names, site), gatehouse)
    purpose = Purpose(act=BulkAct.GRANT if is_grant else BulkAct.REVOKE, about=called)
    already = [mask_email(each.title) for each in so]
    return await submit(proposals, command, caller, gatehouse, purpose=purpose, already=already)


def _already_so(command: MembersGrant | MembersRevoke, segments: Sequence[str], site: Site) -> AlreadySo:
    """Return the words for members who have the *segments* that *command* grants already, or lack those that it revokes."""
    access = f"access to {join_words([quote(name, 60) for name in segments])} on {esc(site.name, 60)}"
    if isinstance(command, MembersGrant):
        return AlreadySo(f"already has {access}", f"already have {access}")
    return AlreadySo(f"doesn’t have {access}", f"don’t have {access}")


def _resolve_segments(
    command: MembersGrant | MembersRevoke, catalogue: Catalogue, site: Site, also: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the segments that *command* names, as the site spells them; raises UnknownSegment for the first unknown one.

    *also*: segments that the site has besides those of *catalogue*.
    """
    known = tuple(dict.fromkeys((*also, *catalogue.names)))
    names = use_known_spelling(command.segments, known)
    for name in catalogue.unknown_names(names, also):
        meant = nearest_segments(name, known)
        offered = meant if isinstance(command, MembersGrant) else ()  # a typo never suggests to take access away
        again = {}
        for near in offered:
            segments = tuple(dict.fromkeys(near if each == name else each for each in names))
            again[f"Grant {near} instead"] = replace(command, segments=segments)
        raise UnknownSegment(name, site.name, meant, again)
    return names


class SameEmail(Refusal):
    """The *wanted* email of a member is the one that they have *now*, maybe in another spelling."""

    now: str
    wanted: str

    def words(self) -> Words:
        if self.now == self.wanted:
            return Words(f"{code(self.now)} is their email already.")
        what = (
            f"{code(self.wanted)} is the same email as {code(self.now)} in another spelling: that is the same person."
        )
        return Words(what, next="If the spelling matters, change it in the service itself.")


class EmailTaken(Refusal):
    """Somebody on *site* already has the *email* that a member is to get."""

    email: str
    site: str

    def words(self) -> Words:
        what = f"{code(self.email)} is a member of {esc(self.site)} already, so nobody else can get this email."
        then = "If both are the same person, give the one that stays the segments of the other, then remove the other."
        return Words(what, next=then, again={"Show member": MembersShow((self.email,), self.site)})


class MovesWhatIsToCome(Refusal):
    """A planned change or a revert is still to come for the member with this *email*: another email would lose it."""

    email: str
    site: str
    coming: Sequence[Change]

    def words(self) -> Words:
        begins = any(change.state is State.PLANNED for change in self.coming)
        ends = any(change.state is not State.PLANNED for change in self.coming)
        what = " and ".join([*(["a temporary change"] if ends else []), *(["a planned change"] if begins else [])])
        return Words(
            f"{code(self.email)} has {what}, which would be lost with this email.",
            next="End it, keep it or withdraw it on its card first. Then change the email.",
            again={"Show member": MembersShow((self.email,), self.site)},
        )


@handles(MembersMove)
async def move(command: MembersMove, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = gatehouse.site(command.site)
    new = checked_new_email(command.new)
    (member,) = await find_members(command, [command.email], site, gatehouse)
    if email_key(new) == member.identity:
        raise SameEmail(member.email, new)
    # Compared with all members, since the same email in another spelling is the same person.
    if there := await asyncio.to_thread(find_alike, (await site.members.all()).whole(), [new]):
        raise EmailTaken(there[0].email, site.name)
    of_old = Target(service="members", site=site.name, key=member.email)
    if coming := await gatehouse.store.changes.list_upcoming([of_old]):
        raise MovesWhatIsToCome(member.email, site.name, coming)
    elsewhere, unknown = await sites_with_member(member.email, other_sites(site, gatehouse), gatehouse)
    stays = f"They are a member of {join_words(elsewhere)} too, and stay there with the old email."
    unread = f"{join_words(unknown)} couldn’t be read. If they are a member there, they stay with the old email."
    added = {"name": member.name or "", "email": new, "allowedSegments": list(member.segments)}
    target = of_old.with_key(new)
    warnings = (*((stays,) if elsewhere else ()), *((unread,) if unknown else ()))
    about: dict[str, Any] = {"moved_from": member.email, "warnings": warnings}
    proposal = propose(caller, Kind.MEMBER_ADD, target, None, added, command.because, **about)
    return await submit([proposal], command, caller, gatehouse)


@clicks("decide.old", stored=True)
async def remove_old_email(click: Click, caller: Caller, gatehouse: Gatehouse) -> Command:
    """Remove the email that a member had before their new one, as if it were typed: that has its own guard."""
    change = await change_of_click(click, caller, gatehouse)
    return MembersRemove((change.request.moved_from,), change.edit.target.site, because="they have another email")


EVERY_SITE = "any site"
Found = Member | ClientError | None


@handles(MembersOffboard)
async def offboard(command: MembersOffboard, caller: Caller, gatehouse: Gatehouse) -> Reply:
    emails = list(dict.fromkeys(map(checked_email, command.emails)))
    refuse_many(emails)
    found = [(email, await _find_everywhere(email, gatehouse)) for email in emails]
    on_sites = [(email, site, there) for email, everywhere in found for site, there in everywhere]
    who = _public_name([there for _, _, there in on_sites], emails[0]) if len(emails) == 1 else f"{len(emails)} people"
    proposal = Proposal(
        purpose=Purpose(act=BulkAct.OFFBOARD, about=who),
        items=[_item(number, site, email, there) for number, (email, site, there) in enumerate(on_sites, 1)],
        request=ChangeRequest(requester=caller.user, channel=caller.channel, reason=unquote_reason(command.because)),
    )
    return await submit([proposal], command, caller, gatehouse)


async def _find_everywhere(email: str, gatehouse: Gatehouse) -> Sequence[tuple[Site, Found]]:
    """Return each site's answer about *email*; where none has it, raises the error of a site that failed, else NoMember."""
    sites = list(gatehouse.sites.values())
    found = await asyncio.gather(*(_find_on(site, email) for site in sites))
    if not any(isinstance(there, Member) for there in found):
        failed = next((there for there in found if isinstance(there, ClientError)), None)
        raise failed or NoMember(email, EVERY_SITE)
    return list(zip(sites, found, strict=True))


def _public_name(found: Sequence[Found], email: str) -> str:
    """Return how a channel may see somebody: their name, where a site has one, else the masked email."""
    names = (there.name or "" for there in found if isinstance(there, Member))
    name = next((name.strip() for name in names if name.strip() and "@" not in name), "")
    return name or f"`{mask_email(email)}`"


async def _find_on(site: Site, email: str) -> Found:
    try:
        return member_or_none(await site.members.all(), email)
    except ClientError as error:
        return error


def _item(number: int, site: Site, email: str, there: Found) -> Item:
    """Return the item for one site; where the site could not be asked, a failed one, to retry from the card."""
    if isinstance(there, Member):
        target = Target(service="members", site=site.name, key=there.email)
        return Item(number=number, kind=Kind.MEMBER_REMOVE, target=target, before=there.document())
    target = Target(service="members", site=site.name, key=email)
    if there is None:
        return Item(number=number, target=target, outcome=Outcome.SKIPPED, why="not a member here")
    return Item(
        number=number,
        kind=Kind.MEMBER_REMOVE,
        target=target,
        outcome=Outcome.FAILED,
        why=f"the site couldn’t be asked: {there}"[:200],
    )
