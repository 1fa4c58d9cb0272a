"""Predict rules, groups and members at a future time, from planned changes and the ends of temporary ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from bot.changes.model.change import Change
from bot.changes.model.documents import Document, canonical_form
from bot.changes.model.edits import Edit, Target
from bot.changes.model.states import State
from bot.changes.proposals import apply_difference
from bot.rules.model import ACTIVE, Groups, Rule

PLANNED: Final = "planned "
"""Begins the id, in a forecast, of what is yet to be created."""


class Event(NamedTuple):
    """An automatic edit at the time *at*: if *target* is as *before* then, it becomes *after*, or is deleted (None).

    *is_end*: it is a revert. *is_item*: it is part of a bulk change. *part*: the same for the start and the end of one edit.
    """

    at: datetime
    target: Target
    before: Document | None
    after: Document | None
    is_end: bool
    is_item: bool
    part: tuple[str, int]

    @property
    def name(self) -> str:
        """Return the name that people use for the target."""
        return str((self.before or self.after or {}).get("name") or self.target.key)


def events(changes: Iterable[tuple[Change, Sequence[Edit]]], until: datetime) -> list[Event]:
    """Return the events that *changes* will cause automatically up to *until*, in order of time.

    *changes*: the oldest first, each with its edits. At the same time ends come before starts, and what was made last ends
    first.
    """
    found = [event for change, edits in changes for event in _events(change, edits) if event.at <= until]
    ends, starts = ([event for event in found if event.is_end is is_end] for is_end in (True, False))
    return sorted([*reversed(ends), *starts], key=lambda event: event.at)


def _events(change: Change, edits: Sequence[Edit]) -> Iterator[Event]:
    starts, ends = change.request.starts_at, change.request.reverts_at
    begins = change.state is State.PLANNED and not change.run.held
    if begins and starts is not None and change.request.revert_after is not None:
        ends = starts + timedelta(seconds=change.request.revert_after)
    for number, edit in enumerate(edits):
        target, part = edit.target, (change.id, number)
        if target.key is None:  # its service gives it an id
            target = target.with_key(f"{PLANNED}{change.id[:8]}.{number}")
        if begins and starts is not None:
            yield Event(starts, target, edit.before, edit.after, is_end=False, is_item=change.is_bulk, part=part)
        if ends is not None and (begins or change.is_temporary):
            yield Event(ends, target, edit.after, edit.before, is_end=True, is_item=change.is_bulk, part=part)


@dataclass(frozen=True, slots=True)
class Forecast:
    """The predicted *rules* and *groups*; of the events, those that *happens* has take effect, those of *moved* don't.

    The target of an event in *moved* is changed before its time.
    """

    rules: list[Rule]
    groups: Groups | None
    happens: list[Event]
    moved: list[Event]


def predict(rules: Iterable[Rule], coming: Iterable[Event], groups: Groups | None = None) -> Forecast:
    """Predict *rules* and *groups* after all events of *coming*; events about other rules are ignored.

    As in a real run, a target is changed only where it is as it was at the request, and reverted only where it was changed.
    """
    found = _State({rule.id: rule for rule in rules}, groups)
    happens: list[Event] = []
    left: dict[tuple[str, int], Event] = {}
    plans: defaultdict[Target, list[Event]] = defaultdict(list)
    for event in (due := list(coming)):
        if not event.is_end and not event.is_item:
            plans[event.target].append(event)
    for event in due:
        if event.part in left or not found.knows(event):
            continue
        if not found.fits(event):
            left[event.part] = event
            continue
        found.take(event)
        happens.append(event)
        # A planned change of one thing goes stale as soon as its target is changed, even if that is changed back later.
        waiting = (each for each in plans[event.target] if each.at > event.at and not found.fits(each))
        left.update({each.part: each for each in waiting if each.part not in left})
    return Forecast(list(found.rules.values()), found.groups, happens, sorted(left.values(), key=lambda each: each.at))


def predict_document(
    target: Target, document: Document, coming: Iterable[Event]
) -> list[tuple[Event, Document | None]]:
    """Return the events of *coming* that will change *target*, which is *document* now, each with its content after it."""
    now: Document | None = document
    found: list[tuple[Event, Document | None]] = []
    left: set[tuple[str, int]] = set()
    for event in coming:
        if event.target != target or event.part in left:
            continue
        then = event.after
        if event.is_end and target.service == "members" and None not in (now, event.before, then):
            then = apply_difference(now or {}, event.before or {}, then or {})  # whatever else others did to it
            fits = then != now
        else:
            fits = canonical_form(now) == canonical_form(event.before)
        if fits:
            found.append((event, now := then))
        else:
            left.add(event.part)
    return found


@dataclass(slots=True)
class _State:
    """Rules by their ids, and groups, at one time."""

    rules: dict[str, Rule]
    groups: Groups | None
    known: set[str] = field(init=False)
    """The ids of rules that exist, or existed before."""

    def __post_init__(self) -> None:
        self.known = set(self.rules)

    def knows(self, event: Event) -> bool:
        if event.target.service == "groups":
            return self.groups is not None and event.target.key in self.groups.names
        if event.target.service != "rules":
            return False
        return event.before is None or event.target.key in self.known

    def fits(self, event: Event) -> bool:
        """Whether the target is as *event* requires; of a group, only whether it is active is known."""
        key = event.target.key or ""
        if event.target.service == "groups":
            return _is_on(event.before) == (self.groups is not None and key in self.groups.active)
        now = self.rules[key].document() if key in self.rules else None
        return canonical_form(now) == canonical_form(event.before)

    def take(self, event: Event) -> None:
        key = event.target.key or ""
        if event.target.service != "groups":
            self.known.add(key)
            self.rules.pop(key, None)
            if event.after is not None:
                self.rules[key] = Rule.model_validate({**event.after, "id": key})
        elif self.groups is not None:
            active = self.groups.active | {key} if _is_on(event.after) else self.groups.active - {key}
            self.groups = replace(self.groups, active=active)


def _is_on(group: Document | None) -> bool:
    return (group or {}).get("status") == ACTIVE
