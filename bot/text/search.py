"""Type-ahead search: find things by any part of a name, the best first, with tolerance for typos.

The search runs in slices, so that the caller can yield to the event loop: a hundred thousand records take a tenth of a
second, and several tenths where only the fuzzy search finds anything.
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
"""Records that are searched in one go: some milliseconds, even in the slowest way."""
MIN_LIKENESS: Final = 75.0
"""The least similarity of a fuzzy match, in per cent."""
MIN_LIKE_LETTERS: Final = 4
"""Letters that a fuzzy search needs: with fewer, everything is similar."""
MAX_LIKE_LETTERS: Final = 64
"""Letters, from the end of the query, that a fuzzy search compares: with more it takes ten times as long."""
MAX_LIKE_HITS: Final = 20
MAX_QUERY: Final = 200
"""Characters of a query that are used."""


@dataclass(frozen=True, slots=True)
class SearchIndex(Generic[T]):
    """The index: *items*, and for each its text with all of its names, folded, between line ends."""

    items: Sequence[T]
    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class SearchHit(Generic[T]):
    """One hit. *rank* is smaller for better hits: the way in which the *item* fits, then its dissimilarity."""

    rank: tuple[int, float]
    item: T


def text_of_rule(rule: Rule) -> str:
    """Name, id and every URL of a rule, for a `SearchIndex`."""
    names: list[str | None] = [rule.name, rule.id]
    for pair in rule.pairs or ():
        names += [pair.source.value if pair.source else None, pair.destination]
    return _search_text(names)


def text_of_member(member: Member) -> str:
    """Email and name of a member, for a `SearchIndex`."""
    return _search_text([member.name, member.email])


def _search_text(names: Sequence[str | None]) -> str:
    return "\n" + "".join(f"{_search_key(name)}\n" for name in names if name)


def _search_key(text: str) -> str:
    """Fold *text* for the search, with a line end after the scheme of a URL, since few people type schemes."""
    return fold_name(text).replace("://", "://\n")


def has_words(wanted: str, text: str) -> bool:
    """Whether each word of *wanted* is somewhere in *text*, in any order and any case of letters."""
    line = fold_name(text)
    return all(word in line for word in fold_name(wanted).split())


def search(index: SearchIndex[T], typed: str, *, most: int) -> Iterator[SearchHit[T] | None]:
    """Yield the items that *typed* fits, each once, the best first, at most *most*; None where the caller may pause.

    The ways of fitting: a whole name, the beginning of one, a part of one, all words as parts; and, where nothing fits in
    these ways, similarity.
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
    """Return the strings that a text must have, from the narrowest way to the widest; an empty query matches every text."""
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
        # For a text shorter than the query, the scorer searches the text in the query, which would be a false hit.
        long_enough = ((-score, start + place) for text, score, place in found if len(text) + 2 >= len(wanted))
        best = heapq.nsmallest(most, [*best, *long_enough])
        enough = -best[-1][0] if len(best) == most else MIN_LIKENESS
    yield from (SearchHit((WAYS, score), index.items[place]) for score, place in best)
