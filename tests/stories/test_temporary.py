"""What is meant for a while ends by itself, once, and not over somebody else's work."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.changes.model import State
from sandbox.demo import Sandbox
from tests.conftest import Clock, until
from tests.harness.channels import buttons
from tests.harness.colleague import Colleague, ended, undone

OLD, NAME = "Redirect_x1old", "Old shop to new shop"
ANNA = "anna.berg@example.com"
HOUR = timedelta(hours=1)


def status(workspace: Sandbox) -> str:
    rule = workspace.services.rules.get(OLD)
    assert rule is not None
    return str(rule["status"])


async def test_a_rule_is_off_for_two_hours(workspace: Sandbox, alice: Colleague, clock: Clock) -> None:
    card = await alice.says(f"/rules off {OLD} for 2h because of the sale")
    assert "[Extend by 1 h]" in alice.slack_text(card)
    listed = alice.slack_text(await alice.says("/gatehouse timers"))
    assert NAME in listed

    clock.ahead += timedelta(minutes=115)
    await alice.sees_note(card, "offer")
    assert status(workspace) == "Inactive"
    clock.ahead += timedelta(minutes=5, seconds=1)
    back = await alice.sees_change(where=ended)

    assert back.ts == card.ts, "its end is told by the card that is there, and by no other"
    assert "[Switch off again…]" in alice.slack_text(back)
    assert status(workspace) == "Active"
    assert len(workspace.services.rules.calls("PUT")) == 2
    assert NAME not in alice.slack_text(await alice.says("/gatehouse timers"))


async def test_what_was_deleted_since_is_said_on_its_card_until_that_is_undone(
    alice: Colleague, cara: Colleague, clock: Clock
) -> None:
    card = await alice.says(f"/rules off {OLD} for 2h because of the sale")
    deletion = await alice.says(f"/rules delete {OLD}")
    await cara.clicks(deletion, "v1.decide.approve", confirm=True)

    assert await alice.sees_change(where=lambda change: change.edit.kind.destroys) is deletion
    gone = await alice.sees_change(where=lambda change: change.temporary)
    assert gone.ts == card.ts
    assert [one["action_id"] for one in buttons(gone.blocks)] == ["v1.run.details"], "there is nothing to extend"
    assert NAME not in alice.slack_text(await alice.says("/gatehouse timers"))

    await alice.clicks(deletion, "Undo")
    await alice.sees_change(where=undone)
    again = await alice.sees_change(where=lambda change: change.temporary)
    assert (again.ts, "[Switch on now]" in alice.slack_text(again)) == (card.ts, True)
    clock.ahead += timedelta(hours=2, minutes=1)
    assert (await alice.sees_change(where=ended)).ts == card.ts


@pytest.mark.parametrize(
    ("length", "label", "more"),
    [("2h", "Extend by 1 h", HOUR), ("1d", "Extend by 1 day", 24 * HOUR), ("7d", "Extend by 1 week", 7 * 24 * HOUR)],
)
async def test_an_extension_fits_the_length_of_the_change(
    alice: Colleague, length: str, label: str, more: timedelta
) -> None:
    card = await alice.says(f"/members grant {ANNA} vip for {length}")
    end = (await alice.change_of(card)).request.reverts_at
    assert end is not None

    await alice.clicks(card, label)
    await alice.sees_change(where=lambda change: change.request.reverts_at == end + more)


async def test_the_end_is_read_in_the_zone_of_whoever_wrote_it(workspace: Sandbox, alice: Colleague) -> None:
    users = workspace.slack.state.users
    users[alice.id] = replace(users[alice.id], tz="Asia/Tokyo")

    card = await alice.says(f"/rules off {OLD} until 18:00")

    assert "18:00 Asia/Tokyo" in alice.slack_text(card)


async def test_the_end_is_read_in_the_zone_that_was_typed(alice: Colleague) -> None:
    card = await alice.says(f"/rules off {OLD} until tomorrow 18:00 utc")

    assert "18:00 UTC" in alice.slack_text(card)


@pytest.mark.threat("B14")
async def test_the_end_comes_late_after_downtime_and_says_so(
    workspace: Sandbox, alice: Colleague, clock: Clock
) -> None:
    workspace.services.rules.stage.faults.clear()
    await alice.says(f"/rules off {OLD} for 1h")

    clock.ahead += 4 * HOUR
    card = await alice.sees_change(where=ended)

    change = await alice.change_of(card)
    assert change.run.undone is not None
    assert change.run.undone.cause.late_seconds // 3600 == 3
    assert alice.thread(card) == [], "nobody is asked whether it is to be extended"


@pytest.mark.threat("B14")
async def test_what_somebody_changed_since_is_left_and_asked_about(
    workspace: Sandbox, alice: Colleague, clock: Clock
) -> None:
    card = await alice.says(f"/rules off {OLD} for 1h")
    rule = workspace.services.rules.get(OLD) or {}
    workspace.services.rules.put({**rule, "name": "Somebody's work"})

    clock.ahead += HOUR + timedelta(seconds=1)
    await alice.sees_note(card, "left")
    left = await alice.sees_change(where=lambda change: change.run.revert_failure == "changed")
    assert status(workspace) == "Inactive"

    await alice.clicks(left, "v1.decide.putback")
    asked = await alice.sees_change(state=State.PROPOSED)
    assert status(workspace) == "Inactive"
    await alice.clicks(asked, "v1.decide.confirm", confirm=True)
    await alice.sees_change(where=undone)
    assert status(workspace) == "Active"


async def test_what_is_gone_is_left_alone(workspace: Sandbox, alice: Colleague, clock: Clock) -> None:
    card = await alice.says(f"/rules off {OLD} for 1h")
    workspace.services.rules.remove(OLD)

    clock.ahead += HOUR + timedelta(seconds=1)
    await alice.sees_note(card, "left")

    assert (await alice.change_of(card)).run.revert_failure == "gone"
    assert workspace.services.rules.calls("POST") == []


async def test_extended_kept_or_ended_at_once(
    workspace: Sandbox, alice: Colleague, cara: Colleague, clock: Clock
) -> None:
    card = await alice.says(f"/rules off {OLD} for 1h")
    end = (await alice.change_of(card)).request.reverts_at
    assert end is not None
    await cara.clicks(card, "v1.decide.extend")
    later = await alice.sees_change(where=lambda change: change.request.reverts_at == end + HOUR)
    clock.ahead += HOUR + timedelta(minutes=55)
    await alice.sees_note(card, "offer")
    assert status(workspace) == "Inactive"

    await alice.clicks(later, "v1.decide.stay")
    await alice.sees_change(where=lambda change: not change.temporary)
    clock.ahead += 9 * HOUR
    assert NAME not in alice.slack_text(await alice.says("/gatehouse timers"))
    assert status(workspace) == "Inactive"


@pytest.mark.threat("B14")
async def test_ended_early_it_ends_once(workspace: Sandbox, alice: Colleague, clock: Clock) -> None:
    card = await alice.says(f"/rules off {OLD} for 1h")

    await alice.clicks(card, "v1.decide.end")
    await alice.sees_change(where=undone)
    clock.ahead += 2 * HOUR
    await alice.says("/gatehouse timers")

    assert len(workspace.services.rules.calls("PUT")) == 2


@pytest.mark.threat("D7")
@pytest.mark.parametrize("jump", [timedelta(minutes=10), timedelta(hours=-1)])
async def test_a_clock_that_jumps_ends_nothing_early_or_twice(
    workspace: Sandbox, alice: Colleague, clock: Clock, jump: timedelta
) -> None:
    await alice.says(f"/rules off {OLD} for 1h")

    clock.ahead += jump
    await alice.says("/gatehouse timers")
    assert status(workspace) == "Inactive"
    clock.ahead = HOUR + timedelta(seconds=1)
    await alice.sees_change(where=ended)
    clock.ahead -= HOUR
    await alice.says("/gatehouse timers")

    assert len(workspace.services.rules.calls("PUT")) == 2


async def test_a_temporary_rule_is_made_in_a_form_and_deleted_at_its_end(
    workspace: Sandbox, alice: Colleague, clock: Clock
) -> None:
    await alice.opens("/rules new https://shop.example.com/a to https://shop.example.com/b for 2h")
    alice.fills(Name="For the sale", Revert_after="whenever")
    assert set(await alice.submits()) == {"Revert after"}
    alice.fills(Revert_after="3 hours")
    assert await alice.submits() == {}
    await alice.sees_change(of="For the sale")

    clock.ahead += 3 * HOUR + timedelta(seconds=1)
    await alice.sees_change(of="For the sale", where=ended)

    assert not any(rule["name"] == "For the sale" for rule in workspace.services.rules.all())


async def test_access_is_given_for_a_week(workspace: Sandbox, bob: Colleague, clock: Clock) -> None:
    before = workspace.services.members.get("site_1", ANNA) or {}
    await bob.says(f"/members grant {ANNA} beta for 7d")

    clock.ahead += timedelta(days=7, seconds=1)
    await bob.sees_change(where=ended)

    after = workspace.services.members.get("site_1", ANNA) or {}
    assert sorted(after["allowedSegments"]) == sorted(before["allowedSegments"])


@pytest.mark.threat("B16")
async def test_a_service_that_is_down_at_the_end_only_delays_it(
    workspace: Sandbox, alice: Colleague, clock: Clock
) -> None:
    await alice.says(f"/rules off {OLD} for 1h")
    workspace.services.rules.stage.faults.add("500", method="GET", times=3)

    clock.ahead += HOUR + timedelta(seconds=1)
    await until(lambda: workspace.services.rules.stage.faults.waiting[0].times == 0)

    def a_minute_later() -> bool:
        clock.ahead += timedelta(minutes=1)
        return len(workspace.services.rules.calls("PUT")) == 2

    await until(a_minute_later)
    await alice.sees_change(where=ended)


NEEDS_APPROVAL = """
[[guards]]
operation = "rule.create"
guard = "approve"

[[guards]]
operation = "rule.delete"
guard = "approve"
"""


@pytest.mark.policy(NEEDS_APPROVAL)
async def test_no_request_puts_the_end_off(workspace: Sandbox, alice: Colleague, cara: Colleague, clock: Clock) -> None:
    await alice.opens("/rules new https://shop.example.com/a to https://shop.example.com/b for 1h")
    alice.fills(Name="For an hour")
    await alice.submits()
    await cara.clicks(await alice.sees_change(of="For an hour", state=State.PROPOSED), "Approve")
    await alice.sees_change(of="For an hour")
    waiting = await alice.says("/gatehouse undo")

    clock.ahead += HOUR + timedelta(seconds=1)
    await alice.sees_change(where=ended)

    assert not [rule for rule in workspace.services.rules.all() if rule["name"] == "For an hour"]
    assert (await alice.sees_change(state=State.STALE)).ts == waiting.ts


async def test_what_others_did_to_a_member_since_stays_when_access_ends(
    workspace: Sandbox, bob: Colleague, clock: Clock
) -> None:
    await bob.says(f"/members grant {ANNA} beta for 1h")
    await bob.sees_change(of=ANNA)
    member = dict(workspace.services.members.get("site_1", ANNA) or {})
    held = member["allowedSegments"]
    workspace.services.members.put("site_1", member | {"allowedSegments": [*held, "staff"]})

    clock.ahead += HOUR + timedelta(seconds=1)
    await bob.sees_change(where=ended)

    left = (workspace.services.members.get("site_1", ANNA) or {})["allowedSegments"]
    assert set(left) == {*held, "staff"} - {"beta"}
