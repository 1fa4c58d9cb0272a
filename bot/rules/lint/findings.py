"""Findings of the lint: what is wrong, where, and the facts for its message."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from bot.rules.model import Rule


class FindingKind(StrEnum):
    """The kinds of findings, the worst first: sorting relies on this order."""

    LOOP = "loop"
    ITSELF = "itself"
    NEVER = "never"
    ONE_SOURCE = "one source"
    HIDDEN = "hidden"


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

    *urls*: for a loop, the URL that each of its rules matches; otherwise an example.
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

    @property
    def loops(self) -> bool:
        """Whether a URL comes back to itself: a change that does so is shown before it is made."""
        return self.kind in {FindingKind.LOOP, FindingKind.ITSELF}

    def concerns(self, rule_id: str) -> bool:
        return any(place.rule.id == rule_id for place in self.places)


Key = tuple[str, tuple[str, ...], str]


def key_of(finding: Finding) -> Key:
    """Return the identity of a finding, which a new order of pairs doesn't change: kind, rules, and the wrong text."""
    return finding.kind, tuple(sorted({place.rule.id for place in finding.places})), finding.value


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found, the worst first. *is_whole*: whether all rules were compared with each other."""

    findings: tuple[Finding, ...] = ()
    is_whole: bool = True

    @classmethod
    def of(cls, findings: Iterable[Finding], *, is_whole: bool = True) -> Self:
        """Return each finding once, by name within a kind, so that the order is stable."""
        once = {key_of(finding): finding for finding in reversed(list(findings))}
        return cls(tuple(sorted(once.values(), key=_rank)), is_whole)

    def without(self, before: Checked) -> Checked:
        """Return what is new since *before*."""
        known = {key_of(finding) for finding in before.findings}
        new = tuple(finding for finding in self.findings if key_of(finding) not in known)
        return Checked(new, self.is_whole and before.is_whole)


def _rank(finding: Finding) -> tuple[int, str, str, int, str]:
    first = finding.places[0]
    return RANK[finding.kind], first.rule.title.casefold(), first.rule.id, first.pair, finding.value
