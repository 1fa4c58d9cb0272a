"""What is meant for later begins at its time, once, with the rights and rules of then; else it is held, and people are asked."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa

from bot.changes.consequences import LATE_START
from bot.changes.model.change import Change
from bot.changes.model.parts import Held
from bot.changes.model.states import State
from bot.store.outbox import Purpose
from bot.store.tables import outbox
from sandbox.demo import Sandbox
from tests.conftest import OPS, Clock, until
from tests.harness.channels import buttons
from tests.harness.colleague import Colleague, ended
from tests.harness.held_service import Held as HeldService
from tests.harness.looking import approve_card
from tests.harness.truth import all_changes

OLD, NAME = "Redirect_x1old", "Old shop to new shop"
ANNA = "anna.berg@example.com"
HOUR, MOMENT = timedelta(hours=1), timedelta(seconds=1)


def status(workspace: Sandbox) -> str:
    rule = workspace.services.rules.get(OLD)
    assert rule is not None
    return str(rule["status"])


async def labels(person: Colleague) -> list[str]:
    card = await person.sees_change(state=State.PLANNED)
    return [str(one["text"]["text"]) for one in buttons(card.blocks)]


async def test_a_rule_is_switched_off_in_two_hours_for_one(workspace: Sandbox, alice: Colleague, clock: Clock) -> None:
    await alice.types(f"/rules off {OLD} in 2h for 1h because of the sale")
    card = await alice.sees_change(state=State.PLANNED)
    assert NAME in alice.slack_text(await alice.says("/gatehouse planned"))
    assert NAME in alice.slack_text(await alice.says("/gatehouse timers")), "as it was called before"

    clock.ahead += timedelta(minutes=110, seconds=5)
    await alice.sees_note(card, "starts")
    assert status(workspace) == "Active"
    clock.ahead += timedelta(minutes=10)
    done = await alice.sees_change()
    assert done.ts == card.ts, "one thing, one card"
    assert status(workspace) == "Inactive"
    await alice.sees_note(card, "started")

    clock.ahead += HOUR + MOMENT
    await alice.sees_change(where=ended)
    assert status(workspace) == "Active", "its end counts from its start"


@pytest.mark.parametrize(
    "text",
    [
        f"/rules off {OLD} tomorrow 9:00",
        f"/rules off {OLD} on 24 Dec 9:00 until 25 Dec 18:00 because of the holidays",
        f"/rules delete {OLD} tomorrow 9:00",
        f"/rules off {OLD} Redirect_chk01 tomorrow 9:00",
        '/rules make redirect https://shop.example.com/sale to https://shop.example.com/w named "Sale" tomorrow 9:00',
        f"/members grant {ANNA} vip tomorrow 9:00 for 30d",
        f"/members revoke {ANNA} free tomorrow 9:00",
        f"/members remove {ANNA} tomorrow 9:00",
        f"/members offboard {ANNA} tomorrow 9:00",
    ],
)
@pytest.mark.policy('[[guards]]\noperation = "*"\nguard = "none"')
async def test_whatever_can_be_changed_can_be_changed_later(
    workspace: Sandbox, cara: Colleague, clock: Clock, text: str
) -> None:
    before = len(writes(workspace))
    await cara.types(text)
    card = await cara.sees_change(state=State.PLANNED)
    assert len(writes(workspace)) == before
    await cara.clicks(card, "v1.decide.now", confirm=any(one.get("confirm") for one in buttons(card.blocks)))

    done = await cara.sees_change()
    assert done.ts == card.ts
    assert len(writes(workspace)) > before


@pytest.mark.parametrize("text", [f"/rules on {OLD} in 2h", "/rules group on Sales campaigns in 2h"])
async def test_what_is_switched_so_already_at_its_time_is_told(
    workspace: Sandbox, alice: Colleague, clock: Clock, text: str
) -> None:
    await alice.types(text)
    await alice.sees_change(state=State.PLANNED)
    clock.ahead += 2 * HOUR + MOMENT
    await alice.sees_change(state=State.STALE)
    assert writes(workspace) == []


def writes(workspace: Sandbox) -> list[str]:
    services = workspace.services
    return [call.method for call in (*services.rules.calls(), *services.members.calls()) if call.method != "GET"]


@pytest.mark.threat("B17")
async def test_an_approval_is_for_its_time(workspace: Sandbox, alice: Colleague, cara: Colleague, clock: Clock) -> None:
    await alice.types(f"/rules delete {OLD} in 2h")
    asked = await alice.sees_change(state=State.PROPOSED)
    await approve_card(cara, asked)
    card = await alice.sees_change(state=State.PLANNED)
    assert await labels(alice) == ["Ask to do it now", "Change time…", "Withdraw", "Details"]

    await alice.decides(card, "v1.decide.replan", "When?", "in 3h")
    again = await alice.sees_change(state=State.PROPOSED, where=lambda change: change.decision.approvals == ())
    assert again.ts == card.ts
    clock.ahead += 2 * HOUR + MOMENT
    assert workspace.services.rules.get(OLD) is not None, "nobody approved that time yet"
    await approve_card(cara, again)
    await alice.sees_change(state=State.PLANNED)

    clock.ahead += HOUR + MOMENT
    await alice.sees_change()
    assert workspace.services.rules.get(OLD) is None


@pytest.mark.threat("B17")
@pytest.mark.parametrize("button", ["v1.decide.now", "v1.decide.keep"])
async def test_who_may_not_make_the_change_neither_begins_nor_cancels_it(
    workspace: Sandbox, alice: Colleague, cara: Colleague, button: str
) -> None:
    channels, dan = workspace.slack.state.channels, Colleague(workspace, "U0DAN0001", OPS)  # a guest
    channels[OPS] = replace(channels[OPS], members=(*channels[OPS].members, dan.id))
    await alice.types(f"/rules off {OLD} in 2h")
    card = await alice.sees_change(state=State.PLANNED)
    await dan.clicks(card, button)
    await dan.sees_problem()
    assert writes(workspace) == []
    assert (await alice.change_of(card)).state is State.PLANNED

    await cara.clicks(card, button)
    done = await cara.sees_change(state=State.APPLIED if button.endswith("now") else State.CANCELLED)
    assert f"by @{cara.id}" in cara.slack_text(done), "who decided about somebody else's plan is on its card"


async def test_an_edit_in_between_makes_the_plan_stale(
    workspace: Sandbox, alice: Colleague, cara: Colleague, clock: Clock
) -> None:
    await alice.types(f"/rules off {OLD} in 2h")
    await alice.sees_change(state=State.PLANNED)
    await cara.types(f'/rules set {OLD} description="Other"')
    await cara.sees_change()

    card = await alice.sees_change(state=State.STALE)
    await alice.is_notified("failed")
    await alice.clicks(card, "v1.decide.again")
    again = await alice.sees_change(state=State.PROPOSED)
    await alice.clicks(again, "v1.decide.confirm", confirm=any(one.get("confirm") for one in buttons(again.blocks)))
    await alice.sees_change(state=State.PLANNED)
    clock.ahead += 2 * HOUR + MOMENT
    await alice.sees_change(where=lambda change: change.request.starts_at is not None)
    assert status(workspace) == "Inactive"


@pytest.mark.threat("B17")
async def test_what_is_late_by_more_than_a_quarter_is_asked_about(
    workspace: Sandbox, alice: Colleague, clock: Clock
) -> None:
    await alice.types(f"/rules off {OLD} in 2h")
    card = await alice.sees_change(state=State.PLANNED)
    clock.ahead += 2 * HOUR + LATE_START + MOMENT
    await alice.sees_change(state=State.PLANNED, where=lambda change: change.run.held is Held.LATE)
    await alice.sees_note(card, "held")
    assert writes(workspace) == []

    await alice.clicks(await alice.sees_change(state=State.PLANNED), "v1.decide.now")
    await alice.sees_change()
    assert status(workspace) == "Inactive"


@pytest.mark.threat("B17")
async def test_who_lost_the_right_meanwhile_begins_nothing(
    workspace: Sandbox, alice: Colleague, cara: Colleague, clock: Clock
) -> None:
    await alice.types(f"/rules off {OLD} in 2h")
    await cara.sees_change(state=State.PLANNED)
    users = workspace.slack.state.users
    users[alice.id] = replace(users[alice.id], is_deleted=True)
    clock.ahead += 2 * HOUR + MOMENT

    await cara.sees_change(state=State.PLANNED, where=lambda change: change.run.held is Held.RIGHT)
    assert writes(workspace) == []


async def test_a_service_that_is_down_at_the_moment_is_waited_for(
    workspace: Sandbox, alice: Colleague, clock: Clock
) -> None:
    await alice.types(f"/rules off {OLD} in 2h")
    await alice.sees_change(state=State.PLANNED)
    faults = workspace.services.rules.stage.faults
    faults.add("cut_before", times=10_000)
    clock.ahead += 2 * HOUR + MOMENT
    async with asyncio.timeout(30):
        tries = sa.select(sa.func.max(outbox.c.attempt)).where(outbox.c.purpose == Purpose.START)
        while not await alice.store.session.scalar(tries):  # noqa: ASYNC110  nothing tells a try
            await asyncio.sleep(0.01)
    assert status(workspace) == "Active"

    faults.clear()
    faults.add("429", method="PUT", times=1)
    clock.ahead += timedelta(minutes=5)
    await alice.sees_change(state=State.APPROVED)
    clock.ahead += timedelta(minutes=5)
    await alice.sees_change()
    assert status(workspace) == "Inactive"


@pytest.mark.threat("B17")
async def test_what_is_put_off_while_it_is_about_to_start_does_not_start(
    workspace: Sandbox, alice: Colleague, clock: Clock
) -> None:
    await alice.types(f"/rules off {OLD} in 2h")
    card = await alice.sees_change(state=State.PLANNED)
    stage = workspace.services.rules.stage
    stage.faults = held = HeldService()
    clock.ahead += 2 * HOUR + MOMENT
    async with asyncio.timeout(30):
        await held.asked.wait()
    await alice.decides(card, "v1.decide.replan", "When?", "in 3h")
    await alice.sees_change(state=State.PLANNED, where=lambda change: (change.request.starts_at or clock()) > clock())

    held.free.set()
    await _nothing_is_due(alice)
    assert status(workspace) == "Active"
    clock.ahead += 3 * HOUR
    await alice.sees_change()
    assert status(workspace) == "Inactive"


@pytest.mark.parametrize(
    "text",
    [
        f"/rules off {OLD} tomorrow 9:00 until tomorrow 18:00",
        f"/rules off {OLD} in 20h until tomorrow 18:00",
        f"/rules pause {OLD} tomorrow 9:00 until tomorrow 18:00",
        f"/rules pause {OLD} tomorrow 9:00 until 18:00",
        "/gatehouse freeze shop.example.com tomorrow 9:00 until tomorrow 18:00",
    ],
)
async def test_until_tomorrow_is_tomorrow_whenever_it_starts(alice: Colleague, clock: Clock, text: str) -> None:
    clock.ahead += datetime.now(UTC).replace(hour=13, minute=0) - datetime.now(UTC)
    day = (clock() + timedelta(days=1)).astimezone(ZoneInfo("Europe/Berlin")).replace(hour=18, minute=0)
    answer = await alice.does(text)
    assert f"until {day.astimezone(UTC):%Y-%m-%d %H:%M}" in alice.slack_text(answer)


@pytest.mark.parametrize("verb", ["off", "pause"])
async def test_a_start_that_clocks_skip_is_refused(alice: Colleague, clock: Clock, verb: str) -> None:
    clock.ahead += datetime(2027, 3, 1, 12, tzinfo=UTC) - datetime.now(UTC)
    for text in ("on 28 March 2:30 until 3:00", "on 28 March 2:30", "from 2:30 to 4:00 on 28 March"):
        answer = alice.slack_text(await alice.says(f"/rules {verb} {OLD} {text}"))
        assert "clocks skip" in answer, answer
    assert await alice.store.changes.list_planned() == []
    await alice.says(f"/rules off {OLD} on 28 March 3:30 until 4:00")
    await alice.sees_change(state=State.PLANNED)


@pytest.mark.parametrize("verb", ["off", "pause"])
async def test_what_would_end_before_it_starts_is_refused(alice: Colleague, verb: str) -> None:
    answer = await alice.says(f"/rules {verb} {OLD} tomorrow 9:00 until tomorrow 8:00")
    assert "end before it starts" in alice.slack_text(answer)
    assert await alice.store.changes.list_planned() == []


async def test_a_plan_is_not_moved_to_its_end(alice: Colleague) -> None:
    card = await alice.says(f"/rules off {OLD} tomorrow 9:00 until tomorrow 10:00")
    await alice.decides(card, "Change time…", "When?", "tomorrow 10:00")
    assert "end before it starts" in str(alice.modal)
    await alice.clicks(card, "Do it now")
    assert (await alice.change_of(await alice.sees_change())).is_temporary


@pytest.mark.slow
async def test_five_hundred_plans_of_a_channel_are_each_begun_once(
    workspace: Sandbox, alice: Colleague, clock: Clock
) -> None:
    rules, old = workspace.services.rules, workspace.services.rules.get(OLD) or {}
    ids = [f"Redirect_p{number:03}" for number in range(500)]
    for each in ids:
        rules.put({**old, "id": each, "name": f"Plan {each}"})
    for number in range(0, 500, 100):
        asked = await alice.says(f"/rules off {' '.join(ids[number : number + 100])} in 2h")
        assert "Switch off 100 rules" in alice.slack_text(asked)

    clock.ahead += 2 * HOUR + MOMENT
    await until(lambda: len(rules.calls("PUT")) >= 500, seconds=120)
    await alice.sees_set(applied=100)
    assert sorted(call.path for call in rules.calls("PUT")) == [f"/v1/rules/{each}" for each in ids]


@pytest.mark.parametrize(
    ("text", "show"),
    [
        (f"/rules off {OLD} tomorrow 9:00", f"/rules show {OLD}"),
        (f"/rules off {OLD} for 2h", f"/rules show {OLD}"),
        (f"/members grant {ANNA} vip tomorrow 9:00", f"/members show {ANNA}"),
    ],
)
async def test_what_will_become_of_a_thing_is_said_where_it_is_shown(alice: Colleague, text: str, show: str) -> None:
    card = await alice.says(text)
    change = await alice.change_of(card)

    async with asyncio.timeout(30):
        while not (link := await alice.store.cards.link(change.id)):  # noqa: ASYNC110  noted a moment after the card is there
            await asyncio.sleep(0.01)

    assert link in str((await alice.says(show)).blocks)


SHOP = "https://shop.example.com"


async def upcoming(person: Colleague) -> list[Change]:
    """The changes that will start or be reverted."""
    return [each for each in await all_changes(person.store) if each.state is State.PLANNED or each.is_temporary]


async def _nothing_is_due(person: Colleague) -> None:
    """Return once all that is due was tried and told."""
    store = person.store

    async def is_queued() -> bool:
        left = await store.outbox.backlogs()
        return left["timer"][0] + left["message"][0] > 0

    async def is_due() -> bool:
        # What is due becomes work, and that a message: it may move on between two looks.
        if await is_queued():
            return True
        counts = await store.changes.count_by_state()
        return any(counts.get(state, 0) for state in (State.APPROVED, State.APPLYING)) or await is_queued()

    async with asyncio.timeout(10):
        while await is_due():  # noqa: ASYNC110  no event tells of it
            await asyncio.sleep(0.01)


SO_FOR_A_WHILE = [
    f"/rules off {OLD}",
    f"/rules off {OLD} Redirect_chk01",
    "/rules group off Sales campaigns",
    f"/members grant {ANNA} vip",
]


@pytest.mark.policy('[[guards]]\noperation = "*"\nguard = "none"')
@pytest.mark.parametrize("text", SO_FOR_A_WHILE)
async def test_what_is_so_for_a_while_only_is_not_called_so(alice: Colleague, clock: Clock, text: str) -> None:
    await alice.says(f"{text} for 2h")
    await _nothing_is_due(alice)
    for then in ("", " for 5h"):
        answer = alice.slack_text(await alice.says(text + then))
        assert f"reverts {clock() + 2 * HOUR:%Y-%m-%d}" in answer
        assert "card" in answer

    await alice.says(f"{text} in 5h")
    await alice.sees_change(state=State.PLANNED)
    clock.ahead += 2 * HOUR + MOMENT
    await _nothing_is_due(alice)
    clock.ahead += 3 * HOUR + MOMENT
    await _nothing_is_due(alice)
    assert await upcoming(alice) == []
    assert State.STALE not in {each.state for each in await all_changes(alice.store)}


async def _everything_is_done(person: Colleague, clock: Clock) -> None:
    """Return once all that is due was done, also what has to wait until something else was."""
    for _ in range(4):
        await _nothing_is_due(person)
        clock.ahead += 11 * MOMENT


@pytest.mark.first(2)
@pytest.mark.threat("B17")
@pytest.mark.policy('[[guards]]\noperation = "*"\nguard = "none"')
@pytest.mark.parametrize("text", SO_FOR_A_WHILE)
async def test_what_starts_when_something_ends_starts_after_it(alice: Colleague, clock: Clock, text: str) -> None:
    end = f"{clock() + 2 * HOUR:%H:%M} UTC"
    await alice.says(f"{text} until {end}")
    await _nothing_is_due(alice)
    await alice.says(f"{text} at {end} for 1h")
    await _nothing_is_due(alice)

    clock.ahead += 2 * HOUR + MOMENT
    await _everything_is_done(alice, clock)
    ends = [change.request.reverts_at for change in await upcoming(alice)]
    assert len(ends) == 1, "the second one is there, and is to end"
    clock.ahead += HOUR + MOMENT
    await _everything_is_done(alice, clock)
    assert await upcoming(alice) == []
    assert {each.state for each in await all_changes(alice.store)} == {State.APPLIED}


async def test_of_two_plans_that_are_due_the_earlier_begins_first(alice: Colleague, clock: Clock) -> None:
    for text in (f"/rules off {OLD} in 20m", f'/rules set {OLD} description="Sale" in 10m'):
        await alice.does(text)
    clock.ahead += timedelta(minutes=21)
    await alice.sees_change(where=lambda change: "Sale" in str(change.edit.after))
    await alice.sees_change(state=State.STALE)


@pytest.mark.first(2)
@pytest.mark.threat("B17")
@pytest.mark.policy('[[guards]]\noperation = "*"\nguard = "none"')
@pytest.mark.parametrize("text", SO_FOR_A_WHILE[:2])
@pytest.mark.parametrize("down", [False, True])
async def test_what_was_made_last_ends_first(alice: Colleague, clock: Clock, text: str, *, down: bool) -> None:
    """At one time, or after a downtime in which both were to end."""
    inside = f'/rules set {OLD} description="Sale"'
    times = ("for 2h", "for 1h") if down else [f"until {clock() + 2 * HOUR:%H:%M} UTC"] * 2
    for each, time in zip((text, inside), times, strict=True):
        await alice.says(f"{each} {time}")
        await _nothing_is_due(alice)

    clock.ahead += 3 * HOUR
    await _everything_is_done(alice, clock)
    assert await upcoming(alice) == []
    made = [each for each in await all_changes(alice.store) if each.request.undoes is None and each.set_id is None]
    assert [ended(each) for each in made] == [True, True]


@pytest.mark.parametrize("text", [f"/rules off {OLD} in 2h", f"/rules delete {OLD}"])
async def test_what_was_to_be_said_before_it_is_not_said_after_a_downtime(
    alice: Colleague, clock: Clock, text: str
) -> None:
    card = await alice.says(text)
    await alice.change_of(card)
    clock.ahead += timedelta(days=2)
    if "delete" in text:
        await alice.sees_change(state=State.EXPIRED)
        assert alice.thread(card) == []
    else:
        held = await alice.sees_note(card, "held")
        assert alice.thread(card) == [held]


BACK = {
    f"/rules off {OLD}": f"/rules on {OLD}",
    "/rules group off Sales campaigns": "/rules group on Sales campaigns",
    f"/members grant {ANNA} vip": f"/members revoke {ANNA} vip",
}


@pytest.mark.policy('[[guards]]\noperation = "*"\nguard = "none"')
@pytest.mark.parametrize("text", BACK)
async def test_what_is_planned_is_planned_back(alice: Colleague, clock: Clock, text: str) -> None:
    await alice.says(f"{text} in 2h")
    assert "planned, starts" in alice.slack_text(await alice.says(BACK[text]))
    await alice.says(f"{BACK[text]} in 5h")
    assert len(await upcoming(alice)) == 2
    for ahead in (2 * HOUR + MOMENT, 3 * HOUR + MOMENT):
        clock.ahead += ahead
        await _nothing_is_due(alice)
    assert [each.state for each in await all_changes(alice.store)] == [State.APPLIED] * 2


MAKE = f'/rules make redirect {SHOP}/sale to {SHOP}/w named "Sale"'


@pytest.mark.parametrize("when", ["", " tomorrow 9:00"])
async def test_who_asks_twice_for_a_rule_has_one(alice: Colleague, when: str) -> None:
    await alice.says(f"{MAKE}{when}")
    await alice.is_refused(f"{MAKE}{when}")

    assert len(await all_changes(alice.store)) == 1


async def test_what_is_left_out_is_said(alice: Colleague) -> None:
    await alice.types(f"/rules off {OLD} for 2h")
    await alice.sees_change()
    await alice.says(f"/rules off {OLD} Redirect_chk01")
    card = alice.slack_text(await alice.sees_change(where=lambda each: bool(each.request.warnings)))
    assert f"Already so, and left out: {NAME}." in card


@pytest.mark.parametrize(
    "command", [f"/rules off {OLD} tomorrow 9:00", f"/members grant {ANNA} vip tomorrow 9:00 for 2h"]
)
async def test_what_is_planned_is_not_planned_twice(
    workspace: Sandbox, alice: Colleague, bob: Colleague, command: str
) -> None:
    await alice.says(command)
    await alice.sees_change(state=State.PLANNED)
    for person in (alice, bob):
        assert "planned, starts " in person.slack_text(refused := await person.is_refused(command, OPS))
        assert f"@{alice.id}" in person.slack_text(refused)
    await bob.says(command.replace("9:00", "10:00"), OPS)
    assert len(await workspace.bot.gatehouse.store.changes.list_planned()) == 2


async def test_a_card_says_who_else_changed_its_time(alice: Colleague, bob: Colleague) -> None:
    await alice.says(f"/rules off {OLD} tomorrow 9:00 for 2h", OPS)
    card = await bob.sees_change(state=State.PLANNED)
    await bob.clicks(card, "Change time…", opens="When?")
    bob.fills(**{"When?": "tomorrow 10:00"})
    await bob.submits()
    assert f"time changed by @{bob.id}" in alice.slack_text(await alice.sees("time changed"))

    await alice.clicks(card, "Do it now")
    done = await alice.sees_change()
    await bob.clicks(done, "Change end…", opens="New end")
    bob.fills(New_end="Keep off")
    await bob.submits()
    assert f"kept by @{bob.id}" in alice.slack_text(await alice.sees("kept by"))


async def test_of_many_plans_of_one_rule_none_is_left_out_without_a_word(alice: Colleague) -> None:
    for hours in range(7, 0, -1):
        await alice.types(f'/rules set {OLD} description="plan {hours}" in {hours}h')
        await alice.sees_change(
            state=State.PLANNED,
            where=lambda change: f"plan {hours}" in str(change.edit.after),  # noqa: B023  at once
        )

    shown = alice.slack_text(await alice.says(f"/rules show {OLD}"))
    assert shown.count("starts") == 5
    assert "…and 2 more" in shown
