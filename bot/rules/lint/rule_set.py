"""Find what is wrong with all rules, or what one change would add: chains, loops, duplicates, rules behind a block."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from bot.rules.lint.findings import Finding, FindingKind, Location, Step, key_of
from bot.rules.lint.lookup import SourceLookup, build_lookups, sources
from bot.rules.lint.redirects import LEADING, Effort, Walker, World, destination_url, is_effective, start_urls
from bot.rules.lint.single_rule import check_alone, condition_text, example, literal, why_never
from bot.rules.matching import filters_of
from bot.rules.model import Groups, Pair, Rule, Source
from bot.rules.outcomes import differing_trait
from bot.rules.url import Url, url_of

DECIDING: Final = frozenset({"Redirect", "Cancel"})
"""Rule types of which two with the same source conflict; other types add up."""

MAX_NAMED_RULES: Final = 3
"""Rules that are named for one URL; where more match it, the problem is that they share a source."""

Condition = tuple[str | None, str | None, str]


class CrossRuleCheck:
    """Finds problems between the active rules of one set."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._walker = Walker(world)
        self._blocks = World(effort=world.effort)

    def take_in(self) -> Iterator[Step]:
        """Add the rules that block, in steps; without this, no rule is found to be hidden."""
        yield from self._blocks.take_in(rule for rule in self.world.rules if rule.rule_type == "Cancel")

    def combine_with(self, rule: Rule, lookups: Sequence[SourceLookup]) -> CrossRuleCheck:
        """Return the same check with *rule*, whose conditions are *lookups*, among the others."""
        joined = CrossRuleCheck(self.world.combine_with(rule, lookups))
        joined._blocks = self._blocks.combine_with(rule, lookups) if rule.rule_type == "Cancel" else self._blocks
        return joined

    def check_rule(self, rule: Rule) -> Iterator[Step]:
        """Check *rule*, which is active, against the others, in steps of one pair each."""
        for number, pair in enumerate(rule.pairs or (), start=1):
            yield tuple(self._check_pair(Location(rule, number), pair))

    def _check_pair(self, place: Location, pair: Pair) -> Iterator[Finding]:
        rule_type = place.rule.rule_type
        if rule_type != "Cancel":
            yield from self._check_hidden(place, pair)
        if rule_type in LEADING:
            for start in start_urls(pair):
                yield from self._walker.loops_from(start)
        if rule_type == "Redirect":
            yield from self._check_chain(place, pair)
            yield from self._check_conflict(place, pair)

    def _check_hidden(self, place: Location, pair: Pair) -> Iterator[Finding]:
        """Find rules that block every URL that this pair matches."""
        source = pair.source
        if source is None or not _holds_in_both(place.rule, source):
            return
        url = _representative(source)
        if url is None:
            return
        for acts in self._blocks.find_matches(url):
            blocker = (acts.rule.pairs or ())[acts.pair - 1]
            if acts.only or blocker.source is None or _has_filter(blocker):
                continue
            if _covers(blocker.source, source):
                yield Finding(FindingKind.HIDDEN, (place, Location(acts.rule, acts.pair)), value=condition_text(source))

    def _check_chain(self, place: Location, pair: Pair) -> Iterator[Finding]:
        """Find other rules that match the URL that this pair redirects to."""
        there = destination_url(pair)
        if there is None or pair.source is None or not _holds_in_both(place.rule, pair.source):
            return
        for acts in self.world.find_matches(there)[:MAX_NAMED_RULES]:
            if acts.rule.id == place.rule.id or acts.only or (acts.result is None and not acts.blocks):
                continue
            places = (place, Location(acts.rule, acts.pair))
            yield Finding(FindingKind.CHAIN, places, (there.full, acts.result or ""))

    def _check_conflict(self, place: Location, pair: Pair) -> Iterator[Finding]:
        """Find other redirects that send the same URL elsewhere by another condition."""
        if pair.source is None or _has_filter(pair) or (url := example(pair.source)) is None:
            return
        if pair.source.operator != "Equals" or pair.source.key != "Url" or not _holds_in_both(place.rule, pair.source):
            return
        for acts in self.world.find_matches(url)[:MAX_NAMED_RULES]:
            other = (acts.rule.pairs or ())[acts.pair - 1]
            same = other.source is not None and _condition(other.source) == _condition(pair.source)
            if (
                acts.rule.id == place.rule.id
                or acts.rule.rule_type != "Redirect"
                or same
                or _has_filter(other)
                or acts.only
            ):
                continue
            if acts.result not in {None, pair.destination}:
                places = (place, Location(acts.rule, acts.pair))
                yield Finding(FindingKind.ONE_SOURCE, places, (url.full,), value=url.full)


def check_same_source(rules: Iterable[Rule]) -> Iterator[Step]:
    """Find, in steps, active rules of one type with the same condition; a block beside a redirect is reported as hiding it."""
    found: defaultdict[Condition, list[Location]] = defaultdict(list)
    for rule in rules:
        yield ()
        if rule.rule_type in DECIDING:
            once = {
                _condition(source): number
                for number, source in reversed(list(sources(rule)))
                if not _has_filter((rule.pairs or ())[number - 1]) and differing_trait(rule.rule_type, source) is None
            }
            for condition, number in once.items():
                found[condition].append(Location(rule, number))
    for (_, _, value), places in found.items():
        alike = {place.rule.rule_type for place in places}
        if len(places) > 1 and len(alike) == 1:
            yield (Finding(FindingKind.ONE_SOURCE, tuple(places), value=value),)


def check_same_name(rules: Iterable[Rule]) -> Iterator[Step]:
    """Find, in steps, rules that people cannot tell apart by name."""
    found: defaultdict[str, list[Location]] = defaultdict(list)
    for rule in rules:
        yield ()
        if name := " ".join((rule.name or "").casefold().split()):
            found[name].append(Location(rule))
    for name, places in found.items():
        if len(places) > 1:
            yield (Finding(FindingKind.ONE_NAME, tuple(places), value=name),)


def _holds_in_both(rule: Rule, source: Source) -> bool:
    """Whether *source* can hold, and means the same in both engines."""
    return why_never(rule.rule_type, source) is None and differing_trait(rule.rule_type, source) is None


def _condition(source: Source) -> Condition:
    return source.key, source.operator, source.value or ""


def _has_filter(pair: Pair) -> bool:
    """Whether the pair has a filter, for example by page or method."""
    return next(filters_of(pair), None) is not None


def _representative(source: Source) -> Url | None:
    """Return a URL that represents *source* in the search for blocks; None where there is none."""
    if (found := example(source)) is not None:
        return found
    return url_of(f"https://example.com/{literal(source)}") if literal(source) else None


def _covers(wide: Source, narrow: Source) -> bool:
    """Whether *wide*, which holds for an example of *narrow*, certainly holds wherever *narrow* does."""
    if _condition(wide) == _condition(narrow):
        return True
    if narrow.operator == "Equals" and narrow.key == "Url":
        return True  # it has only one URL, which was the example
    if wide.key == narrow.key and narrow.operator == "Equals":
        return True
    if wide.operator != "Contains" or wide.key not in {narrow.key, "Url"}:
        return False
    return bool(wide.value) and (wide.value or "") in literal(narrow)


def check_all(rules: Sequence[Rule], groups: Groups | None = None, *, effort: Effort | None = None) -> Iterator[Step]:
    """Find all problems of *rules*, in steps of about a pair each; `sort_findings` merges them.

    Inactive rules are only checked on their own. *effort*: the budget of steps, by default MAX_STEPS.
    """
    together = CrossRuleCheck(World(groups, effort))
    yield from together.world.take_in(rules)
    yield from together.take_in()
    yield from check_same_source(together.world.rules)
    yield from check_same_name(rules)
    for rule in rules:
        yield tuple(check_alone(rule))
        if is_effective(rule, groups):
            yield from together.check_rule(rule)


def check_loops(
    rules: Sequence[Rule], ids: Collection[str], groups: Groups | None = None, *, effort: Effort | None = None
) -> Iterator[Step]:
    """Find the loops among *rules* that a rule with one of *ids* is part of, in steps of about a pair each."""
    world = World(groups, effort)
    yield from world.take_in(rules)
    walker = Walker(world)
    for rule in rules:
        if rule.id in ids and is_effective(rule, groups):
            yield tuple(finding for finding in check_alone(rule) if finding.needs_reason)
            for pair in rule.pairs or () if rule.rule_type in LEADING else ():
                found = [loop for start in start_urls(pair) for loop in walker.loops_from(start) if loop.needs_reason]
                yield tuple(loop for loop in found if any(place.rule.id in ids for place in loop.places))


def check_change(
    rules: Sequence[Rule],
    before: Rule | None,
    after: Rule | None,
    groups: Groups | None = None,
    *,
    effort: Effort | None = None,
) -> Iterator[Step]:
    """Find the problems that changing *before* to *after* would add, in steps; None: the rule does not exist at that time."""
    if after is None:
        return
    others = [rule for rule in rules if rule.id not in {after.id, before.id if before is not None else after.id}]
    parts = [_Part(rule) for rule in (before, after) if rule is not None]
    for part in parts:
        yield from part.check_alone(others)
    acting = [part for part in parts if is_effective(part.rule, groups)]
    if acting:
        yield from _check_parts(acting, others, groups, effort)
    known = {key_of(finding) for finding in parts[0].findings} if before is not None else set()
    yield tuple(finding for finding in parts[-1].findings if key_of(finding) not in known)


def _check_parts(
    parts: Sequence[_Part], others: Sequence[Rule], groups: Groups | None, effort: Effort | None
) -> Iterator[Step]:
    """Check each of *parts* against the *others*, which are indexed once for all parts."""
    base = CrossRuleCheck(World(groups, effort))
    yield from base.world.take_in(others)
    yield from base.take_in()
    for part in parts:
        yield from part.join(base)
    for other in base.world.rules:
        heads = [url for pair in other.pairs or () for url in start_urls(pair)]
        for part in parts:
            part.meet(other, heads)
        yield ()


class _Part:
    """The findings that one rule is part of."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self._lookups = list(build_lookups([rule]))
        self.findings: list[Finding] = []
        self._together: CrossRuleCheck | None = None

    def check_alone(self, others: Sequence[Rule]) -> Iterator[Step]:
        self._add(check_alone(self.rule))
        for step in check_same_name([*others, self.rule]):
            yield self._add(step)

    def join(self, base: CrossRuleCheck) -> Iterator[Step]:
        """Check the rule against the others of *base*, and find those with the same source."""
        self._together = base.combine_with(self.rule, self._lookups)
        for step in check_same_source(self._together.world.rules):
            yield self._add(step)
        for step in self._together.check_rule(self.rule):
            yield self._add(step)

    def meet(self, other: Rule, heads: Iterable[Url]) -> None:
        """Check *other* if the rule may match one of *heads*, the URLs that *other* matches or redirects to."""
        if self._together is not None and any(lookup.find(url) for lookup in self._lookups for url in heads):
            for step in self._together.check_rule(other):
                self._add(step)

    def _add(self, findings: Iterable[Finding]) -> Step:
        self.findings += [finding for finding in findings if finding.concerns(self.rule.id)]
        return ()
