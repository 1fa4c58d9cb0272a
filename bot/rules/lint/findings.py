"""Findings of the lint: what is wrong, where, and the facts for its message."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from bot.rules.engines import Engine, Trait
from bot.rules.model import Rule


class FindingKind(StrEnum):
    """The kinds of findings, the worst first: sorting relies on this order."""

    LOOP = "loop"
    ITSELF = "itself"
    NOT_A_URL = "not a URL"
    NEVER = "never"
    ENGINES_DIFFER = "engines differ"
    NO_GROUP = "no group"
    ONE_SOURCE = "one source"
    HIDDEN = "hidden"
    REPEATS = "repeats"
    CHAIN = "chain"
    NO_EFFECT = "no effect"
    ONE_NAME = "one name"
    UNDECIDABLE = "undecidable"


RANK: Final = {kind: number for number, kind in enumerate(FindingKind)}


class Reason(StrEnum):
    """Why a condition can never hold."""

    KEY = "key"
    OPERATOR = "operator"
    SLASHES = "slashes"
    FLAGS = "flags"
    SCHEME = "scheme"
    SPELLING = "spelling"
    NOT_A_URL = "not a URL"
    CHARACTER = "character"
    START = "start"


@dataclass(frozen=True, slots=True)
class Location:
    """A rule, and the number of the pair in it; 0 for the rule as a whole."""

    rule: Rule
    pair: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. *places*: the rules concerned, the one to fix first; for a loop, in the order of its redirects.

    *urls*: for a loop, the URL that each of its rules matches; for a chain, where the first rule redirects to and where
    the second one does; otherwise an example.
    """

    kind: FindingKind
    places: tuple[Location, ...]
    urls: tuple[str, ...] = ()
    value: str = ""
    """The text in the rule that is wrong, if it is a text."""
    why: Reason | None = None
    better: str = ""
    """The correct text, if it is known."""
    grows: bool = False
    """Whether a loop never returns to the same URL: each URL is longer than the one before."""
    undecidable: str = ""
    """Why the condition can't be judged."""
    engine: Engine | None = None
    """The one engine that the finding applies to; None for both."""
    trait: Trait | None = None
    """The trait in which the engines differ."""

    @property
    def needs_reason(self) -> bool:
        """Whether a rule with this finding may only be saved with a reason: it is a loop."""
        return self.kind in {FindingKind.LOOP, FindingKind.ITSELF}

    def concerns(self, rule_id: str) -> bool:
        return any(place.rule.id == rule_id for place in self.places)


Step = tuple[Finding, ...]
"""The findings of one step of a check, maybe none; the caller yields to the event loop between two steps."""
Key = tuple[str, tuple[str, ...], str]


def key_of(finding: Finding) -> Key:
    """Return the identity of a finding, which a new order of pairs doesn't change: kind, rules, and the wrong text."""
    ids = [place.rule.id for place in finding.places]
    about = finding.value or (finding.urls[0] if finding.kind is FindingKind.CHAIN else "")
    return finding.kind, tuple(sorted(set(ids))), about


def sort_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return each finding once, the worst first, and by name within a kind, so that the order is stable.

    A chain between rules of a loop is left out, since fixing the loop fixes it.
    """
    once: dict[Key, Finding] = {}
    for finding in findings:
        first = once.setdefault(key_of(finding), finding)
        if first.engine is not finding.engine:
            once[key_of(finding)] = replace(first, engine=None)
    loops = [_rules(finding) for finding in once.values() if finding.kind is FindingKind.LOOP]
    return tuple(sorted((finding for finding in once.values() if not _is_part_of_loop(loops, finding)), key=_rank))


def _is_part_of_loop(loops: Iterable[set[str]], finding: Finding) -> bool:
    return finding.kind is FindingKind.CHAIN and any(_rules(finding) <= loop for loop in loops)


def _rules(finding: Finding) -> set[str]:
    return {place.rule.id for place in finding.places}


def _rank(finding: Finding) -> tuple[int, str, str, int, str]:
    first = finding.places[0]
    return RANK[finding.kind], first.rule.title.casefold(), first.rule.id, first.pair, finding.value
