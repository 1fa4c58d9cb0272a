"""``/members list``, ``show``, ``why`` and ``segments``: the commands that only read members."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeVar

from bot.changes.model.edits import Target
from bot.clients.cache import search_items
from bot.clients.errors import ClientError
from bot.gatehouse import Gatehouse, Site
from bot.members.access_check import Verdict, explain_access
from bot.members.model import Catalogue, Member, count_segments, nearest_segments, use_known_spelling
from bot.text.emails import checked_email
from bot.text.search import has_words
from bot.threads import run_over
from handlers.blocks import menus, messages
from handlers.blocks.inputs import MAX_OPTIONS
from handlers.blocks.messages import ROWS_PER_PAGE, Block, ListPage, Message
from handlers.changes.deleted import find_deleted
from handlers.changes.requests import outlook_blocks
from handlers.errors import UnknownSegment
from handlers.explain.table import words_for
from handlers.grammar.command import Command
from handlers.grammar.parser import member_row
from handlers.grammar.vocabulary import may_filter
from handlers.members import views
from handlers.members.commands import (
    MembersFiltered,
    MembersList,
    MembersMenu,
    MembersSegments,
    MembersShow,
    MembersWhy,
)
from handlers.members.member_refs import (
    all_segments,
    catalogue,
    find_members,
    member_or_none,
    other_sites,
    refuse_many,
)
from handlers.members.views import Unasked
from handlers.slack.registry import Click, clicks, handles, offers
from handlers.slack.reply import Caller, Private, Reply

Filtered = TypeVar("Filtered", bound=MembersFiltered)


@handles(MembersMenu)
async def menu(command: MembersMenu, caller: Caller, gatehouse: Gatehouse) -> Reply:
    return Private(views.menu(sites=tuple(gatehouse.sites)))


@handles(MembersList)
async def show_list(command: MembersList, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = gatehouse.site(command.site)
    listing = await site.members.all()
    command = await with_known_segments(command, site, gatehouse)
    found = await run_over(listing.known, _filter_and_sort, listing.known, command)
    page = ListPage.of(found, command.page, ROWS_PER_PAGE)
    elsewhere = () if command.site else other_sites(site, gatehouse)
    numbered = () if caller.public else found[: page.last]
    if not caller.agent:
        rows = [member_row(site.name, member.email) for member in numbered]
        # Before the message is drawn: under load, hundreds wait here, and each message takes 50 KB.
        await gatehouse.store.lists.put(caller.user, "members", rows)
    message = views.member_list(page, command, site=site.name, others=elsewhere, gap=listing.gap, public=caller.public)
    is_doubtful = command.text is not None and (not (found or listing.gap) or may_filter(command.text))
    return Private(message, is_doubtful)


def _filter_and_sort(members: Sequence[Member], command: MembersList) -> list[Member]:
    return sorted(
        (member for member in members if passes_filters(member, command)), key=lambda one: one.title.casefold()
    )


async def with_known_segments(command: Filtered, site: Site, gatehouse: Gatehouse) -> Filtered:
    """Return *command* with its segments as *site* spells them, which may have ``vip`` and ``VIP``.

    Raises UnknownSegment where it filters by one that *site* doesn't have: nobody, or everybody, would be misleading.
    """
    wanted = {"segment": command.segment, "without_segment": command.without_segment}
    known = await catalogue(site, gatehouse) if any(wanted.values()) else Catalogue(())
    for field, typed in wanted.items():
        for name in use_known_spelling(filter(None, [typed]), known.names):
            if known.unknown_names([name]):
                meant = nearest_segments(name, known.names)
                again = {f"Use {near}": replace(command, **{field: near}) for near in meant}
                raise UnknownSegment(name, site.name, meant, again)
            command = replace(command, **{field: name})
    return command


def passes_filters(member: Member, command: MembersFiltered) -> bool:
    """Whether *member* passes every filter that was given."""
    if command.segment and command.segment not in member.segments:
        return False
    if command.without_segment and command.without_segment in member.segments:
        return False
    return has_words(command.text or "", f"{member.name or ''}\n{member.email}")


@handles(MembersShow)
async def show(command: MembersShow, caller: Caller, gatehouse: Gatehouse) -> Reply:
    refuse_many(command.emails, MAX_MEMBERS_SHOWN)
    site = gatehouse.site(command.site)
    members = await find_members(command, command.emails, site, gatehouse)
    elsewhere = () if command.site else other_sites(site, gatehouse)
    cards = [await _card(member, site, gatehouse, public=caller.public, others=elsewhere) for member in members]
    return Private(messages.join_messages(cards))


MAX_MEMBERS_SHOWN: Final = 5
"""Members that one answer shows: more would be too long for a Slack message."""


async def _card(
    member: Member, site: Site, gatehouse: Gatehouse, *, public: bool, others: Sequence[str] = ()
) -> Message:
    target = Target(service="members", site=site.name, key=member.email)
    return views.member_card(
        member,
        site=site.name,
        public=public,
        others=others,
        more=await outlook_blocks(target, member, gatehouse),
    )


@offers("pick.member", needs="member.read")
async def offer_members(typed: str, caller: Caller, gatehouse: Gatehouse) -> Sequence[Block]:
    found = []
    for site in gatehouse.sites.values():
        hits = await search_items(await site.members.index(), typed, most=MAX_OPTIONS)
        found += [(hit.rank, hit.item.title.casefold(), site.name, hit.item) for hit in hits]
    found.sort(key=lambda one: one[:3])
    if not found:
        for site in gatehouse.sites.values():
            if (gap := (await site.members.recent()).gap) is not None:
                return menus.notice_options(f"{site.name}: {gap.sentence('members')}")
    return menus.member_options(((site, member) for _, _, site, member in found), sites=len(gatehouse.sites))


@clicks("pick.member")
async def pick_member(click: Click, caller: Caller, gatehouse: Gatehouse) -> Command:
    site, _, email = menus.picked_value(click.value).partition(" ")
    return MembersShow(emails=(email,), site=site)


@offers("pick.segment", needs="member.read")
async def offer_segments(typed: str, caller: Caller, gatehouse: Gatehouse) -> Sequence[Block]:
    return menus.named_options(typed, {name: name for name in await all_segments(gatehouse)})


@handles(MembersWhy)
async def why(command: MembersWhy, caller: Caller, gatehouse: Gatehouse) -> Reply:
    refuse_many(command.emails, MAX_MEMBERS_SHOWN)
    emails = list(dict.fromkeys(map(checked_email, command.emails)))
    return Private(messages.join_messages([await _explain(email, command, caller, gatehouse) for email in emails]))


async def _explain(email: str, command: MembersWhy, caller: Caller, gatehouse: Gatehouse) -> Message:
    extra = gatehouse.extra_segments
    sites = [gatehouse.site(command.site)] if command.site or not gatehouse.sites else list(gatehouse.sites.values())
    said = await asyncio.gather(*(_ask_site(site, email, command.segment, extra) for site in sites))
    is_unknown = len(command.emails) == 1 and not any(isinstance(each, Unasked) or each.member for each in said)
    if is_unknown and (deleted := await find_deleted(email, ["members"], gatehouse)) is not None:
        raise deleted
    members = [(each.site, each.member) for each in said if isinstance(each, Verdict) and each.member]
    targets = [(Target(service="members", site=site, key=member.email), member) for site, member in members]
    more = [block for target, member in targets for block in await outlook_blocks(target, member, gatehouse)]
    alone = replace(command, emails=(email,))
    return views.access_message(email, said, command=alone, public=caller.public, more=more)


async def _ask_site(site: Site, email: str, segment: str | None, extra: tuple[str, ...]) -> Verdict | Unasked:
    try:
        listing = await site.members.all()
        member_or_none(listing, email)
    except ClientError as error:
        return Unasked(site.name, words_for(error).what)
    if listing.truncated and segment is not None:
        extra = (*extra, segment)  # members that were not read may have it, so it is not unknown
    return await run_over(
        listing.known, explain_access, email, segment, site=site.name, members=listing.known, extra=extra
    )


@handles(MembersSegments)
async def show_segments(command: MembersSegments, caller: Caller, gatehouse: Gatehouse) -> Reply:
    site = gatehouse.site(command.site)
    listing = await site.members.all()
    everyone = listing.known
    unused = dict.fromkeys(gatehouse.extra_segments, 0)
    without, of_members = await run_over(everyone, _count_segments, everyone)
    counts = unused | of_members
    return Private(views.segment_counts(counts, total=len(everyone), without=without, site=site.name, gap=listing.gap))


def _count_segments(members: Sequence[Member]) -> tuple[int, dict[str, int]]:
    """Count the members without a segment, and those of each segment."""
    return sum(not member.segments for member in members), count_segments(members)
