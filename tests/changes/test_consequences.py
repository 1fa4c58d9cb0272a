"""What falls due for a change, who hears of it, and what the audit says, by its state and its fields alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

import pytest

from bot.changes.consequences import DUE_TIMES, HELD_LONGEST, OFFER_BEFORE, REMIND_AFTER, TELL_BEFORE
from bot.changes.events import event_of_move
from bot.changes.model.moves import Expire, Fail, Finish, Move
from bot.changes.model.parts import Guard, Held, Refused
from bot.changes.model.states import State
from bot.store.outbox import Purpose
from tests.changes.world import RULE_IDS
from tests.harness.clocks import EPOCH
from tests.harness.proposing import change_of, with_fields

HOUR: Final = timedelta(hours=1)
SOON: Final = TELL_BEFORE
REQUEST: Final = change_of(
    {
        "id": "c",
        "created": EPOCH,
        "edit": {
            "kind": "rule.update",
            "target": {"service": "rules", "key": RULE_IDS[0]},
            "before": {"name": "One"},
            "after": {"name": "Two"},
        },
        "requester": "U0ALICE",
        "channel": "C0OPS0001",
        "guard": "approve",
        "expires": EPOCH + HOUR,
    }
)
PLANNED: Final = {"state": State.PLANNED, "starts_at": EPOCH + HOUR}
APPLIED: Final = {"state": State.APPLIED, "reverts_at": EPOCH + 2 * HOUR}


@pytest.mark.parametrize(
    ("given", "due"),
    [
        ({}, {Purpose.EXPIRE: HOUR, Purpose.REMIND: REMIND_AFTER}),
        ({"guard": Guard.CONFIRM}, {Purpose.EXPIRE: HOUR}),
        ({"held_at": EPOCH + SOON}, {Purpose.EXPIRE: HOUR, Purpose.REMIND: REMIND_AFTER}),
        ({"starts_at": EPOCH + HOUR}, {Purpose.EXPIRE: HOUR, Purpose.REMIND: REMIND_AFTER}),
        (PLANNED, {Purpose.START: HOUR, Purpose.STARTS: HOUR - SOON}),
        (PLANNED | {"decided_at": EPOCH + HOUR - 2 * SOON}, {Purpose.START: HOUR}),
        (PLANNED | {"starts_at": EPOCH + 2 * SOON}, {Purpose.START: 2 * SOON}),
        (PLANNED | {"held": Held.LATE, "held_at": EPOCH + HOUR}, {Purpose.EXPIRE: HOUR + HELD_LONGEST}),
        (APPLIED, {Purpose.REVERT: 2 * HOUR, Purpose.OFFER: 2 * HOUR - OFFER_BEFORE}),
        (APPLIED | {"finished_at": EPOCH + HOUR * 1.5}, {Purpose.REVERT: 2 * HOUR, Purpose.OFFER: HOUR * 1.9}),
        (APPLIED | {"state": State.APPLYING}, {}),
        (APPLIED | {"state": State.FAILED}, {}),
        ({"state": State.APPLIED}, {}),
    ],
)
def test_what_falls_due(given: dict[str, Any], due: dict[Purpose, timedelta]) -> None:
    change = with_fields(REQUEST, **given)
    found = {purpose: time - EPOCH for purpose, of in DUE_TIMES.items() if (time := of(change)) is not None}
    assert found == due


@pytest.mark.parametrize(
    ("move", "state", "told"),
    [
        (Finish(), State.APPLIED, {"before": {"name": "One"}, "now": None}),
        (Fail(), State.FAILED, {"outcome": "no", "before": {"name": "One"}, "now": None}),
        (Expire(), State.EXPIRED, {"outcome": "no"}),
    ],
)
def test_what_the_audit_says_of_an_end(move: Move, state: State, told: dict[str, object]) -> None:
    ended = with_fields(REQUEST, state=state, why_not=Refused(code="Refused", words="no"))
    common = {"kind", "reason", "guard"}
    assert {name: value for name, value in event_of_move(move, ended).detail.items() if name not in common} == told
