"""Indexes of the names of what exists, to find them in a text: rules, groups, members, segments, sites and hosts."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from typing import Any, Final, Generic, TypeVar

from bot.members.model import Member, known_segments
from bot.rules.lint.coverage import hosts_of
from bot.rules.model import Group, Rule
from bot.text.names import MENTION, WORD, Named, Wanted, fold_name, named_group, named_member, named_rule

T = TypeVar("T")

MAX_READINGS: Final = 5
"""Readings that are offered at most: with more, the text is taken as not understood."""


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


class Names(Generic[T]):
    """An index of existing things by their names; look-ups return their ids."""

    def __init__(self, things: Sequence[T], named: Callable[[T], Named[T]]) -> None:
        self._things, self._named = things, named
        # There may be a hundred thousand things: the places of those that have a text take less memory than themselves.
        self._lines, self._urls, self.by_word = (defaultdict[str, Any](lambda: array("I")) for _ in range(3))
        for place, each in enumerate(map(named, things)):
            parts = [word for name in each.names for word in WORD.findall(name)]
            indexed = (self._lines, (*each.names, *each.wholes)), (self._urls, each.urls), (self.by_word, parts)
            for index, text in ((index, text) for index, texts in indexed for text in texts):
                index[text].append(place)
        self.words = sorted(self.by_word)

    def find_exact(self, name: str) -> list[str]:
        """Return the ids of the things with exactly this name, ignoring case."""
        return self._ids(self._lines.get(fold_name(name), ()))

    def find_url(self, url: str) -> list[str]:
        """Return the ids of the things that have *url* as a source."""
        return self._ids(self._urls.get(fold_name(url), ()))

    def find_mentioned(self, text: str) -> list[str]:
        """Return the ids of the things that *text* may mean: those with this name, or else those with such words.

        Of the latter at most MAX_READINGS + 1, which is too many to offer.
        """
        if exact := self.find_exact(text):
            return exact
        wanted, found = Wanted(text), dict[str, None]()
        for place in min(map(self._places_from, WORD.findall(fold_name(text))), key=itemgetter(0), default=(0, ()))[1]:
            named = self._named(self._things[place])
            if wanted.fit(named) in MENTION:
                found[named.id] = None
            if len(found) > MAX_READINGS:
                break
        return list(found)

    def _places_from(self, part: str) -> tuple[int, Iterable[int]]:
        """Return how many things have words that begin with *part*, and the places of these, both with repetitions."""
        words = self.words[bisect_left(self.words, part) : bisect_left(self.words, part + chr(sys.maxunicode))]
        places = [self.by_word[word] for word in words]
        return sum(map(len, places)), chain.from_iterable(places)

    def _ids(self, places: Iterable[int]) -> list[str]:
        return list(dict.fromkeys(self._named(self._things[place]).id for place in places))


@dataclass(frozen=True, slots=True)
class Known:
    """The existing things that a text may be about, by their names."""

    rules: Names[Rule] = field(default_factory=lambda: Names((), named_rule))
    groups: Names[Group] = field(default_factory=lambda: Names((), named_group))
    members: Names[Member] = field(default_factory=lambda: Names((), named_member))
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
    missing: Sequence[str] = ()
    """``rules``, and the sites, whose names could not be read in time."""
    contents: str = ""
    """The names and all texts of all rules, folded."""
    people: Mapping[str, str] = field(default_factory=dict)
    """The names of members, by their emails."""

    @classmethod
    def of(
        cls,
        *,
        rules: Sequence[Rule] = (),
        groups: Mapping[str, str] | None = None,
        members: Mapping[str, Sequence[Member]] | None = None,
    ) -> Known:
        sites_of: dict[str, tuple[str, ...]] = {}
        people = {member.email: member for there in (members or {}).values() for member in there}
        for site, there in (members or {}).items():
            for member in there:
                sites_of[member.email] = (*sites_of.get(member.email, ()), site)
        hosts = Counter(host for rule in rules for host in hosts_of(rule) if "*" not in host)
        segments = [name for there in (members or {}).values() for name in known_segments(there)]
        return cls(
            rules=Names(rules, named_rule),
            groups=Names([Group(id=key, name=name) for key, name in (groups or {}).items()], named_group),
            members=Names([*people.values()], named_member),
            titles={rule.id: rule.title for rule in rules} | dict(groups or {}),
            by_id={rule.id: rule for rule in rules},
            segments={name.casefold(): name for name in segments},
            sites={name.casefold(): name for name in members or ()},
            sites_of=sites_of,
            hosts=[host for host, _ in hosts.most_common(MAX_READINGS)],
            contents=fold_name(
                " ".join(text for rule in rules for text in (rule.title, *rule.texts(), rule.description or ""))
            ),
            people={email: member.name for email, member in people.items() if member.name},
        )
