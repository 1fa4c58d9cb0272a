"""Rules and members as files, and the line that introduces each."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from bot.clients.lists import Gap, Incomplete
from bot.gatehouse import Gatehouse
from bot.members import csv
from bot.policy.limits import EXPORT_RATE
from bot.rules import files
from bot.rules.model import Rule
from bot.rules.secrets import holds_secret
from handlers.blocks import messages
from handlers.blocks.masking import has_email, is_public
from handlers.blocks.messages import code, esc
from handlers.errors import EmailsInFile, NothingToExport
from handlers.grammar.command import slash
from handlers.members.commands import MembersExport
from handlers.members.member_lookup import passes_filters, with_known_segments
from handlers.rules.commands import RulesExport
from handlers.rules.rule_lookup import filter_rules, refuse_unknown_values
from handlers.slack.registry import handles
from handlers.slack.reply import Attached, Caller, Reply


@handles(RulesExport)
async def export_rules(command: RulesExport, caller: Caller, gatehouse: Gatehouse) -> Reply:
    gatehouse.limits.take(EXPORT_RATE, caller.user)
    listing = await gatehouse.rules.all()
    rules = listing.whole()
    groups = await gatehouse.groups.groups()
    found = await asyncio.to_thread(filter_rules, rules, command, groups)
    if not found:
        refuse_unknown_values(command, rules, groups)
        raise NothingToExport("rule")
    if bare := sum(not rule.pairs for rule in found):  # a file without them would restore nothing
        raise Incomplete(listing.service, Gap(len(found) - bare, len(found)))
    content = await asyncio.to_thread(b"".join, files.export_lines(found))
    if command.here and is_public(caller.channel) and await asyncio.to_thread(_is_private, found, content):
        raise EmailsInFile(replace(command, here=False))
    place = gatehouse.places.get("rules", "")
    comment = rules_comment(len(found), total=len(rules), place=place, gap=listing.gap)
    name = files.export_name(gatehouse.now().date())
    return Attached(name, content, comment, here=command.here, exports=("rules", len(found)))


def _is_private(rules: Sequence[Rule], content: bytes) -> bool:
    """Whether something in the rules of a file is masked in channels."""
    return has_email(content) or any(map(holds_secret, rules))


@handles(MembersExport)
async def export_members(command: MembersExport, caller: Caller, gatehouse: Gatehouse) -> Reply:
    """Export members to the person alone: a channel must not see whole emails."""
    site = gatehouse.site(command.site)
    gatehouse.limits.take(EXPORT_RATE, caller.user)
    listing = await site.members.all()
    everyone = listing.whole()
    command = await with_known_segments(command, site, gatehouse)
    found = await asyncio.to_thread(lambda: [member for member in everyone if passes_filters(member, command)])
    if not found:
        raise NothingToExport("member")
    content = await asyncio.to_thread(b"".join, csv.export_lines(found, site.name))
    comment = members_comment(len(found), total=len(everyone), site=site.name, gap=listing.gap)
    name = csv.export_name(site.name, gatehouse.now().date())
    return Attached(name, content, comment, exports=(f"members/{site.name}", len(found)))


def rules_comment(count: int, *, total: int, place: str, gap: Gap | None) -> str:
    """Introduces an export of *count* of the *total* rules; *place*: the service's host."""
    lines = [
        f":outbox_tray: *{_count_text(count, total, 'rule')}*, with all their filters and values, but without groups.",
        f"`{slash('rules import')}` and the dashboard’s import read this file. From {code(place)}.",
    ]
    return "\n".join([*lines, *_gap_warnings(gap, "rules")])


def members_comment(count: int, *, total: int, site: str, gap: Gap | None) -> str:
    """Introduces an export of *count* of the *total* members of *site*."""
    found = f":outbox_tray: *{_count_text(count, total, 'member')}* of *{esc(site)}*, with names and segments."
    lines = [f"{found} It contains full emails, so share it with care.", *_gap_warnings(gap, "members")]
    return "\n".join(lines)


def _gap_warnings(gap: Gap | None, plural: str) -> list[str]:
    return [f":warning: {gap.sentence(plural)} The others are not in this file."] if gap else []


def _count_text(count: int, total: int, what: str) -> str:
    """``25 rules``, or of some of them ``3 of 25 rules``."""
    return f"{'' if count == total else f'{count:,} of '}{messages.plural(total, what)}"
