"""The names of what exists, ready to be looked for in a text: rules, groups, members, segments, sites and hosts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rapidfuzz import fuzz, process

from bot.members.model import Member
from bot.rules.model import Rule

MAX_READINGS: Final = 5
"""Readings that are offered: with more, nobody knows what was meant."""
MIN_PART: Final = 3
"""Letters of a part of a name from which on it may name what is changed."""
LIKE_A_NAME: Final = 85
"""Per cent of likeness from which on some words are a name with a typo."""


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
        self._text = "\n".join(self._lines)
        self._begins = {line.partition(" ")[0] for line in self._lines}
        self._starts = [0]
        self._by_length: dict[int, list[str]] = {}
        for line in self._exact:
            self._by_length.setdefault(len(line), []).append(line)
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def called(self, name: str) -> list[str]:
        """The keys of what is called exactly so, in any case of letters."""
        return self._exact.get(folded(name), [])

    def has(self, line: str) -> bool:
        """Whether something has this name, which is folded already."""
        return line in self._exact

    def begin(self, word: str) -> bool:
        """Whether a name begins with *word*."""
        return word.casefold() in self._begins

    def has_word(self, word: str) -> bool:
        """Whether *word* is a whole word of a name."""
        wanted = folded(word)
        return any(wanted in line.split() for line in self._lines if wanted in line)

    def holding(self, text: str) -> list[str]:
        """The keys of what is called exactly so, or else has each word of *text* in its name; some of very many."""
        if exact := self.called(text):
            return exact
        words = sorted(set(folded(text).split()), key=len, reverse=True)
        if not words or not all(word in self._text for word in words):
            return []
        first, *others = sorted(words, key=self._text.count) if len(words) > 1 else words
        found: dict[str, None] = {}
        at = self._text.find(first)
        while at >= 0 and len(found) <= MAX_READINGS:
            place = bisect_right(self._starts, at) - 1
            if all(word in self._lines[place] for word in others):
                found[self._keys[place]] = None
            at = self._text.find(first, self._starts[place + 1])
        return list(found)

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
        for rule in rules:
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
            rules=Names((rule.title, rule.id) for rule in rules),
            groups=Names((name, key) for key, name in (groups or {}).items()),
            members=Names(pair for email, name in people.items() for pair in ((name, email), (email, email))),
            titles={rule.id: rule.title for rule in rules} | dict(groups or {}),
            redirects=frozenset(
                rule.id for rule in rules if rule.rule_type == "Redirect" and len(rule.pairs or ()) == 1
            ),
            sources=sources,
            segments={name.casefold(): name for name in segments},
            sites={name.casefold(): name for name in members or ()},
            sites_of=sites_of,
            hosts=hosts,
        )
