"""Members as messages, and why somebody has access. In a channel, emails are masked, and no button holds one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

from bot.clients.lists import Gap
from bot.members.access_check import Asked, Standing, Verdict, is_barring
from bot.members.model import Member
from bot.text.emails import mask_email
from handlers.blocks import menus, messages
from handlers.blocks.buttons import (
    ask_button,
    ask_buttons,
    run_button,
    share_button,
    turn_button,
    turn_buttons,
    with_menu,
)
from handlers.blocks.messages import ROWS_PER_PAGE, Block, ListPage, Message, code, esc, join_words, quote
from handlers.grammar.fields import filters_of
from handlers.members.commands import (
    MembersAdd,
    MembersEdit,
    MembersExport,
    MembersGrant,
    MembersImport,
    MembersList,
    MembersMove,
    MembersOffboard,
    MembersRemove,
    MembersRevoke,
    MembersSegments,
    MembersShow,
    MembersWhy,
)

MAX_VALUE: Final = 30
"""Characters of the value of another field that is shown."""
MAX_SEGMENTS_LISTED: Final = 5
"""Segments of each member in a list; the member itself shows all."""
MAX_SEGMENTS_ASKED: Final = 2
"""Segments that are offered where nobody said which one the question is about."""


def menu(*, sites: Sequence[str]) -> Message:
    """Return the menu of what can be done with members: for one who is found there, their card has the rest."""
    rows = (
        [
            *ask_buttons(MembersWhy),
            run_button("List members", MembersList(), "list"),
            *ask_buttons(MembersList),
            run_button("List segments", MembersSegments(), "segments"),
        ],
        [
            run_button("Add member…", MembersAdd(), "add"),
            *ask_buttons(MembersGrant, MembersRevoke, MembersEdit, MembersMove, MembersRemove, MembersOffboard),
        ],
        [run_button("Import members…", MembersImport(), "import"), *ask_buttons(MembersExport)],
    )
    where = (
        f"Sites: {', '.join(esc(site, 40) for site in sites[:20])}"
        if sites
        else ":warning: No site is set up yet (MEMBERS_SITES)."
    )
    find = "*Members*\nFind one, to see why they get in, grant, revoke or remove:"
    buttons = chain.from_iterable(map(messages.actions, rows))
    blocks = [messages.section(find, menus.member_menu()), *buttons, messages.context(where)]
    return messages.message("Members: find, list, or add one", blocks)


def address(email: str, *, public: bool) -> str:
    return code(mask_email(email) if public else email)


def segments_line(segments: Sequence[str], most: int = 30) -> str:
    """Return the first *most* segments in one line, and how many more there are."""
    shown = " ".join(code(name, 60) for name in segments[:most])
    more = f" and {len(segments) - most:,} more" if len(segments) > most else ""
    return f"{shown}{more}" if segments else "_no segments_"


def member_list(
    page: ListPage[Member],
    command: MembersList,
    *,
    site: str,
    public: bool,
    others: Sequence[str] = (),
    gap: Gap | None = None,
) -> Message:
    """Return one page of a list. *others*: the sites that might have been meant, where none was named."""
    if not page.items:
        return _empty_list(command, site, others, gap)
    count = messages.plural(page.total, "member")
    title = f"*{count} of {esc(site, 60)}*{_filters(command)}"
    rows = [
        (
            _row(member, public=public),
            None if public else run_button("Show", MembersShow(emails=(member.email,), site=site), number),
        )
        for number, member in enumerate(page.items, start=page.first)
    ]
    blocks = [messages.section(title), *messages.gap_lines(gap, "members")]
    blocks += messages.list_rows(rows, first=None if public else page.first)
    blocks.append(messages.context(f"{page.label}{messages.row_hint(public=public)}{_other_sites_text(others, ' · ')}"))
    share = None if public else share_button(replace(command, page=page.number))
    buttons = [*turn_buttons(page, command), share]
    footer = messages.actions(() if public and command.text else buttons)
    return messages.message(f"{count} of {esc(site, 60)}, {page.label.lower()}", [*blocks, *footer])


def _row(member: Member, *, public: bool) -> str:
    """Return the name and email of *member*, and below them their segments."""
    head = f"*{name_of(member, public=public)}* {address(member.email, public=public)}"
    return f"{head}\n{segments_line(member.segments, MAX_SEGMENTS_LISTED)}"


def _empty_list(command: MembersList, site: str, others: Sequence[str], gap: Gap | None) -> Message:
    filters = _filters(command)
    buttons = (turn_button("List all members", MembersList(site=command.site), "all") if filters else None,)
    read = " among the members that could be read" if gap else ""
    text = f":mag: *No members found on {esc(site, 60)}*{filters}{read}{_other_sites_text(others, ' · ')}"
    blocks = [messages.section(text), *messages.gap_lines(gap, "members"), *messages.actions(buttons)]
    return messages.message(f"No members found{read}", blocks)


def _other_sites_text(others: Sequence[str], lead: str) -> str:
    """Return the names of the sites that were not searched, with *lead* in front; empty for none."""
    named = " ".join(code(f"site:{name}", 60) for name in others[:20])
    return f"{lead}Not searched: {named}" if others else ""


def segment_counts(
    counts: Mapping[str, int], *, total: int, without: int, site: str, gap: Gap | None = None
) -> Message:
    """Return how many members have each segment, each with a button to list them."""
    blocks = [messages.section(f"*Segments of {esc(site, 60)}* · {messages.plural(total, 'member')}")]
    blocks += messages.gap_lines(gap, "members")
    for number, (name, count) in enumerate(list(counts.items())[:ROWS_PER_PAGE]):
        listed = (
            run_button("Show", MembersList(segment=name, site=site), number, spoken=f"Show who has {name}")
            if count
            else None
        )
        nobody = "nobody that could be read" if gap else "nobody yet"
        said = messages.plural(count, "member") if count else f"{nobody} (from the settings)"
        blocks.append(messages.section(f"{code(name, 100)}   {said}", listed))
    left = (
        f"And {messages.plural(len(counts) - ROWS_PER_PAGE, 'more segment')}. " if len(counts) > ROWS_PER_PAGE else ""
    )
    none = f"{messages.plural(without, 'member')} without any segment. " if without else ""
    made = "A new segment that nobody has yet: your Gatehouse admin can add it to `MEMBERS_SEGMENTS`."
    blocks.append(messages.context(f"{left}{none}{made}"))
    return messages.message(f"Segments of {esc(site, 60)}: {len(counts)}", blocks)


def name_of(member: Member, *, public: bool) -> str:
    """Return the name of *member*; a stand-in where there is none, or where it is an email and *public*."""
    name = (member.name or "").strip()
    return esc(name, 80) if name and not (public and "@" in name) else "(no name)"


def _filters(command: MembersList) -> str:
    text = command.text if "@" not in (command.text or "") else None
    return messages.filters_line(text, filters_of(command))


def since_line(seconds: int | None) -> str:
    return f"Member since {messages.moment(seconds * 1000, '{date_long}')}" if seconds is not None else ""


def member_card(
    member: Member,
    *,
    site: str,
    public: bool,
    others: Sequence[str] = (),
    more: Sequence[Block] = (),
) -> Message:
    """Return the card of one member; in a channel, without buttons. *more*: as for a rule."""
    blocks = [
        messages.section(
            f"*{name_of(member, public=public)}* · {esc(site, 60)}\n{address(member.email, public=public)}\n"
            f"Segments: {segments_line(member.segments) if member.segments else '_none_'}"
        ),
    ]
    facts = (since_line(member.since), _other_fields(member, public=public), _other_sites_text(others, ""))
    if texts := [text for text in facts if text]:
        blocks.append(messages.context(*texts))
    blocks += more
    buttons = with_menu(
        [
            run_button("Edit…", MembersEdit(email=member.email, site=site), "edit"),
            run_button("Check access", MembersWhy(emails=(member.email,)), "why"),
            run_button("Remove", MembersRemove(emails=(member.email,), site=site), "remove"),
            run_button("Remove from every site", MembersOffboard(emails=(member.email,)), "offboard"),
            share_button(MembersShow(emails=(member.email,), site=site)),
        ]
    )
    blocks += messages.actions([] if public else buttons)
    return messages.message(f"{name_of(member, public=public)} on {esc(site, 60)}", blocks)


def _other_fields(member: Member, *, public: bool) -> str:
    """Return the fields that Gatehouse doesn't know, such as ``blocked``; with short values, but not in a channel."""
    fields = (member.model_extra or {}).items()
    shown = [
        _field(name, value, public=public) for name, value in fields if name != "createdAt" or member.since is None
    ]
    return f"Other fields: {join_words(shown, most=8)}" if shown else ""


def _field(name: str, value: Any, *, public: bool) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return code(name if public or len(text) > MAX_VALUE else f"{name}: {text}", 80)


@dataclass(frozen=True, slots=True)
class Unasked:
    """A site that could not be asked. *words*: why, as mrkdwn."""

    site: str
    words: str


def access_message(
    email: str, said: Sequence[Verdict | Unasked], *, command: MembersWhy, public: bool, more: Sequence[Block] = ()
) -> Message:
    """Return whether somebody has access, and the answer of each site. In a channel, emails are masked and no button has one.

    *more*: what waits for a decision or will change automatically, and freezes.
    """
    mark, answer = _answer(email, said, command.segment, public=public)
    blocks = [messages.section(f"{mark} *{answer}*\n{address(email, public=public)}")]
    asked = [one for one in said if isinstance(one, Verdict)]
    apart = [one for one in asked if one.member is None and not one.near]
    is_had = any(_has_segment(one) for one in asked)
    adding: list[Block | None] = []
    for number, one in enumerate(said):
        buttons = list(_buttons(one, email, f"why.{number}")) if isinstance(one, Verdict) else []
        if one in apart:
            adding += buttons
        else:
            blocks.append(messages.section(_site_text(one, email, public=public, is_had=is_had)))
            blocks += messages.actions(buttons)
    if apart:
        blocks.append(messages.context("   ".join(f"{esc(one.site, 60)}: not a member" for one in apart)))
    blocks += more
    asking = [] if command.segment else _missing_segments(asked)[: max(0, MAX_SEGMENTS_ASKED - len(adding))]
    checks = (run_button(f"Check {name}", replace(command, segment=name), f"why.check.{name}") for name in asking)
    blocks += messages.actions([*adding, *checks, share_button(command)])
    return messages.message(answer, messages.without_buttons(blocks) if public else blocks)


def _missing_segments(asked: Iterable[Verdict]) -> list[str]:
    """Return the segments that the member lacks on some site."""
    return list(dict.fromkeys(name for one in asked for name in one.lacks))


def _answer(email: str, said: Sequence[Verdict | Unasked], segment: str | None, *, public: bool) -> tuple[str, str]:
    """Return the emoji and the answer in a line; where some sites could not be asked, it is about the others and says so."""
    asked = [one for one in said if isinstance(one, Verdict)]
    left = _site_names(one for one in said if isinstance(one, Unasked))
    if not asked:
        return ":grey_question:", f"Can’t tell: {left} couldn’t be asked." if left else "No site is set up."
    well = [one for one in asked if one.member is not None and (one.asked is None or _has_segment(one))]
    known = [one for one in asked if one.member is not None]
    who = next((name for one in well + known if one.member for name in [name_of(one.member, public=public)]), "")
    who = "this member" if who in {"", "(no name)"} else who
    also = f" {left} couldn’t be asked." if left else ""
    on, barred = _site_names(well or known), _barring_clause(well or known, public=public)
    has = f"{who} has {quote(segment, 80)} on {on}" if segment else f"{who} is a member of {on}"
    if well and barred:
        return ":warning:", f"{has}, but {barred}.{also}"
    if well and segment:
        return ":white_check_mark:", f"Yes: {has}.{also}"
    if well:
        return (
            ":bust_in_silhouette:",
            f"{has}.{also}{' Which segment is this about?' if _missing_segments(well) else ''}",
        )
    if known:
        lacks = f"lacks {quote(segment or '', 80)}{barred and f', and {barred}'}"
        return ":x:", f"No: {who} is on {on} but {lacks}.{also}"
    return ":x:", f"{'No: n' if segment else 'N'}obody on {_site_names(asked, 'or')} has exactly this email.{also}"


def _barring_clause(found: Iterable[Verdict], *, public: bool) -> str:
    """Return which records have fields that may keep their member out, whatever segments they have; empty for none."""
    clauses = []
    for one in found:
        fields = ((one.member and one.member.model_extra) or {}).items()
        if barring := [_field(name, value, public=public) for name, value in fields if is_barring(name, value)]:
            clauses.append(f"the record on {esc(one.site, 60)} has {join_words(barring, most=3)}")
    return " and ".join(clauses)


def _site_names(answers: Iterable[Verdict | Unasked], link: str = "and") -> str:
    return join_words([esc(one.site, 60) for one in answers], link)


def _has_segment(one: Verdict) -> bool:
    return one.asked is not None and one.asked.standing is Standing.HAS


def _site_text(one: Verdict | Unasked, email: str, *, public: bool, is_had: bool) -> str:
    """Return the answer of one site. *is_had*: they have the segment on some site, so this has to say where they lack it."""
    if isinstance(one, Unasked):
        return f"*{esc(one.site, 60)}* couldn’t be asked. {one.words}"
    lines = [_member_line(one, email, public=public)]
    if one.asked is not None:
        lines.append(_segment_text(one.asked, is_lacked=is_had and one.member is not None))
    if one.near:
        lines.append("Similar emails there:")
        for near in one.near:
            who = f"{address(near.email, public=public)} {name_of(near, public=public)}"
            lines.append(f"• {who} · {segments_line(near.segments)}")
    return "\n".join(filter(None, lines))


def _member_line(one: Verdict, email: str, *, public: bool) -> str:
    member, site = one.member, f"*{esc(one.site, 60)}*"
    if member is None:
        return f"{site} · not a member"
    since = f" · {since_line(member.since)}" if member.since is not None else ""
    spelt = f" · stored as {address(member.email, public=public)}" if member.email != email else ""
    segments = segments_line(member.segments) if member.segments else "_none_"
    other = _other_fields(member, public=public)
    return f"{site} · segments: {segments}{since}{spelt}" + (f"\n{other}" if other else "")


def _segment_text(asked: Asked, *, is_lacked: bool) -> str:
    """Return details of the segment that the answer doesn't give already."""
    name, alike = quote(asked.name, 80), " or ".join(quote(each, 80) for each in asked.alike)
    match asked.standing:
        case Standing.HAS:
            return ""
        case Standing.OTHER_CASE:
            return f"Has {alike} but not {name}: the site has both, and they differ in capital letters."
        case Standing.NO_SUCH:
            return f"No member here has a segment {name}, and it isn’t in the settings." + (
                f" Did you mean {alike}?" if alike else ""
            )
        case Standing.LACKS:
            return f"There is also {alike}." if alike else f"Lacks {name}." if is_lacked else ""


def _buttons(one: Verdict, email: str, number: str) -> Iterator[Block | None]:
    """Yield buttons that would let them in, or show who else may be meant; each works like the typed command."""
    site = esc(one.site, 30)
    if one.member is None:
        wanted = (one.missing,) if one.missing else ()
        add = MembersAdd(email=email, segments=wanted, site=one.site)
        yield run_button(f"Add on {site}…", add, f"{number}.add")
    elif one.missing:
        grant = MembersGrant(emails=(one.member.email,), segments=(one.missing,), site=one.site)
        yield ask_button(f"Grant {one.missing} on {site}…", grant, f"{number}.grant", style="primary")
    for place, near in enumerate(one.near):
        show = MembersShow(emails=(near.email,), site=one.site)
        yield run_button(f"Show {near.email}", show, f"{number}.near.{place}")
