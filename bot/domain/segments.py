"""Segments of a site: which there are, who has them, and which one a typo may have meant.

There is no operation that lists them, so what members have and what settings name is all that is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rapidfuzz import fuzz, process

from bot.domain.member import Member, caseless

CLOSE_ENOUGH: Final = 60
MOST_NEAR: Final = 3


def counted(members: Iterable[Member]) -> dict[str, int]:
    """How many members have each segment, most used first."""
    return dict(Counter(name for member in members for name in dict.fromkeys(member.segments)).most_common())


def known_segments(members: Iterable[Member], extra: Sequence[str] = ()) -> tuple[str, ...]:
    """Every segment that a member has, most used first, then those of *extra*: what settings name."""
    return tuple(dict.fromkeys([*counted(members), *extra]))


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The segments of a site that are known. Where not all of its members were read, it may have others (*is_open*)."""

    names: tuple[str, ...]
    is_open: bool = False

    def strangers(self, names: Iterable[str], also: Sequence[str] = ()) -> tuple[str, ...]:
        """Those of *names* that the site has not, as far as that can be said; *also*: names that it has, too."""
        return () if self.is_open else strangers(names, (*self.names, *also))


def spelled(wanted: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """*wanted* in the spelling of *known* where only the case differs; a name that is unknown stays as it was typed."""
    by_fold = {caseless(name): name for name in reversed(known)}
    exact = set(known)
    return tuple(dict.fromkeys(name if name in exact else by_fold.get(caseless(name), name) for name in wanted))


def strangers(names: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """Those of *names* that are not known. Where nothing is known at all, that says nothing about any of them."""
    exact = set(known)
    return tuple(name for name in names if name not in exact) if known else ()


def nearest(name: str, known: Sequence[str]) -> tuple[str, ...]:
    """The segments that *name* may have meant, the likeliest first."""
    found = process.extract(
        name[:200], known, scorer=fuzz.ratio, processor=str.casefold, limit=MOST_NEAR, score_cutoff=CLOSE_ENOUGH
    )
    return tuple(near for near, _, _ in found)
