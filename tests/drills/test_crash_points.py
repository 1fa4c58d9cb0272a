"""The process is killed just before each of its steps: what was acknowledged is done once, and the card tells the truth."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.changes.model.change import Change
from bot.changes.model.edits import Kind
from bot.changes.model.states import State
from handlers.changes.titles import title_of
from sandbox.gatehouse import ALICE, CARA
from sandbox.services.seed import members
from sandbox.slack.story import Person
from tests.drills.fleet import OPS, PATIENCE, Fleet, in_turn, running_fleet, until
from tests.harness.databases import BOTH
from tests.harness.looking import open_details

OLD = "Redirect_x1old"
ANNA = members("site_1")[0]["email"]
BORN = "Born in a drill"


@dataclass(frozen=True, slots=True)
class Story:
    """How a change comes about: what Alice does, whether somebody must approve, and the write that it leads to."""

    kind: Kind
    begin: Callable[[Fleet, Person], Awaitable[bool]]
    approved: bool
    service: str
    method: str
    steps: tuple[str, ...]


async def _types(fleet: Fleet, alice: Person, text: str) -> bool:
    answer = await alice.types(text)
    return not answer.get("error")


async def _deletes(fleet: Fleet, alice: Person) -> bool:
    return await _types(fleet, alice, f"/rules delete {OLD} because nobody uses it")


async def _removes(fleet: Fleet, alice: Person) -> bool:
    return await _types(fleet, alice, f"/members remove {ANNA} because she left")


async def _creates(fleet: Fleet, alice: Person) -> bool:
    """The form opens before the process dies: until it is sent nothing is stored."""
    view = alice.modal or await alice.opens(
        f'/rules new redirect https://shop.example.com/born to https://shop.example.com/new named "{BORN}"'
    )
    answer = await fleet.slack.acting.submit(alice.id, view["id"], alice._values())
    assert not answer.get("errors"), answer
    return not answer.get("error")


async def _switches_off(fleet: Fleet, alice: Person) -> bool:
    """The small form opens as the other does."""
    if alice.modal is None:
        await alice.clicks(
            await alice.says("/rules which https://shop.example.com/old"), "Switch off…", opens="How long?"
        )
        alice.fills(**{"How long?": "Until I switch it on", "Why": "it loops"})
    view = alice.modal
    assert view is not None
    answer = await fleet.slack.acting.submit(alice.id, view["id"], alice._values())
    assert not answer.get("errors"), answer
    return not answer.get("error")


CLAIMED = ("claim:1", "look:1", "write:1", "sent:1", "read back:1", "record:1")
STORIES = {
    "delete a rule": Story(
        Kind.RULE_DELETE,
        _deletes,
        approved=True,
        service="rules",
        method="DELETE",
        steps=(
            *("store:1", "acknowledge:1", "run:1", "propose:1", "post:1", "posted:1", "finish:1"),
            *("store:2", "acknowledge:2", "run:2", *CLAIMED, "edit:1", "finish:2"),
        ),
    ),
    "create a rule": Story(
        Kind.RULE_CREATE,
        _creates,
        approved=False,
        service="rules",
        method="POST",
        steps=("store:1", "acknowledge:1", "run:1", "propose:1", *CLAIMED, "post:1", "posted:1", "finish:1"),
    ),
    "switch off by the small form": Story(
        Kind.RULE_UPDATE,
        _switches_off,
        approved=False,
        service="rules",
        method="PUT",
        steps=("store:1", "run:1", "propose:1", "record:1", "post:1"),  # what follows is as of any other form
    ),
    "remove a member": Story(
        Kind.MEMBER_REMOVE, _removes, approved=True, service="members", method="DELETE", steps=CLAIMED
    ),
}
CASES = [(name, step) for name, story in STORIES.items() for step in story.steps]
NOT_REPEATED = {("create a rule", "write:1")}
"""Nobody knows whether a create got to the service that was noted and not answered, so it is not sent again."""


@pytest.mark.threat("B1")
@pytest.mark.drill
@pytest.mark.parametrize(("database_url", "case"), in_turn(CASES), indirect=["database_url"])
async def test_killed_at_any_step_it_is_done_once_and_told_truly(
    case: tuple[str, str],
    database_url: str,
    tmp_path: Path,
) -> None:
    name, step = case
    story = STORIES[name]
    async with running_fleet(database_url, tmp_path) as fleet:
        if step == "sent:1":
            getattr(fleet.services, story.service).stage.faults.add("cut_after", method=story.method)
        await lived_through(fleet, story, step)
        change = (await fleet.all_changes())[0]

        writes = len(getattr(fleet.services, story.service).calls(story.method))
        assert len(await fleet.all_changes()) == 1
        assert fleet.replicas[0].starts == 2, "it died once, and only once"
        assert writes == effects(fleet, story) == (change.state is State.APPLIED)
        assert change.state is (State.UNSETTLED if case in NOT_REPEATED else State.APPLIED)
        assert await card(fleet, change) == title_of(change)


@pytest.mark.threat("B1")
@pytest.mark.drill
@pytest.mark.parametrize("database_url", BOTH, indirect=True)
async def test_killed_again_by_each_that_takes_over_it_is_still_done_once(database_url: str, tmp_path: Path) -> None:
    story = STORIES["delete a rule"]
    async with running_fleet(database_url, tmp_path) as fleet:
        (only,) = fleet.replicas
        only.start(die_at="write:1")
        await only.ready()
        fleet.deliver_to(only)
        await story.begin(fleet, Person(fleet.slack, ALICE.id, OPS))
        await fleet.settled()
        await approves(fleet, Person(fleet.slack, CARA.id, OPS))
        await only.dead()
        for _ in range(2):
            only.start(die_at="write:1")
            await only.dead()
        only.start()
        await fleet.settled()

        (change,) = await fleet.all_changes()
        assert change.state is State.APPLIED
        assert change.run.attempt == 4
        assert len(fleet.services.rules.calls("DELETE")) == effects(fleet, story) == 1


async def lived_through(fleet: Fleet, story: Story, step: str) -> None:
    """Play the story with a process that dies at *step* and is started again."""
    only = fleet.replicas[0]
    only.start(die_at=step)
    await only.ready()
    fleet.deliver_to(only)
    alice, cara = Person(fleet.slack, ALICE.id, OPS, patience=PATIENCE), Person(fleet.slack, CARA.id, OPS)
    keeper = asyncio.create_task(only.kept_up())
    try:
        await _insisted(fleet, step, "1", lambda: story.begin(fleet, alice))
        if story.approved:
            await _insisted(fleet, step, "2", lambda: approves(fleet, cara))
        await fleet.settled()
    finally:
        keeper.cancel()


async def _insisted(fleet: Fleet, step: str, number: str, act: Callable[[], Awaitable[bool]]) -> None:
    """Do it; once more where Slack said that it did not work and nothing of it can be known yet."""
    if not await act() and step == f"store:{number}":
        await until(fleet.replicas[0].started_anew, "the process is started again")
        await fleet.replicas[0].ready()
        assert await act(), "the second time it works"


async def approves(fleet: Fleet, cara: Person) -> bool:
    """Click on the card that is on record, once there is one."""
    (change,) = await fleet.all_changes() or await _first(fleet)
    cards = await fleet.cards([change])
    if change.edit.target.service == "members":
        await open_details(cara, cards[change.id])
    block_id, found = cara._button(cards[change.id], "v1.decide.approve")
    place = {"channel": OPS, "ts": cards[change.id].ts}
    ack = await fleet.slack.acting.act(cara.id, place, block_id, found["action_id"], {}, {})
    return not ack.failed


async def _first(fleet: Fleet) -> list[Change]:
    await fleet.settled()
    return await fleet.all_changes()


def effects(fleet: Fleet, story: Story) -> int:
    """How often the service did what was asked, as it stands now."""
    match story.kind:
        case Kind.RULE_DELETE:
            return int(fleet.services.rules.get(OLD) is None)
        case Kind.RULE_CREATE:
            return sum(rule["name"] == BORN for rule in fleet.services.rules.all())
        case Kind.RULE_UPDATE:
            return int((fleet.services.rules.get(OLD) or {})["status"] == "Inactive")
        case _:
            return int(fleet.services.members.get("site_1", ANNA) is None)


async def card(fleet: Fleet, change: Change) -> str:
    """What the card on record says has become of the change."""
    place = await fleet.store.cards.get(change.id, "card")
    assert place is not None
    message = fleet.slack.state.find(*place)
    assert message is not None
    return message.text
