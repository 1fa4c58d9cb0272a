"""Somebody who is refused over and over doesn't fill the audit."""

from __future__ import annotations

from datetime import timedelta

from bot.changes.refusals import RECORDED_AGAIN_AFTER, Refusals
from bot.store.audit import Event
from tests.harness.clocks import StandingClock


async def test_each_refusal_of_a_person_is_recorded_once_a_minute() -> None:
    noted: list[tuple[str, str]] = []
    clock = StandingClock()

    async def note(event: Event) -> None:
        noted.append((event.actor, event.target))

    refusals = Refusals(note, clock)

    async def recorded(*tried: tuple[str, str]) -> list[tuple[str, str]]:
        noted.clear()
        for by, operation in tried:
            await refusals.add(operation, by, "C0OPS0001", "no_role")
        return list(noted)

    delete, create, of_another = ("U1", "rule.delete"), ("U1", "rule.create"), ("U2", "rule.delete")
    assert await recorded(delete, delete, create, delete, of_another) == [delete, create, of_another]
    clock.moment += RECORDED_AGAIN_AFTER
    assert await recorded(delete, delete) == [delete]
    clock.moment -= timedelta(hours=1)
    assert await recorded(delete) == [delete], "a clock that was set back silences nobody"
