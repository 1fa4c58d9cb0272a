"""What is clicked is checked and written in one transaction, once for each click, whatever happened since it was read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Final

import pytest

from bot.changes.model.change import Change
from bot.changes.model.edits import Kind, Target
from bot.changes.model.moves import GATEHOUSE
from bot.changes.model.parts import CauseKind, Guard
from bot.changes.model.states import State
from bot.changes.pipeline import Pipeline
from bot.changes.proposals import NothingToDo, undo_cause
from bot.changes.refusals import AlreadyDecided, AlreadyRequested, NotTemporary, NotUndoable, TimeIsPast
from bot.changes.rights import Decision
from bot.changes.targets import LOOKING, Snapshot
from bot.policy.inquiry import NotAllowed
from bot.store.audit import Entry, Filters
from bot.store.outbox import Purpose
from tests.changes.world import ALICE, BOB, OPS, POLICIES, RULE, RULE_IDS, Replica, Watched, World, rename, renames
from tests.harness.databases import BOTH
from tests.harness.proposing import CHANGES

pytestmark = pytest.mark.parametrize("database_url", BOTH, indirect=True)
HOUR: Final = timedelta(hours=1)


async def renamed(world: World, mine: Replica, guard: Guard | None = None) -> Change:
    """A rule that has another name for an hour."""
    wanted = replace(rename(world, "For now", revert_after=3600), guard=guard)
    return await mine.pipeline.proposer.submit(wanted, idempotency_key=f"request {next(world.names)}")


async def events(world: World, change: Change) -> list[str]:
    return [entry.event for entry in await world.store.audit.find(Filters(ref=change.id))]


async def state_of(world: World, mine: Replica, change: Change) -> tuple[object, ...]:
    """What is known of *change*, and what is to be done to it later."""
    timers = await world.store.outbox.pending_change_ids(Purpose.REVERT)
    return await mine.pipeline.journal.get(change.id), await events(world, change), timers, world.writes


Act = Callable[[Pipeline, Change, str], Awaitable[Change]]


async def extend(pipeline: Pipeline, change: Change, request: str) -> Change:
    """Send the form that shows *change* as it is."""
    ends = change.request.reverts_at
    later = (ends or change.created) + HOUR
    return await pipeline.decisions.end_at(
        change, by=ALICE, ends_at=later, as_typed="", request=request, shown_end=ends
    )


async def keep(pipeline: Pipeline, change: Change, request: str) -> Change:
    return await pipeline.decisions.keep(change, by=ALICE, request=request)


async def stop(pipeline: Pipeline, change: Change, request: str) -> Change:
    return await pipeline.decisions.stop(change, by=ALICE, request=request)


async def withdraw(pipeline: Pipeline, change: Change, request: str) -> Change:
    return await pipeline.decisions.decide(change, Decision.WITHDRAW, ALICE)


async def end(pipeline: Pipeline, change: Change, request: str) -> Change:
    return await pipeline.followups.revert(change, by=ALICE, cause=undo_cause(change, CauseKind.EARLY_END))


@dataclass(frozen=True, slots=True)
class Case:
    """Something to click on, and what makes it too late for that."""

    act: Act
    begin: Callable[[World, Replica], Awaitable[Change]]
    meanwhile: Callable[[World, Replica, Change], Awaitable[object]]
    refusal: type[Exception]


async def _undone(world: World, mine: Replica, change: Change) -> None:
    assert (await mine.pipeline.followups.undo(change, by=BOB, channel=OPS)).state is State.APPLIED


@pytest.mark.parametrize("is_undone", [True, False])
async def test_a_try_to_end_it_that_failed_is_no_answer(world: World, mine: Replica, *, is_undone: bool) -> None:
    change = await renamed(world, mine)
    world.services.rules.stage.faults.add("refused_200", method="PUT", times=1)
    assert (await end(mine.pipeline, change, "")).state is State.FAILED
    if is_undone:
        await _undone(world, mine, change)
        with pytest.raises(NotUndoable):
            await end(mine.pipeline, await mine.pipeline.journal.get(change.id), "")
        return

    world.clock.moment += HOUR
    assert await mine.fire_one()
    ended = await mine.pipeline.journal.get(change.id)
    again = await end(mine.pipeline, ended, "")
    assert ended.run.undone is not None
    assert (again.state, again.id) == (State.APPLIED, ended.run.undone.change)


async def _under_way(world: World, mine: Replica, change: Change) -> None:
    world.slow = 1
    assert (
        await mine.pipeline.followups.revert(change, by=BOB, cause=undo_cause(change, CauseKind.END))
    ).state is State.UNKNOWN


async def _set(world: World, mine: Replica) -> Change:
    return await mine.pipeline.proposer.submit(renames(world, "Ours"), idempotency_key="set")


async def _carried_out(world: World, mine: Replica, change: Change) -> None:
    assert await mine.carry_out_a_set()


async def _kept(world: World, mine: Replica, change: Change) -> None:
    await keep(mine.pipeline, change, "click on keep")


async def _extended(world: World, mine: Replica, change: Change) -> None:
    await extend(mine.pipeline, change, "click on extend")


CASES: Final = {
    "extend what was undone": Case(extend, renamed, _undone, NotTemporary),
    "keep what was undone": Case(keep, renamed, _undone, NotTemporary),
    "extend what was extended": Case(extend, renamed, _extended, NotTemporary),
    "extend what is being reverted": Case(extend, renamed, _under_way, NotTemporary),
    "keep what is being reverted": Case(keep, renamed, _under_way, NotTemporary),
    "keep what was kept": Case(keep, renamed, _kept, NotTemporary),
    "end what was undone": Case(end, renamed, _undone, NotTemporary),
    "end what was kept": Case(end, renamed, _kept, NotTemporary),
    "end what was extended": Case(end, renamed, _extended, NotTemporary),
    "withdraw what was let through": Case(withdraw, _set, lambda world, mine, _: _set(world, mine), AlreadyDecided),
    "stop what is done": Case(stop, _set, _carried_out, AlreadyDecided),
}


@pytest.mark.parametrize("name", CASES)
async def test_a_click_that_comes_too_late_is_refused_and_leaves_no_trace(
    world: World, mine: Replica, name: str
) -> None:
    case = CASES[name]
    seen = await case.begin(world, mine)
    await case.meanwhile(world, mine, seen)
    now = await state_of(world, mine, seen)

    with pytest.raises(case.refusal):
        await case.act(mine.pipeline, seen, "click")

    assert now == await state_of(world, mine, seen)


async def test_who_approves_alone_gives_what_was_approved_another_end(world: World, mine: Replica) -> None:
    await world.begin(POLICIES["approve"])
    approved = await mine.pipeline.decisions.decide(await renamed(world, mine), Decision.APPROVE, BOB)
    ends = world.clock() + 2 * HOUR
    end_at = partial(mine.pipeline.decisions.end_at, approved, as_typed="", ends_at=ends, request="click")
    with pytest.raises(NotAllowed):
        await end_at(by=ALICE)
    with pytest.raises(TimeIsPast):
        await end_at(by=BOB, ends_at=world.clock())
    assert (await end_at(by=BOB)).request.reverts_at == ends


async def test_only_who_kept_it_gives_it_its_end_back(world: World, mine: Replica) -> None:
    change = await renamed(world, mine)
    await _kept(world, mine, change)
    end_at, ends = partial(mine.pipeline.decisions.end_at, change, as_typed="", is_back=True), world.clock() + HOUR

    with pytest.raises(NotTemporary):
        await end_at(by=BOB, ends_at=ends, request="hers")
    assert (await end_at(by=ALICE, ends_at=ends, request="theirs")).is_temporary


async def test_who_ends_what_is_about_to_be_reverted_has_that_revert(world: World, mine: Replica) -> None:
    whole = await mine.pipeline.proposer.submit(renames(world, "Ours", revert_after=3600), idempotency_key="set")
    assert await mine.carry_out_a_set()
    whole = await mine.pipeline.journal.get(whole.id)
    revert = await end(mine.pipeline, whole, "")
    assert revert.bulk.purpose == CHANGES.inverse()
    assert (await end(mine.pipeline, whole, "")).id == revert.id


async def requested(world: World, change_id: str) -> Entry:
    (entry,) = [one for one in await world.store.audit.find(Filters(ref=change_id)) if one.event == "requested"]
    return entry


async def test_only_an_end_that_somebody_clicked_on_is_on_record_as_theirs(world: World, mine: Replica) -> None:
    waited = await renamed(world, mine)
    world.clock.moment += HOUR
    while await mine.fire_one():
        pass
    clicked = await renamed(world, mine)
    await end(mine.pipeline, clicked, "click")

    actors = []
    for change in (waited, clicked):
        undone = (await mine.pipeline.journal.get(change.id)).run.undone
        assert undone is not None
        actors.append((await requested(world, undone.change)).actor)
    assert actors == [GATEHOUSE, ALICE]


async def test_a_set_is_on_record_by_its_purpose_and_size(world: World, mine: Replica) -> None:
    whole = await _set(world, mine)

    detail = (await requested(world, whole.id)).detail
    assert {name: detail[name] for name in ("purpose", "items", "kinds")} == {
        "purpose": {"act": "change", "about": "", "is_undo": False},
        "items": len(RULE_IDS),
        "kinds": [Kind.RULE_UPDATE],
    }
    assert "after" not in detail


@dataclass(frozen=True, slots=True)
class Clicked(Watched):
    """An adapter during whose look somebody clicks."""

    click: Callable[[], Awaitable[object]]

    async def snapshot(self, targets: Sequence[Target]) -> Snapshot:
        found = await Watched.snapshot(self, targets)
        await self.click()
        return found


@pytest.mark.parametrize("changed_since", [False, True])
@pytest.mark.parametrize("act", [extend, keep])
async def test_what_is_kept_or_extended_while_its_end_is_being_looked_at_stays(
    world: World, mine: Replica, act: Act, changed_since: bool
) -> None:
    change = await renamed(world, mine)
    if changed_since:
        world.edit(("rules", RULE_IDS[0]), (world.live(RULE) or {}) | {"name": "Theirs"})
    watched = mine.pipeline.executor.adapter(RULE, LOOKING)
    assert isinstance(watched, Watched)
    slow = Clicked(watched.inner, world, "mine", lambda: act(mine.pipeline, change, "click"))
    mine.pipeline.followups = replace(
        mine.pipeline.followups, adapter=lambda _, context: replace(slow, context=context)
    )
    world.clock.moment += HOUR

    while await mine.fire_one():
        pass

    now = await mine.pipeline.journal.get(change.id)
    assert now.request.reverts_at != change.request.reverts_at
    assert (now.run.undone, now.run.revert_failure) == (None, "")
    assert "not_reverted" not in await events(world, change)
    assert (world.live(RULE) or {})["name"] == ("Theirs" if changed_since else "For now")


async def test_what_is_gone_is_not_asked_for_again(world: World, mine: Replica) -> None:
    change = await renamed(world, mine, Guard.CONFIRM)
    world.edit(("rules", RULE_IDS[0]), None)
    stale = await mine.pipeline.decisions.decide(change, Decision.CONFIRM, ALICE)
    assert stale.state is State.STALE

    with pytest.raises(NothingToDo):
        await mine.pipeline.followups.request_again(stale, by=ALICE, channel=OPS)

    world.edit(("rules", RULE_IDS[0]), {**(change.edit.before or {}), "name": "Theirs"})
    again = await mine.pipeline.followups.request_again(stale, by=ALICE, channel=OPS)
    assert (again.edit.after or {})["name"] == "For now"
    done = await mine.pipeline.decisions.decide(again, Decision.CONFIRM, ALICE)
    with pytest.raises(AlreadyRequested):
        await mine.pipeline.followups.request_again(stale, by=ALICE, channel=OPS)
    await _undone(world, mine, done)
    assert (await mine.pipeline.followups.request_again(stale, by=ALICE, channel=OPS)).id != again.id
