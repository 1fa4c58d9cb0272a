"""Which member a command means: the one with that address on that site, and the sites that have them if it has not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from bot.clients.errors import ClientError
from bot.domain.checks import checked_email
from bot.domain.member import Member, found
from bot.gatehouse import Gatehouse, Site
from handlers.commands.members import MembersEdit, MembersGrant, MembersRemove, MembersRevoke, MembersShow
from handlers.errors import NoMember
from handlers.sites import others


async def find_member(email: str, site: Site) -> Member:
    """The member with this address on *site*; raises BadEmail or NoMember."""
    address = checked_email(email)
    if (member := await site.members.find(address)) is None:
        raise NoMember(address, site.name)
    return member


async def member_meant(
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
        known += [name] if await asyncio.to_thread(found, members.known, email) is not None else []
    return known
