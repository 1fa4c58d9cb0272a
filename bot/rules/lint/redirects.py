"""Follow a URL from rule to rule, as a browser would be redirected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from typing import Final

from bot.rules.engines import Engine
from bot.rules.lint.findings import Finding, FindingKind, Location, Step, key_of
from bot.rules.lint.lookup import SourceLookup, build_lookups
from bot.rules.lint.single_rule import SAMPLE, example
from bot.rules.matching import judge
from bot.rules.model import Groups, Pair, Rule, why_group_is_off
from bot.rules.outcomes import Match
from bot.rules.url import Url, absolute_url, url_of

MAX_HOPS: Final = 20
"""Redirects in a row after which browsers give up."""
MAX_FOLLOWED_RULES: Final = 8
"""Rules that are followed from one URL; more rules on one URL is a finding of its own."""
MAX_VISITED_URLS: Final = 64
"""URLs that are visited from one start."""
LEADING: Final = frozenset({"Redirect", "Replace", "QueryParam"})
"""Rule types that lead to another URL, and so may loop."""
FEW_PAIRS: Final = 8
"""Up to so many pairs of a rule are all tried, which is faster than to look them up."""
MAX_SOURCES: Final = 12_000
"""Conditions of active rules that are compared in one check: three seconds of processor time, and some 3 kB for each."""
MAX_STEPS: Final = 500_000
"""Filter searches and rule evaluations in one check: at some microseconds each, a few seconds."""


class Effort:
    """The budget of steps of one check. *enough*: whether it sufficed, so that nothing was left out."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self._left = steps
        self.enough = True

    def spend(self) -> bool:
        """Spend one step; return False where none is left."""
        self._left -= 1
        self.enough = self.enough and self._left >= 0
        return self._left >= 0


class World:
    """The active rules, and which of them match a URL."""

    def __init__(self, groups: Groups | None = None, effort: Effort | None = None) -> None:
        self.rules: list[Rule] = []
        self.effort = effort or Effort()
        self._groups = groups
        self._lookups: list[SourceLookup] = []
        self._own_lookups: Sequence[SourceLookup] = ()
        self._known: dict[str, tuple[Match, ...]] = {}

    def take_in(self, rules: Iterable[Rule]) -> Iterator[Step]:
        """Add those of *rules* that are active, in steps. Rules beyond MAX_SOURCES conditions match nothing."""
        compared, count = [], 0
        for rule in rules:
            if is_effective(rule, self._groups):
                self.rules.append(rule)
                count += len(rule.pairs or ())
                if count <= MAX_SOURCES:  # all of a rule or none: with half of its pairs it would redirect elsewhere
                    compared.append(rule)
        self.effort.enough = self.effort.enough and count <= MAX_SOURCES
        for lookup in build_lookups(compared):
            self._lookups.append(lookup)
            yield ()

    def combine_with(self, rule: Rule, lookups: Sequence[SourceLookup]) -> World:
        """Return a world of the same rules and *rule*, whose conditions are *lookups*; it shares the remaining effort."""
        joined = World(self._groups, self.effort)
        joined.rules = [*self.rules, rule]
        joined._lookups, joined._own_lookups = self._lookups, lookups
        return joined

    def find_matches(self, url: Url) -> tuple[Match, ...]:
        """Return the first MAX_FOLLOWED_RULES rules that match *url*."""
        known = self._known.get(url.full)
        if known is None:
            known = self._known[url.full] = tuple(islice(self._matches(url), MAX_FOLLOWED_RULES))
        return known

    def _matches(self, url: Url) -> Iterator[Match]:
        for rule in self._rules_for(url):
            if not self.effort.spend():
                return
            may_hold = partial(self._pairs_for, rule) if len(rule.pairs or ()) > FEW_PAIRS else None
            found = judge(rule, url, self._groups, may_hold)
            if isinstance(found, Match):
                yield found

    def _rules_for(self, url: Url) -> Iterator[Rule]:
        """Yield the rules that may match *url*, each once, in order, until the effort is spent."""
        last = None
        for lookup in self._all_lookups():
            if not self.effort.spend():
                return
            for place in lookup.find(url):
                if place.rule is not last:
                    last = place.rule
                    yield last

    def _pairs_for(self, rule: Rule, url: Url) -> list[tuple[int, Pair]]:
        """Return all pairs of *rule* that may hold for *url*: without some of them it would redirect elsewhere."""
        found = []
        for lookup in self._all_lookups():
            self.effort.spend()
            found += [place.pair for place in lookup.find(url) if place.rule is rule]
        return [(number, (rule.pairs or ())[number - 1]) for number in found]

    def _all_lookups(self) -> Iterator[SourceLookup]:
        return chain(self._lookups, self._own_lookups)

    def find_redirects(self, url: Url, engine: Engine) -> Iterator[tuple[Match, Url]]:
        """Yield the rules that redirect *url* in *engine*, and where to."""
        for acts in self.find_matches(url):
            if (there := follow_redirect(acts, acts.ways.get(engine))) is not None:
                yield acts, there


def follow_redirect(acts: Match, leads: str | None) -> Url | None:
    """Return the URL that a browser goes on to when *acts* redirects it to *leads*; None where it stays.

    A rule that adds a parameter would add it again each time. So a change of parameters counts only if the rule does not
    change its result again.
    """
    if leads is None or acts.rule.rule_type not in LEADING or (there := absolute_url(leads)) is None:
        return None
    again = judge(acts.rule, there) if acts.rule.rule_type == "QueryParam" else None
    return None if isinstance(again, Match) and not again.idle else there


def is_effective(rule: Rule, groups: Groups | None) -> bool:
    """Whether *rule* is switched on, and its group as well where groups are known."""
    return rule.active and why_group_is_off(rule, groups) is None


def start_urls(pair: Pair) -> Iterator[Url]:
    """Yield URLs to follow for *pair*: one that it matches, one that contains that twice, and the one that it redirects to."""
    if pair.source is not None and (found := example(pair.source)) is not None:
        yield found
        if pair.find and pair.find in (pair.replacement or "") and (twice := url_of(f"{found.full}?{found.full}")):
            yield twice
    if (there := destination_url(pair)) is not None:
        yield there


def destination_url(pair: Pair) -> Url | None:
    """Return the URL that a pair redirects to, with a sample for each capture; None where that is not a URL."""
    if not pair.destination or not pair.leads_to_url:
        return None
    text = pair.destination
    for number in "123456789":
        text = text.replace(f"${number}", SAMPLE)
    return absolute_url(text)


@dataclass(frozen=True, slots=True)
class _Hop:
    url: str
    acts: Match


class Walker:
    """Follows URLs and finds loops; a URL that was followed once is not followed again."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._done: dict[Engine, set[str]] = {engine: set() for engine in Engine}
        self._endless: set[tuple[Engine, str, int]] = set()
        """Pairs that match their own results, so URLs grow for ever: once reported, they are not followed again."""
        self._left = 0

    def loops_from(self, start: Url) -> Iterator[Finding]:
        """Yield the loops that a browser runs into from *start*; each names its engine if it exists in only one."""
        found = {engine: {key_of(loop): loop for loop in self._loops(start, engine)} for engine in Engine}
        for engine, loops in found.items():
            for key, loop in loops.items():
                yield loop if key in found[engine.other] else replace(loop, engine=engine)

    def _loops(self, start: Url, engine: Engine) -> Iterator[Finding]:
        if start.full in self._done[engine]:
            return
        self._left = MAX_VISITED_URLS
        yield from self._walk(start, engine, (), {start.full: 0})

    def _walk(self, url: Url, engine: Engine, way: tuple[_Hop, ...], seen: dict[str, int]) -> Iterator[Finding]:
        self._left -= 1
        for acts, there in self._world.find_redirects(url, engine):
            if (engine, acts.rule.id, acts.pair) in self._endless:
                continue
            further = (*way, _Hop(url.full, acts))
            if (at := seen.get(there.full)) is not None:
                yield _loop(further[at:])
            elif len(further) >= MAX_HOPS:
                for loop in _growing_loop(further):
                    self._endless.add((engine, acts.rule.id, acts.pair))
                    yield loop
            elif self._left > 0 and there.full not in self._done[engine]:
                yield from self._walk(there, engine, further, {**seen, there.full: len(further)})
        self._done[engine].add(url.full)


def _growing_loop(way: tuple[_Hop, ...]) -> Iterator[Finding]:
    """Yield the loop of the repeated part of *way*, if there is one."""
    last = way[-1].acts
    for back, hop in enumerate(reversed(way[:-1]), start=1):
        if (hop.acts.rule.id, hop.acts.pair) == (last.rule.id, last.pair):
            yield _loop(way[-1 - back : -1], grows=True)
            return


def _loop(hops: tuple[_Hop, ...], *, grows: bool = False) -> Finding:
    """Return the loop of *hops*, rotated so that it begins with the same rule wherever it was entered."""
    first = min(range(len(hops)), key=lambda at: (hops[at].acts.rule.id, hops[at].acts.pair))
    turned = hops[first:] + hops[:first]
    redirects = any(hop.acts.rule.rule_type == "Redirect" for hop in hops)
    places = tuple(Location(hop.acts.rule, hop.acts.pair) for hop in turned)
    kind = FindingKind.LOOP if redirects else FindingKind.REPEATS
    return Finding(kind, places, tuple(hop.url for hop in turned), grows=grows)
