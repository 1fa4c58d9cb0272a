"""A bulk change is undone once nothing of it is left to be undone, in whatever order its items come to their ends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from itertools import permutations

import pytest

from bot.changes.model.items import OPEN
from bot.changes.model.moves import Fail, Finish, MarkUnknown
from bot.changes.model.states import State
from bot.changes.proposals import item_change
from bot.changes.worker import ChangeLease
from tests.changes.world import ALICE, OPS, POLICIES, RULE_IDS, Replica, World, renames

ENDS = ("the change ends", "one fails", "one is undone")


@pytest.mark.parametrize("order", [*permutations(ENDS)], ids=", ".join)
async def test_one_item_is_undone_and_the_other_was_not_done(
    world: World, mine: Replica, order: tuple[str, ...]
) -> None:
    await world.begin(POLICIES["free"])
    await mine.pipeline.proposer.submit(renames(world, "Ours"), idempotency_key="request")
    world.clock.moment += timedelta(milliseconds=1)
    whole = await mine.sets.journal.claim_due(bulk=True)
    assert whole is not None
    items = await world.store.items.find(whole.id, OPEN, len(RULE_IDS))
    batch = mine.sets.batch(whole, ChangeLease(mine.sets.journal, whole, world.clock()))
    made = [item_change(whole, item, change_id=f"item{item.number}", now=world.clock()) for item in items]
    done, unknown = await batch.begin(made)
    world.edit(("rules", RULE_IDS[0]), done.edit.after)
    done, unknown = await batch.journal.finish([(done, Finish(live=done.edit.after)), (unknown, MarkUnknown())])
    events: dict[str, Callable[[], Awaitable[object]]] = {
        "the change ends": lambda: mine.sets.carry_out(whole),
        "one fails": lambda: batch.journal.finish([(unknown, Fail())]),
        "one is undone": lambda: mine.pipeline.followups.undo(done, by=ALICE, channel=OPS),
    }
    for event in order:
        await events[event]()

    ended = await batch.journal.get(whole.id)
    undone = (await batch.journal.get(done.id)).run.undone
    assert undone is not None
    assert (ended.state, ended.run.undone) == (State.APPLIED, undone)
