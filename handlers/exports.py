"""Rules and members as files, to the person who asks; rules into the channel, too, where they say so."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from bot.access import NotAllowed
from bot.clients.parsing import gently
from bot.domain import member_csv, rulefile
from bot.domain.limits import EXPORT_RATE
from bot.domain.policy import Why
from bot.domain.rule import Rule
from bot.domain.secrets import holds_secret
from bot.gatehouse import Gatehouse
from handlers import members
from handlers.commands.members import MembersExport, MembersList
from handlers.commands.rules import RulesExport, RulesList
from handlers.errors import EmailsInFile, NothingToExport
from handlers.listing import fitting
from handlers.masking import holds_email, is_public
from handlers.reply import Attached, Caller, Reply
from handlers.routes import handles
from handlers.views import files as views


@handles(RulesExport)
async def export_rules(command: RulesExport, caller: Caller, gatehouse: Gatehouse) -> Reply:
    if command.here and (await gatehouse.access.directory.place(caller.channel)).shared:
        raise NotAllowed(Why.SHARED_CHANNEL, "export", caller.user, channel=caller.channel)
    gatehouse.limits.take(EXPORT_RATE, caller.user, caller.channel)
    listing = await gatehouse.rules.all()
    rules = listing.whole()
    wanted = RulesList(text=command.text, type=command.type, status=command.status)
    groups = await gatehouse.groups.groups()
    found = await asyncio.to_thread(fitting, rules, wanted, groups)
    if not found:
        raise NothingToExport("rule")
    content = b"".join(await gently(rulefile.pieces(found)))
    if command.here and is_public(caller.channel) and await asyncio.to_thread(_is_private, found, content):
        raise EmailsInFile(replace(command, here=False))
    comment = views.rules_comment(
        len(found),
        total=len(rules),
        place=gatehouse.places.get("rules", ""),
        gap=listing.gap,
    )
    name = rulefile.file_name(gatehouse.now().date())
    return Attached(name, content, comment, here=command.here, exports=("rules", len(found)))


def _is_private(rules: Sequence[Rule], content: bytes) -> bool:
    """Whether something in the rules of a file is masked in channels."""
    return holds_email(content) or any(map(holds_secret, rules))


@handles(MembersExport)
async def export_members(command: MembersExport, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Always to the person alone: whole addresses have no place in a channel."""
    site = gatehouse.site(command.site)
    gatehouse.limits.take(EXPORT_RATE, caller.user, caller.channel)
    listing = await site.members.all()
    everyone = listing.whole()
    wanted = MembersList(text=command.text, segment=command.segment, without_segment=command.without_segment)
    checked = await gently((member, members.fits(member, wanted)) for member in everyone)
    found = [member for member, fits in checked if fits]
    if not found:
        raise NothingToExport("member")
    content = b"".join(await gently(member_csv.pieces(found, site.name)))
    comment = views.members_comment(len(found), total=len(everyone), site=site.name, gap=listing.gap)
    name = member_csv.file_name(site.name, gatehouse.now().date())
    return Attached(name, content, comment, exports=(f"members/{site.name}", len(found)))
