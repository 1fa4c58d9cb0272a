"""A temporary change whose end fails for hours: tried again and again, told once, and without a card for each try."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Final, TypeAlias

import pytest

from bot.changes.proposals import Proposal
from bot.changes.timers import TRIES_UNTIL_TOLD
from tests.changes.world import RULE_IDS, Replica, World, rename, renames
from tests.harness.workers import ONE_TIMER

Wanted: TypeAlias = Callable[[World], Proposal]
one: Final[Wanted] = partial(rename, name="For now", revert_after=7200)
several: Final[Wanted] = partial(renames, name="For now", revert_after=7200)


async def hours_later(world: World, mine: Replica) -> None:
    for _ in range(12):
        world.clock.moment += timedelta(minutes=11)
        while (
            await mine.fire_one()
            or await mine.recover_one()
            or await mine.carry_out_a_set()
            or await mine.outbox.deliver_one()
        ):
            pass


CASES: Final = [
    (one, "500", "GET"),
    (one, "500", "PUT"),
    (one, "429", "PUT"),
    (one, "cut_before", "PUT"),
    (several, "500", "GET"),
]


@pytest.mark.first(2)
@pytest.mark.parametrize(("wanted", "fault", "method"), CASES)
@pytest.mark.parametrize("deaths", [0, TRIES_UNTIL_TOLD - 1])
async def test_an_end_in_vain_is_told_once_until_it_comes_true(
    world: World, mine: Replica, wanted: Wanted, fault: str, method: str, deaths: int
) -> None:
    """Also where a process died in each of the first tries."""
    change = await mine.pipeline.proposer.submit(wanted(world), idempotency_key="request")
    while await mine.carry_out_a_set() or await mine.outbox.deliver_one():
        pass
    world.services.rules.stage.faults.add(fault, method=method, times=9_999)
    world.clock.moment += timedelta(hours=2)
    before = dict(world.cards)
    for number in range(deaths):
        assert await world.store.outbox.claim(f"dead process {number}", timedelta(seconds=-1), ONE_TIMER)

    assert await mine.fire_one()
    while await mine.outbox.deliver_one():
        pass
    assert any(purpose.startswith("late-") for _, purpose in world.told) is bool(deaths), "not at the first try"

    await hours_later(world, mine)
    late = {purpose: times for (about, purpose), times in world.told.items() if about == change.id}
    assert [times for purpose, times in late.items() if purpose.startswith("late-")] == [1]
    assert world.cards.keys() == before.keys(), "a card of a try in vain"

    world.services.rules.stage.faults.clear()
    await hours_later(world, mine)

    ended = await mine.pipeline.journal.get(change.id)
    assert ended.run.undone is not None
    assert world.cards[change.id].run.undone == ended.run.undone
    assert ended.run.undone.cause.is_automatic
    assert ended.run.undone.cause.tries > 1
    assert {world.truth()["rules", key]["name"] for key in RULE_IDS} == {"As it was"}


@pytest.mark.first(1)
@pytest.mark.parametrize("wanted", [one, several])
async def test_an_end_that_is_refused_is_left_with_why(world: World, mine: Replica, wanted: Wanted) -> None:
    change = await mine.pipeline.proposer.submit(wanted(world), idempotency_key="request")
    while await mine.carry_out_a_set():
        pass
    world.services.rules.stage.faults.add("refused_200", method="PUT", times=9_999)
    world.clock.moment += timedelta(hours=2)
    for number in range(TRIES_UNTIL_TOLD):
        assert await world.store.outbox.claim(f"dead process {number}", timedelta(seconds=-1), ONE_TIMER)

    await hours_later(world, mine)

    assert wanted is several or not any(purpose.startswith("late-") for _, purpose in world.told), "not tried again"
    assert await world.store.changes.find_by_key(f"revert:{change.id}:1") is None
    assert (await mine.pipeline.journal.get(change.id)).run.revert_failure == "refused"
    assert wanted is several or len(world.cards) == 2, "the last try has one"
