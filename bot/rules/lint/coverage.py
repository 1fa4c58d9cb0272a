"""Find what rules take over: whole hosts, and other rules that may then never be reached."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from bot.rules.lint.route import is_effective
from bot.rules.lint.rule_set import RuleSet, covers, has_filter
from bot.rules.lint.single_rule import example
from bot.rules.model import Groups, Pair, Rule, Source
from bot.rules.url import url_of

NAMED_HOST: Final = re.compile(
    r"(?:[a-z?*]+://)?((?:[\w*-]+\.)+[\w-]{2,}(?::\d+)?|localhost(?::\d+)?)(?![\w.*-])", re.IGNORECASE
)
ANY_HOST: Final = "any-host-8c1f.invalid"
PROBE: Final = "any-page-8c1f/x?q=8c1f"
"""A page that no rule is about: what matches it on a host matches all of that host."""


class Coverage(NamedTuple):
    """What rules take over: all URLs of *hosts*, and every URL of the *unreached* rules, by their ids."""

    hosts: frozenset[str] = frozenset()
    unreached: frozenset[str] = frozenset()


def coverage(rules: Sequence[Rule], others: Sequence[Rule], groups: Groups | None) -> Coverage:
    """Return what those of *rules* that are on take over, also of *others*."""
    if not (wide := RuleSet(rules, groups)).rules:
        return Coverage()
    named = {ANY_HOST, *(host for rule in (*rules, *others) for host in hosts_of(rule))}
    hosts = frozenset(host for host in named if any(_deciding_sources(wide, f"//{host.replace('*', 'x')}/{PROBE}")))

    def is_taken(pair: Pair) -> bool:
        if (source := pair.source) is None or (url := example(source)) is None:
            return False
        found = _deciding_sources(wide, url.full.partition(":")[2])
        return any(_host(source) in hosts or covers(each, source) for each in found)

    active = [rule for rule in others if is_effective(rule, groups) and rule.rule_type != "Cancel"]
    return Coverage(hosts, frozenset(rule.id for rule in active if rule.pairs and all(map(is_taken, rule.pairs))))


def may_be_wide(rule: Rule) -> bool:
    """Whether *rule* may take over more than single URLs now."""
    sources = [pair.source for pair in rule.pairs or () if pair.source is not None]
    return rule.active and any((source.key, source.operator) != ("Url", "Equals") for source in sources)


def hosts_of(rule: Rule) -> Iterator[str]:
    """Yield the host that each source of *rule* names, with a wildcard where it has one."""
    return filter(None, (_host(pair.source) for pair in rule.pairs or () if pair.source is not None))


def to_switch(rules: Iterable[Rule], hosts: Collection[str], *, on: bool) -> tuple[str, ...]:
    """Return the ids of those of *rules* on *hosts* that are to be switched *on*, or off; of all there where none is."""
    there = [rule for rule in rules if not set(hosts).isdisjoint(hosts_of(rule))]
    return tuple(rule.id for rule in there if rule.active != on) or tuple(rule.id for rule in there)


def _host(source: Source) -> str:
    value = source.value or ""
    value = value.replace("\\", "").lstrip("/^") if source.operator == "Matches" else value
    found = None if source.key == "path" else NAMED_HOST.match(value)
    return found[1].lower() if found else ""


def _deciding_sources(wide: RuleSet, url: str) -> Iterator[Source]:
    """Yield the sources by which *wide* blocks or changes *url*, which has no scheme, wherever no filter makes them narrower."""
    for one in filter(None, map(url_of, (f"https:{url}", f"http:{url}"))):
        for acts in wide.matches(one):
            pair = (acts.rule.pairs or ())[acts.pair - 1]
            if acts.decides and pair.source is not None and not has_filter(pair):
                yield pair.source
