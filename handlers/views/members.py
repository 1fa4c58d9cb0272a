"""Members as messages. In a channel an address is never whole, and no button carries one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from bot.domain.member import Member, masked
from handlers.commands import GatehouseHelp, MembersAdd, MembersEdit, MembersList, MembersRemove, MembersShow
from handlers.views import parts, pickers
from handlers.views.parts import Message, code, esc

Audience = Literal["private", "channel"]


def menu(prefix: str, *, sites: Sequence[str]) -> Message:
    """What can be done with members, each a button or a line to type."""
    buttons = (
        parts.run_button("List members", MembersList(), 0, style="primary"),
        parts.run_button("Add member", MembersAdd(), 1),
        parts.run_button("Help", GatehouseHelp(topic="members"), 2),
    )
    lines = (
        f"`/{prefix}members list anna segment:vip` finds by any part of name or address\n"
        f"`/{prefix}members grant anna@example.com vip` gives access\n"
        f"`/{prefix}members remove anna@example.com` shows who goes, and waits for a click"
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
    more = f" and {len(segments) - 30} more" if len(segments) > 30 else ""
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
) -> Message:
    """One page of a list."""
    filters = _filters(command)
    if not members:
        buttons = (parts.turn_button("All members", MembersList(site=command.site), "all") if filters else None,)
        text = f":mag: Nobody found on *{esc(site, 60)}*{filters}."
        return parts.message("Nobody found", [parts.section(text), *parts.actions(buttons)])
    blocks = [parts.section(f"*{total:,} member{'' if total == 1 else 's'}* of *{esc(site, 60)}*{filters}")]
    for number, member in enumerate(members, start=first_number):
        show = parts.run_button("Show", MembersShow(email=member.email, site=site), number)
        text = f"*{number}. {_name(member, audience)}*   {address(member.email, audience)}\n{segments_line(member.segments)}"
        blocks.append(parts.section(text, show if audience == "private" else None))
    blocks.append(parts.context(f"Page {page} of {pages}"))
    turns = (
        parts.turn_button("‹ Previous", replace(command, page=page - 1), "previous") if page > 1 else None,
        parts.turn_button("Next ›", replace(command, page=page + 1), "next") if page < pages else None,
        parts.share_button(replace(command, page=page)) if audience == "private" else None,
    )
    footer = parts.actions(turns if audience == "private" or not command.text else ())
    return parts.message(f"{total} members of {esc(site, 60)}, page {page} of {pages}", [*blocks, *footer])


def _name(member: Member, audience: Audience) -> str:
    """The name; where there is none, or it is the address itself, a stand-in that gives nothing away."""
    name = (member.name or "").strip()
    return esc(name, 80) if name and (audience == "private" or "@" not in name) else "(no name)"


def _filters(command: MembersList) -> str:
    said = [f"“{esc(command.text, 60)}”"] if command.text and "@" not in command.text else []
    named = (("segment", command.segment), ("without", command.without_segment))
    said += [f"{name} {code(value, 60)}" for name, value in named if value]
    return f"  for {', '.join(said)}" if said else ""


def member_card(member: Member, *, site: str, command: MembersShow, audience: Audience) -> Message:
    """One member, whole."""
    blocks = [
        parts.section(
            f"*{_name(member, audience)}*\n{address(member.email, audience)}   :globe_with_meridians: {esc(site, 60)}"
        ),
        parts.section(f"*Segments*\n{segments_line(member.segments)}"),
    ]
    extra = [name for name in member.model_extra or {} if name != "createdAt"]
    since = (member.model_extra or {}).get("createdAt")
    texts = [f"Member since <!date^{since // 1000}^{{date_long}}|{since // 1000}>"] if isinstance(since, int) else []
    texts += [f"Also kept: {', '.join(code(name, 40) for name in extra[:8])}"] if extra else []
    if texts:
        blocks.append(parts.context(*texts))
    if audience == "private":
        buttons = (
            parts.run_button("Edit", MembersEdit(email=member.email, site=site), "edit"),
            parts.run_button("Remove…", MembersRemove(email=member.email, site=site), "remove"),
            parts.share_button(command),
        )
        blocks += parts.actions(buttons)
    return parts.message(f"Member of {esc(site, 60)}", blocks)
