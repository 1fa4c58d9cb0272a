"""What is meant for a while ends by itself, once, and not over somebody else's work."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.changes.model.states import State
from sandbox.demo import Sandbox
from tests.conftest import Clock, until
from tests.harness.channels import buttons
from tests.harness.colleague import Colleague, ended, undone
from tests.stories.test_planned import HOUR, NAME, OLD, status


async def test_a_rule_is_off_for_two_hours(workspace: Sandbox, alice: Colleague, clock: Clock) -> None:
    card = await alice.says(f"/rules off {OLD} for 2h because of the sale")
    assert "[Change end…]" in alice.slack_text(card)
    listed = alice.slack_text(await alice.says("/gatehouse timers"))
    assert NAME in listed

    clock.ahead += timedelta(minutes=115)
    assert "[Change end…]" in alice.slack_text(await alice.sees_note(card, "offer"))
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
    gone = await alice.sees_change(where=lambda change: change.closed_by)
    assert gone.ts == card.ts
    assert [one["action_id"] for one in buttons(gone.blocks)] == ["v1.run.details"], "its end is over"
    assert NAME not in alice.slack_text(await alice.says("/gatehouse timers"))

    await alice.clicks(deletion, "Undo")
    await alice.sees_change(where=undone)
    again = await alice.sees_change(where=lambda change: change.is_temporary)
    assert (again.ts, "[Switch on now]" in alice.slack_text(again)) == (card.ts, True)
    assert "reverts" in alice.slack_text(await alice.says(f"/rules show {OLD}"))
    clock.ahead += timedelta(hours=2, minutes=1)
    assert (await alice.sees_change(where=ended)).ts == card.ts


async def test_a_request_that_an_end_made_out_of_date_blames_nobody(
    alice: Colleague, cara: Colleague, clock: Clock
) -> None:
    await alice.says(f"/rules off {OLD} for 1h")
    await cara.says(f"/rules delete {OLD}")
    clock.ahead += HOUR + timedelta(seconds=1)
    stale = alice.slack_text(await alice.sees_change(state=State.STALE))
    assert "someone" not in stale
    assert "A temporary change of the rule ended" in stale


@pytest.mark.threat("B14")
async def test_what_was_changed_since_is_said_wherever_its_end_was_told_until_that_is_undone(
    workspace: Sandbox, alice: Colleague, bob: Colleague, clock: Clock
) -> None:
    card = await alice.says(f"/rules off {OLD} for 2h")
    await bob.says(f"/rules on {OLD}")
    await bob.sees_change(where=lambda change: change.request.requester == bob.id)

    shown = await alice.sees("changed since")
    assert shown.ts == card.ts
    assert f"by @{bob.id}" in alice.slack_text(shown)
    assert {each["text"]["text"] for each in buttons(shown.blocks)} == {"Show rule", "Details"}
    assert NAME not in alice.slack_text(await alice.says("/gatehouse planned"))
    assert "reverts" not in alice.slack_text(await alice.says(f"/rules show {OLD}"))
    for text in (f"/rules history {OLD}", "/gatehouse audit", "/gatehouse digest"):
        told = alice.slack_text(await alice.says(text))
        assert f"changed since by @{bob.id}" in told, text
        assert "is off until" not in told, text

    await bob.says("/gatehouse undo")
    assert (await alice.sees("is off until")).ts == card.ts
    clock.ahead += 2 * HOUR + timedelta(seconds=1)
    await alice.sees_change(where=ended)
    assert status(workspace) == "Active"


async def test_what_was_changed_since_is_said_in_the_row_of_a_temporary_bulk_change(
    alice: Colleague, bob: Colleague
) -> None:
    card = await alice.says(f"/rules off {OLD} Redirect_imgs2 for 2h")
    await alice.sees_set(applied=2)
    await bob.says(f"/rules on {OLD}")

    shown = await alice.sees("changed since")
    assert shown.ts == card.ts
    assert f"{NAME}: changed since by @{bob.id}" in alice.slack_text(shown).replace("*", "")
    await bob.says("/gatehouse undo")
    await until(lambda: "changed since" not in str(card.blocks))


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


async def test_who_changes_what_is_there_for_a_while_is_told_that_its_end_takes_that_along(
    workspace: Sandbox, alice: Colleague, bob: Colleague, clock: Clock
) -> None:
    offered = await alice.says("/rules redirect https://shop.example.com/only https://shop.example.com/now for 1h")
    await alice.clicks(offered, "Do it")
    made = await alice.change_of(await alice.sees_change())
    await bob.says(f'/rules set {made.edit.target.key} description="A sale"')

    assert "its end deletes it" in bob.slack_text(
        await bob.sees_change(where=lambda each: each.run.ends_with == made.id)
    )
    clock.ahead += HOUR + timedelta(seconds=1)
    await alice.sees_change(where=ended)
    assert workspace.services.rules.get(made.edit.target.key or "") is None
