"""What the rules will be at a time that is to come, by what is planned and what ends until then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from bot.changes.model import Change, Document, Edit, State
from bot.rules.model import Rule


class Event(NamedTuple):
    """What the rule *key* will become *at* a moment: *document*, or nothing where it goes. *is_new*: it is created then."""

    at: datetime
    key: str
    document: Document | None
    is_new: bool = False


def events(changes: Iterable[tuple[Change, Sequence[Edit]]], until: datetime) -> list[Event]:
    """What *changes*, each with what it does, will do to rules by themselves up to *until*, in that order."""
    found = [event for change, edits in changes for event in _events(change, edits)]
    return sorted((event for event in found if event.at <= until), key=lambda event: event.at)


def _events(change: Change, edits: Sequence[Edit]) -> Iterator[Event]:
    starts, ends = change.request.starts_at, change.request.reverts_at
    begins = change.state is State.PLANNED and not change.run.held
    if begins and starts is not None and change.request.revert_after is not None:
        ends = starts + timedelta(seconds=change.request.revert_after)
    for number, edit in enumerate(edits):
        key = edit.target.key or f"planned {change.id[:8]}.{number}"  # its service gives it an id
        if edit.target.service != "rules":
            continue
        if begins and starts is not None:
            yield Event(starts, key, edit.after, edit.kind.creates)
        if ends is not None and (begins or change.temporary):
            yield Event(ends, key, edit.before)


def after(rules: Iterable[Rule], coming: Iterable[Event]) -> list[Rule]:
    """The *rules* once all that is *coming* has happened; what is about a rule that is gone by then changes nothing."""
    there = {rule.id: rule for rule in rules}
    for event in coming:
        if event.document is None:
            there.pop(event.key, None)
        elif event.is_new or event.key in there:
            there[event.key] = Rule.model_validate({**event.document, "id": event.key})
    return list(there.values())
