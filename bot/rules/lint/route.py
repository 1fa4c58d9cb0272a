"""The route of one URL through all rules: each redirect, and where it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.rules.lint.redirects import follow_redirect
from bot.rules.outcomes import Explained, Match
from bot.rules.url import Url

LAST_RANK: Final = 3


def rank(match: Match) -> int:
    """What decides comes first: a block, then a change of the URL, then the rest, then what changes nothing."""
    if match.blocks:
        return 0
    return LAST_RANK if match.idle else 1 if match.result is not None else 2


@dataclass(frozen=True, slots=True)
class Route:
    """The *steps* of a URL, the one that was asked about first; each but the last is redirected to the next."""

    steps: tuple[Explained, ...]
    back_to: int | None = None
    """Of a loop: the step that the last one is redirected to."""
    is_endless: bool = False
    """Whether it was given up after as many redirects as browsers follow."""

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
        """The match that decides at each step, as far as one does."""
        found = (decider(step) for step in self.steps)
        return tuple(match for match in found if match is not None)


def decider(step: Explained) -> Match | None:
    """The match that decides what becomes of the URL at *step*; None where it stays."""
    found = min(step.changing, key=rank, default=None)
    return found if found is not None and (found.blocks or found.result is not None) else None


def results(step: Explained) -> list[str]:
    """The URLs that *step* may be redirected to; engines promise no order between rules, so all of them may be."""
    return list(dict.fromkeys(match.result for match in step.changing if match.result is not None))


def next_url(step: Explained) -> Url | None:
    """The one URL that *step* is redirected to; None where it stays, is blocked, or may be one of several."""
    if any(match.blocks for match in step.changing) or len(results(step)) != 1:
        return None
    return next((there for match in step.changing if (there := follow_redirect(match, match.result)) is not None), None)
