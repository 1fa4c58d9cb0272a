"""Where an address goes, from rule to rule, as a browser would be sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bot.domain.address import Address
from bot.domain.condition import CannotTell
from bot.domain.engines import Engine, MayHold, holding
from bot.domain.group import Groups
from bot.domain.lint.conditions import SAMPLE, example, led_to_address
from bot.domain.lint.findings import Finding, Kind, Place, key_of
from bot.domain.lint.index import Index, Pairs, sources
from bot.domain.matching import Acts, judged
from bot.domain.rule import Pair, Rule

MOST_HOPS: Final = 20
"""Redirects in a row after which browsers give up."""
MOST_ACTING: Final = 8
"""Rules that are followed from one address; more of them on one address is a finding of its own."""
MOST_STEPS: Final = 64
"""Addresses that are looked at from one start."""
LEADING: Final = frozenset({"Redirect", "Replace"})
DEAR: Final = frozenset({"Matches", "Wildcard_Matches"})
LOOKS_PER_TRY: Final = 16
"""Candidates that are found in the time of one try."""
DEARER: Final = 3
"""Tries in the time of one, for an expression or stars."""
TRIES: Final = 100_000
"""Pairs that are tried on addresses in one check, all in all: expressions that fit anywhere would be tried everywhere."""


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
    """Rules that are in force, and what they do together."""

    def __init__(self, groups: Groups | None = None, effort: Effort | None = None) -> None:
        self.rules: list[Rule] = []
        self._pairs: list[Pairs] = []
        self.effort = effort or Effort()
        self._groups = groups
        self._index = Index()
        self._known: dict[str, tuple[Acts, ...]] = {}

    def taking_in(self, rules: Iterable[Rule]) -> Iterator[None]:
        """Take in those of *rules* that are in force, in steps."""
        for rule in rules:
            if in_force(rule, self._groups):
                self.rules.append(rule)
                self._pairs.append(Pairs(rule))
        yield from self._index.taking_in([[source for _, source in sources(rule)] for rule in self.rules])

    def joined_by(self, rule: Rule) -> World:
        """The same rules and *rule*, with the effort left to this one; *rule* is tried on every address."""
        joined = World(self._groups, self.effort)
        joined.rules = [*self.rules, rule]
        joined._pairs = [*self._pairs, Pairs(rule)]
        joined._index = self._index  # the dear part, in which *rule* needs no place
        return joined

    def acting(self, address: Address) -> tuple[Acts, ...]:
        """The rules that act on *address*, the first of them where there are many."""
        known = self._known.get(address.full)
        if known is None:
            known = self._known[address.full] = tuple(self._tried(address))
        return known

    def _tried(self, address: Address) -> Iterator[Acts]:
        found = 0
        if not self.effort.enough:
            return
        known = len(self._index)
        candidates = [*self._index.candidates(address), *range(known, len(self.rules))]
        self.effort.spend(len(candidates) // LOOKS_PER_TRY)
        for position in candidates:
            if found == MOST_ACTING or not self.effort.enough:
                return
            acts = judged(self.rules[position], address, self._groups, self._paying(self._pairs[position]))
            if isinstance(acts, Acts):
                found += 1
                yield acts

    def _paying(self, pairs: Pairs) -> MayHold:
        """The same, for the effort that it takes to try each of them."""

        def may_hold(address: Address) -> Sequence[tuple[int, Pair]]:
            found = pairs.may_hold(address)
            self.effort.spend(sum(_cost(pair) for _, pair in found))
            return found

        return may_hold

    def leading(self, address: Address, engine: Engine) -> Iterator[tuple[Acts, Address]]:
        """The rules that take *address* elsewhere in *engine*, and where to."""
        for acts in self.acting(address):
            leads = acts.leads(engine) if acts.rule.rule_type in LEADING else None
            if leads is not None and (there := led_to_address(leads)) is not None:
                yield acts, there


def _cost(pair: Pair) -> int:
    return DEARER if pair.source is not None and pair.source.operator in DEAR else 1


def in_force(rule: Rule, groups: Groups | None) -> bool:
    """Whether *rule* is switched on, and its group as well where groups are known."""
    return rule.active and (not rule.group_id or groups is None or rule.group_id in groups.active)


def starts(pair: Pair) -> Iterator[Address]:
    """Addresses worth following for *pair*: one that it acts on, and the one that it leads to."""
    if pair.source is not None and (found := example(pair.source)) is not None:
        yield found
    if (there := led_to(pair)) is not None:
        yield there


def led_to(pair: Pair) -> Address | None:
    """Where a redirect leads, with a sample for what it catches; None where that is no address."""
    if not pair.destination or not pair.leads_to_url:
        return None
    text = pair.destination
    for number in "123456789":
        text = text.replace(f"${number}", SAMPLE)
    return led_to_address(text)


@dataclass(frozen=True, slots=True)
class _Hop:
    address: str
    acts: Acts


class Walker:
    """Follows addresses and tells loops; what was followed once is not followed again."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._done: dict[Engine, set[str]] = {engine: set() for engine in Engine}
        self._endless: set[tuple[Engine, str, int]] = set()
        """Pairs that take on what they made themselves: once that is told, following them again tells nothing new."""
        self._left = 0

    def loops_from(self, start: Address) -> Iterator[Finding]:
        """The loops that a browser at *start* is caught in, each with the one engine in which it is, if it is one."""
        found = {engine: {key_of(loop): loop for loop in self._loops(start, engine)} for engine in Engine}
        for engine, loops in found.items():
            for key, loop in loops.items():
                yield loop if key in found[engine.other] else replace(loop, engine=engine)

    def _loops(self, start: Address, engine: Engine) -> Iterator[Finding]:
        if start.full in self._done[engine] or not self._world.effort.enough:
            return
        self._left = MOST_STEPS
        yield from self._walk(start, engine, (), {start.full: 0})

    def _walk(self, address: Address, engine: Engine, way: tuple[_Hop, ...], seen: dict[str, int]) -> Iterator[Finding]:
        self._left -= 1
        for acts, there in self._world.leading(address, engine):
            if (engine, acts.rule.id, acts.pair) in self._endless:
                continue
            further = (*way, _Hop(address.full, acts))
            if (at := seen.get(there.full)) is not None:
                yield _loop(further[at:])
            elif len(further) >= MOST_HOPS:
                for loop in _growing(further):
                    self._endless.add((engine, acts.rule.id, acts.pair))
                    yield loop
            elif self._left > 0 and there.full not in self._done[engine]:
                yield from self._walk(there, engine, further, {**seen, there.full: len(further)})
        self._done[engine].add(address.full)


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
    places = tuple(Place(hop.acts.rule, hop.acts.pair) for hop in turned)
    kind = Kind.LOOP if redirects else Kind.REPEATS
    return Finding(kind, places, tuple(hop.address for hop in turned), grows=grows)


def touches(rule: Rule, pairs: Pairs, address: Address) -> bool:
    """Whether a condition of *rule*, in force or not, holds for *address* in an engine."""
    return any(_holds(rule, number, pair, address) for number, pair in pairs.may_hold(address))


def _holds(rule: Rule, number: int, pair: Pair, address: Address) -> bool:
    try:
        return holding(rule.rule_type, number, pair, address) is not None
    except CannotTell:
        return False
