"""What each command about members does: Command -> Reply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from bot.changes.proposals import Proposal
from bot.domain.change import Kind, Target
from bot.domain.checks import checked_email
from bot.domain.member import Member
from bot.gatehouse import Gatehouse, Site
from handlers.commands import (
    MembersAdd,
    MembersEdit,
    MembersGrant,
    MembersList,
    MembersMenu,
    MembersRemove,
    MembersRevoke,
    MembersShow,
)
from handlers.errors import NoMember, NothingToChange
from handlers.lasting import as_typed, lasting
from handlers.reply import Announced, Caller, Modal, Private, Reply
from handlers.routes import handles
from handlers.views import forms, member_form, pickers
from handlers.views import members as views

PAGE = 10


@handles(MembersMenu)
async def menu(command: MembersMenu, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return Private(views.menu(gatehouse.prefix, sites=tuple(gatehouse.sites)))


@handles(MembersList)
async def show_list(command: MembersList, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = gatehouse.site(command.site)
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


@handles(MembersShow)
async def show(command: MembersShow, caller: Caller, gatehouse: Gatehouse) -> Reply:
    if not command.email.strip():
        return Modal(pickers.member_modal(caller.channel))
    site = gatehouse.site(command.site)
    member = await find_member(command.email, site)
    return Private(
        views.member_card(
            member,
            site=site.name,
            command=MembersShow(email=member.email, site=site.name),
            audience="channel" if caller.public else "private",
        )
    )


async def find_member(email: str, site: Site) -> Member:
    """The member with this address on *site*; raises BadEmail or NoMember."""
    address = checked_email(email)
    if (member := await site.members.find(address)) is None:
        raise NoMember(address, site.name)
    return member


@handles(MembersAdd)
async def add(command: MembersAdd, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = gatehouse.site(command.site)

    async def fill() -> dict[str, Any]:
        form = member_form.MemberForm.blank(
            email=command.email,
            name=command.name,
            segments=command.segments,
            site=site.name,
            known=known_segments(await site.members.all(), gatehouse.extra_segments),
            reason=command.because or "",
            lasts=as_typed(command.lasts),
            channel=caller.channel,
        )
        return form.view()

    return Modal(forms.loading("Add member"), fill)


@handles(MembersEdit)
async def edit(command: MembersEdit, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = gatehouse.site(command.site)

    async def fill() -> dict[str, Any]:
        member = await find_member(command.email, site)
        known = known_segments(await site.members.all(), gatehouse.extra_segments)
        return member_form.MemberForm.of(member, site=site.name, known=known, channel=caller.channel).view()

    return Modal(forms.loading("Edit member"), fill)


@handles(MembersGrant)
async def grant(command: MembersGrant, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = gatehouse.site(command.site)
    member = await find_member(command.email, site)
    names = spelled(command.segments, known_segments(await site.members.all(), gatehouse.extra_segments))
    after = [*member.segments, *(name for name in names if name not in member.segments)]
    return await _change_segments(member, after, Kind.MEMBER_GRANT, command, site, caller, gatehouse)


@handles(MembersRevoke)
async def revoke(command: MembersRevoke, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = gatehouse.site(command.site)
    member = await find_member(command.email, site)
    names = spelled(command.segments, member.segments)
    after = [name for name in member.segments if name not in names]
    return await _change_segments(member, after, Kind.MEMBER_REVOKE, command, site, caller, gatehouse)


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
    site = gatehouse.site(command.site)
    member = await find_member(command.email, site)
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


def known_segments(members: Iterable[Member], extra: Sequence[str] = ()) -> tuple[str, ...]:
    """Every segment that a member has, most used first, then those of the settings.

    There is no operation that lists segments, so one that nobody has is known from the settings alone.
    """
    counts = Counter(name for member in members for name in member.segments)
    return (*(name for name, _ in counts.most_common()), *(name for name in extra if name not in counts))


def spelled(wanted: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """*wanted* in the spelling of *known* where only the case differs; a name that is unknown goes as it was typed.

    Segments that nobody has yet cannot be known, so it is the service that refuses a name that does not exist.
    """
    by_fold = {name.casefold(): name for name in known}
    return tuple(dict.fromkeys(name if name in known else by_fold.get(name.casefold(), name) for name in wanted))
