"""The oracle of truth finds each kind of lie; what it says of a whole story, stories show."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from bot.changes.consequences import DUE_TIMES
from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind, Target
from bot.changes.model.parts import Approval, ChangeDecision, ChangeRequest, Guard
from bot.changes.model.states import State
from tests.harness.proposing import with_fields
from tests.harness.truth import Effect, History, Witness, check

ID: Final = "c" * 32
NOON: Final = datetime(2026, 11, 23, 12, tzinfo=UTC)
RULE: Final = {"id": "Redirect_x1old", "name": "Old shop", "status": "Active"}
OFF: Final = RULE | {"status": "Inactive"}


def history(
    state: State = State.APPLIED, *, after: Any = OFF, kind: Kind = Kind.RULE_UPDATE, by: str = "", needed: int = 1
) -> History:
    """A change of the rule that was carried out from noon on, for a minute."""
    edit = Edit(kind=kind, target=Target(service="rules", key=str(RULE["id"])), before=RULE, after=after)
    request = ChangeRequest(requester="U0ALICE01", channel="C0OPS0001")
    given = (Approval(by=by, at=NOON),)
    approved = ChangeDecision(guard=Guard.APPROVE, approvals=given, approvals_needed=needed, decided_by=by)
    decision = approved if by else ChangeDecision()
    change = Change(id=ID, created=NOON, state=state, edit=edit, request=request, decision=decision)
    return History(change, NOON, NOON + timedelta(minutes=1))


def witness(*effects: Effect, **acts: str) -> Witness:
    watching = Witness(lambda: NOON)
    watching.effects += effects
    watching.acts |= acts
    return watching


def effect(seconds: float = 1, *, key: str = str(RULE["id"]), after: Any = OFF) -> Effect:
    return Effect(NOON + timedelta(seconds=seconds), "rules", None, RULE | {"id": key}, after and after | {"id": key})


@pytest.mark.parametrize(
    ("known", "watched"),
    [
        pytest.param(history(), witness(effect()), id="switched off"),
        pytest.param(history(State.UNKNOWN), witness(effect()), id="not confirmed"),
        pytest.param(history(State.FAILED), witness(), id="refused"),
        pytest.param(history(by="U0CARA001"), witness(effect(), U0CARA001=ID), id="approved"),
    ],
)
def test_what_is_so_passes(known: History, watched: Witness) -> None:
    check([known], watched)


@pytest.mark.parametrize(
    ("known", "watched", "lie"),
    [
        (history(), witness(), "nothing was stored"),
        (history(State.FAILED), witness(effect()), "its change is failed"),
        (history(State.STALE), witness(effect()), "its change is stale"),
        (history(), witness(effect(), effect(key="Redirect_other")), "no change says so"),
        (history(), witness(effect(), effect(90)), "no change says so"),
        (history(), witness(effect(-1)), "no change says so"),
        (
            history(after=None, kind=Kind.RULE_DELETE),
            witness(effect(1, after=None), effect(2, after=None)),
            "stored 2 times",
        ),
        (history(by="U0CARA001"), witness(effect(), U0ALICE01=ID), "never clicked"),
        (history(State.DENIED, by="U0CARA001"), witness(), "never clicked"),
        (history(by="U0ALICE01"), witness(effect(), U0ALICE01=ID), "its own requester is counted"),
        (history(by="U0CARA001", needed=2), witness(effect(), U0CARA001=ID), "carried out with 1 approvals"),
    ],
)
def test_a_lie_is_found(known: History, watched: Witness, lie: str) -> None:
    with pytest.raises(AssertionError, match=lie):
        check([known], watched)


def test_each_thing_that_a_card_says_of_later_is_due() -> None:
    waiting = with_fields(history(State.PROPOSED).change, expires=NOON)
    off_until = with_fields(history().change, reverts_at=NOON + timedelta(hours=1))

    def due(change: Change) -> dict[str, datetime]:
        return {what: at for what, due_of in DUE_TIMES.items() if (at := due_of(change)) is not None}

    assert due(waiting)["expire"] == NOON
    assert due(off_until)["revert"] == NOON + timedelta(hours=1)
    assert due(off_until)["offer"] == NOON + timedelta(minutes=50)
    assert due(history().change) == {}
