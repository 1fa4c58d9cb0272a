"""Rules, members and import results as files, and the line that introduces each."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from bot.clients.json_stream import cooperatively
from bot.gatehouse import Gatehouse
from bot.members import csv
from bot.policy.access import NotAllowed
from bot.policy.limits import EXPORT_RATE
from bot.policy.model import Why
from bot.rules import files
from bot.rules.model import Rule
from bot.rules.secrets import holds_secret
from handlers.blocks import messages
from handlers.blocks.masking import holds_email, is_public
from handlers.errors import EmailsInFile, NothingToExport
from handlers.members import edit
from handlers.members.commands import MembersExport, MembersList
from handlers.rules.commands import RulesExport, RulesList
from handlers.rules.lookup import fitting
from handlers.slack.registry import handles
from handlers.slack.reply import Attached, Caller, Reply


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
    content = b"".join(await cooperatively(files.export_lines(found)))
    if command.here and is_public(caller.channel) and await asyncio.to_thread(_is_private, found, content):
        raise EmailsInFile(replace(command, here=False))
    comment = messages.rules_comment(
        len(found),
        total=len(rules),
        place=gatehouse.places.get("rules", ""),
        gap=listing.gap,
    )
    name = files.export_name(gatehouse.now().date())
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
    checked = await cooperatively((member, edit.fits(member, wanted)) for member in everyone)
    found = [member for member, fits in checked if fits]
    if not found:
        raise NothingToExport("member")
    content = b"".join(await cooperatively(csv.export_lines(found, site.name)))
    comment = messages.members_comment(len(found), total=len(everyone), site=site.name, gap=listing.gap)
    name = csv.export_name(site.name, gatehouse.now().date())
    return Attached(name, content, comment, exports=(f"members/{site.name}", len(found)))
