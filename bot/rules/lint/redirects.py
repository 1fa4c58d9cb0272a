"""Follow a URL from rule to rule, as a browser would be redirected."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bot.rules.conditions import CannotTell
from bot.rules.lint.findings import Finding, FindingKind, Location, key_of
from bot.rules.lint.single_rule import SAMPLE, example, led_to_url, literal
from bot.rules.matching import judged
from bot.rules.model import Groups, Pair, Rule, Source, why_group_is_off
from bot.rules.outcomes import Engine, Match, MayHold, holding
from bot.rules.url import Url

SIZES: Final = (16, 8, 4, 2, 1)
FEW_PAIRS: Final = 8
"""Pairs of a rule that are all tried: that is faster than to look them up."""
MAX_INDEXED_LENGTH: Final = 4096
"""Characters of a URL beyond which it is not looked up."""


def sources(rule: Rule) -> Iterator[tuple[int, Source]]:
    """The conditions of *rule*, each with the number of its pair."""
    for number, pair in enumerate(rule.pairs or (), start=1):
        if pair.source is not None:
            yield number, pair.source


class RuleIndex:
    """Rules, or the pairs of one, by what their conditions surely contain.

    A condition that is a whole text is found by that text. One that contains a text is found by a piece of it: by the
    piece that the fewest others have, since all of a shop's rules begin alike. Expressions without such a text are
    candidates for every URL.
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

    def candidates(self, url: Url) -> list[int]:
        """Positions of those that may act on *url*, in their order.

        All that do are among them, but for a URL that is longer than MAX_INDEXED_LENGTH.
        """
        found = set(self._open)
        if len(url.full) > MAX_INDEXED_LENGTH:
            return sorted(found)
        for key, text in (("Url", url.full), ("host", url.host), ("path", url.path)):
            found.update(self._whole.get((key, text), ()))
        return sorted(found | self._containing(url.full.casefold()))

    def _containing(self, text: str) -> set[int]:
        return {
            position
            for size, known in self._pieces.items()
            for at in range(len(text) - size + 1)
            for position in known.get(text[at : at + size], ())
        }


class Pairs:
    """The pairs of one rule; of many of them, only some may hold for a URL."""

    def __init__(self, rule: Rule) -> None:
        self._pairs = tuple(enumerate(rule.pairs or (), start=1))
        self._index: RuleIndex | None = None

    def may_hold(self, url: Url) -> Sequence[tuple[int, Pair]]:
        """Those that may hold for *url*, each with its number. The index is made when it is first needed."""
        if len(self._pairs) <= FEW_PAIRS:
            return self._pairs
        if self._index is None:
            self._index = RuleIndex()
            deque(self._index.taking_in([[pair.source] if pair.source else [] for _, pair in self._pairs]), maxlen=0)
        return [self._pairs[at] for at in self._index.candidates(url)]


def _size(text: str) -> int:
    return next(size for size in SIZES if size <= len(text))


def _pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(min(len(text), MAX_INDEXED_LENGTH) - size + 1)]


MAX_HOPS: Final = 20
"""Redirects in a row after which browsers give up."""
MAX_FOLLOWED_RULES: Final = 8
"""Rules that are followed from one URL; more of them on one URL is a finding of its own."""
MAX_VISITED_URLS: Final = 64
"""URLs that are looked at from one start."""
LEADING: Final = frozenset({"Redirect", "Replace"})
COSTLY_OPERATORS: Final = frozenset({"Matches", "Wildcard_Matches"})
LOOKS_PER_TRY: Final = 16
"""Candidates that are found in the time of one try."""
COSTLY_TRIES: Final = 3
"""Tries in the time of one, for an expression or stars."""
TRIES: Final = 100_000
"""Pairs that are tried on URLs in one check, all in all: expressions that fit anywhere would be tried everywhere."""


class Effort:
    """What may still be tried in one check; it knows afterwards whether that was enough."""

    def __init__(self, tries: int = TRIES) -> None:
        self._left = tries

    def spend(self, tries: int) -> None:
        """Take *tries* off."""
        self._left -= tries

    @property
    def enough(self) -> bool:
        """Whether everything was tried that was asked for."""
        return self._left > 0


class World:
    """Active rules, and what they do together."""

    def __init__(self, groups: Groups | None = None, effort: Effort | None = None) -> None:
        self.rules: list[Rule] = []
        self._pairs: list[Pairs] = []
        self.effort = effort or Effort()
        self._groups = groups
        self._index = RuleIndex()
        self._known: dict[str, tuple[Match, ...]] = {}

    def taking_in(self, rules: Iterable[Rule]) -> Iterator[None]:
        """Take in those of *rules* that are active, in steps."""
        for rule in rules:
            if is_effective(rule, self._groups):
                self.rules.append(rule)
                self._pairs.append(Pairs(rule))
        yield from self._index.taking_in([[source for _, source in sources(rule)] for rule in self.rules])

    def joined_by(self, rule: Rule) -> World:
        """The same rules and *rule*, with the effort left to this one; *rule* is tried on every URL."""
        joined = World(self._groups, self.effort)
        joined.rules = [*self.rules, rule]
        joined._pairs = [*self._pairs, Pairs(rule)]
        joined._index = self._index  # the dear part, in which *rule* needs no place
        return joined

    def acting(self, url: Url) -> tuple[Match, ...]:
        """The rules that act on *url*, the first of them where there are many."""
        known = self._known.get(url.full)
        if known is None:
            known = self._known[url.full] = tuple(self._tried(url))
        return known

    def _tried(self, url: Url) -> Iterator[Match]:
        found = 0
        if not self.effort.enough:
            return
        known = len(self._index)
        candidates = [*self._index.candidates(url), *range(known, len(self.rules))]
        self.effort.spend(len(candidates) // LOOKS_PER_TRY)
        for position in candidates:
            if found == MAX_FOLLOWED_RULES or not self.effort.enough:
                return
            acts = judged(self.rules[position], url, self._groups, self._paying(self._pairs[position]))
            if isinstance(acts, Match):
                found += 1
                yield acts

    def _paying(self, pairs: Pairs) -> MayHold:
        """The same, for the effort that it takes to try each of them."""

        def may_hold(url: Url) -> Sequence[tuple[int, Pair]]:
            found = pairs.may_hold(url)
            self.effort.spend(sum(_cost(pair) for _, pair in found))
            return found

        return may_hold

    def leading(self, url: Url, engine: Engine) -> Iterator[tuple[Match, Url]]:
        """The rules that take *url* elsewhere in *engine*, and where to."""
        for acts in self.acting(url):
            leads = acts.leads(engine) if acts.rule.rule_type in LEADING else None
            if leads is not None and (there := led_to_url(leads)) is not None:
                yield acts, there


def _cost(pair: Pair) -> int:
    return COSTLY_TRIES if pair.source is not None and pair.source.operator in COSTLY_OPERATORS else 1


def is_effective(rule: Rule, groups: Groups | None) -> bool:
    """Whether *rule* is switched on, and its group as well where groups are known."""
    return rule.active and why_group_is_off(rule, groups) is None


def starts(pair: Pair) -> Iterator[Url]:
    """URLs worth following for *pair*: one that it acts on, and the one that it leads to."""
    if pair.source is not None and (found := example(pair.source)) is not None:
        yield found
    if (there := led_to(pair)) is not None:
        yield there


def led_to(pair: Pair) -> Url | None:
    """Where a redirect leads, with a sample for what it catches; None where that is no URL."""
    if not pair.destination or not pair.leads_to_url:
        return None
    text = pair.destination
    for number in "123456789":
        text = text.replace(f"${number}", SAMPLE)
    return led_to_url(text)


@dataclass(frozen=True, slots=True)
class _Hop:
    url: str
    acts: Match


class Walker:
    """Follows URLs and tells loops; what was followed once is not followed again."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._done: dict[Engine, set[str]] = {engine: set() for engine in Engine}
        self._endless: set[tuple[Engine, str, int]] = set()
        """Pairs that take on what they made themselves: once that is told, following them again tells nothing new."""
        self._left = 0

    def loops_from(self, start: Url) -> Iterator[Finding]:
        """The loops that a browser at *start* is caught in, each with the one engine in which it is, if it is one."""
        found = {engine: {key_of(loop): loop for loop in self._loops(start, engine)} for engine in Engine}
        for engine, loops in found.items():
            for key, loop in loops.items():
                yield loop if key in found[engine.other] else replace(loop, engine=engine)

    def _loops(self, start: Url, engine: Engine) -> Iterator[Finding]:
        if start.full in self._done[engine] or not self._world.effort.enough:
            return
        self._left = MAX_VISITED_URLS
        yield from self._walk(start, engine, (), {start.full: 0})

    def _walk(self, url: Url, engine: Engine, way: tuple[_Hop, ...], seen: dict[str, int]) -> Iterator[Finding]:
        self._left -= 1
        for acts, there in self._world.leading(url, engine):
            if (engine, acts.rule.id, acts.pair) in self._endless:
                continue
            further = (*way, _Hop(url.full, acts))
            if (at := seen.get(there.full)) is not None:
                yield _loop(further[at:])
            elif len(further) >= MAX_HOPS:
                for loop in _growing(further):
                    self._endless.add((engine, acts.rule.id, acts.pair))
                    yield loop
            elif self._left > 0 and there.full not in self._done[engine]:
                yield from self._walk(there, engine, further, {**seen, there.full: len(further)})
        self._done[engine].add(url.full)


def _growing(way: tuple[_Hop, ...]) -> Iterator[Finding]:
    """The part of *way* that comes again, if one does."""
    last = way[-1].acts
    for back, hop in enumerate(reversed(way[:-1]), start=1):
        if (hop.acts.rule.id, hop.acts.pair) == (last.rule.id, last.pair):
            yield _loop(way[-1 - back : -1], grows=True)
            return


def _loop(hops: tuple[_Hop, ...], *, grows: bool = False) -> Finding:
    """The loop of *hops*, begun at the same rule wherever it was entered."""
    first = min(range(len(hops)), key=lambda at: (hops[at].acts.rule.id, hops[at].acts.pair))
    turned = hops[first:] + hops[:first]
    redirects = any(hop.acts.rule.rule_type == "Redirect" for hop in hops)
    places = tuple(Location(hop.acts.rule, hop.acts.pair) for hop in turned)
    kind = FindingKind.LOOP if redirects else FindingKind.REPEATS
    return Finding(kind, places, tuple(hop.url for hop in turned), grows=grows)


def touches(rule: Rule, pairs: Pairs, url: Url) -> bool:
    """Whether a condition of *rule*, active or not, holds for *url* in an engine."""
    return any(_holds(rule, number, pair, url) for number, pair in pairs.may_hold(url))


def _holds(rule: Rule, number: int, pair: Pair, url: Url) -> bool:
    try:
        return holding(rule.rule_type, number, pair, url) is not None
    except CannotTell:
        return False
