"""Findings: what is wrong, where, and the facts that words are made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from bot.rules.engines import Engine, Trait
from bot.rules.expressions import UndecidableReason
from bot.rules.model import Rule


class FindingKind(StrEnum):
    """What can be wrong; the worst first."""

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
    """One thing that is wrong. *places*: the rules concerned, the one to mend first; of a loop, in its order.

    *urls*: of a loop, where each rule of it acts; of a chain, where the first rule leads and where that goes on
    to; else the URL that shows it.
    """

    kind: FindingKind
    places: tuple[Location, ...]
    urls: tuple[str, ...] = ()
    value: str = ""
    """The text in the rule that is wrong, where it is one."""
    why: Reason | None = None
    better: str = ""
    """What would be right in its place, where that can be told."""
    grows: bool = False
    """Of a loop: it never comes back to a URL, they only grow."""
    undecidable: UndecidableReason | None = None
    """Why it cannot be judged."""
    engine: Engine | None = None
    """The one engine of which it is true; None where it is of both."""
    trait: Trait | None = None
    """What only one engine does, where the engines differ by it."""

    @property
    def needs_reason(self) -> bool:
        """Whether it must not be saved without somebody saying why: what loops."""
        return self.kind in {FindingKind.LOOP, FindingKind.ITSELF}

    def concerns(self, rule_id: str) -> bool:
        return any(place.rule.id == rule_id for place in self.places)


Step = tuple[Finding, ...]
"""What one step of a check finds, which may be nothing: between two of them, others are let in."""
Key = tuple[str, tuple[str, ...], str]


def key_of(finding: Finding) -> Key:
    """What makes two findings the same one, though pairs may have moved: kind, rules, and the text at fault."""
    ids = [place.rule.id for place in finding.places]
    about = finding.value or (finding.urls[0] if finding.kind is FindingKind.CHAIN else "")
    return finding.kind, tuple(sorted(set(ids))), about


def sort_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return each finding once, the worst first; of one kind by name, so that the order is always the same.

    A chain between rules of a loop is left out: to mend the loop is to mend it.
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
