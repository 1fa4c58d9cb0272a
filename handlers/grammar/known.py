"""The names of what exists, ready to be looked for in a text: rules, groups, members, segments, sites and hosts."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from rapidfuzz import fuzz, process

from bot.changes.model import Target
from bot.members.model import Member
from bot.rules.model import Group, Rule
from bot.text.names import MENTION, MIN_PART, WORD, Named, Wanted, folded, named_group, named_member, named_rule

MAX_READINGS: Final = 5
"""Readings that are offered: with more, nobody knows what was meant."""
LIKE_A_NAME: Final = 85
"""Per cent of likeness from which on some words are a name with a typo."""


LAST: Final = chr(sys.maxunicode)
"""The letter that comes after all others."""

LIKE_A_WORD: Final = 80
"""Per cent of likeness from which on a word is one of a name with a typo."""


def words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


class Names:
    """Things that exist by their names, ready to be looked for: each stands for its id."""

    def __init__(self, named: Iterable[Named[Any]]) -> None:
        self._named = list(named)
        self._whole: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._with_url: defaultdict[str, list[str]] = defaultdict(list)
        self._by_length: defaultdict[int, dict[str, None]] = defaultdict(dict)
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        for place, each in enumerate(self._named):
            for line in (*each.names, *each.wholes):
                self._whole[line][each.id] = None
            for line in each.urls:
                self._with_url[line].append(each.id)
            for line in each.names:
                self._by_length[len(line)][line] = None
            for word in {word for line in each.names for word in WORD.findall(line)}:
                self._places[word].append(place)
        self._words = sorted(self._places)

    def called(self, name: str) -> list[str]:
        """The ids of what is called exactly so, in any case of letters."""
        return list(self._whole.get(folded(name), ()))

    def with_url(self, url: str) -> list[str]:
        """The ids of what has *url* as its source."""
        return self._with_url.get(folded(url), [])

    def holding(self, text: str) -> list[str]:
        """The ids of what a text that mentions *text* may mean: what is called so, or else has such words; some of very many."""
        if exact := self.called(text):
            return exact
        wanted = Wanted(text)
        first = min(map(self._beginning, dict.fromkeys(WORD.findall(folded(text)))), key=self._count, default=())
        found: dict[str, None] = {}
        for place in (place for word in first for place in self._places[word]):
            if wanted.fit(self._named[place]) in MENTION:
                found[self._named[place].id] = None
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
        """The ids of what has nearly this name; an email is nobody's but by the letter."""
        wanted = folded(text)
        if "@" in wanted:
            return []
        lengths = range(len(wanted) * 3 // 4, len(wanted) * 4 // 3 + 1)
        found = [
            alike
            for length in lengths
            for alike in process.extract(
                wanted, [*self._by_length.get(length, ())], scorer=fuzz.ratio, score_cutoff=LIKE_A_NAME, limit=2
            )
        ]
        likest = sorted(found, key=lambda alike: -alike[1])[:2]
        return list(dict.fromkeys(key for line, _, _ in likest for key in self._whole[line]))[:2]


@dataclass(frozen=True, slots=True)
class Known:
    """What exists, by its names: what a text may be about."""

    rules: Names = field(default_factory=lambda: Names(()))
    groups: Names = field(default_factory=lambda: Names(()))
    members: Names = field(default_factory=lambda: Names(()))
    titles: Mapping[str, str] = field(default_factory=dict)
    """The name of each rule and group, by its id."""
    by_id: Mapping[str, Rule] = field(default_factory=dict)
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
        by_host: dict[str, list[Rule]] = {}
        for rule in rules:
            for host in _hosts(rule):
                by_host.setdefault(host, []).append(rule)
        sites_of: dict[str, list[str]] = {}
        people: dict[str, Member] = {}
        for site, there in (members or {}).items():
            for member in there:
                sites_of.setdefault(member.email, []).append(site)
                people[member.email] = member
        return cls(
            rules=Names(map(named_rule, rules)),
            groups=Names(named_group(Group(id=key, name=name)) for key, name in (groups or {}).items()),
            members=Names(map(named_member, people.values())),
            titles={rule.id: rule.title for rule in rules} | dict(groups or {}),
            by_id={rule.id: rule for rule in rules},
            segments={name.casefold(): name for name in segments},
            sites={name.casefold(): name for name in members or ()},
            sites_of=sites_of,
            hosts=hosts,
            by_host=by_host,
            people=members or {},
        )

    def is_redirect(self, rule_id: str) -> bool:
        """Whether that rule redirects one source: its destination can be changed alone."""
        rule = self.by_id.get(rule_id)
        return rule is not None and rule.rule_type == "Redirect" and len(rule.pairs or ()) == 1

    def rules_that(self, *, hosts: Sequence[str], types: Sequence[str], active: bool | None) -> list[str]:
        """The ids of the rules about the one of *hosts*, of one of *types*, that are on or off; any, where it isn't given."""
        some = self.by_host.get(hosts[0].casefold(), ()) if len(hosts) == 1 else () if hosts else self.by_id.values()
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


def _hosts(rule: Rule) -> set[str]:
    """The host that every source of *rule* names; nothing where they name several, or none."""
    values = [pair.source.value or "" for pair in rule.pairs or () if pair.source is not None]
    hosts = {re.split(r"[/?#]", value.partition("://")[2] or value, maxsplit=1)[0].casefold() for value in values}
    return hosts if len(hosts) == 1 else set()
