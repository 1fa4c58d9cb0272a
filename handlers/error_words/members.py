"""Words for what was asked of members, their segments and sites."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from bot.domain.checks import BadEmail
from bot.gatehouse import UnknownSite
from handlers.commands.command import Command, slash
from handlers.commands.members import MembersWhy
from handlers.error_words.words import Table, Words
from handlers.errors import MemberGone, NoMember, UnknownSegment
from handlers.sites import SiteGone
from handlers.views.parts import code, esc


def _no_member(error: NoMember) -> Words:
    found = f" On {_names(error.again)} somebody has." if error.again else ""
    again: dict[str, Command] = {f"On {name}": command for name, command in error.again.items()}
    return Words(
        f"Nobody on *{esc(error.site)}* has the address {code(error.email)}.{found}",
        "" if error.again else "A typo, another address, or another site.",
        "Take the other site."
        if error.again
        else f"Look for a part of it: `{slash('members list anna')}`, or add `site:NAME`.",
        again=again | {"Why?": MembersWhy(email=error.email)},
    )


def _unknown_segment(error: UnknownSegment) -> Words:
    return Words(
        f"Unknown segment: {code(error.name, 80)}. No member of *{esc(error.site)}* has it and no setting names it.",
        f"A typo of {_names(error.meant)}, or a segment that is new." if error.meant else "A typo, or a new segment.",
        "Segments are made in the site's dashboard, not here. If it is there and nobody has it yet, "
        f"name it in `{slash('gatehouse settings')}`.",
        again=error.again,
    )


def _site_gone(error: SiteGone) -> Words:
    return Words(
        f"This channel's default site was {code(error.gone, 60)}, and that is not set up any more.",
        next=f"Add one of {', '.join(code(f'site:{name}', 60) for name in error.known)}, "
        f"or choose another in `{slash('gatehouse settings')}`.",
    )


def _names(names: Iterable[str]) -> str:
    return " or ".join(code(name, 60) for name in names)


WORDS: Final[Table] = {
    BadEmail: lambda e: Words(
        f"That is not an e-mail address: {esc(str(e))}", next="Write it like `anna@example.com`."
    ),
    NoMember: _no_member,
    UnknownSegment: _unknown_segment,
    MemberGone: lambda e: Words(
        f"Whoever this card showed is not on *{esc(e.site)}* any more, or Gatehouse's key changed since.",
        next="Ask whoever shared it for the address.",
        unchanged=None,
    ),
    SiteGone: _site_gone,
    UnknownSite: lambda e: Words(
        f"No site is called {code(e.asked)}." if e.asked else "No site is set up.",
        next=f"Sites: {', '.join(map(esc, e.known))}."
        if e.known
        else "Ask whoever runs Gatehouse to set MEMBERS_SITES.",
    ),
}
