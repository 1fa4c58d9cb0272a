"""Find the member that a command means, and the site."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from bot.clients.errors import ClientError
from bot.clients.lists import Incomplete, Listing, member_in
from bot.gatehouse import Gatehouse, Site
from bot.members.model import Catalogue, Member, find_by_email, known_segments
from bot.text.emails import checked_email
from bot.threads import run_over
from handlers.errors import NoMember, TooMany
from handlers.grammar.command import Command

MAX_MEMBERS_PER_COMMAND: Final = 100


async def catalogue(site: Site, gatehouse: Gatehouse) -> Catalogue:
    """Return every known segment of *site*: those of its members, as they were some seconds ago, and of the settings."""
    members = await site.members.recent()
    names = await run_over(members.known, known_segments, members.known, gatehouse.extra_segments)
    return Catalogue(names, is_open=members.truncated)


async def all_segments(gatehouse: Gatehouse) -> list[str]:
    """Return every known segment of any site, in the order of their names; raises as `catalogue` does."""
    catalogues = [await catalogue(site, gatehouse) for site in gatehouse.sites.values()]
    return sorted({name for each in catalogues for name in each.names})


def other_sites(site: Site, gatehouse: Gatehouse) -> tuple[str, ...]:
    """Return the names of all sites but *site*."""
    return tuple(name for name in gatehouse.sites if name != site.name)


def member_or_none(listing: Listing[Member], email: str) -> Member | None:
    """Return the member with this *email*; None where nobody has it.

    Raises Incomplete where that isn't known, also as a record could not be read: it might be theirs.
    """
    member = member_in(listing, email)
    if member is None and listing.gap is not None:
        raise Incomplete(listing.service, listing.gap)
    return member


async def find_member(email: str, site: Site) -> Member:
    """Return the member with this email on *site*; raises BadEmail, NoMember, or Incomplete as `member_or_none` does."""
    address = checked_email(email)
    if (member := member_or_none(await site.members.all(), address)) is None:
        raise NoMember(address, site.name)
    return member


def refuse_many(emails: Sequence[str], most: int = MAX_MEMBERS_PER_COMMAND) -> None:
    """Raise TooMany for more *emails* than so *most*."""
    if len(emails) > most:
        raise TooMany(len(emails), most, "members")


async def find_members(command: Command, emails: Sequence[str], site: Site, gatehouse: Gatehouse) -> Sequence[Member]:
    """Return the members with these *emails*, which *command* names; raises as `find_member` does, and TooMany.

    For a single email, NoMember says on which other sites it is known.
    """
    refuse_many(emails)
    try:
        found = await asyncio.gather(*(find_member(email, site) for email in emails))
        return list({member.email: member for member in found}.values())
    except NoMember as error:
        if len(emails) > 1:
            raise
        known, _ = await sites_with_member(error.email, other_sites(site, gatehouse), gatehouse)
        again = {name: command.with_fields(site=name) for name in known}
        raise NoMember(error.email, site.name, again) from error


async def sites_with_member(
    email: str, names: Sequence[str], gatehouse: Gatehouse
) -> tuple[Sequence[str], Sequence[str]]:
    """Return the sites of *names* that have a member with this email, and those of which that isn't known."""
    known, unknown = [], []
    for name in names:
        try:
            members = await gatehouse.sites[name].members.recent()
        except ClientError:
            unknown.append(name)
            continue
        if await run_over(members.known, find_by_email, members.known, email) is not None:
            known.append(name)
        elif members.gap is not None:
            unknown.append(name)
    return known, unknown
