"""A change is made of parts, and a field's name says which part has it."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from typing import Final

import pytest

from bot.changes.model.change import PART_OF, Change
from bot.changes.model.documents import canonical_form
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.parts import ChangeRequest
from bot.changes.model.states import State

CHANGE: Final = Change(
    id="1" * 32,
    created=datetime(2026, 11, 21, 3, 0, tzinfo=UTC),
    edit=Edit(
        kind=Kind.RULE_DELETE, target=Target(service="rules", key="Redirect_1"), before={"name": "A"}, after=None
    ),
    request=ChangeRequest(requester="U0ALICE01", channel="C0OPS0001"),
)


def test_the_ids_of_pairs_are_no_content_whatever_else_stands_among_them() -> None:
    stored = {"id": "Redirect_1", "pairs": [{"id": "p1", "to": "x"}, "no pair"], "allowedSegments": ["b", "a"]}

    assert canonical_form(stored) == {"pairs": [{"to": "x"}, "no pair"], "allowedSegments": ["a", "b"]}


def test_no_two_parts_have_a_field_of_one_name() -> None:
    parts = [part for part in vars(CHANGE).values() if is_dataclass(part)]
    names = [each.name for part in (CHANGE, *parts) for each in fields(part)]

    assert len(parts) == len(set(PART_OF.values())) - 1
    assert sorted(names) == sorted([*PART_OF, *(set(PART_OF.values()) - {""})])


def test_what_is_changed_is_changed_in_its_part_and_nothing_else_is() -> None:
    changed = CHANGE.with_fields(state=State.APPLIED, outcome="gone", attempt=2, decided_by="U0CARA001")

    assert (changed.state, changed.run.outcome, changed.run.attempt) == (State.APPLIED, "gone", 2)
    assert changed.decision.decided_by == "U0CARA001"
    assert (changed.edit, changed.request, changed.bulk) == (CHANGE.edit, CHANGE.request, CHANGE.bulk)
    assert CHANGE.run.attempt == 0


def test_a_field_that_no_part_has_is_refused() -> None:
    with pytest.raises(KeyError, match="colour"):
        CHANGE.with_fields(colour="red")
