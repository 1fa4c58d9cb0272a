"""Why somebody gets in, or does not: one section a site, and a button for what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bot.domain.why import Asked, Likeness, Near, Standing, Verdict
from handlers.commands.members import MembersAdd, MembersGrant, MembersShow, MembersWhy
from handlers.views import parts
from handlers.views.members import address, name_of, segments_line, since_line
from handlers.views.parts import Audience, Block, Message, code, esc


@dataclass(frozen=True, slots=True)
class Unasked:
    """A site that did not answer. *words*: why, as mrkdwn."""

    site: str
    words: str


LIKE: Final = {
    Likeness.CASE: "differs only in capital letters, which some services tell apart",
    Likeness.TYPO: "one or two letters differ",
    Likeness.TAG: "the same mailbox, but for dots or a +tag",
    Likeness.DOMAIN: "the same name at another domain",
}


def why(email: str, said: Sequence[Verdict | Unasked], *, command: MembersWhy, audience: Audience) -> Message:
    """What every site says. In a channel, addresses are masked and no button carries one."""
    about = f" and the segment {code(command.segment, 80)}" if command.segment else ""
    blocks = [parts.section(f":mag: {address(email, audience)}{about}\n*{_summary(said, command.segment)}*")]
    for number, one in enumerate(said):
        blocks.append(parts.section(_site(one, email, audience)))
        if audience == "private" and isinstance(one, Verdict):
            blocks += parts.actions(_buttons(one, email, f"why.{number}"))
    blocks.append(
        parts.context("Segments are made in the site's dashboard; what is shown is what the service told now.")
    )
    if audience == "private":
        blocks += parts.actions([parts.share_button(command)])
    return parts.message(_summary(said, command.segment), blocks)


def _summary(said: Sequence[Verdict | Unasked], segment: str | None) -> str:
    """The answer in a line; where a site could not be asked, it speaks only of those that could."""
    asked = [one for one in said if isinstance(one, Verdict)]
    left = _list([one.site for one in said if isinstance(one, Unasked)])
    if not asked:
        return f"{left} could not be asked." if left else "No site is set up (MEMBERS_SITES)."
    well = [one.site for one in asked if one.member is not None and (one.asked is None or _has(one.asked))]
    known = [one.site for one in asked if one.member is not None]
    if well:
        answer = f"{'Has the segment' if segment else 'A member'} on {_list(well)}"
    elif known:
        answer = f"A member on {_list(known)}, without that segment"
    else:
        answer = f"Nobody by this address on {_list([one.site for one in asked])}"
    return f"{answer}; {left} could not be asked." if left else f"{answer}."


def _has(asked: Asked) -> bool:
    return asked.standing is Standing.HAS


def _list(sites: Sequence[str]) -> str:
    return ", ".join(esc(site, 60) for site in sites)


def _site(one: Verdict | Unasked, email: str, audience: Audience) -> str:
    if isinstance(one, Unasked):
        return f":grey_question: *{esc(one.site, 60)}* could not be asked. {one.words}"
    lines = [_known(one, email, audience)]
    if one.asked is not None:
        lines.append(_segment(one.asked, member=one.member is not None))
    if one.near:
        lines.append("Might be taken for:")
        lines += [_near(near, audience) for near in one.near]
    return "\n".join(lines)


def _known(one: Verdict, email: str, audience: Audience) -> str:
    member, site = one.member, f"*{esc(one.site, 60)}*"
    if member is None:
        return f":x: {site}  Nobody has exactly this address."
    since = f"{since_line(member.since)}. " if member.since is not None else ""
    spelt = f" Spelled {address(member.email, audience)} there." if member.email != email else ""
    mark = ":white_check_mark:" if one.asked is None or _has(one.asked) else ":x:"
    return f"{mark} {site}  {name_of(member, audience)}\n{since}Segments: {segments_line(member.segments)}{spelt}"


def _segment(asked: Asked, *, member: bool) -> str:
    name, alike = code(asked.name, 80), " or ".join(code(each, 80) for each in asked.alike)
    match asked.standing:
        case Standing.HAS:
            return f"Has {name}."
        case Standing.OTHER_CASE:
            return f"Has {alike}, but not {name}: the site has both, and they differ in capital letters."
        case Standing.NO_SUCH:
            return f"Nobody here has a segment {name}, and no setting names it." + (
                f" Is {alike} meant?" if alike else ""
            )
    return f"{'Lacks' if member else 'The site has'} {name}." + (f" There is also {alike}." if alike else "")


def _near(near: Near, audience: Audience) -> str:
    has = segments_line(near.member.segments)
    return (
        f"• {address(near.member.email, audience)}  {name_of(near.member, audience)}, {LIKE[near.likeness]}. Has {has}"
    )


def _buttons(one: Verdict, email: str, number: str) -> Iterator[Block | None]:
    """What would let them in, and who else may be meant: each the same as typing it, under the same guards."""
    site = esc(one.site, 30)
    if one.member is None:
        wanted = (one.missing,) if one.missing else ()
        add = MembersAdd(email=email, segments=wanted, site=one.site)
        yield parts.run_button(f"Add on {site}…", add, f"{number}.add")
    elif one.missing:
        grant = MembersGrant(email=one.member.email, segments=(one.missing,), site=one.site)
        yield parts.run_button(f"Grant {one.missing} on {site}", grant, f"{number}.grant", style="primary")
    for place, near in enumerate(one.near):
        show = MembersShow(email=near.member.email, site=one.site)
        yield parts.run_button(f"Show {near.member.email}", show, f"{number}.near.{place}")
