"""Explain why an email has access to a site or a segment or not, what is missing, and which members it may have meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from rapidfuzz import process
from rapidfuzz.distance import OSA

from bot.members.model import Member, email_key, find_by_email, fold_case, inbox_key, known_segments, nearest_segments

MAX_WRONG_LETTERS: Final = 2
"""Letters that may be wrong, missing, added or swapped in an email that counts as a typo of another."""
MAX_NEAR_MEMBERS: Final = 5


class Standing(StrEnum):
    """Whether the member has the segment that was asked about."""

    HAS = "has"
    LACKS = "lacks"
    OTHER_CASE = "other_case"
    NO_SUCH = "no_such"


@dataclass(frozen=True, slots=True)
class Asked:
    """The segment that was asked about. *name*: in the site's spelling; *alike*: other segments that may be meant."""

    name: str
    standing: Standing
    alike: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of the check of one email on one site."""

    site: str
    member: Member | None
    asked: Asked | None
    near: Sequence[Member]
    """Others whom the email may have meant, the likeliest first."""
    lacks: Sequence[str] = ()
    """The segments of the site that the member doesn't have."""

    @property
    def missing(self) -> str | None:
        """Return the segment to grant for access; None where none is missing or none was asked about."""
        lacks = self.asked is not None and self.asked.standing in {Standing.LACKS, Standing.OTHER_CASE}
        return self.asked.name if self.asked is not None and lacks else None


def explain_access(
    email: str, segment: str | None, *, site: str, members: Sequence[Member], extra: Sequence[str] = ()
) -> Verdict:
    """Check the access of *email* to *segment* on *site* with these *members*. *extra*: segments that settings name."""
    member = find_by_email(members, email)
    known = known_segments(members, extra)
    has = () if member is None else member.segments
    asked = None if segment is None else _resolve_segment(segment, has, known)
    lacks = () if member is None else tuple(name for name in known if name not in has)
    return Verdict(site, member, asked, _near_members(email, members, member), lacks)


SHUT_OUT: Final = re.compile(
    r"(?<!un)(?<!unb)(blocked|banned|suspen|disabled|deleted|deactivat|inactive|locked|archived|removed|expired|cancel"
    r"|revoked|paused|frozen|terminated|closed)"
)
LET_IN: Final = re.compile(r"(is_?|email_?)?(active|enabled|confirmed|verified|approved)")
FALSE: Final = {"", "0", "false", "no", "none", "null"}


def is_barring(name: str, value: Any) -> bool:
    """Whether a field that no specification names may say that its member can't log in, such as ``blocked: true``."""
    text = str(value).casefold() if isinstance(value, str | int | float) else ""
    is_set = bool(value) and text not in FALSE
    if SHUT_OUT.search(name.casefold()):
        return is_set
    if LET_IN.fullmatch(name.casefold()):
        return value is not None and not is_set
    return re.fullmatch(r"[\w-]+", text) is not None and SHUT_OUT.search(text) is not None


def _resolve_segment(segment: str, has: Sequence[str], known: Sequence[str]) -> Asked:
    """Return the segment that is meant: an exact name first, then one in another case. A site may have ``vip`` and ``VIP``."""
    if segment in has:
        return Asked(segment, Standing.HAS)
    alike = tuple(name for name in known if fold_case(name) == fold_case(segment) and name != segment)
    held = tuple(name for name in alike if name in has)
    if segment in known:
        return Asked(segment, Standing.OTHER_CASE if held else Standing.LACKS, held or alike)
    if held:
        return Asked(held[0], Standing.HAS)
    if len(alike) == 1:
        return Asked(alike[0], Standing.LACKS)
    return Asked(segment, Standing.NO_SUCH, alike or nearest_segments(segment, known))


def _near_members(email: str, members: Sequence[Member], member: Member | None) -> Sequence[Member]:
    """Return at most MAX_NEAR_MEMBERS others: those with a typo, then those with another tag or at another domain."""
    wanted = email_key(email)
    others = [one for one in members if one is not member]
    identities = [one.identity for one in others]
    typos = process.extract(
        wanted, identities, scorer=OSA.distance, score_cutoff=MAX_WRONG_LETTERS, limit=MAX_NEAR_MEMBERS
    )
    name, _ = inbox_key(wanted)
    same_name = (at for at, other in enumerate(identities) if other[:1] == name[:1] and inbox_key(other)[0] == name)
    near = dict.fromkeys([*(at for _, _, at in typos), *same_name])
    return [others[at] for at in near][:MAX_NEAR_MEMBERS]
