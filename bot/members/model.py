"""Members of a site and their segments (membership-service specification, "Resources and their fields")."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Final

import idna
from pydantic import BeforeValidator, Field
from rapidfuzz import fuzz, process

from bot.text.documents import ServiceRecord, Text

SITE_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""The valid ids of a site: no character has a meaning in a path."""

LAST_MOMENT: Final = 253_402_300_800_000
"""The end of the year 9999, in milliseconds since 1970: Slack can't show a later time."""

GMAIL: Final = frozenset({"gmail.com", "googlemail.com"})


Segments = Annotated[tuple[str, ...], BeforeValidator(lambda value: () if value is None else value)]


class Member(ServiceRecord):
    """One person on one site. The specification does not show a member record, so only the email must be there."""

    email: str = Field(min_length=1)
    name: Text | None = None
    segments: Segments = Field(default=(), alias="allowedSegments")

    @property
    def title(self) -> str:
        return (self.name or "").strip() or self.email

    @property
    def identity(self) -> str:
        """Return the key that all spellings of the email share (`email_key`): how services compare emails is not specified."""
        return email_key(self.email)

    @property
    def since(self) -> int | None:
        """Return when they became a member, in seconds since 1970; None where the service does not send it.

        Services of this kind send ``createdAt`` in milliseconds; the specification does not show a record.
        """
        made = (self.model_extra or {}).get("createdAt")
        if not isinstance(made, int) or isinstance(made, bool):
            return None
        return made // 1000 if 0 < made < LAST_MOMENT else None


def fold_case(text: str) -> str:
    """Return *text* in lower case, as the key that emails or segments share if they differ only in case.

    `str.casefold` makes ß equal to ss, and `str.lower` makes the Kelvin sign equal to k: those may be two people.
    """
    if text.isascii():
        return text.lower()
    return "".join(lower if (lower := letter.lower()).upper() == letter else letter for letter in text)


def email_key(email: str) -> str:
    """Return the key that all spellings of *email* share: in lower case, with an internationalised domain in Unicode.

    Only for comparisons: stored and shown emails keep their spelling.
    """
    # A fast path for nearly every email: up to 100,000 members are compared in one go.
    if email.isascii() and "xn--" not in (key := email.strip().lower()):
        return key
    local, at, domain = fold_case(email.strip()).rpartition("@")
    return f"{local}{at}{_domain_key(domain)}"


@lru_cache(maxsize=4096)
def _domain_key(domain: str) -> str:
    if domain.isascii() and "xn--" not in domain:
        return domain
    try:
        return idna.decode(domain, uts46=True)
    except (idna.IDNAError, UnicodeError):
        return domain


def find_by_email(members: Iterable[Member], email: str) -> Member | None:
    """Return the member with this email: in the exact spelling, or in the only other one; None where there is none."""
    return choose_spelling(find_alike(members, [email]), email)


def find_alike(members: Iterable[Member], emails: Iterable[str]) -> list[Member]:
    """Return the *members* whose email is one of *emails*, in any spelling."""
    identities = set(map(email_key, emails))
    return [member for member in members if member.identity in identities]


def choose_spelling(members: Sequence[Member], email: str) -> Member | None:
    """Return the member that *email* means among *members* with spellings of it; None where there is none, or it is ambiguous."""
    exact = [member for member in members if member.email == email.strip()]
    return next(iter(exact or members)) if exact or len(members) == 1 else None


def inbox_key(email: str) -> tuple[str, str]:
    """Return the key that emails of one inbox share: the name without ``+tag`` (at Gmail also without dots), and the domain."""
    local, _, domain = email_key(email).casefold().rpartition("@")
    name = local.partition("+")[0] or local
    return (name.replace(".", ""), "gmail.com") if domain in GMAIL else (name, domain)


CLOSE_ENOUGH: Final = 60
MAX_NEAR_SEGMENTS: Final = 3


def count_segments(members: Iterable[Member]) -> dict[str, int]:
    """Return the number of members with each segment, most used first."""
    found: Counter[str] = Counter()
    for segments, count in Counter(
        member.segments for member in members
    ).items():  # many members share few combinations
        found.update(dict.fromkeys(segments, count))
    return dict(found.most_common())


def known_segments(members: Iterable[Member], extra: Sequence[str] = ()) -> tuple[str, ...]:
    """Return every segment that a member has, most used first, then those of *extra*, which settings name."""
    return tuple(dict.fromkeys([*count_segments(members), *extra]))


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The known segments of a site. *is_open*: it may have others, since not all of its members were read."""

    names: tuple[str, ...]
    is_open: bool = False

    def unknown_names(self, names: Iterable[str], also: Sequence[str] = ()) -> tuple[str, ...]:
        """Return those of *names* that the site does not have; *also*: further names that it has.

        Empty where the catalogue is open or no segment is known, since then no name can be called unknown.
        """
        known = {*self.names, *also}
        return () if self.is_open or not known else tuple(name for name in names if name not in known)


def use_known_spelling(wanted: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return *wanted* in the spelling of *known* where only the case differs; an unknown name stays as it was typed."""
    by_fold = {fold_case(name): name for name in reversed(known)}
    exact = set(known)
    return tuple(dict.fromkeys(name if name in exact else by_fold.get(fold_case(name), name) for name in wanted))


def nearest_segments(name: str, known: Sequence[str]) -> tuple[str, ...]:
    """Return the segments that *name* may have meant, the likeliest first."""
    found = process.extract(
        name[:200], known, scorer=fuzz.ratio, processor=str.casefold, limit=MAX_NEAR_SEGMENTS, score_cutoff=CLOSE_ENOUGH
    )
    return tuple(near for near, _, _ in found)
