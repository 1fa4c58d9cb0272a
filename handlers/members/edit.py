"""Commands about members: show, list, add, change, remove, and why somebody has access."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from bot.changes.model import Kind, Target
from bot.changes.proposals import Proposal
from bot.clients.errors import ClientError
from bot.clients.lists import member_in
from bot.gatehouse import Gatehouse, Site
from bot.members.access_check import Verdict, explained
from bot.members.model import Member, spelled
from bot.text.emails import checked_email, masked
from handlers.blocks import menus, modals
from handlers.changes.expiry import as_typed
from handlers.errors import MemberGone
from handlers.explain.table import words_for
from handlers.grammar.shorthand import NUMBERED_ROWS, member_row
from handlers.members import form_view, views
from handlers.members.commands import (
    MembersAdd,
    MembersEdit,
    MembersList,
    MembersMenu,
    MembersRemove,
    MembersShow,
    MembersWhy,
)
from handlers.members.refs import catalogue, extra_segments, member_meant, others, site_for
from handlers.members.views import Unasked
from handlers.slack.registry import Click, clicks, handles
from handlers.slack.reply import Announced, Caller, Modal, Private, Reply

PAGE = 10


@handles(MembersMenu)
async def menu(command: MembersMenu, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return Private(views.menu(sites=tuple(gatehouse.sites)))


@handles(MembersList)
async def show_list(command: MembersList, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = await site_for(command.site, caller, gatehouse)
    listing = await site.members.all()
    found = await asyncio.to_thread(_in_order, listing.known, command)
    pages = max(1, -(-len(found) // PAGE))
    page = min(max(command.page or 1, 1), pages)
    first = (page - 1) * PAGE
    if not caller.public:
        rows = [member_row(site.name, member.email) for member in found[:NUMBERED_ROWS]]
        await gatehouse.store.lists.put(caller.user, "members", rows)
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
            audience=caller.audience,
            gap=listing.gap,
        )
    )


def _in_order(members: Sequence[Member], command: MembersList) -> list[Member]:
    return sorted((member for member in members if fits(member, command)), key=lambda one: one.title.casefold())


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
        return Modal(menus.member_modal(caller.channel))
    site = await site_for(command.site, caller, gatehouse)
    member = await member_meant(command, site, gatehouse)
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
    listing = await site.members.all()

    def find() -> Member | None:
        alike = (member for member in listing.known if masked(member.email) == mask)
        return next((one for one in alike if gatehouse.reference(site.name, one.email) == reference), None)

    if (member := await asyncio.to_thread(find)) is None:
        listing.whole()
        raise MemberGone(site.name)
    return _card(member, site, gatehouse, public=False)


@handles(MembersAdd)
async def add(command: MembersAdd, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = await site_for(command.site, caller, gatehouse)
    if command.segments:
        await gatehouse.access.require(Kind.MEMBER_GRANT.operation, caller.user, caller.channel)

    async def fill() -> dict[str, Any]:
        known = await catalogue(site, caller, gatehouse)
        names = spelled(command.segments, known.names)
        wrong = known.strangers(names)
        form = form_view.MemberForm.blank(
            email=command.email,
            name=command.name,
            segments=[name for name in names if name not in wrong],
            site=site.name,
            known=known.names,
            reason=command.because or "",
            lasts=as_typed(command.lasts),
            channel=caller.channel,
        )
        return form.noted(form_view.segment_notes(wrong, known.names), known.names).view()

    return Modal(modals.loading("Add member"), fill)


@handles(MembersEdit)
async def edit(command: MembersEdit, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = await site_for(command.site, caller, gatehouse)

    async def fill() -> dict[str, Any]:
        member = await member_meant(command, site, gatehouse)
        known = await catalogue(site, caller, gatehouse)
        return form_view.MemberForm.of(member, site=site.name, known=known.names, channel=caller.channel).view()

    return Modal(modals.loading("Edit member"), fill)


@handles(MembersRemove)
async def remove(command: MembersRemove, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = await site_for(command.site, caller, gatehouse)
    member = await member_meant(command, site, gatehouse)
    proposal = Proposal(
        kind=Kind.MEMBER_REMOVE,
        target=Target(service="members", site=site.name, key=member.email),
        before=member.document(),
        after=None,
        requester=caller.user,
        channel=caller.channel,
        reason=command.because or "",
    )
    await gatehouse.changes.proposer.submit(proposal, origin=caller.request)
    return Announced()


@handles(MembersWhy)
async def why(command: MembersWhy, caller: Caller, gatehouse: Gatehouse) -> Reply:
    email = checked_email(command.email)
    extra = await extra_segments(caller, gatehouse)
    sites = [gatehouse.site(command.site)] if command.site or not gatehouse.sites else list(gatehouse.sites.values())
    said = await asyncio.gather(*(_asked(site, email, command.segment, extra) for site in sites))
    return Private(views.why(email, said, command=command, audience="channel" if caller.public else "private"))


async def _asked(site: Site, email: str, segment: str | None, extra: tuple[str, ...]) -> Verdict | Unasked:
    try:
        listing = await site.members.all()
        member_in(listing, email)
    except ClientError as error:
        return Unasked(site.name, words_for(error).what)
    if listing.truncated and segment is not None:
        extra = (*extra, segment)  # nobody has it among those that were read: that says nothing of the others
    # In a thread: to compare an address with 100,000 others takes 150 ms.
    return await asyncio.to_thread(explained, email, segment, site=site.name, members=listing.known, extra=extra)
