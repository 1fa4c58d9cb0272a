"""What each command about members does: Command -> Reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bot.changes.proposals import Proposal
from bot.clients.errors import ClientError
from bot.domain.change import Kind, Target
from bot.domain.checks import checked_email
from bot.domain.member import Member, found, masked
from bot.domain.segments import counted, nearest, spelled, strangers
from bot.gatehouse import Gatehouse, Site
from handlers.commands import (
    Command,
    MembersAdd,
    MembersEdit,
    MembersGrant,
    MembersList,
    MembersMenu,
    MembersRemove,
    MembersRevoke,
    MembersSegments,
    MembersShow,
)
from handlers.errors import MemberGone, NoMember, NothingToChange, UnknownSegment
from handlers.lasting import as_typed, lasting
from handlers.reply import Announced, Caller, Modal, Private, Reply
from handlers.routes import Click, clicks, handles
from handlers.sites import catalogue, extra_segments, others, site_for
from handlers.views import forms, member_form, pickers
from handlers.views import members as views

PAGE = 10


@handles(MembersMenu)
async def menu(command: MembersMenu, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return Private(views.menu(gatehouse.prefix, sites=tuple(gatehouse.sites)))


@handles(MembersList)
async def show_list(command: MembersList, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = await site_for(command.site, caller, gatehouse)
    everyone = await site.members.all()
    found = sorted((member for member in everyone if fits(member, command)), key=lambda one: one.title.casefold())
    pages = max(1, -(-len(found) // PAGE))
    page = min(max(command.page or 1, 1), pages)
    first = (page - 1) * PAGE
    return Private(
        views.member_list(
            found[first : first + PAGE],
            site=site.name,
            page=page,
            pages=pages,
            total=len(found),
            command=command,
            first_number=first + 1,
            others=() if command.site else others(site, gatehouse),
            audience="channel" if caller.public else "private",
        )
    )


def fits(member: Member, command: MembersList) -> bool:
    """Whether *member* passes every filter that was given."""
    has = {name.casefold() for name in member.segments}
    if command.segment and command.segment.casefold() not in has:
        return False
    if command.without_segment and command.without_segment.casefold() in has:
        return False
    return (command.text or "").casefold() in f"{member.name or ''}\n{member.email}".casefold()


@handles(MembersSegments)
async def show_segments(command: MembersSegments, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = await site_for(command.site, caller, gatehouse)
    everyone = await site.members.all()
    unused = dict.fromkeys(await extra_segments(caller, gatehouse), 0)
    without = sum(not member.segments for member in everyone)
    counts = unused | counted(everyone)
    return Private(views.segment_counts(counts, total=len(everyone), without=without, site=site.name))


@handles(MembersShow)
async def show(command: MembersShow, caller: Caller, gatehouse: Gatehouse) -> Reply:
    if not command.email.strip():
        return Modal(pickers.member_modal(caller.channel))
    site = await site_for(command.site, caller, gatehouse)
    member = await _member_meant(command, site, gatehouse)
    return _card(member, site, gatehouse, public=caller.public, others=() if command.site else others(site, gatehouse))


def _card(member: Member, site: Site, gatehouse: Gatehouse, *, public: bool, others: Sequence[str] = ()) -> Reply:
    return Private(
        views.member_card(
            member,
            site=site.name,
            command=MembersShow(email=member.email, site=site.name),
            audience="channel" if public else "private",
            reference=gatehouse.reference(site.name, member.email),
            others=others,
        )
    )


@clicks("members.whisper")
async def show_privately(click: Click, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """The member of a shared card, whole, to whoever clicked: the button holds no address but what stands for one."""
    await gatehouse.access.require(MembersShow.needs or "", caller.user, caller.channel)
    name, _, rest = click.value.partition(" ")
    mask, _, reference = rest.rpartition(" ")
    site = gatehouse.site(name)
    for member in await site.members.all():
        if masked(member.email) == mask and gatehouse.reference(site.name, member.email) == reference:
            return _card(member, site, gatehouse, public=False)
    raise MemberGone(site.name)


async def find_member(email: str, site: Site) -> Member:
    """The member with this address on *site*; raises BadEmail or NoMember."""
    address = checked_email(email)
    if (member := await site.members.find(address)) is None:
        raise NoMember(address, site.name)
    return member


async def _member_meant(
    command: MembersShow | MembersEdit | MembersGrant | MembersRevoke | MembersRemove, site: Site, gatehouse: Gatehouse
) -> Member:
    """The member that *command* names; NoMember says on which other sites it would have found them."""
    try:
        return await find_member(command.email, site)
    except NoMember as error:
        known = await _known_on(error.email, others(site, gatehouse), gatehouse)
        again = {name: replace(command, site=name) for name in known}
        raise NoMember(error.email, site.name, again) from error


async def _known_on(email: str, names: Sequence[str], gatehouse: Gatehouse) -> list[str]:
    """The sites of *names* that have a member with this address; one that cannot be asked is passed over."""
    known = []
    for name in names:
        try:
            members = await gatehouse.sites[name].members.recent()
        except ClientError:
            continue
        known += [name] if found(members, email) is not None else []
    return known


@handles(MembersAdd)
async def add(command: MembersAdd, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = await site_for(command.site, caller, gatehouse)

    async def fill() -> dict[str, Any]:
        known = await catalogue(site, caller, gatehouse)
        names = spelled(command.segments, known)
        wrong = strangers(names, known)
        form = member_form.MemberForm.blank(
            email=command.email,
            name=command.name,
            segments=[name for name in names if name not in wrong],
            site=site.name,
            known=known,
            reason=command.because or "",
            lasts=as_typed(command.lasts),
            channel=caller.channel,
        )
        return form.noted(member_form.segment_notes(wrong, known), known).view()

    return Modal(forms.loading("Add member"), fill)


@handles(MembersEdit)
async def edit(command: MembersEdit, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = await site_for(command.site, caller, gatehouse)

    async def fill() -> dict[str, Any]:
        member = await _member_meant(command, site, gatehouse)
        known = await catalogue(site, caller, gatehouse)
        return member_form.MemberForm.of(member, site=site.name, known=known, channel=caller.channel).view()

    return Modal(forms.loading("Edit member"), fill)


@handles(MembersGrant)
async def grant(command: MembersGrant, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = await site_for(command.site, caller, gatehouse)
    member = await _member_meant(command, site, gatehouse)
    names = _named(command, await catalogue(site, caller, gatehouse), site)
    after = [*member.segments, *(name for name in names if name not in member.segments)]
    return await _change_segments(member, after, Kind.MEMBER_GRANT, command, site, caller, gatehouse)


@handles(MembersRevoke)
async def revoke(command: MembersRevoke, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = await site_for(command.site, caller, gatehouse)
    member = await _member_meant(command, site, gatehouse)
    names = _named(command, (*member.segments, *await catalogue(site, caller, gatehouse)), site)
    after = [name for name in member.segments if name not in names]
    return await _change_segments(member, after, Kind.MEMBER_REVOKE, command, site, caller, gatehouse)


def _named(command: MembersGrant | MembersRevoke, known: Sequence[str], site: Site) -> tuple[str, ...]:
    """The segments that *command* names, as the site spells them; raises UnknownSegment for the first it has not."""
    names = spelled(command.segments, known)
    for name in strangers(names, known):
        meant = nearest(name, known)
        offered = meant if isinstance(command, MembersGrant) else ()  # nothing that takes away is offered for a typo
        again = {f"Grant {near} instead": _meaning(command, names, name, near) for near in offered}
        raise UnknownSegment(name, site.name, meant, again)
    return names


def _meaning(command: MembersGrant | MembersRevoke, names: Sequence[str], wrong: str, near: str) -> Command:
    return replace(command, segments=tuple(dict.fromkeys(near if name == wrong else name for name in names)))


async def _change_segments(
    member: Member,
    after: Sequence[str],
    kind: Kind,
    command: MembersGrant | MembersRevoke,
    site: Site,
    caller: Caller,
    gatehouse: Gatehouse,
) -> Reply:
    if list(after) == list(member.segments):
        raise NothingToChange(member.email, None)
    proposal = Proposal(
        kind=kind,
        target=Target(service="members", site=site.name, key=member.email),
        before=member.document(),
        after=member.document() | {"allowedSegments": list(after)},
        requester=caller.user,
        channel=caller.channel,
        reason=command.because or "",
    )
    if isinstance(command, MembersGrant):
        proposal = await lasting(proposal, command.lasts, caller, gatehouse)
    await gatehouse.changes.submit(proposal, origin=caller.request)
    return Announced()


@handles(MembersRemove)
async def remove(command: MembersRemove, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = await site_for(command.site, caller, gatehouse)
    member = await _member_meant(command, site, gatehouse)
    proposal = Proposal(
        kind=Kind.MEMBER_REMOVE,
        target=Target(service="members", site=site.name, key=member.email),
        before=member.document(),
        after=None,
        requester=caller.user,
        channel=caller.channel,
        reason=command.because or "",
    )
    await gatehouse.changes.submit(proposal, origin=caller.request)
    return Announced()
