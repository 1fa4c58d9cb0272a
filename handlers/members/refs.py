"""Which member a command means, and on which site."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.clients.errors import ClientError
from bot.gatehouse import Gatehouse, Site
from bot.members.model import Catalogue, Member, found, known_segments
from bot.store.settings import Preferences
from bot.text.emails import checked_email
from handlers.errors import NoMember, Refusal
from handlers.members.commands import MembersEdit, MembersGrant, MembersRemove, MembersRevoke, MembersShow
from handlers.slack.reply import Caller


@dataclass(eq=False, repr=False)
class SiteGone(Refusal):
    """The channel's default site is not set up any more. Another one is not guessed."""

    gone: str
    known: Sequence[str]


async def preferences(caller: Caller, gatehouse: Gatehouse) -> Preferences:
    """What the caller's channel has set; raises StoreError."""
    return Preferences.of(await gatehouse.store.channel_settings.get(caller.channel))


async def site_for(name: str | None, caller: Caller, gatehouse: Gatehouse) -> Site:
    """The site that a command means; raises UnknownSite, SiteGone or StoreError."""
    if name is not None:
        return gatehouse.site(name)
    chosen = (await preferences(caller, gatehouse)).site
    if chosen and chosen not in gatehouse.sites:
        raise SiteGone(chosen, tuple(gatehouse.sites))
    return gatehouse.site(chosen or None)


async def extra_segments(caller: Caller, gatehouse: Gatehouse) -> tuple[str, ...]:
    """The segments that the deployment and the channel name, whether anybody has them or not."""
    return (*gatehouse.extra_segments, *(await preferences(caller, gatehouse)).segments)


async def catalogue(site: Site, caller: Caller, gatehouse: Gatehouse) -> Catalogue:
    """Every segment of *site* that is known: of its members as they were some seconds ago, and of the settings."""
    members = await site.members.recent()
    names = await asyncio.to_thread(known_segments, members.known, await extra_segments(caller, gatehouse))
    return Catalogue(names, is_open=members.truncated)


def others(site: Site, gatehouse: Gatehouse) -> tuple[str, ...]:
    """The names of the sites that are not *site*."""
    return tuple(name for name in gatehouse.sites if name != site.name)


async def find_member(email: str, site: Site) -> Member:
    """The member with this address on *site*; raises BadEmail or NoMember."""
    address = checked_email(email)
    if (member := await site.members.find(address)) is None:
        raise NoMember(address, site.name)
    return member


async def find_member_named(
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
