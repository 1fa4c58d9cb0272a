"""What falls due for a change, who hears of it, and what the audit says, by its state and its fields alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

import pytest

from bot.changes.consequences import (
    DUE_TIMES,
    HELD_LONGEST,
    OFFER_BEFORE,
    REMIND_AFTER,
    TELL_BEFORE,
    _is_news_to_requester,
)
from bot.changes.decisions import is_open
from bot.changes.events import event_of_move
from bot.changes.freezing import is_overridden
from bot.changes.model.moves import GATEHOUSE, Approve, Expire, Fail, Finish, GiveUp, Move
from bot.changes.model.obligation import Standing
from bot.changes.model.parts import Guard, Held, Refused, RevertFailure
from bot.changes.model.states import State
from bot.changes.past import is_elsewhere
from bot.changes.rights import Decision
from bot.changes.timers import LATE_AFTER, _cause, _turn, _why_left
from bot.policy.freezes import ChatFreeze, Freeze
from bot.store.outbox import Delivery, Purpose
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


def test_a_requester_hears_of_what_they_waited_for() -> None:
    by_bob, by_alice, confirmed = {"decided_by": "U0BOB"}, {"decided_by": "U0ALICE"}, {"guard": Guard.CONFIRM}
    planned: dict[str, Any] = confirmed | {"starts_at": EPOCH + HOUR}
    moves = [(by_bob, "U0BOB"), (planned, GATEHOUSE), (by_bob, "U0ALICE"), (by_alice, GATEHOUSE), (confirmed, "U0BOB")]

    is_news = [_is_news_to_requester(with_fields(REQUEST, **given), by) for given, by in moves]
    assert is_news == [True, True, False, False, False]


@pytest.mark.threat("B18")
def test_an_override_passes_the_freezes_that_there_were() -> None:
    times = {"starts": EPOCH, "until": EPOCH + HOUR}
    chat = times | {"id": "f", "title": "Everything", "by": "U0CARA", "channel": "C0OPS0001"}
    by_chat = [ChatFreeze.model_validate(chat | {"made": EPOCH + timedelta(microseconds=late)}) for late in (0, 1)]
    overridden = with_fields(REQUEST, glass_broken=True, decided_at=EPOCH)

    passed = [is_overridden(each, overridden) for each in (Freeze.model_validate(times), *by_chat)]
    assert passed == [True, True, False]
    assert not is_overridden(by_chat[0], with_fields(overridden, glass_broken=False))


def test_what_is_due_goes_in_the_order_of_its_times_and_what_was_done_last_ends_first() -> None:
    older, newer = ({"finished_at": EPOCH + HOUR * hours} for hours in (0.5, 1))
    in_turn = [
        PLANNED,
        APPLIED | newer,
        APPLIED | older,
        APPLIED,
        PLANNED | {"starts_at": EPOCH + 2 * HOUR},
        PLANNED | {"starts_at": EPOCH + 2 * HOUR, "created": EPOCH + HOUR},
    ]
    turns = [_turn(with_fields(REQUEST, **given)) for given in in_turn]
    assert turns == sorted(set(turns))


@pytest.mark.parametrize(
    ("state", "revert", "found", "why"),
    [
        (State.APPLIED, None, {Standing.BACK}, RevertFailure.GONE),
        (State.APPLIED, None, {Standing.THERE}, RevertFailure.GONE),
        (State.APPLIED, None, {Standing.OTHER, Standing.BACK}, RevertFailure.CHANGED),
        (State.UNSETTLED, None, {Standing.OTHER}, RevertFailure.UNCONFIRMED),
        (State.APPLIED, State.FAILED, {Standing.BACK}, RevertFailure.GONE),
        (State.APPLIED, State.FAILED, {Standing.THERE}, RevertFailure.REFUSED),
        (State.APPLIED, State.UNSETTLED, {Standing.OTHER}, RevertFailure.UNCONFIRMED),
        (State.APPLIED, State.APPLIED, {Standing.OTHER}, RevertFailure.PARTLY),
    ],
)
def test_why_a_temporary_change_is_left(
    state: State, revert: State | None, found: set[Standing], why: RevertFailure
) -> None:
    tried = None if revert is None else with_fields(REQUEST, state=revert)
    assert _why_left(with_fields(REQUEST, state=state), tried, found) is why


def test_an_end_is_late_once_somebody_may_have_missed_it() -> None:
    timer = Delivery("rules", "c", "c", Purpose.REVERT, version=1, attempt=2, owner="mine")
    lates = [_cause(REQUEST, timer, LATE_AFTER + timedelta(seconds=more)).late_seconds for more in (0, 1)]
    assert lates == [0, 121]


def test_what_waits_may_be_decided() -> None:
    approved: dict[str, Any] = {"state": State.APPROVED}
    waiting = [PLANNED, approved | {"waits": "its service is away"}, approved]

    assert [is_open(with_fields(REQUEST, **each), Decision.WITHDRAW) for each in waiting] == [True, True, False]
    assert [is_open(with_fields(REQUEST, **each), Decision.APPROVE) for each in ({}, PLANNED)] == [True, False]


def test_an_override_is_no_approval() -> None:
    made = [Approve(by="U0DAN", glass_broken=is_broken).apply(REQUEST, EPOCH) for is_broken in (True, False)]
    assert [len(each.decision.approvals) for each in made] == [0, 1]


def test_what_was_never_confirmed_ends_so_long_after_it_was_sent() -> None:
    sent = with_fields(REQUEST, state=State.UNKNOWN, finished_at=EPOCH, revert_after=3600)
    assert GiveUp().apply(sent, EPOCH + HOUR / 2).request.reverts_at == EPOCH + HOUR


def test_a_thing_was_modified_elsewhere_where_we_had_no_hand_in_it() -> None:
    ours = with_fields(REQUEST, state=State.APPLIED, result={"modificationDate": 7})

    assert [is_elsewhere(moment, [ours]) for moment in (7, 8)] == [False, True]
    assert is_elsewhere(7, [with_fields(ours, state=State.FAILED)])
    assert not is_elsewhere(8, [with_fields(ours, state=State.UNKNOWN)])
