"""What it takes of a service to change things there: read the target, write it, and tell from reading whether it came true.

The specifications give no idempotency key, no version and no precondition, so the only proof that a write
happened is the state of the service afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Protocol

from bot.domain.change import Change, Target

Document = dict[str, Any]


class Truth(Enum):
    """What reading back says of a change."""

    DONE = auto()
    NOT_DONE = auto()
    NEITHER = auto()
    """The target is neither as it was nor as it should be: somebody must look."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The target as it was read back, and what that says."""

    truth: Truth
    live: Document | None


class Snapshot(Protocol):
    """One service as it was read at one moment, for many changes at once."""

    def live(self, target: Target) -> Document | None:
        """The target as it then was, or None where it did not exist."""

    def twins(self, change: Change) -> list[str]:
        """Keys of things that existed already and looked just like what *change* would create."""

    def reading(self, change: Change) -> Reading:
        """What the snapshot says of a change that was sent."""


class Effects(Protocol):
    """How changes to one service are read, written and verified. Every method raises the clients' errors."""

    async def live(self, target: Target) -> Document | None:
        """The target as it is now, or None where it does not exist."""

    async def twins(self, change: Change) -> list[str]:
        """Keys of things that exist already and look just like what *change* would create."""

    async def write(self, change: Change) -> str:
        """Send the change once. Return what the service answered, for people; a created thing's key where it tells.

        A refusal that is raised means that nothing was done: OutcomeUnknown where a part was, or may have been.
        """

    def replaces(self, change: Change) -> bool:
        """Whether the write puts a whole in the place of what is there: what somebody did since the look would be lost."""

    async def read_back(self, change: Change, twins: Iterable[str]) -> Reading:
        """Compare the service's state with the change's before and after."""

    async def snapshot(self, targets: Sequence[Target]) -> Snapshot:
        """These targets as they are now; one without a key, that is to be created, among all there is."""


EffectsOf = Callable[[Target], Effects]
"""The effects that a target's service and site need."""


def key_of(change: Change) -> str:
    """The key of a target that is there already."""
    if change.target.key is None:
        raise ValueError(f"{change.kind} without a key")
    return change.target.key
