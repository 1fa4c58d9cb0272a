"""When a planned or a temporary change will begin and end, and what there is by then, as far as it is known."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from bot.changes.forecast import Event, events, predict
from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.parts import ChangeRequest, Held
from bot.changes.model.states import State
from bot.rules.model import Groups, Rule
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


RULE: Final = Target(service="rules", key="Redirect_x")
GROUP: Final = Target(service="groups", key="Group_x")
ON, OFF = {"name": "Sales", "status": "Active"}, {"name": "Sales", "status": "Inactive"}


def event(hours: int, target: Target, before: Any, after: Any, *, number: int = 0, is_end: bool = False) -> Event:
    return Event(NOON + hours * HOUR, target, before, after, is_end=is_end, is_item=False, part=(str(number), 0))


@pytest.mark.parametrize(
    ("coming", "is_on", "was_on", "moved"),
    [
        pytest.param([event(1, GROUP, ON, OFF)], False, True, 0, id="switched off"),
        pytest.param([event(1, GROUP, OFF, ON)], True, False, 0, id="switched on"),
        pytest.param(
            [event(1, GROUP, ON, OFF), event(2, GROUP, OFF, ON, is_end=True)], True, True, 0, id="for an hour"
        ),
        pytest.param([event(1, GROUP, ON, OFF)], False, False, 1, id="off already"),
        pytest.param([event(1, GROUP, ON, None)], False, True, 0, id="deleted"),
        pytest.param(
            [event(1, GROUP, ON, OFF), event(2, GROUP, ON, OFF, number=1)], False, True, 1, id="planned twice"
        ),
        pytest.param([event(1, Target(service="groups", key="Group_y"), ON, OFF)], True, True, 0, id="another group"),
    ],
)
def test_of_a_group_it_is_known_whether_it_will_be_on(
    coming: list[Event], *, is_on: bool, was_on: bool, moved: int
) -> None:
    groups = Groups({"Group_x": "Sales"}, frozenset({"Group_x"} if was_on else ()))

    then = predict([], coming, groups)

    assert then.groups is not None
    assert ("Group_x" in then.groups.active, len(then.moved)) == (is_on, moved)


def test_groups_that_could_not_be_read_are_not_predicted() -> None:
    then = predict([], [event(1, GROUP, ON, OFF)], None)

    assert (then.groups, then.happens, then.moved) == (None, [], [])


def test_a_rule_is_changed_only_if_it_is_as_it_was_shown() -> None:
    now = Rule.model_validate({"id": "Redirect_x", "name": "A", "ruleType": "Redirect"})
    mine, theirs = ({**now.document(), "name": name} for name in ("Mine", "Theirs"))
    first = event(1, RULE, now.document(), theirs)
    second = event(2, RULE, now.document(), mine, number=1)
    made = event(3, Target(service="rules", key="planned new"), None, {"name": "New", "ruleType": "Redirect"}, number=2)

    then = predict([now], [first, second, made])

    assert [rule.name for rule in then.rules] == ["Theirs", "New"]
    assert (then.happens, then.moved) == ([first, made], [second])
