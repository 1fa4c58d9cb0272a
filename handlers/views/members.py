"""Members as messages. In a channel an address is never whole, and no button carries one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.clients.listing import Gap
from bot.domain.member import Member, masked
from handlers.commands.command import slash
from handlers.commands.gatehouse import GatehouseHelp
from handlers.commands.members import (
    MembersAdd,
    MembersEdit,
    MembersList,
    MembersRemove,
    MembersSegments,
    MembersShow,
    MembersWhy,
)
from handlers.views import parts, pickers
from handlers.views.parts import Audience, Message, code, esc

MOST_SEGMENTS = 40


def menu(*, sites: Sequence[str]) -> Message:
    """What can be done with members, each a button or a line to type."""
    buttons = (
        parts.run_button("List members", MembersList(), 0, style="primary"),
        parts.run_button("Add member", MembersAdd(), 1),
        parts.run_button("Segments", MembersSegments(), 2),
        parts.run_button("Help", GatehouseHelp(topic="members"), 3),
    )
    lines = (
        f"`{slash('members why anna@example.com vip')}` tells why somebody gets in or does not\n"
        f"`{slash('members list anna segment:vip')}` finds by any part of name or address\n"
        f"`{slash('members grant anna@example.com vip')}` gives access\n"
        f"`{slash('members remove anna@example.com')}` shows who goes, and waits for a click"
    )
    where = (
        f"Sites: {', '.join(esc(site, 40) for site in sites[:20])}"
        if sites
        else ":warning: No site is set up yet (MEMBERS_SITES)."
    )
    blocks = [
        parts.section("*Members*\nFind one as you type, or:", pickers.member_menu()),
        *parts.actions(buttons),
        parts.section(lines),
        parts.context(where),
    ]
    return parts.message("Members: list, show, add, edit, grant, revoke, remove", blocks)


def address(email: str, audience: Audience) -> str:
    return code(email if audience == "private" else masked(email))


def segments_line(segments: Sequence[str]) -> str:
    shown = " ".join(code(name, 60) for name in segments[:30])
    more = f" …and {len(segments) - 30} more" if len(segments) > 30 else ""
    return f"{shown}{more}" if segments else "_no segments_"


def member_list(
    members: Sequence[Member],
    *,
    site: str,
    page: int,
    pages: int,
    total: int,
    command: MembersList,
    first_number: int,
    audience: Audience,
    others: Sequence[str] = (),
    gap: Gap | None = None,
) -> Message:
    """One page of a list. *others*: the sites that might have been meant, where none was named."""
    if not members:
        return _nobody(command, site, others, gap)
    title = f"*{parts.plural(total, 'member')}* of *{esc(site, 60)}*{_filters(command)}"
    blocks = [parts.section(title), *parts.gap_lines(gap, "members")]
    for number, member in enumerate(members, start=first_number):
        show = parts.run_button("Show", MembersShow(email=member.email, site=site), number)
        lead = f"{number}. " if audience == "private" else ""
        text = (
            f"*{lead}{name_of(member, audience)}*   {address(member.email, audience)}\n{segments_line(member.segments)}"
        )
        blocks.append(parts.section(text, show if audience == "private" else None))
    blocks.append(parts.context(f"Page {page} of {pages}{parts.row_hint(audience)}{_other_sites(others, ' · ')}"))
    turns = (
        parts.turn_button("‹ Previous", replace(command, page=page - 1), "previous") if page > 1 else None,
        parts.turn_button("Next ›", replace(command, page=page + 1), "next") if page < pages else None,
        parts.share_button(replace(command, page=page)) if audience == "private" else None,
    )
    footer = parts.actions(turns if audience == "private" or not command.text else ())
    return parts.message(
        f"{parts.plural(total, 'member')} of {esc(site, 60)}, page {page} of {pages}", [*blocks, *footer]
    )


def _nobody(command: MembersList, site: str, others: Sequence[str], gap: Gap | None) -> Message:
    filters = _filters(command)
    buttons = (parts.turn_button("All members", MembersList(site=command.site), "all") if filters else None,)
    read = " among those that could be read" if gap else ""
    text = f":mag: Nobody found on *{esc(site, 60)}*{filters}{read}.{_other_sites(others)}"
    blocks = [parts.section(text), *parts.gap_lines(gap, "members"), *parts.actions(buttons)]
    return parts.message(f"Nobody found{read}", blocks)


def _other_sites(others: Sequence[str], lead: str = " ") -> str:
    """A word on the sites that were not looked at."""
    named = " ".join(code(f"site:{name}", 60) for name in others[:20])
    return f"{lead}Other sites: {named}" if others else ""


def segment_counts(
    counts: Mapping[str, int], *, total: int, without: int, site: str, gap: Gap | None = None
) -> Message:
    """How many members have each segment, each with a button to list them."""
    has = "has" if total == 1 else "have"
    blocks = [parts.section(f"*Segments of {esc(site, 60)}*, as {parts.plural(total, 'member')} {has} them")]
    blocks += parts.gap_lines(gap, "members")
    for number, (name, count) in enumerate(list(counts.items())[:MOST_SEGMENTS]):
        listed = parts.run_button("List", MembersList(segment=name, site=site), number) if count else None
        nobody = "nobody who could be read" if gap else "nobody yet"
        said = parts.plural(count, "member") if count else f"{nobody}; the settings name it"
        blocks.append(parts.section(f"{code(name, 100)}   {said}", listed))
    left = f"{len(counts) - MOST_SEGMENTS} more are left out. " if len(counts) > MOST_SEGMENTS else ""
    made = f"Segments are made in the site's dashboard; one that nobody has can be named in `{slash('gatehouse settings')}`."
    blocks.append(parts.context(f"{left}{without:,} without any segment. {made}"))
    return parts.message(f"Segments of {esc(site, 60)}: {len(counts)}", blocks)


def name_of(member: Member, audience: Audience) -> str:
    """The name; where there is none, or it is the address itself, a stand-in that gives nothing away."""
    name = (member.name or "").strip()
    return esc(name, 80) if name and (audience == "private" or "@" not in name) else "(no name)"


def _filters(command: MembersList) -> str:
    said = [f"“{esc(command.text, 60)}”"] if command.text and "@" not in command.text else []
    named = (("segment", command.segment), ("without", command.without_segment))
    said += [f"{name} {code(value, 60)}" for name, value in named if value]
    return f"  for {', '.join(said)}" if said else ""


def since_line(seconds: int | None) -> str:
    return f"Member since {parts.moment(seconds * 1000, '{date_long}')}" if seconds is not None else ""


def member_card(
    member: Member,
    *,
    site: str,
    command: MembersShow,
    audience: Audience,
    reference: str = "",
    others: Sequence[str] = (),
) -> Message:
    """One member, whole. *reference* stands for the address in the button of a channel's card."""
    blocks = [
        parts.section(
            f"*{name_of(member, audience)}*\n{address(member.email, audience)}   :globe_with_meridians: {esc(site, 60)}"
        ),
        parts.section(f"*Segments*\n{segments_line(member.segments)}"),
    ]
    extra = [name for name in member.model_extra or {} if name != "createdAt" or member.since is None]
    kept = f"Also kept: {', '.join(code(name, 40) for name in extra[:8])}" if extra else ""
    if texts := [text for text in (since_line(member.since), kept, _other_sites(others, "")) if text]:
        blocks.append(parts.context(*texts))
    buttons = (
        parts.run_button("Edit", MembersEdit(email=member.email, site=site), "edit"),
        parts.run_button("Why?", MembersWhy(email=member.email), "why"),
        parts.run_button("Remove…", MembersRemove(email=member.email, site=site), "remove"),
        parts.share_button(command),
    )
    privately = parts.button("Show me privately", "v1.members.whisper", f"{site} {masked(member.email)} {reference}")
    blocks += parts.actions(buttons if audience == "private" else (privately,))
    return parts.message(f"Member of {esc(site, 60)}", blocks)
