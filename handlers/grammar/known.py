"""The names of what exists, ready to be looked for in a text: rules, groups, members, segments, sites and hosts."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rapidfuzz import fuzz, process

from bot.changes.model import Target
from bot.members.model import Member
from bot.rules.model import Rule

MAX_READINGS: Final = 5
"""Readings that are offered: with more, nobody knows what was meant."""
MIN_PART: Final = 3
"""Letters of a part of a name from which on it may name what is changed."""
LIKE_A_NAME: Final = 85
"""Per cent of likeness from which on some words are a name with a typo."""


WORD: Final = re.compile(r"\w+")
LAST: Final = chr(sys.maxunicode)
"""The letter that comes after all others."""

LIKE_A_WORD: Final = 80
"""Per cent of likeness from which on a word is one of a name with a typo."""


def words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


def folded(text: str) -> str:
    return " ".join(text.split()).casefold()


class Names:
    """Names of things that exist, each with the key of its thing, ready to be looked for."""

    def __init__(self, named: Iterable[tuple[str, str]]) -> None:
        self._keys: list[str] = []
        self._exact: dict[str, list[str]] = {}
        self._lines: list[str] = []
        for name, key in named:
            self._exact.setdefault(line := folded(name), []).append(key)
            self._lines.append(line)
            self._keys.append(key)
        self._begins = {line.partition(" ")[0] for line in self._lines}
        self._by_length: dict[int, list[str]] = {}
        for line in self._exact:
            self._by_length.setdefault(len(line), []).append(line)
        self._split: list[str] = []  # the words of each line, with a space before each
        self._places: dict[str, list[int]] = {}
        for place, line in enumerate(self._lines):
            words = WORD.findall(line)
            self._split.append(" " + " ".join(words))
            for word in words:
                if (places := self._places.get(word)) is None:
                    self._places[word] = [place]
                else:
                    places.append(place)
        self._words = sorted(self._places)

    def called(self, name: str) -> list[str]:
        """The keys of what is called exactly so, in any case of letters."""
        return self._exact.get(folded(name), [])

    def has(self, line: str) -> bool:
        """Whether something has this name, which is folded already."""
        return line in self._exact

    def begin(self, word: str) -> bool:
        """Whether a name begins with *word*."""
        return word.casefold() in self._begins

    def holding(self, text: str) -> list[str]:
        """The keys of what is called exactly so, or else has words that begin like each of *text*; some of very many."""
        if exact := self.called(text):
            return exact
        typed = folded(text).split()
        words = dict.fromkeys(WORD.findall(folded(text)))
        first = min(map(self._beginning, words), key=self._count, default=())
        found: dict[str, None] = {}
        for place in (place for word in first for place in self._places[word]):
            begun = all(f" {word}" in self._split[place] for word in words)
            if begun and all(word in self._lines[place] for word in typed):
                found[self._keys[place]] = None
            if len(found) > MAX_READINGS:
                break
        return list(found)

    def _beginning(self, start: str) -> Sequence[str]:
        """The words of names that begin with *start*."""
        return self._words[bisect_left(self._words, start) : bisect_left(self._words, start + LAST)]

    def _count(self, words: Sequence[str]) -> int:
        """How many names have one of *words*, of which each counts."""
        return sum(len(self._places[word]) for word in words)

    def spelled(self, word: str) -> str:
        """The word of a name that *word* nearly is, with the same first letter; nothing where none is."""
        if len(word) <= MIN_PART:
            return ""
        found = process.extractOne(word, self._beginning(word[0]), scorer=fuzz.ratio, score_cutoff=LIKE_A_WORD)
        return found[0] if found else ""

    def alike(self, text: str) -> list[str]:
        """The keys of what has nearly this name; an email is nobody's but by the letter."""
        wanted = folded(text)
        if "@" in wanted:
            return []
        lengths = range(len(wanted) * 3 // 4, len(wanted) * 4 // 3 + 1)
        found = [
            alike
            for length in lengths
            for alike in process.extract(
                wanted, self._by_length.get(length, ()), scorer=fuzz.ratio, score_cutoff=LIKE_A_NAME, limit=2
            )
        ]
        likest = sorted(found, key=lambda alike: -alike[1])[:2]
        return list(dict.fromkeys(key for line, _, _ in likest for key in self._exact[line]))[:2]


@dataclass(frozen=True, slots=True)
class Known:
    """What exists, by its names: what a text may be about."""

    rules: Names = field(default_factory=lambda: Names(()))
    groups: Names = field(default_factory=lambda: Names(()))
    members: Names = field(default_factory=lambda: Names(()))
    titles: Mapping[str, str] = field(default_factory=dict)
    """The name of each rule and group, by its id."""
    types: Mapping[str, str] = field(default_factory=dict)
    """The type of each rule, by its id."""
    redirects: frozenset[str] = frozenset()
    """The ids of the rules that redirect one source: those whose destination can be changed alone."""
    sources: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The ids of the rules that have a URL as their source."""
    segments: Mapping[str, str] = field(default_factory=dict)
    sites: Mapping[str, str] = field(default_factory=dict)
    site: str = ""
    """The site that is meant where none is named."""
    sites_of: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The sites that know a member, by their email."""
    hosts: Sequence[str] = ()
    shown: Sequence[Target] = ()
    """What the person was shown last, and what they changed last here: one of these may be “it”."""
    missing: Sequence[str] = ()
    """``rules``, and the sites, whose names could not be read in time."""
    all_rules: Sequence[Rule] = ()
    by_host: Mapping[str, Sequence[Rule]] = field(default_factory=dict)
    """The rules whose sources all name that host, exactly."""
    people: Mapping[str, Sequence[Member]] = field(default_factory=dict)
    """The members of each site."""

    @classmethod
    def of(
        cls,
        *,
        rules: Sequence[Rule] = (),
        groups: Mapping[str, str] | None = None,
        members: Mapping[str, Sequence[Member]] | None = None,
        segments: Iterable[str] = (),
        hosts: Sequence[str] = (),
    ) -> Known:
        sources: dict[str, list[str]] = {}
        by_host: dict[str, list[Rule]] = {}
        for rule in rules:
            for host in _hosts(rule):
                by_host.setdefault(host, []).append(rule)
            for pair in rule.pairs or ():
                if pair.source and pair.source.value:
                    sources.setdefault(pair.source.value.casefold(), []).append(rule.id)
        sites_of: dict[str, list[str]] = {}
        people: dict[str, str] = {}
        for site, there in (members or {}).items():
            for member in there:
                sites_of.setdefault(member.email, []).append(site)
                people[member.email] = member.name or ""
        return cls(
            rules=Names(pair for rule in rules for pair in _named(rule)),
            groups=Names((name, key) for key, name in (groups or {}).items()),
            members=Names(pair for email, name in people.items() for pair in ((name, email), (email, email))),
            titles={rule.id: rule.title for rule in rules} | dict(groups or {}),
            types={rule.id: rule.rule_type or "" for rule in rules},
            redirects=frozenset(
                rule.id for rule in rules if rule.rule_type == "Redirect" and len(rule.pairs or ()) == 1
            ),
            sources=sources,
            segments={name.casefold(): name for name in segments},
            sites={name.casefold(): name for name in members or ()},
            sites_of=sites_of,
            hosts=hosts,
            all_rules=rules,
            by_host=by_host,
            people=members or {},
        )

    def rules_that(self, *, hosts: Sequence[str], types: Sequence[str], active: bool | None) -> list[str]:
        """The ids of the rules about the one of *hosts*, of one of *types*, that are on or off; any, where it isn't given."""
        some = self.by_host.get(hosts[0].casefold(), ()) if len(hosts) == 1 else () if hosts else self.all_rules
        return [
            rule.id
            for rule in some
            if (not types or rule.rule_type in types) and (active is None or rule.active is active)
        ]

    def members_with(self, site: str, having: Sequence[str], lacking: Sequence[str]) -> list[str]:
        """The emails of the members of *site* with all segments of *having* and none of *lacking*."""
        return [
            member.email
            for member in self.people.get(site, ())
            if {*having} <= {*(member.segments or ())} and not {*lacking} & {*(member.segments or ())}
        ]


def _named(rule: Rule) -> Iterator[tuple[str, str]]:
    """What *rule* is called: its name, and what its id ends with, where no word is spelled so."""
    yield rule.title, rule.id
    part = rule.id.partition("_")[2]
    if any(letter.isdigit() for letter in part):
        yield part, rule.id


def _hosts(rule: Rule) -> set[str]:
    """The host that every source of *rule* names; nothing where they name several, or none."""
    values = [pair.source.value or "" for pair in rule.pairs or () if pair.source is not None]
    hosts = {re.split(r"[/?#]", value.partition("://")[2] or value, maxsplit=1)[0].casefold() for value in values}
    return hosts if len(hosts) == 1 else set()
