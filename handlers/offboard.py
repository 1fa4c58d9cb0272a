"""``/members offboard``: somebody removed from every site, on one card; what fails on one site hides no other."""

from __future__ import annotations

import asyncio

from bot.changes.set_proposals import SetProposal
from bot.clients.errors import ClientError
from bot.domain.change import Kind, Target
from bot.domain.change_set import Outcome, Part
from bot.domain.checks import checked_email
from bot.domain.member import Member, masked
from bot.gatehouse import Gatehouse, Site
from handlers.commands.members import MembersOffboard
from handlers.errors import NoMember
from handlers.reply import Announced, Caller, Reply
from handlers.routes import handles

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
    await gatehouse.changes.submit_set(proposal, origin=caller.request)
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
