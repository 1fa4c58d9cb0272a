"""Whether a regular expression of Python's engine takes time that grows only with the text, told from its structure.

The engine tries one way after another. It is slow on some text exactly where a text can be read in a number of ways that
grows with its length, and none of them need end in a match. That is told on the automaton of the expression: there
are two different states p and q and one text that leads from p to p, from p to q, and from q to q, where what is read
at q can still fail. (Weber and Seidl, "On the degree of ambiguity of finite automata", 1991.) Where it searches, the
start is a state of its own, which reads anything: each place is one more way.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Final

ALPHABET: Final = "".join(map(chr, range(256))) + "ıſκ中٣\u0301\u200b\u2028“”„’–—…＠＝（．。𝐚\ud800\ue000\ue001"
MAX_EXPANDED: Final = 300
"""Times of a repeat that are written out; one that may happen more often counts as endless."""
START: Final = 0
"""The state that reads anything, before the expression begins."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of an automaton: its first and last places, and whether it can be empty."""

    first: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()
    sure: frozenset[int] = frozenset()
    """Those of the last places after which nothing has to be asked of what follows."""
    empty: bool = True
    surely_empty: bool = True


@dataclass
class Automaton:
    """One state for each place where the expression reads a character (Glushkov's construction)."""

    reads: list[int] = field(default_factory=lambda: [(1 << len(ALPHABET)) - 1])
    follows: Counter[tuple[int, int]] = field(default_factory=Counter)
    masks: dict[str, int] = field(default_factory=dict)

    def build(self, items: Iterable[Any], flags: int) -> Part:
        whole = Part()
        for item in items:
            whole = self._concatenate(whole, self._build_item(item, flags))
        return whole

    def _build_item(self, item: tuple[Any, Any], flags: int) -> Part:
        kind, value = item
        if kind in {sre.MAX_REPEAT, sre.MIN_REPEAT}:
            least, most, repeated = value
            return self._repeat(least, most, repeated, flags)
        if kind is sre.SUBPATTERN:
            return self.build(value[3], (flags | value[1]) & ~value[2])
        if kind is sre.BRANCH:
            return self._alternate([self.build(each, flags) for each in value[1]])
        if kind is sre.GROUPREF_EXISTS:
            return self._alternate([self.build(each or (), flags) for each in value[1:]])
        if kind is sre.AT:
            return Part(surely_empty=False)
        if kind in {sre.ASSERT, sre.ASSERT_NOT}:
            direction, items = value
            ahead = self.build(items, flags).first if direction > 0 else frozenset()
            return Part(first=ahead, surely_empty=False)  # it reads on, but nothing goes on from there
        self.reads.append(self._mask(item, flags))
        place = frozenset({len(self.reads) - 1})
        return Part(place, place, place, empty=False, surely_empty=False)

    def _mask(self, item: tuple[Any, Any], flags: int) -> int:
        """The characters of the alphabet that an item reads, as bits; a repeat that is written out asks many times."""
        seen = f"{flags} {item}"
        if seen not in self.masks:
            self.masks[seen] = sum(1 << at for at, each in enumerate(ALPHABET) if _matches_character(item, each, flags))
        return self.masks[seen]

    def _concatenate(self, one: Part, two: Part) -> Part:
        self.follows.update((a, b) for a in one.last for b in two.first)
        return Part(
            one.first | (two.first if one.empty else frozenset()),
            two.last | (one.last if two.empty else frozenset()),
            two.sure | (one.sure if two.surely_empty else frozenset()),
            one.empty and two.empty,
            one.surely_empty and two.surely_empty,
        )

    def _alternate(self, parts: list[Part]) -> Part:
        return Part(
            frozenset().union(*(part.first for part in parts)),
            frozenset().union(*(part.last for part in parts)),
            frozenset().union(*(part.sure for part in parts)),
            any(part.empty for part in parts),
            any(part.surely_empty for part in parts),
        )

    def _repeat(self, least: int, most: Any, items: Any, flags: int) -> Part:
        endless = most is sre.MAXREPEAT or int(most) > MAX_EXPANDED
        whole = Part()
        for number in range(max(least, 1) if endless else int(most)):
            part = self.build(items, flags)
            if endless and number == max(least, 1) - 1:
                self.follows.update((a, b) for a in part.last for b in part.first)
            if number >= least:
                part = Part(part.first, part.last, part.sure, empty=True, surely_empty=True)
            whole = self._concatenate(whole, part)
        return whole


def _matches_character(item: tuple[Any, Any], character: str, flags: int) -> bool:
    kind, value = item
    if kind is sre.ANY:
        return bool(flags & re.DOTALL) or character != "\n"
    if kind is sre.NOT_LITERAL:
        return not _matches_character((sre.LITERAL, value), character, flags)
    if kind is sre.LITERAL:
        return chr(value) == character or bool(flags & re.IGNORECASE and chr(value).lower() == character.lower())
    if kind is sre.RANGE:
        spellings = {character, character.lower(), character.upper()} if flags & re.IGNORECASE else {character}
        return any(len(one) == 1 and value[0] <= ord(one) <= value[1] for one in spellings)
    if kind is sre.CATEGORY:
        sign = CATEGORIES[value]
        return re.fullmatch(sign, character) is not None
    if kind is sre.IN:
        negated = value[0][0] is sre.NEGATE
        return negated != any(_matches_character(each, character, flags) for each in value[negated:])
    raise NotImplementedError(str(kind))


CATEGORIES: Final = {
    sre.CATEGORY_DIGIT: r"\d",
    sre.CATEGORY_NOT_DIGIT: r"\D",
    sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S",
    sre.CATEGORY_WORD: r"\w",
    sre.CATEGORY_NOT_WORD: r"\W",
}


def find_slow_text(pattern: str, flags: int, use: str) -> str:
    """A piece of text that many of make *pattern* slow when used by *use* (``search``, ``match``, ``fullmatch``); or nothing."""
    parsed = _parser.parse(pattern, flags)
    automaton = Automaton()
    part = automaton.build(parsed, parsed.state.flags)
    begins = bool(parsed) and tuple(parsed[0]) == (sre.AT, sre.AT_BEGINNING)
    sure = frozenset() if use == "fullmatch" else part.sure
    follows = {state: set() for state in range(len(automaton.reads))}  # type: dict[int, set[int]]
    for before, after in automaton.follows:
        follows[before].add(after)
    if use not in {"match", "fullmatch"} and not begins:
        follows[START] = {START, *part.first}
    follows = _prune_to_loops(follows)
    can_fail = {state: after - sure for state, after in follows.items() if state not in sure}
    loops = {state: _loop(state, follows) for state in follows}
    for q in follows:
        failing = _loop(q, can_fail)
        if any(automaton.follows[a, b] > 1 for a in failing for b in failing):
            return "a repeat within a repeat"
        for p in follows:
            if (
                p != q
                and failing
                and loops[p]
                and (text := _looping_text(p, q, loops[p], failing, follows, automaton.reads))
            ):
                return text
    return ""


def _prune_to_loops(follows: dict[int, set[int]]) -> dict[int, set[int]]:
    """*follows* without the states that are on no loop, nor on a way from one loop to another: they read a text only once."""
    backwards: dict[int, set[int]] = {state: set() for state in follows}
    for before, every in follows.items():
        for after in every:
            backwards[after].add(before)
    kept = _endless_states(follows, backwards) & _endless_states(backwards, follows)
    return {state: follows[state] & kept for state in kept}


def _endless_states(follows: dict[int, set[int]], backwards: dict[int, set[int]]) -> set[int]:
    """The states from which a way goes on without end."""
    further = {state: len(every) for state, every in follows.items()}
    ends = [state for state, count in further.items() if not count]
    for state in ends:
        for before in backwards[state]:
            further[before] -= 1
            if not further[before]:
                ends.append(before)
    return follows.keys() - set(ends)


def _loop(state: int, follows: dict[int, set[int]]) -> frozenset[int]:
    """The states on ways from *state* back to itself."""
    backwards: dict[int, set[int]] = {each: set() for each in follows}
    for before, every in follows.items():
        for after in every & follows.keys():
            backwards[after].add(before)
    return frozenset(_reachable_states(state, follows) & _reachable_states(state, backwards))


def _reachable_states(state: int, follows: dict[int, set[int]]) -> set[int]:
    found: set[int] = set()
    todo = [state]
    while todo:
        new = follows.get(todo.pop(), set()) - found
        found |= new
        todo += new
    return found


def _looping_text(
    p: int, q: int, around_p: frozenset[int], around_q: frozenset[int], follows: dict[int, set[int]], reads: list[int]
) -> str:
    """A text that leads from *p* to *p*, from *p* to *q*, and from *q* to *q*; empty where there is none."""
    seen = {(p, p, q): ""}
    todo = [(p, p, q)]
    while todo:
        a, b, c = now = todo.pop(0)
        for after in _steps(follows[a] & around_p, follows[b], follows[c] & around_q):
            both = reads[after[0]] & reads[after[1]] & reads[after[2]]
            if not both or (after in seen and after != (p, q, q)):
                continue
            text = seen[now] + ALPHABET[_printable_place(both)]
            if after == (p, q, q):
                return text
            seen[after] = text
            todo.append(after)
    return ""


def _steps(one: Iterable[int], two: Iterable[int], three: Iterable[int]) -> Iterator[tuple[int, int, int]]:
    return ((a, b, c) for a in one for b in two for c in three)


def _printable_place(mask: int) -> int:
    """The place of a character that can be printed, where there is one."""
    return next((at for at in range(33, 127) if mask >> at & 1), (mask & -mask).bit_length() - 1)


if __name__ == "__main__":
    print(find_slow_text(sys.argv[1], 0, "search"))
