"""Whatever a change is, in whatever state, its card has at most three buttons and one menu."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from typing import Any, Final

import pytest

from bot.changes.model.change import Change
from bot.changes.model.edits import Kind, Target
from bot.changes.model.items import Outcome
from bot.changes.model.parts import Guard, Held, RevertFailure, Undone
from bot.changes.model.states import State
from bot.policy.freezes import Freeze
from handlers.blocks.messages import Block
from handlers.changes.card_view import card
from handlers.changes.items_view import Progress
from tests.harness.proposing import with_fields
from tests.texts.cards import BOB, CAUSES, IMPORT, KINDS, MANY, NOW, OFF, bulk, change, imported, switched

WAITS: Final = frozenset({State.PROPOSED, State.PLANNED})
FREEZE: Final = Freeze(starts=NOW, until=NOW + timedelta(days=5), why="Christmas")
LATER: Final = NOW + timedelta(hours=2)
UNDONE: Final = Undone(change="1" * 32, at=NOW, by=BOB, cause=CAUSES["undone by somebody else"])
RUNS: Final[dict[State, list[dict[str, Any]]]] = {
    State.PROPOSED: [{"summoned": ()}, {"summoned": (BOB,)}],
    State.PLANNED: [{"starts_at": LATER, "held": held, "glass_broken": broken} for held in Held for broken in (0, 1)],
    State.APPROVED: [{}, {"waits": "it is down"}],
    State.APPLYING: [{}, {"stopped_by": BOB}],
    State.APPLIED: [
        {},
        {"reverts_at": LATER},
        {"undone": UNDONE},
        {"undoes": "1" * 32},
        {"moved_from": "old@example.com"},
        *({"revert_failure": why, "reverts_at": NOW} for why in RevertFailure),
    ],
}
"""What else there is to a change in a state that has buttons of its own."""


def changes(state: State) -> Iterator[tuple[Change, Progress | None]]:
    for guard, more in product((Guard.NONE, Guard.CONFIRM, Guard.APPROVE), RUNS.get(state, [{}])):
        for kind, before, after in KINDS.values():
            one = change(kind, state, before, after, guard=guard, **more)
            yield one, None
        wide = change(Kind.RULE_DELETE, state, MANY, None, guard=guard, **more)
        yield with_fields(wide, target=Target(service="rules", key="x" * 100)), None
        for outcome in [Outcome.WAITING] if state in WAITS else Outcome:
            yield bulk(OFF, state, switched(Outcome.APPLIED, outcome), guard=guard, **more)
            yield bulk(IMPORT, state, imported(Outcome.APPLIED, outcome), guard=guard, **more)


def row_of(blocks: Iterator[Block]) -> tuple[list[Block], list[Block]]:
    """The buttons of a card, and what is in its menu."""
    elements = [one for block in blocks if block["type"] == "actions" for one in block["elements"]]
    menus = [one for one in elements if one["type"] == "overflow"]
    assert len(menus) <= 1
    return [one for one in elements if one["type"] == "button"], [each for one in menus for each in one["options"]]


@pytest.mark.first(4)
@pytest.mark.parametrize("state", sorted(State))
def test_a_card_has_at_most_three_buttons_and_one_menu(state: State) -> None:
    freezes, overriders = ((None, FREEZE), ((), ("oncall",))) if state in WAITS else ((None,), ((),))
    for (one, progress), freeze, overrides in product(changes(state), freezes, overriders):
        able = with_fields(one, break_glass=overrides)
        row, menu = row_of(iter(card(able, progress=progress, freeze=freeze).blocks))
        labels = [each["text"]["text"] for each in row]
        about = (one.edit.kind, one.decision.guard, freeze is not None, one.is_bulk, labels, menu)
        assert len(row) <= 3, about
        assert len(menu) <= 5, about
        if state is State.PROPOSED and overrides and one.decision.guard is not Guard.NONE:
            is_blocked = freeze is not None or (one.decision.guard is Guard.APPROVE and not one.decision.summoned)
            assert ("Emergency override…" in labels) == is_blocked, about
        if "Details" not in labels:
            assert "Details" in str(menu), about
