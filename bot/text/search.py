"""Finding by a few letters: any part of what a thing is called, best fits first, typos forgiven.

Everything is done in slices, so that the caller can let others in: a hundred thousand records take a tenth of a
second to look through, and several where nothing fits but by likeness.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from rapidfuzz import fuzz, process

from bot.members.model import Member
from bot.rules.model import Rule
from bot.text.names import fold_name

T = TypeVar("T")

RECORDS_PER_SLICE: Final = 1_000
"""Records that are looked at in one go: some milliseconds, also for the slowest way."""
MIN_LIKENESS: Final = 75.0
"""Per cent of likeness from which on something counts as meant."""
MIN_LIKE_LETTERS: Final = 4
"""Letters below which everything is like everything."""
MAX_LIKE_LETTERS: Final = 64
"""Letters from the end of what was typed that likeness is measured with: beyond that it takes ten times as long."""
MAX_LIKE_HITS: Final = 20
MAX_QUERY: Final = 200
"""Characters of a query that are looked at."""


@dataclass(frozen=True, slots=True)
class SearchIndex(Generic[T]):
    """*items*, each with its text: every name that it has, folded, between line ends."""

    items: Sequence[T]
    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class SearchHit(Generic[T]):
    """*rank* says how well the *item* fits, the best first: the way in which it does, then how unlike it is."""

    rank: tuple[int, float]
    item: T


def text_of_rule(rule: Rule) -> str:
    """Name, id and every URL of a rule, for a `SearchIndex`."""
    names: list[str | None] = [rule.name, rule.id]
    for pair in rule.pairs or ():
        names += [pair.source.value if pair.source else None, pair.destination]
    return _search_text(names)


def text_of_member(member: Member) -> str:
    """Address and name of a member, for a `SearchIndex`."""
    return _search_text([member.name, member.email])


def _search_text(names: Sequence[str | None]) -> str:
    return "\n" + "".join(f"{_search_key(name)}\n" for name in names if name)


def _search_key(text: str) -> str:
    """Fold *text* for the search; a URL also begins after its scheme, since few people type that."""
    return fold_name(text).replace("://", "://\n")


def has_words(wanted: str, text: str) -> bool:
    """Whether each word of *wanted* is somewhere in *text*, in any order and any case of letters."""
    line = fold_name(text)
    return all(word in line for word in fold_name(wanted).split())


def search(index: SearchIndex[T], typed: str, *, most: int) -> Iterator[SearchHit[T] | None]:
    """The items that *typed* fits, each once, the best way first, at most *most*; None where others may be let in.

    The ways: a whole name, the beginning of one, a part of one, all its words as parts; and where there is nothing
    of that kind, likeness.
    """
    wanted = _search_key(typed[:MAX_QUERY])
    found: set[int] = set()
    for way, needles in enumerate(_needles_by_way(wanted)):
        for start in range(0, len(index.texts), RECORDS_PER_SLICE):
            yield None
            for place in _find_places(needles, index.texts[start : start + RECORDS_PER_SLICE], start):
                if place not in found and len(found) < most:
                    found.add(place)
                    yield SearchHit((way, 0.0), index.items[place])
            if len(found) >= most:
                return
    if not found and len(wanted) >= MIN_LIKE_LETTERS:
        yield from _search_similar(index, wanted, most=min(most, MAX_LIKE_HITS))


WAYS: Final = 4


def _needles_by_way(wanted: str) -> tuple[tuple[str, ...], ...]:
    """Return what must be in a text, from the narrowest way to the widest; nothing typed is in every text."""
    ways = ((f"\n{wanted}\n",), (f"\n{wanted}",), (wanted,))
    words = tuple(wanted.split())
    return (*ways, words) if len(words) > 1 else ways


def _find_places(needles: Sequence[str], texts: Sequence[str], start: int) -> list[int]:
    """Return the places, counted from *start*, of the texts that hold all *needles*."""
    places = [place for place, text in enumerate(texts, start) if needles[0] in text]
    for needle in needles[1:]:
        places = [place for place in places if needle in texts[place - start]]
    return places


def _search_similar(index: SearchIndex[T], wanted: str, *, most: int) -> Iterator[SearchHit[T] | None]:
    wanted, best, enough = wanted[-MAX_LIKE_LETTERS:], list[tuple[float, int]](), MIN_LIKENESS
    for start in range(0, len(index.texts), RECORDS_PER_SLICE):
        yield None
        part = index.texts[start : start + RECORDS_PER_SLICE]
        found = process.extract(wanted, part, scorer=fuzz.partial_ratio, score_cutoff=enough, limit=most)
        # A text that is shorter than what was typed is looked for in it, which is not the question.
        long_enough = ((-score, start + place) for text, score, place in found if len(text) + 2 >= len(wanted))
        best = heapq.nsmallest(most, [*best, *long_enough])
        enough = -best[-1][0] if len(best) == most else MIN_LIKENESS
    yield from (SearchHit((WAYS, score), index.items[place]) for score, place in best)
