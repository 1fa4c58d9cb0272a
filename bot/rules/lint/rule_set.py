"""Find what is wrong between active rules: loops, duplicates of sources, and what is never reached."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import re2

from bot.rules.conditions import IN_WILDCARD, is_bare, wildcard_expression
from bot.rules.expressions import SLASHED, CannotTell, compile_expression, require_short
from bot.rules.lint.findings import Checked, Finding, FindingKind, Location
from bot.rules.lint.route import LEADING, MAX_HOPS, follow_redirect, is_effective
from bot.rules.lint.single_rule import SAMPLE, check_alone, condition_text, example, literal, why_never
from bot.rules.matching import filters_of, judge
from bot.rules.model import Groups, Pair, Rule, Source
from bot.rules.outcomes import Match, is_switched_off
from bot.rules.url import Url, absolute_url

MAX_SOURCES: Final = 15_000
"""Sources of active rules that are compared in one check: seconds of processor time, and some 3 kB for each."""
MAX_STEPS: Final = 2_000_000
"""Sources that are found for URLs in one check, at under a microsecond each: where all match each URL, these are many."""
STEPS_PER_JUDGEMENT: Final = 20
MAX_MATCHES: Final = 8
"""Rules that are followed from one URL, beside blocks; more on one URL is a finding of its own."""
MAX_VISITED_URLS: Final = 64
"""URLs that are visited from one start."""
MAX_FILTER_SOURCES: Final = 1_000
MAX_FILTER_CHARACTERS: Final = 50_000
"""What one filter of RE2 holds: it is built in one go, which blocks other threads (some 20 ms)."""
DECIDING: Final = frozenset({"Redirect", "Cancel"})
"""Rule types of which two with the same source conflict; other types add up."""
QUIET: Final = re2.Options()
QUIET.log_errors = False  # RE2 falls back to a slower algorithm where a long text needs much memory, and would log that


def check_all(rules: Sequence[Rule], groups: Groups | None = None) -> Checked:
    """Return what is wrong with *rules*; inactive ones are only checked on their own."""
    together = RuleSet(rules, groups)
    found = [finding for rule in rules for finding in check_alone(rule)]
    found += _duplicates(together.rules)
    for rule in together.rules:
        found += together.check_rule(rule)
    return Checked.of(found, is_whole=together.is_whole)


def check_change(
    rules: Sequence[Rule], before: Rule | None, after: Rule | None, groups: Groups | None = None
) -> Checked:
    """Return what changing *before* to *after* would add to what is wrong; None: the rule does not exist at that time."""
    gone = {rule.id for rule in (before, after) if rule is not None}
    others = [rule for rule in rules if rule.id not in gone]
    then = _check_among(after, others, groups)
    if before is None or not then.findings:
        return then
    return then.without(_check_among(before, others, groups))


def _check_among(rule: Rule | None, others: Sequence[Rule], groups: Groups | None) -> Checked:
    """Return what is wrong with *rule*, alone and among *others*, of which only those that may lead to it are checked."""
    found = [] if rule is None else list(check_alone(rule))
    if rule is None or not is_effective(rule, groups):
        return Checked.of(found)
    together, alone = RuleSet([rule, *others], groups), RuleSet([rule], groups)  # it comes first: the limits spare it
    found += [*_duplicates(together.rules), *together.check_rule(rule)]
    for other in together.rules[1:]:
        if any(alone.matches(url) for pair in other.pairs or () for url in start_urls(pair)):
            found += together.check_rule(other)
    mine = (finding for finding in found if finding.concerns(rule.id))
    return Checked.of(mine, is_whole=together.is_whole and alone.is_whole)


def check_loops(rules: Sequence[Rule], ids: Collection[str], groups: Groups | None = None) -> Checked:
    """Return the loops among *rules* that a rule with one of *ids* is part of."""
    together = RuleSet(rules, groups)
    found: list[Finding] = []
    for rule in together.rules:
        if rule.id in ids:
            found += [*check_alone(rule), *together.loops_of(rule)]
    mine = (finding for finding in found if finding.loops and any(map(finding.concerns, ids)))
    return Checked.of(mine, is_whole=together.is_whole)


def _duplicates(rules: Iterable[Rule]) -> Iterator[Finding]:
    """Yield rules of one type with the same source; a block beside a redirect is reported as hiding it."""
    found: defaultdict[tuple[str | None, ...], dict[str, Location]] = defaultdict(dict)
    for rule in rules:
        for number, pair in enumerate((rule.pairs or ()) if rule.rule_type in DECIDING else (), start=1):
            if pair.source is not None and not has_filter(pair) and not is_switched_off(pair.source):
                found[rule.rule_type, *_condition(pair.source)].setdefault(rule.id, Location(rule, number))
    for (*_, value), places in found.items():
        if len(places) > 1:
            yield Finding(FindingKind.ONE_SOURCE, tuple(places.values()), value=value or "")


class Hop(NamedTuple):
    url: str
    acts: Match


class Candidate(NamedTuple):
    """A source that may hold for a URL: the index of its rule, and the number of its pair."""

    rule: int
    pair: int


class RuleSet:
    """The active *rules* of one check, which of them match a URL, and what is wrong between them.

    Sources that are whole URLs are in a dict, others in RE2's filters, which may find one too many.
    """

    def __init__(self, rules: Iterable[Rule], groups: Groups | None = None) -> None:
        self.rules = [rule for rule in rules if is_effective(rule, groups)]
        self.is_whole = True
        """Whether all rules were compared, as far as was asked up to now."""
        self._groups = groups
        self._steps = MAX_STEPS
        self._visits = 0
        self._whole_urls: defaultdict[str, list[Candidate]] = defaultdict(list)
        self._filters: list[tuple[Any, Sequence[Candidate]]] = []
        self._known: dict[str, tuple[Match, ...]] = {}
        self._followed: set[str] = set()
        self._endless: set[tuple[str, int]] = set()
        """Pairs that match their own results, so that URLs grow for ever: once reported, they are not followed again."""
        self._add_rules()

    def _add_rules(self) -> None:
        count, size = 0, 0
        patterns: list[tuple[str, Candidate]] = []
        for index, rule in enumerate(self.rules):
            pairs = (rule.pairs or ()) if rule.rule_type in {*LEADING, "Cancel"} else ()
            count += len(pairs)
            if count > MAX_SOURCES:  # all of a rule or nothing: by half of its pairs it would redirect elsewhere
                self.is_whole = False
                break
            for number, pair in enumerate(pairs, start=1):
                if pair.source is None:
                    continue
                if _is_one_url(pair.source):
                    self._whole_urls[pair.source.value or ""].append(Candidate(index, number))
                elif (pattern := _pattern(pair.source)) is not None:
                    patterns.append((pattern, Candidate(index, number)))
                    size += len(pattern)
                if len(patterns) == MAX_FILTER_SOURCES or size > MAX_FILTER_CHARACTERS:
                    self._add_filter(patterns)
                    patterns, size = [], 0
        self._add_filter(patterns)

    def _add_filter(self, patterns: Sequence[tuple[str, Candidate]]) -> None:
        """Add one filter, or several where the texts have so little in common that one can't hold them."""
        if not patterns:
            return
        built = re2.Filter()
        try:
            for pattern, _ in patterns:
                built.Add(pattern, QUIET)
            built.Compile()
        except re2.error:
            if half := len(patterns) // 2:
                self._add_filter(patterns[:half])
                self._add_filter(patterns[half:])
        else:
            self._filters.append((built, [candidate for _, candidate in patterns]))

    def matches(self, url: Url) -> tuple[Match, ...]:
        """Return the rules that block *url*, and the first MAX_MATCHES of others that match it."""
        if url.full not in self._known:
            self._known[url.full] = tuple(self._judge(url))
        return self._known[url.full]

    def _judge(self, url: Url) -> Iterator[Match]:
        pairs: defaultdict[int, list[int]] = defaultdict(list)
        for candidate in self._candidates(url):
            pairs[candidate.rule].append(candidate.pair)
        count = 0
        for index in sorted(pairs):
            rule = self.rules[index]
            if rule.rule_type != "Cancel" and count >= MAX_MATCHES:
                continue
            self._steps -= STEPS_PER_JUDGEMENT
            numbered = [(number, (rule.pairs or ())[number - 1]) for number in sorted(pairs[index])]
            if isinstance(acts := judge(rule, url, self._groups, numbered), Match):
                count += rule.rule_type != "Cancel"
                yield acts

    def _candidates(self, url: Url) -> Sequence[Candidate]:
        """Return the sources that may hold for *url*; none once the steps of the check are spent."""
        if self._steps <= 0:
            self.is_whole = False
            return ()
        found = [*self._whole_urls.get(url.full, ())]
        for matcher, candidates in self._filters:
            found += [candidates[at] for at in matcher.Match(url.full) or ()]
        self._steps -= len(found)
        return found

    def check_rule(self, rule: Rule) -> Iterator[Finding]:
        """Yield what is wrong with *rule*, one of the set, among the others."""
        yield from self.loops_of(rule)
        for number, pair in enumerate(rule.pairs or (), start=1):
            if rule.rule_type != "Cancel" and pair.source is not None:
                yield from self._check_source(Location(rule, number), pair, pair.source)

    def _check_source(self, place: Location, pair: Pair, source: Source) -> Iterator[Finding]:
        """Yield what keeps *place* from being reached, and other redirects of its one URL."""
        if why_never(place.rule.rule_type, source) or is_switched_off(source) or (url := example(source)) is None:
            return
        elsewhere = []
        for acts in self.matches(url):
            other = (acts.rule.pairs or ())[acts.pair - 1]
            if other.source is None or has_filter(other):
                continue
            there = Location(acts.rule, acts.pair)
            if acts.rule.id == place.rule.id:
                is_before = place.rule.rule_type == "Redirect" and acts.pair < place.pair
                if is_before and covers(other.source, source):  # of many such pairs of one rule, one is reported
                    yield Finding(FindingKind.HIDDEN, (place, there))
            elif acts.blocks:
                if covers(other.source, source):
                    yield Finding(FindingKind.HIDDEN, (place, there), value=condition_text(source))
            elif (
                place.rule.rule_type == acts.rule.rule_type == "Redirect"
                and acts.result != pair.destination
                and _condition(other.source) != _condition(source)
            ):
                elsewhere.append(there)
        if elsewhere and _is_one_url(source) and not has_filter(pair):
            yield Finding(FindingKind.ONE_SOURCE, (place, *elsewhere), (url.full,), value=url.full)

    def loops_of(self, rule: Rule) -> Iterator[Finding]:
        """Yield the loops that a browser runs into from the URLs of *rule*."""
        for pair in (rule.pairs or ()) if rule.rule_type in LEADING else ():
            for start in start_urls(pair):
                if start.full not in self._followed:
                    self._visits = MAX_VISITED_URLS
                    yield from self._follow(start, (), {start.full: 0})

    def _follow(self, url: Url, way: tuple[Hop, ...], seen: dict[str, int]) -> Iterator[Finding]:
        self._visits -= 1
        for acts in self.matches(url):
            there, pair = follow_redirect(acts), (acts.rule.id, acts.pair)
            if there is None or pair in self._endless:
                continue
            hops = (*way, Hop(url.full, acts))
            if (at := seen.get(there.full)) is not None:
                yield from _loop(hops[at:])
            elif len(hops) >= MAX_HOPS:
                if repeated := _repeated_part(hops):
                    self._endless.add(pair)
                    yield from _loop(repeated, grows=True)
            elif self._visits > 0 and there.full not in self._followed:
                yield from self._follow(there, hops, {**seen, there.full: len(hops)})
        self._followed.add(url.full)


def start_urls(pair: Pair) -> Iterator[Url]:
    """Yield URLs to follow for *pair*: one that it matches, and the one that it redirects to, with a sample for each capture."""
    if pair.source is not None and (found := example(pair.source)) is not None:
        yield found
    if pair.destination and pair.leads_to_url:
        text = pair.destination
        for number in "123456789":
            text = text.replace(f"${number}", SAMPLE)
        if (there := absolute_url(text)) is not None:
            yield there


def _repeated_part(hops: tuple[Hop, ...]) -> tuple[Hop, ...]:
    """Return the hops since the pair of the last one was there before; none where it wasn't."""
    last = hops[-1].acts
    for at in reversed(range(len(hops) - 1)):
        if (hops[at].acts.rule.id, hops[at].acts.pair) == (last.rule.id, last.pair):
            return hops[at:-1]
    return ()


def _loop(hops: tuple[Hop, ...], *, grows: bool = False) -> Iterator[Finding]:
    """Yield the loop of *hops* if one of them is a redirect, rotated to begin with the same rule wherever it was entered."""
    if any(hop.acts.rule.rule_type == "Redirect" for hop in hops):
        first = min(range(len(hops)), key=lambda at: (hops[at].acts.rule.id, hops[at].acts.pair))
        turned = hops[first:] + hops[:first]
        places = tuple(Location(hop.acts.rule, hop.acts.pair) for hop in turned)
        yield Finding(FindingKind.LOOP, places, tuple(hop.url for hop in turned), grows=grows)


def _is_one_url(source: Source) -> bool:
    return (source.key, source.operator) == ("Url", "Equals")


def _pattern(source: Source) -> str | None:
    """Return an expression that finds every URL which fulfills *source*; None where none does, or it isn't known."""
    value = source.value or ""
    try:
        require_short(value)
        if source.key != "Url" or source.operator == "Contains":
            return str(re2.escape(literal(source)))  # a host and a path are a part of the URL
        if source.operator == "Wildcard_Matches":
            if IN_WILDCARD.search(value):
                return str(compile_expression(wildcard_expression(value)).pattern)
            return f"(?s:^{'.*'.join(map(re2.escape, value.split('*')))}$)"
        if found := SLASHED.fullmatch(f"/{value}/" if is_bare(value) else value):
            return f"{'(?i)' if 'i' in found[2] else ''}{compile_expression(found[1]).pattern}"
    except (CannotTell, UnicodeError):
        pass
    return None


def _condition(source: Source) -> tuple[str | None, str | None, str]:
    return source.key, source.operator, source.value or ""


def has_filter(pair: Pair) -> bool:
    """Whether the pair has a filter, for example by page or method."""
    return next(filters_of(pair), None) is not None


def covers(wide: Source, narrow: Source) -> bool:
    """Whether *wide*, which holds for an example of *narrow*, certainly holds wherever *narrow* does."""
    if _condition(wide) == _condition(narrow) or (narrow.operator == "Equals" and narrow.key in {"Url", wide.key}):
        return True
    part = wide.value if wide.operator == "Contains" and wide.key in {narrow.key, "Url"} else None
    return bool(part) and (part or "") in literal(narrow)
