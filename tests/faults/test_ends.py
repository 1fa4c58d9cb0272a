"""Every fault at the end of a temporary change: what was agreed comes true, or the card says truly why it did not."""

from __future__ import annotations

from datetime import timedelta
from typing import Final
from uuid import uuid4

import pytest

from bot.changes.model.change import Change
from bot.changes.model.edits import Edit, Kind
from bot.changes.model.parts import ChangeRequest, Guard
from bot.changes.model.states import State
from bot.changes.proposals import Proposal
from bot.changes.timers import TimerWorker
from tests.faults.plays import PLAYS
from tests.faults.test_matrix import AROUND_A_WRITE, WRITES, Write, holds
from tests.faults.world import Strike, World
from tests.harness.workers import fire_one, recover_one

HOUR: Final = timedelta(hours=1)
METHODS_OF_ENDS: Final = {"update": "PUT", "delete": "POST", "add": "DELETE", "grant": "DELETE"}
"""For each write that is taken back here: the method of the write that does it."""
REFUSED: Final = {"refused_200", "strip_body", "stale_read"}
"""Faults in which the service says no; an old answer may be a 404."""
MEDDLED: Final = {"edit_between", "readd_member"}
"""Faults in which somebody else changes the target."""
FIRST: Final = ("500", "never", "html", "reset_after", "refused_200")
CASES: Final = [
    pytest.param(fault, name, marks=() if fault in FIRST and name == "update" else pytest.mark.slow)
    for fault in PLAYS
    for name in METHODS_OF_ENDS
]


@pytest.mark.threat("B16")
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("fault", "operation"), CASES)
async def test_an_end_comes_true_or_the_card_says_truly_why_not(world: World, fault: str, operation: str) -> None:
    write = WRITES[operation]
    change = await made_for_an_hour(world, write)
    proxy = world.proxy(change.edit.target)
    world.script(proxy, fault, AROUND_A_WRITE.get(fault, Strike(METHODS_OF_ENDS[operation])), seed=operation)

    change = await at_its_end(world, change)
    assert proxy.struck
    await proxy.honest_again()
    change = await long_after(world, change)

    revert = await world.process().followups.last_revert(change)
    match change.run.revert_failure:
        case "":
            assert change.run.undone is not None
            told = is_back(world, change, write) or fault in MEDDLED or revert_says_otherwise(revert)
            assert told, "called reverted, and is not"
        case "unconfirmed":
            assert revert is not None
            assert revert.state is State.UNSETTLED
        case "refused":
            assert fault in REFUSED, f"nobody refused: {revert and revert.run}"
            assert not is_back(world, change, write)
        case "changed" | "gone" | "partly":
            assert fault in MEDDLED, "nobody changed it"
        case other:
            raise AssertionError(other)


async def made_for_an_hour(world: World, write: Write) -> Change:
    """The write as a temporary change, applied."""
    target = world.target(write.kind)
    before = None if write.before is None else world.hold(target, write.before)
    after = write.after
    if after is not None and target.service == "members":
        after = after | {"email": world.email}
    proposal = Proposal.of(
        guard=Guard.NONE,
        edit=Edit(kind=write.kind, target=target, before=before, after=after),
        request=ChangeRequest(requester="U1", channel="C1", revert_after=int(HOUR.total_seconds())),
    )
    change = await world.process().proposer.submit(proposal, idempotency_key=uuid4().hex)
    assert change.is_temporary
    return change


async def at_its_end(world: World, change: Change) -> Change:
    """*change* once its end has come, and everybody has done what is due then."""
    pipeline = world.process()
    timers = TimerWorker(pipeline)
    world.clock.ahead += max(timedelta(), (change.request.reverts_at or world.clock()) - world.clock())
    while await fire_one(timers) or await recover_one(pipeline):
        pass
    return await pipeline.journal.get(change.id)


async def long_after(world: World, change: Change) -> Change:
    """*change* when nothing is left to be done about its end, however long that took."""
    for _ in range(100):
        if not change.is_temporary:
            return change
        world.clock.ahead += timedelta(minutes=2)
        change = await at_its_end(world, change)
    raise AssertionError("it has no end")


def is_back(world: World, change: Change, write: Write) -> bool:
    """Whether the target is as it was before; a rule that was deleted comes back under another id."""
    if write.kind is Kind.RULE_DELETE:
        return any(holds(rule, {"name": (write.before or {})["name"]}) for rule in world.services.rules.all())
    return holds(world.made(change.edit.target), write.before)


def revert_says_otherwise(revert: Change | None) -> bool:
    """Whether the revert shows that the service made something else of it."""
    return revert is not None and revert.state is State.APPLIED and revert.run.result != revert.edit.after
