"""What is meant for a while ends by itself, once, and not over somebody else's work."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from sandbox.demo import Sandbox
from sandbox.slack.story import Person
from tests.conftest import Clock, until

OLD = "Redirect_x1old"
ANNA = "anna.berg@example.com"
HOUR = timedelta(hours=1)


def status(workspace: Sandbox) -> str:
    rule = workspace.services.rules.get(OLD)
    assert rule is not None
    return str(rule["status"])


async def test_a_rule_is_off_for_two_hours(workspace: Sandbox, alice: Person, clock: Clock) -> None:
    card = await alice.says(f"/rules off {OLD} for 2h because of the sale")
    assert "[Extend by 1 h]" in alice.slack_text(card)
    listed = alice.slack_text(await alice.says("/gatehouse timers"))
    assert "Switch off “Old shop to new shop”" in listed

    clock.ahead += timedelta(minutes=115)
    await alice.sees_reply(card, "Extend or keep it")
    assert status(workspace) == "Inactive"
    clock.ahead += timedelta(minutes=5, seconds=1)
    back = await alice.sees("is back on")

    assert back.ts == card.ts, "its end is told by the card that is there, and by no other"
    assert "[Switch off again…]" in alice.slack_text(back)
    assert status(workspace) == "Active"
    assert len(workspace.services.rules.calls("PUT")) == 2
    assert "Nothing is temporary right now" in alice.slack_text(await alice.says("/gatehouse timers"))


async def test_what_was_deleted_since_is_said_on_its_card_until_that_is_undone(
    workspace: Sandbox, alice: Person, cara: Person, clock: Clock
) -> None:
    card = await alice.says(f"/rules off {OLD} for 2h because of the sale")
    deletion = await alice.says(f"/rules delete {OLD}")
    await cara.clicks(deletion, "v1.decide.approve", confirm=True)

    gone = await alice.sees("Deleted by")
    assert gone.ts == card.ts
    text = alice.slack_text(gone)
    assert "Deleted by @U0ALICE01" in text
    assert not any(button in text for button in ("[Switch", "[Extend", "[Keep")), "there is nothing to switch or extend"
    assert "Nothing is temporary right now" in alice.slack_text(await alice.says("/gatehouse timers"))

    await alice.clicks(await alice.sees("“Old shop to new shop” deleted"), "Undo")
    again = await alice.sees("“Old shop to new shop” is off until")
    assert (again.ts, "[Switch on now]" in alice.slack_text(again)) == (card.ts, True)
    clock.ahead += timedelta(hours=2, minutes=1)
    assert (await alice.sees("is back on")).ts == card.ts


@pytest.mark.parametrize(
    ("length", "label", "more"),
    [("2h", "Extend by 1 h", HOUR), ("1d", "Extend by 1 day", 24 * HOUR), ("7d", "Extend by 1 week", 7 * 24 * HOUR)],
)
async def test_an_extension_fits_the_length_of_the_change(
    workspace: Sandbox, alice: Person, length: str, label: str, more: timedelta
) -> None:
    changes = workspace.bot.gatehouse.store.changes
    card = await alice.says(f"/members grant {ANNA} vip for {length}")
    (before,) = await changes.of_requester(alice.id, 1)
    assert before.request.reverts_at is not None

    await alice.clicks(card, label)
    await alice.sees(f"until {before.request.reverts_at + more:%Y-%m-%d %H:%M}")


async def test_the_end_is_read_in_the_zone_of_whoever_wrote_it(workspace: Sandbox, alice: Person) -> None:
    users = workspace.slack.state.users
    users[alice.id] = replace(users[alice.id], tz="Asia/Tokyo")

    card = await alice.says(f"/rules off {OLD} until 18:00")

    assert "18:00 Asia/Tokyo" in alice.slack_text(card)


async def test_the_end_is_read_in_the_zone_that_was_typed(alice: Person) -> None:
    card = await alice.says(f"/rules off {OLD} until tomorrow 18:00 utc")

    assert "18:00 UTC" in alice.slack_text(card)


@pytest.mark.threat("B14")
async def test_the_end_comes_late_after_downtime_and_says_so(workspace: Sandbox, alice: Person, clock: Clock) -> None:
    workspace.services.rules.stage.faults.clear()
    await alice.says(f"/rules off {OLD} for 1h")

    clock.ahead += 4 * HOUR
    card = await alice.sees("is back on")

    assert "3 h late" in alice.slack_text(card)
    assert not [one for one in workspace.slack.state.messages if "The card has the buttons" in str(one.blocks)]


@pytest.mark.threat("B14")
async def test_what_somebody_changed_since_is_left_and_asked_about(
    workspace: Sandbox, alice: Person, clock: Clock
) -> None:
    card = await alice.says(f"/rules off {OLD} for 1h")
    rule = workspace.services.rules.get(OLD) or {}
    workspace.services.rules.put({**rule, "name": "Somebody's work"})

    clock.ahead += HOUR + timedelta(seconds=1)
    await alice.sees_reply(card, "someone edited it first")
    left = await alice.sees("Revert anyway")
    assert status(workspace) == "Inactive"

    await alice.clicks(left, "v1.decide.putback")
    asked = await alice.sees("Only @U0ALICE01 can confirm it")
    assert status(workspace) == "Inactive"
    await alice.clicks(asked, "v1.decide.confirm", confirm=True)
    await alice.sees("Reverted by")
    assert status(workspace) == "Active"


async def test_what_is_gone_is_left_alone(workspace: Sandbox, alice: Person, clock: Clock) -> None:
    card = await alice.says(f"/rules off {OLD} for 1h")
    workspace.services.rules.remove(OLD)

    clock.ahead += HOUR + timedelta(seconds=1)
    await alice.sees_reply(card, "gone already")

    assert workspace.services.rules.calls("POST") == []


async def test_extended_kept_or_ended_at_once(workspace: Sandbox, alice: Person, cara: Person, clock: Clock) -> None:
    card = await alice.says(f"/rules off {OLD} for 1h")
    (change,) = await workspace.bot.gatehouse.store.changes.for_targets([f"rules/{OLD}"])
    assert change.request.reverts_at is not None
    await cara.clicks(card, "v1.decide.extend")
    later = await alice.sees(f"until {change.request.reverts_at + HOUR:%Y-%m-%d %H:%M}")
    clock.ahead += HOUR + timedelta(minutes=55)
    await alice.sees_reply(card, "Extend or keep it")
    assert status(workspace) == "Inactive"

    await alice.clicks(later, "v1.decide.stay")
    await alice.sees("[Undo]")
    clock.ahead += 9 * HOUR
    assert "Nothing is temporary right now" in alice.slack_text(await alice.says("/gatehouse timers"))
    assert status(workspace) == "Inactive"


@pytest.mark.threat("B14")
async def test_ended_early_it_ends_once(workspace: Sandbox, alice: Person, clock: Clock) -> None:
    card = await alice.says(f"/rules off {OLD} for 1h")

    await alice.clicks(card, "v1.decide.end")
    await alice.sees("is back on")
    clock.ahead += 2 * HOUR
    await alice.says("/gatehouse timers")

    assert len(workspace.services.rules.calls("PUT")) == 2


@pytest.mark.threat("D7")
@pytest.mark.parametrize("jump", [timedelta(minutes=10), timedelta(hours=-1)])
async def test_a_clock_that_jumps_ends_nothing_early_or_twice(
    workspace: Sandbox, alice: Person, clock: Clock, jump: timedelta
) -> None:
    await alice.says(f"/rules off {OLD} for 1h")

    clock.ahead += jump
    await alice.says("/gatehouse timers")
    assert status(workspace) == "Inactive"
    clock.ahead = HOUR + timedelta(seconds=1)
    await alice.sees("is back on")
    clock.ahead -= HOUR
    await alice.says("/gatehouse timers")

    assert len(workspace.services.rules.calls("PUT")) == 2


async def test_a_temporary_rule_is_made_in_a_form_and_deleted_at_its_end(
    workspace: Sandbox, alice: Person, clock: Clock
) -> None:
    await alice.opens("/rules new https://shop.example.com/a to https://shop.example.com/b for 2h")
    alice.fills(Name="For the sale", Revert_after="whenever")
    assert "2h or 7d" in (await alice.submits())["Revert after"]
    alice.fills(Revert_after="3 hours")
    assert await alice.submits() == {}
    await alice.sees("“For the sale” created")

    clock.ahead += 3 * HOUR + timedelta(seconds=1)
    await alice.sees("“For the sale” was deleted")

    assert not any(rule["name"] == "For the sale" for rule in workspace.services.rules.all())


async def test_access_is_given_for_a_week(workspace: Sandbox, bob: Person, clock: Clock) -> None:
    before = workspace.services.members.get("site_1", ANNA) or {}
    await bob.says(f"/members grant {ANNA} beta for 7d")

    clock.ahead += timedelta(days=7, seconds=1)
    await bob.sees("Automatically, as planned")

    after = workspace.services.members.get("site_1", ANNA) or {}
    assert sorted(after["allowedSegments"]) == sorted(before["allowedSegments"])


@pytest.mark.threat("B16")
async def test_a_service_that_is_down_at_the_end_only_delays_it(
    workspace: Sandbox, alice: Person, clock: Clock
) -> None:
    await alice.says(f"/rules off {OLD} for 1h")
    workspace.services.rules.stage.faults.add("500", method="GET", times=3)

    clock.ahead += HOUR + timedelta(seconds=1)
    await until(lambda: workspace.services.rules.stage.faults.waiting[0].times == 0)

    def a_minute_later() -> bool:
        clock.ahead += timedelta(minutes=1)
        return len(workspace.services.rules.calls("PUT")) == 2

    await until(a_minute_later)
    await alice.sees("is back on")


NEEDS_APPROVAL = """
[[guards]]
operation = "rule.create"
guard = "approve"

[[guards]]
operation = "rule.delete"
guard = "approve"
"""


@pytest.mark.policy(NEEDS_APPROVAL)
async def test_no_request_puts_the_end_off(workspace: Sandbox, alice: Person, cara: Person, clock: Clock) -> None:
    await alice.opens("/rules new https://shop.example.com/a to https://shop.example.com/b for 1h")
    alice.fills(Name="For an hour")
    await alice.submits()
    await cara.clicks(await alice.sees("For an hour"), "Approve")
    await alice.sees("“For an hour” created")
    waiting = await alice.says("/gatehouse undo")

    clock.ahead += HOUR + timedelta(seconds=1)
    await alice.sees("Automatically, as planned")

    assert not [rule for rule in workspace.services.rules.all() if rule["name"] == "For an hour"]
    overtaken = await alice.sees("Out of date")
    assert overtaken.ts == waiting.ts


async def test_what_others_did_to_a_member_since_stays_when_access_ends(
    workspace: Sandbox, bob: Person, clock: Clock
) -> None:
    await bob.says(f"/members grant {ANNA} beta for 1h")
    await bob.sees("[Extend by 1 h]")
    member = dict(workspace.services.members.get("site_1", ANNA) or {})
    held = member["allowedSegments"]
    workspace.services.members.put("site_1", member | {"allowedSegments": [*held, "staff"]})

    clock.ahead += HOUR + timedelta(seconds=1)
    await bob.sees("Automatically, as planned")

    left = (workspace.services.members.get("site_1", ANNA) or {})["allowedSegments"]
    assert set(left) == {*held, "staff"} - {"beta"}
