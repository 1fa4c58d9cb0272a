"""Which rules, and which of their pairs, may act on an address, without trying all of them."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import Final

from bot.domain.address import Address
from bot.domain.lint.conditions import literal
from bot.domain.rule import Pair, Rule, Source

SIZES: Final = (16, 8, 4, 2, 1)
FEW_PAIRS: Final = 8
"""Pairs of a rule that are all tried: that is faster than to look them up."""
LONGEST: Final = 4096
"""Characters of an address beyond which it is not looked up."""


def sources(rule: Rule) -> Iterator[tuple[int, Source]]:
    """The conditions of *rule*, each with the number of its pair."""
    for number, pair in enumerate(rule.pairs or (), start=1):
        if pair.source is not None:
            yield number, pair.source


class Index:
    """Rules, or the pairs of one, by what their conditions surely contain.

    A condition that is a whole text is found by that text. One that contains a text is found by a piece of it: by the
    piece that the fewest others have, since all of a shop's rules begin alike. Expressions without such a text are
    candidates for every address.
    """

    def __init__(self) -> None:
        self._length = 0
        self._whole: defaultdict[tuple[str | None, str], list[int]] = defaultdict(list)
        self._pieces: dict[int, defaultdict[str, list[int]]] = {}
        self._open: list[int] = []

    def __len__(self) -> int:
        """How many were taken in."""
        return self._length

    def taking_in(self, conditions: Sequence[Sequence[Source]]) -> Iterator[None]:
        """Take in the *conditions* of each, once, in steps: the index is of use after the last one."""
        texts: list[tuple[str, int]] = []
        for position, some in enumerate(conditions):
            yield
            for source in some:
                if source.operator == "Equals" and source.value:
                    self._whole[source.key, source.value].append(position)
                elif text := literal(source, any_case=True).casefold():
                    texts.append((text, position))
                else:
                    self._open.append(position)
        self._length = len(conditions)
        yield from self._keep(texts)

    def _keep(self, texts: list[tuple[str, int]]) -> Iterator[None]:
        common: Counter[str] = Counter()
        for text, _ in texts:
            yield
            common.update(_pieces(text, _size(text)))
        for text, position in texts:
            yield
            size = _size(text)
            rarest = min(_pieces(text, size), key=common.__getitem__)
            self._pieces.setdefault(size, defaultdict(list))[rarest].append(position)

    def candidates(self, address: Address) -> list[int]:
        """Positions of those that may act on *address*, in their order.

        All that do are among them, but for an address that is longer than LONGEST.
        """
        found = set(self._open)
        if len(address.full) > LONGEST:
            return sorted(found)
        for key, text in (("Url", address.full), ("host", address.host), ("path", address.path)):
            found.update(self._whole.get((key, text), ()))
        return sorted(found | self._containing(address.full.casefold()))

    def _containing(self, text: str) -> set[int]:
        return {
            position
            for size, known in self._pieces.items()
            for at in range(len(text) - size + 1)
            for position in known.get(text[at : at + size], ())
        }


class Pairs:
    """The pairs of one rule; of many of them, only some may hold for an address."""

    def __init__(self, rule: Rule) -> None:
        self._pairs = tuple(enumerate(rule.pairs or (), start=1))
        self._index: Index | None = None

    def may_hold(self, address: Address) -> Sequence[tuple[int, Pair]]:
        """Those that may hold for *address*, each with its number. The index is made when it is first needed."""
        if len(self._pairs) <= FEW_PAIRS:
            return self._pairs
        if self._index is None:
            self._index = Index()
            deque(self._index.taking_in([[pair.source] if pair.source else [] for _, pair in self._pairs]), maxlen=0)
        return [self._pairs[at] for at in self._index.candidates(address)]


def _size(text: str) -> int:
    return next(size for size in SIZES if size <= len(text))


def _pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(min(len(text), LONGEST) - size + 1)]
