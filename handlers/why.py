"""``/members why``: every site is asked at once; one that does not answer is said to have not, and hides no other."""

from __future__ import annotations

import asyncio

from bot.clients.errors import ClientError
from bot.clients.listing import member_in
from bot.domain.checks import checked_email
from bot.domain.why import Verdict, explained
from bot.gatehouse import Gatehouse, Site
from handlers.commands.members import MembersWhy
from handlers.error_words.table import words_for
from handlers.reply import Caller, Private, Reply
from handlers.routes import handles
from handlers.sites import extra_segments
from handlers.views import why as views
from handlers.views.why import Unasked


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
