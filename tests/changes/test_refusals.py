"""Somebody who is refused over and over doesn't fill the audit, and nothing of it is lost while the process lives."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.changes.refusals import COUNTED_FOR, Refusals
from bot.store.audit import Event
from tests.harness.clocks import StandingClock


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock()


async def test_the_refusals_of_a_minute_are_one_entry_with_their_count(clock: StandingClock) -> None:
    noted: list[Event] = []

    async def note(event: Event) -> None:
        noted.append(event)

    refusals = Refusals(note, clock)
    for operation in ("rule.delete", "rule.delete", "rule.create", "rule.delete"):
        await refusals.add(operation, "U0ALICE01", "C0OPS0001", "no_role")
    assert [(each.target, each.detail.get("count")) for each in noted] == [("rule.delete", None)]

    clock.moment += COUNTED_FOR
    await refusals.add("member.add", "U0ALICE01", "C0OPS0001", "no_role")
    assert [(each.target, each.detail.get("count")) for each in noted[1:]] == [("rule.delete", 3), ("member.add", None)]
    assert noted[1].detail["operations"] == ["rule.create", "rule.delete"]

    await refusals.add("rule.delete", "U0BOB0001", "C0OPS0001", "no_role")
    assert len(noted) == 4, "everybody's first one is on record at once"

    clock.moment -= timedelta(hours=1)
    await refusals.add("member.add", "U0ALICE01", "C0OPS0001", "no_role")
    assert len(noted) == 5, "a clock that was put back ends the minute"
