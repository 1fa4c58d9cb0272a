"""The segments of a site: how many members have each, and giving and taking them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from bot.changes.proposals import Proposal
from bot.domain.change import Kind, Target
from bot.domain.member import Member
from bot.domain.segments import Catalogue, counted, nearest, spelled
from bot.gatehouse import Gatehouse, Site
from handlers.commands.command import Command
from handlers.commands.members import MembersGrant, MembersRevoke, MembersSegments
from handlers.errors import NothingToChange, UnknownSegment
from handlers.lasting import lasting
from handlers.member_refs import member_meant
from handlers.reply import Announced, Caller, Private, Reply
from handlers.routes import handles
from handlers.sites import catalogue, extra_segments, site_for
from handlers.views import members as views


@handles(MembersSegments)
async def show_segments(command: MembersSegments, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = await site_for(command.site, caller, gatehouse)
    listing = await site.members.all()
    everyone = listing.known
    unused = dict.fromkeys(await extra_segments(caller, gatehouse), 0)
    without, of_members = await asyncio.to_thread(_counted, everyone)
    counts = unused | of_members
    return Private(views.segment_counts(counts, total=len(everyone), without=without, site=site.name, gap=listing.gap))


def _counted(members: Sequence[Member]) -> tuple[int, dict[str, int]]:
    """How many have no segment, and how many have each."""
    return sum(not member.segments for member in members), counted(members)


@handles(MembersGrant)
async def grant(command: MembersGrant, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = await site_for(command.site, caller, gatehouse)
    member = await member_meant(command, site, gatehouse)
    names = _named(command, await catalogue(site, caller, gatehouse), site)
    after = [*member.segments, *(name for name in names if name not in member.segments)]
    return await _change_segments(member, after, Kind.MEMBER_GRANT, command, site, caller, gatehouse)


@handles(MembersRevoke)
async def revoke(command: MembersRevoke, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = await site_for(command.site, caller, gatehouse)
    member = await member_meant(command, site, gatehouse)
    names = _named(command, await catalogue(site, caller, gatehouse), site, member.segments)
    after = [name for name in member.segments if name not in names]
    return await _change_segments(member, after, Kind.MEMBER_REVOKE, command, site, caller, gatehouse)


def _named(
    command: MembersGrant | MembersRevoke, catalogue: Catalogue, site: Site, also: Sequence[str] = ()
) -> tuple[str, ...]:
    """The segments that *command* names, as the site spells them; raises UnknownSegment for the first it has not.

    *also*: segments that the site has besides those of *catalogue*.
    """
    known = (*also, *catalogue.names)
    names = spelled(command.segments, known)
    for name in catalogue.strangers(names, also):
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
        raise NothingToChange([member.email], None)
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
