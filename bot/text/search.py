"""Type-ahead search: find things by any part of a name, the best first, with tolerance for typos.

A hundred thousand records take a tenth of a second, and several tenths where only the fuzzy search finds anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from rapidfuzz import fuzz, process

from bot.members.model import Member
from bot.rules.model import Rule
from bot.text.names import fold_name

T = TypeVar("T")

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


def search(index: SearchIndex[T], typed: str, *, most: int) -> Iterator[SearchHit[T]]:
    """Yield the items that *typed* fits, each once, the best first, at most *most*.

    The ways of fitting: a whole name, the beginning of one, a part of one, all words as parts; and, where nothing fits in
    these ways, similarity.
    """
    wanted = _search_key(typed[:MAX_QUERY])
    found: set[int] = set()
    for way, needles in enumerate(_needles_by_way(wanted)):
        for place, text in enumerate(index.texts):
            if place not in found and all(needle in text for needle in needles):
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


def _search_similar(index: SearchIndex[T], wanted: str, *, most: int) -> Iterator[SearchHit[T]]:
    wanted = wanted[-MAX_LIKE_LETTERS:]
    # In a text shorter than the query, the scorer searches the text in the query, which would be a false hit.
    texts = {place: text for place, text in enumerate(index.texts) if len(text) + 2 >= len(wanted)}
    found = process.extract(wanted, texts, scorer=fuzz.partial_ratio, score_cutoff=MIN_LIKENESS, limit=most)
    yield from (SearchHit((WAYS, -score), index.items[place]) for _, score, place in found)
