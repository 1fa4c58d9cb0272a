"""What a client keeps for a moment, and lets go of piece by piece."""

from __future__ import annotations

import gc
import weakref

from bot.clients.cache import SingleFlight
from bot.clients.lists import Listing
from bot.rules.model import Rule
from tests.conftest import until

MANY = 2000


async def _read() -> Listing[Rule]:
    return Listing("rules", [Rule(id=f"Redirect_{number}") for number in range(MANY)])


def flight() -> SingleFlight[Listing[Rule]]:
    return SingleFlight(_read, keep=10, clock=lambda: 0.0, many=lambda found: found.known)


async def test_what_somebody_still_holds_stays_whole_when_it_is_dropped() -> None:
    kept = flight()
    held = await kept.recent()

    kept.drop()
    await until(lambda: not kept._going)

    assert len(held.known) == MANY
    assert (await kept.recent()) is not held


async def test_what_nobody_holds_is_let_go_but_not_in_one_go() -> None:
    kept = flight()
    rules = [weakref.ref(rule) for rule in (await kept.recent()).known]
    gc.disable()
    try:
        kept.drop()
        assert all(rule() is not None for rule in rules)

        await until(lambda: not kept._going)
        assert all(rule() is None for rule in rules)
    finally:
        gc.enable()
