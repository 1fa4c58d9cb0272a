"""The route of one URL through all rules: each redirect, and where it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.rules.lint.redirects import follow_redirect
from bot.rules.outcomes import Explained, Match
from bot.rules.url import Url

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
    found = min(step.changing, key=lambda match: (rank(match), match.depends or match.only is not None), default=None)
    return found if found is not None and found.decides else None


def results(step: Explained) -> list[str]:
    """Return the URLs that *step* may be redirected to: all of them, since engines guarantee no order of rules."""
    return list(dict.fromkeys(match.result for match in step.changing if match.result is not None))


def next_url(step: Explained) -> Url | None:
    """Return the one URL that *step* is redirected to; None where it stays, is blocked, or may go to several."""
    if any(match.blocks for match in step.changing) or len(results(step)) != 1:
        return None
    return next((there for match in step.changing if (there := follow_redirect(match, match.result)) is not None), None)
