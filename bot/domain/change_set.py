"""A change set: many changes asked for, decided and taken back as one, each with an outcome of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from bot.domain.change import Kind, State, Target
from bot.domain.operations import Need, operations_of
from bot.domain.stored import Stored


class Outcome(StrEnum):
    """How far a part has come."""

    WAITING = "waiting"
    APPLYING = "applying"
    APPLIED = "applied"
    UNDONE = "undone"
    """Done, and taken back since."""
    FAILED = "failed"
    STALE = "stale"
    UNKNOWN = "unknown"
    UNSETTLED = "unsettled"
    BUSY = "busy"
    """Another change held its target, so it was not begun."""
    STOPPED = "stopped"
    """Somebody stopped the set first."""
    SKIPPED = "skipped"
    """Nothing was to be done, or could be: known before the set was asked for."""


DONE: Final = frozenset({Outcome.APPLIED, Outcome.UNDONE})
OPEN: Final = frozenset({Outcome.WAITING, Outcome.APPLYING})
NOT_DONE: Final = frozenset({Outcome.FAILED, Outcome.STALE, Outcome.BUSY, Outcome.STOPPED})
"""Parts that may be asked for again: nothing of them happened."""

OUTCOMES: Final[Mapping[State, Outcome]] = {
    State.APPROVED: Outcome.APPLYING,
    State.APPLYING: Outcome.APPLYING,
    State.APPLIED: Outcome.APPLIED,
    State.FAILED: Outcome.FAILED,
    State.STALE: Outcome.STALE,
    State.UNKNOWN: Outcome.UNKNOWN,
    State.UNSETTLED: Outcome.UNSETTLED,
}
"""What the state of a part's change means for the part."""


class Part(Stored):
    """One thing of a change set: what a change of it would be, and what became of it."""

    number: int
    kind: Kind | None = None
    """None for a part that is only on record, because nothing was to be done."""
    target: Target
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None
    undoes: str | None = None
    """The change that this part takes back."""
    source: str = ""
    """Where the part comes from, such as the line of a file."""
    cells: tuple[str, ...] = ()
    """The row that it came from, under the columns of the set."""
    follows: int = 0
    """The number of the part that it is done together with, if it is."""
    outcome: Outcome = Outcome.WAITING
    change_id: str | None = None
    why: str = ""
    """Why it was not done, in a word or in the service's words."""

    @property
    def name(self) -> str:
        """What people call the thing; may be an address."""
        document = self.before or self.after or {}
        return str(document.get("name") or self.target.key or "")

    @property
    def needs(self) -> tuple[Need, ...]:
        """Every operation of the policy that it takes to ask for this part, by site."""
        found = operations_of(self.kind.operation, self.before, self.after) if self.kind is not None else ()
        return tuple((operation, self.target.site) for operation in found)


@dataclass(frozen=True, slots=True)
class Tally:
    """How many parts of a set are where."""

    counts: Mapping[Outcome, int]

    def __getitem__(self, outcome: Outcome) -> int:
        return self.counts.get(outcome, 0)

    def of(self, outcomes: Iterable[Outcome]) -> int:
        return sum(self[outcome] for outcome in outcomes)

    @property
    def meant(self) -> int:
        """Parts that were to be done."""
        return sum(self.counts.values()) - self[Outcome.SKIPPED]

    @property
    def left(self) -> int:
        return self.of(OPEN)


WEIGHT: Final = (
    Kind.MEMBER_REMOVE,
    Kind.RULE_DELETE,
    Kind.MEMBER_REVOKE,
    Kind.RULE_CREATE,
    Kind.MEMBER_ADD,
    Kind.MEMBER_GRANT,
)


def weightiest(kinds: Iterable[Kind]) -> tuple[Kind, ...]:
    """The *kinds*, each once, those that take away first."""
    return tuple(sorted(set(kinds), key=lambda kind: (WEIGHT.index(kind) if kind in WEIGHT else len(WEIGHT), kind)))
