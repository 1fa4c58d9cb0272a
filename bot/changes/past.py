"""What rules and groups were at a past moment: by our own changes since then, and by the dates that the service gives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, TypeVar

from bot.changes.model.change import Change
from bot.changes.model.states import State
from bot.rules.model import Group, Rule

T = TypeVar("T", Rule, Group)
UNCLEAR: Final = frozenset({State.APPLYING, State.UNKNOWN, State.UNSETTLED})
"""States in which the last change of a rule may be ours."""


def ended_at(change: Change) -> datetime:
    return change.run.finished_at or change.created


def rebuild(
    live: Iterable[T], kind: type[T], changes: Sequence[Change], moment: datetime, now: datetime
) -> tuple[list[T], list[T]]:
    """Return what was there at *moment*; and, in its oldest version since then, what may have been otherwise.

    *changes*: ours of rules and groups since then, the last one first.
    """
    at, latest = (int(each.timestamp() * 1000) for each in (moment, now))
    oldest = dict[str | None, T | None]((each.id, each) for each in live)
    for change in changes:
        if change.edit.target.service == ("rules" if kind is Rule else "groups"):
            oldest[change.edit.target.key] = kind.model_validate(before) if (before := change.edit.before) else None
    known, unknown = list[T](), list[T]()
    for each in filter(None, oldest.values()):
        created, modified = each.created or 0, each.modified or latest + 1
        if created <= modified <= at:
            known.append(each)
        elif not at < created <= latest:
            unknown.append(each)
    return known, unknown


def is_elsewhere(modified: int, changes: Iterable[Change]) -> bool:
    """Whether a thing was *modified* (epoch milliseconds) later than all that we made of it: as read back, or by our clock."""
    for change in changes:
        read_back = (change.run.result or {}).get("modificationDate")
        ours = read_back if isinstance(read_back, int) else int(ended_at(change).timestamp() * 1000)
        if change.state in UNCLEAR or (change.state is State.APPLIED and modified <= ours):
            return False
    return True
