"""Somebody edits a target of a set while the set is at work: their edit stays, and the part says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from typing import Any, Final

import pytest

from bot.changes.adapters import RuleAdapter
from bot.changes.model.change import Change
from bot.changes.model.edits import Kind, Target
from bot.changes.model.items import Outcome
from bot.changes.model.states import State
from bot.changes.proposals import Proposal, combine
from bot.changes.targets import MAX_LOOK_SECONDS, Snapshot
from bot.clients.errors import Unreachable
from sandbox.services.database import Record
from tests.changes.world import EMAILS, GROUP_IDS, SITE, Died, Place, Replica, World, dying_at, proposal, replica, rule
from tests.harness.proposing import CHANGES, record_only

pytestmark = pytest.mark.slow

MOMENTS: Final = ("begin", "look", "sent")
"""After the set looked at its targets: before its parts are recorded, before they are sent, after the first one was."""
KEYS: Final = tuple(f"Redirect_many{number:02d}" for number in range(12))
"""More rules than are sent at a time, so that the last one waits while others are sent."""
THEIRS: Final = "https://shop.example.com/incident-fix"


@pytest.fixture
async def world(world: World) -> World:
    for key in KEYS:
        world.services.rules.put(rule("As it was") | {"id": key})
    return world


def fixed(record: Record) -> Record:
    """*record* with what somebody changed in an incident."""
    if "pairs" in record:
        return record | {"pairs": [record["pairs"][0] | {"destination": THEIRS}]}
    return record | ({"allowedSegments": ["free", "beta"]} if "email" in record else {"colourOfTheirs": "blue"})


async def asked(
    world: World, mine: Replica, kind: Kind, places: Sequence[Place], made: dict[str, Any] | None
) -> Change:
    """A set in which each of *places* gets what is *made*, or goes."""
    items = [wanted(world, kind, place, made) for place in places]
    return await mine.pipeline.proposer.submit(combine(CHANGES, items), idempotency_key="request")


def wanted(world: World, kind: Kind, place: Place, made: dict[str, Any] | None) -> Proposal:
    service, key = place
    target = Target(service=service, site=SITE if service == "members" else None, key=key)
    return proposal(world, kind, target, None if made is None else world.truth()[place] | made)


async def carried_out(world: World, mine: Replica, failpoint: Callable[[str], None]) -> bool:
    """What *mine* does with the next set, told of each step; False where it died."""
    world.clock.moment += timedelta(milliseconds=1)
    sets = replace(mine.sets, executor=replace(mine.sets.executor, failpoint=failpoint))
    try:
        return await replace(mine, sets=sets).carry_out_a_set()
    except Died:
        return False


def once(step: str, act: Callable[[], None]) -> Callable[[str], None]:
    """*act*, the first time that *step* is reached."""
    left = [act]

    def failpoint(name: str) -> None:
        if name == step and left:
            left.pop()()

    return failpoint


async def outcomes(world: World, whole: Change) -> Sequence[Outcome]:
    return [item.outcome async for item in world.store.items.all(whole.id)]


@pytest.mark.threat("B11")
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("kind", [Kind.RULE_UPDATE, Kind.RULE_DELETE])
async def test_a_rule_that_was_edited_is_not_written_over(world: World, kind: Kind, moment: str) -> None:
    mine, last = replica(world, "mine", count(1)), ("rules", KEYS[-1])
    made = None if kind is Kind.RULE_DELETE else {"status": "Inactive"}
    whole = await asked(world, mine, kind, [("rules", key) for key in KEYS], made)
    theirs = fixed(world.truth()[last])

    assert await carried_out(world, mine, once(moment, lambda: world.edit(last, theirs)))

    assert world.truth()[last] == theirs
    assert await outcomes(world, whole) == [Outcome.APPLIED] * (len(KEYS) - 1) + [Outcome.STALE]


@pytest.mark.parametrize("moment", MOMENTS[:2])
@pytest.mark.parametrize("place", [("groups", GROUP_IDS[0]), ("members", EMAILS[0])], ids=["group", "member"])
async def test_a_whole_that_was_edited_is_not_written_over(
    world: World, mine: Replica, place: Place, moment: str
) -> None:
    """A group goes back whole, and the name of a member takes the segments along."""
    kind = Kind.GROUP_UPDATE if place[0] == "groups" else Kind.MEMBER_UPDATE
    await asked(world, mine, kind, [place], {"name": "Ours"})
    theirs = fixed(world.truth()[place])

    assert await carried_out(world, mine, once(moment, lambda: world.edit(place, theirs)))

    assert world.truth()[place] == theirs


@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_member_that_was_edited_some_seconds_ago_is_not_removed(world: World, moment: str) -> None:
    """The list is read again after some seconds, not for each of the members on it."""
    mine, emails = replica(world, "mine", count(1)), [f"many{number:02d}@example.com" for number in range(12)]
    for email in emails:
        world.services.members.put(SITE, {"name": "Many", "email": email, "allowedSegments": ["free"]})
    last = ("members", emails[-1])
    whole = await asked(world, mine, Kind.MEMBER_REMOVE, [("members", email) for email in emails], None)
    theirs = fixed(world.truth()[last])

    def edited() -> None:
        world.edit(last, theirs)
        world.clock.moment += timedelta(seconds=MAX_LOOK_SECONDS)

    assert await carried_out(world, mine, once(moment, edited))

    assert world.truth()[last] == theirs
    assert await outcomes(world, whole) == [Outcome.APPLIED] * (len(emails) - 1) + [Outcome.STALE]
    assert len(world.services.members.calls("GET")) <= 4


@pytest.mark.parametrize("moment", MOMENTS[:2])
@pytest.mark.parametrize("kind", [Kind.MEMBER_GRANT, Kind.MEMBER_REVOKE])
async def test_segments_that_somebody_else_gave_stay(world: World, kind: Kind, moment: str) -> None:
    mine, ann, ben = replica(world, "mine", count(1)), ("members", EMAILS[0]), ("members", EMAILS[1])
    world.edit(ben, world.truth()[ann])
    segments = ["free", "vip"] if kind is Kind.MEMBER_GRANT else []
    await asked(world, mine, kind, (ann, ben), {"allowedSegments": segments})
    theirs = fixed(world.truth()[ann])

    assert await carried_out(world, mine, once(moment, lambda: world.edit(ann, theirs)))

    assert set(world.truth()[ann]["allowedSegments"]) == {*segments, "beta"}


@pytest.mark.parametrize("died_at", MOMENTS)
@pytest.mark.parametrize("edited_at", ["before it is taken over", *MOMENTS])
async def test_who_takes_a_set_over_writes_over_no_edit(world: World, died_at: str, edited_at: str) -> None:
    ids, last = count(1), ("rules", KEYS[-1])
    first, second = replica(world, "first", ids), replica(world, "second", ids)
    whole = await asked(world, first, Kind.RULE_UPDATE, [("rules", key) for key in KEYS], {"status": "Inactive"})
    theirs = fixed(world.truth()[last])

    assert not await carried_out(world, first, dying_at(died_at))
    world.clock.moment += timedelta(seconds=61)
    if edited_at not in MOMENTS:
        world.edit(last, theirs)
    await carried_out(world, second, once(edited_at, lambda: world.edit(last, theirs)))
    while await second.recover_one():
        pass

    *others, of_last = await outcomes(world, whole)
    assert {*others} == {Outcome.APPLIED}
    if world.edits:
        assert world.truth()[last] == theirs
        assert of_last in {Outcome.STALE, Outcome.UNKNOWN, Outcome.UNSETTLED}


async def test_what_a_dead_process_sent_and_comes_true_late_is_done_and_not_out_of_date(world: World) -> None:
    ids, place = count(1), ("rules", KEYS[0])
    first, second = replica(world, "first", ids), replica(world, "second", ids)
    whole = await asked(world, first, Kind.RULE_UPDATE, [place], {"status": "Inactive"})
    late = world.truth()[place] | {"status": "Inactive"}

    assert not await carried_out(world, first, dying_at("write"))
    world.clock.moment += timedelta(seconds=61)
    assert await carried_out(world, second, once("look", lambda: world.edit(place, late)))

    assert await outcomes(world, whole) == [Outcome.APPLIED]
    assert world.writes == 0


@dataclass(frozen=True, slots=True)
class Flapping(RuleAdapter):
    """Rules that can be read back once: then somebody edits one, and the service is away for the next look."""

    meanwhile: Callable[[], None]
    looks: list[Target] = field(default_factory=list)

    async def snapshot(self, targets: Sequence[Target]) -> Snapshot:
        self.looks.extend(targets)
        if len(self.looks) > 1:
            raise Unreachable("rules", "away")
        found = await RuleAdapter.snapshot(self, targets)
        self.meanwhile()
        return found


async def test_one_change_is_not_sent_again_on_a_look_of_before_the_last(world: World) -> None:
    ids, place = count(1), ("rules", KEYS[0])
    first, second = replica(world, "first", ids), replica(world, "second", ids)
    theirs = fixed(world.truth()[place])

    wish = wanted(world, Kind.RULE_UPDATE, place, {"status": "Inactive"})
    approved = await record_only(first.pipeline, wish, idempotency_key="request")
    with pytest.raises(Died):
        await replace(first.pipeline.executor, failpoint=dying_at("write")).go_on(approved)
    world.clock.moment += timedelta(seconds=61)
    taken = await second.pipeline.journal.claim_due()
    assert taken is not None
    flapping = Flapping(world.rules, lambda: world.edit(place, theirs))
    ended = await replace(second.pipeline.executor, adapter=lambda *_: flapping).carry_out(taken)

    assert len(flapping.looks) > 1
    assert world.truth()[place] == theirs
    assert ended.state is State.UNKNOWN
