"""Whether a step of a move may be sent: the next one only once the one before is confirmed, and nothing else was changed."""

from __future__ import annotations

from typing import Final

import pytest

from bot.changes.adapters import snapshot_of_members
from bot.changes.model.documents import Document
from bot.changes.model.items import NotSent, Outcome
from bot.changes.proposals import move_steps
from bot.changes.targets import OutOfTurn, Snapshot, require_turn
from bot.members.model import Member

OLD: Final = {"email": "ann@example.com", "name": "Ann", "allowedSegments": ["free"]}
NEW: Final = OLD | {"email": "anna@example.com"}
MORE: Final = {"allowedSegments": ["free", "vip"]}


def there(*members: Document) -> Snapshot:
    return snapshot_of_members(map(Member.model_validate, members))


@pytest.mark.parametrize(
    ("number", "first", "now", "why"),
    [
        pytest.param(1, Outcome.WAITING, there(OLD), None, id="the first step"),
        pytest.param(1, Outcome.WAITING, there(OLD | MORE), NotSent.NEXT_CHANGED, id="the old one was changed"),
        pytest.param(1, Outcome.WAITING, there(), NotSent.NEXT_CHANGED, id="the old one is gone"),
        pytest.param(2, Outcome.APPLIED, there(OLD, NEW), None, id="the first is done"),
        pytest.param(2, Outcome.SKIPPED, there(OLD, NEW), None, id="the first was done before"),
        pytest.param(2, Outcome.APPLIED, there(OLD, NEW | MORE), None, id="the new one has more by now"),
        pytest.param(2, Outcome.APPLIED, there(OLD), NotSent.NOT_CONFIRMED, id="the new one is gone again"),
        *(
            pytest.param(2, outcome, there(OLD, NEW), NotSent.NOT_CONFIRMED, id=f"the first is {outcome}")
            for outcome in Outcome
            if outcome not in {Outcome.APPLIED, Outcome.SKIPPED}
        ),
    ],
)
def test_a_step_is_sent_only_in_its_turn(number: int, first: Outcome, now: Snapshot, why: NotSent | None) -> None:
    add, remove = move_steps(OLD, str(NEW["email"]), "blog")
    steps = [add.model_copy(update={"outcome": first}), remove]

    if why is None:
        require_turn(number, steps, now)
        return
    with pytest.raises(OutOfTurn, match=why):
        require_turn(number, steps, now)
