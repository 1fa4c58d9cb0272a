"""The segments of a site, grant and revoke, and offboarding from every site."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from bot.changes.model import Kind, Outcome, Part, Target
from bot.changes.proposals import Proposal, SetProposal
from bot.clients.errors import ClientError
from bot.gatehouse import Gatehouse, Site
from bot.members.model import Catalogue, Member, counted, nearest, spelled
from bot.text.emails import checked_email, masked
from handlers.changes.expiry import lasting
from handlers.errors import NoMember, NothingToChange, UnknownSegment
from handlers.grammar.command import Command
from handlers.members import views
from handlers.members.commands import MembersGrant, MembersOffboard, MembersRevoke, MembersSegments
from handlers.members.refs import catalogue, extra_segments, member_meant, site_for
from handlers.slack.registry import handles
from handlers.slack.reply import Announced, Caller, Private, Reply


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
    await gatehouse.changes.proposer.submit(proposal, origin=caller.request)
    return Announced()


EVERY_SITE = "any site"


@handles(MembersOffboard)
async def offboard(command: MembersOffboard, caller: Caller, gatehouse: Gatehouse) -> Reply:
    email = checked_email(command.email)
    sites = list(gatehouse.sites.values())
    found = await asyncio.gather(*(_found(site, email) for site in sites))
    parts = [
        _part(number, site, email, there) for number, (site, there) in enumerate(zip(sites, found, strict=True), 1)
    ]
    if not any(isinstance(there, Member) for there in found):
        failed = next((there for there in found if isinstance(there, ClientError)), None)
        raise failed or NoMember(email, EVERY_SITE)
    proposal = SetProposal(
        title=f"Remove {masked(email)} from every site",
        parts=parts,
        requester=caller.user,
        channel=caller.channel,
        reason=command.because or "",
    )
    await gatehouse.changes.proposer.submit(proposal, origin=caller.request)
    return Announced()


async def _found(site: Site, email: str) -> Member | ClientError | None:
    try:
        return await site.members.find(email)
    except ClientError as error:
        return error


def _part(number: int, site: Site, email: str, there: Member | ClientError | None) -> Part:
    """What happens on one site; where it could not be asked, nothing, and it can be tried again from the card."""
    if isinstance(there, Member):
        target = Target(service="members", site=site.name, key=there.email)
        return Part(number=number, kind=Kind.MEMBER_REMOVE, target=target, before=there.document())
    target = Target(service="members", site=site.name, key=email)
    if there is None:
        return Part(number=number, target=target, outcome=Outcome.SKIPPED, why="not a member here")
    return Part(
        number=number,
        kind=Kind.MEMBER_REMOVE,
        target=target,
        outcome=Outcome.FAILED,
        why=f"the site could not be asked: {there}"[:200],
    )
