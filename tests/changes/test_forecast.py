"""When a planned or a temporary change will begin and end, as far as it is known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from bot.changes.forecast import events
from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.parts import ChangeRequest, Held
from bot.changes.model.states import State
from tests.changes.world import ALICE, OPS

NOON: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUR: Final = timedelta(hours=1)
EDIT: Final = Edit(
    kind=Kind.RULE_UPDATE, target=Target(service="rules", key="Redirect_x"), before={"name": "A"}, after={"name": "B"}
)
START, END = False, True


def change(state: State, **more: Any) -> Change:
    asked = {name: more.pop(name) for name in ("starts_at", "reverts_at", "revert_after") if name in more}
    request = ChangeRequest(requester=ALICE, channel=OPS, **asked)
    made = Change(id="0" * 32, created=NOON, state=state, edit=EDIT, request=request)
    return made.with_fields(**more) if more else made


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        pytest.param(change(State.PLANNED, starts_at=NOON + HOUR), [(1, START)], id="it begins"),
        pytest.param(
            change(State.PLANNED, starts_at=NOON + HOUR, revert_after=3600), [(1, START), (2, END)], id="for an hour"
        ),
        pytest.param(
            change(State.PLANNED, starts_at=NOON + HOUR, reverts_at=NOON + 3 * HOUR),
            [(1, START), (3, END)],
            id="until then",
        ),
        pytest.param(change(State.PLANNED, starts_at=NOON + HOUR, held=Held.LATE), [], id="it is held"),
        pytest.param(
            change(State.APPLIED, starts_at=NOON - HOUR, revert_after=3600, reverts_at=NOON + 3 * HOUR),
            [(3, END)],
            id="it has begun, and its end was put off",
        ),
        pytest.param(change(State.APPLIED, reverts_at=NOON + HOUR), [(1, END)], id="it is temporary"),
        pytest.param(change(State.APPLIED, reverts_at=NOON + HOUR, undone_by="1" * 32), [], id="it was undone"),
        pytest.param(change(State.APPLIED, reverts_at=NOON + 9 * HOUR), [], id="later than that"),
        pytest.param(change(State.DENIED, starts_at=NOON + HOUR), [], id="it was denied"),
    ],
)
def test_what_will_begin_and_end(made: Change, expected: list[tuple[int, bool]]) -> None:
    found = events([(made, [EDIT])], NOON + 8 * HOUR)

    assert [(event.at, event.is_end) for event in found] == [(NOON + hours * HOUR, ends) for hours, ends in expected]
