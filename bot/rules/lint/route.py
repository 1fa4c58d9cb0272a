"""The route of one URL through all rules: each redirect, and where it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.rules.matching import judge
from bot.rules.model import Groups, Rule, why_group_is_off
from bot.rules.outcomes import Explained, Match
from bot.rules.url import Url, absolute_url

MAX_HOPS: Final = 20
"""Redirects in a row after which browsers give up."""
LEADING: Final = frozenset({"Redirect", "Replace", "QueryParam"})
"""Rule types that lead to another URL, and so may loop."""

LAST_RANK: Final = 3


def rank(match: Match) -> int:
    """Return the sort key of *match*: first a block, then a change of the URL, then other matches, then those without effect."""
    if match.blocks:
        return 0
    return LAST_RANK if match.idle else 1 if match.result is not None else 2


@dataclass(frozen=True, slots=True)
class Route:
    """The *steps* of a URL, the one that was asked about first; each but the last is redirected to the next."""

    steps: tuple[Explained, ...]
    back_to: int | None = None
    """In a loop, the index of the step that the last one is redirected to."""
    is_endless: bool = False
    """Whether it was cut off after as many redirects as browsers follow."""

    @property
    def first(self) -> Explained:
        return self.steps[0]

    @property
    def last(self) -> Explained:
        return self.steps[-1]

    @property
    def is_loop(self) -> bool:
        return self.back_to is not None or self.is_endless

    @property
    def deciding(self) -> tuple[Match, ...]:
        """Return the deciding match of each step that has one."""
        found = (decider(step) for step in self.steps)
        return tuple(match for match in found if match is not None)


def decider(step: Explained) -> Match | None:
    """Return the match that decides the outcome of the URL at *step*; None where the URL stays."""
    found = min(step.changing, key=lambda match: (rank(match), match.depends), default=None)
    return found if found is not None and found.decides else None


def results(step: Explained) -> list[str]:
    """Return the URLs that *step* may be redirected to: all of them, since engines guarantee no order of rules."""
    return list(dict.fromkeys(match.result for match in step.changing if match.result is not None))


def next_url(step: Explained) -> Url | None:
    """Return the one URL that *step* is redirected to; None where it stays, is blocked, or may go to several."""
    if any(match.blocks for match in step.changing) or len(results(step)) != 1:
        return None
    return next((there for match in step.changing if (there := follow_redirect(match)) is not None), None)


def follow_redirect(acts: Match) -> Url | None:
    """Return the URL that a browser goes on to by *acts*; None where it stays.

    A rule that adds a parameter would add it again each time. So a change of parameters counts only if the rule does not
    change its result again.
    """
    if acts.result is None or acts.rule.rule_type not in LEADING or (there := absolute_url(acts.result)) is None:
        return None
    again = judge(acts.rule, there) if acts.rule.rule_type == "QueryParam" else None
    return None if isinstance(again, Match) and not again.idle else there


def is_effective(rule: Rule, groups: Groups | None) -> bool:
    """Whether *rule* is switched on, and its group as well where groups are known."""
    return rule.active and why_group_is_off(rule, groups) is None
