"""Which site a command is about: the one it names, else the one of the channel, else the first that is set up."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from bot.domain.preferences import Preferences
from bot.domain.segments import Catalogue, known_segments
from bot.gatehouse import Gatehouse, Site
from handlers.reply import Caller


class SiteGone(Exception):
    """The channel's default site is not set up any more. Another one is not guessed."""

    def __init__(self, gone: str, known: Sequence[str]) -> None:
        super().__init__(gone)
        self.gone = gone
        self.known = tuple(known)


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
