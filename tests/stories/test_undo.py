"""What was done can be taken back, once, and that too."""

from __future__ import annotations

from asyncio import gather
from datetime import timedelta

import pytest

from bot.changes.model.change import Change
from bot.changes.model.states import State
from sandbox.demo import Sandbox
from tests.conftest import Clock
from tests.harness.colleague import Colleague, undone

OLD = "Redirect_x1old"


def undo_of(change: Change) -> str:
    assert change.run.undone is not None
    return change.run.undone.change


def in_force(change: Change) -> bool:
    return change.request.undoes is None and change.run.undone is None


@pytest.mark.parametrize("text", ["/gatehouse undo because it loops", "/rules undo that because it loops"])
async def test_why_it_is_undone_is_on_record_and_on_the_card(alice: Colleague, text: str) -> None:
    await alice.says(f"/rules off {OLD}")
    answer = await alice.says(text)
    if "rules" in text:
        assert "Switch “Old shop to new shop” back on" in alice.slack_text(answer), "a preview says what will be"
        await alice.clicks(answer, "Do it")

    card = await alice.sees_change(where=undone)
    assert "“it loops”" in alice.slack_text(card)
    (undo,) = await alice.store.changes.find_by_prefix(undo_of(await alice.change_of(card)))
    assert undo.request.reason == "it loops"


async def test_what_was_undone_is_requested_again_once_and_an_undo_is_not_undone(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    card = await alice.says(f"/rules off {OLD}")
    await alice.clicks(card, "Undo")
    gone = await alice.sees_change(where=undone)
    undo = undo_of(await alice.change_of(gone))
    assert "Request again" in alice.slack_text(await alice.is_refused(f"/gatehouse undo {undo[:8]}"))

    await gather(cara.clicks(card, "Request again"), alice.clicks(card, "Request again"))
    again = await alice.sees_change(where=in_force)
    assert again.ts != card.ts
    assert (workspace.services.rules.get(OLD) or {})["status"] == "Inactive"
    assert len(workspace.services.rules.calls("PUT")) == 3


async def test_a_deletion_that_was_undone_is_requested_again_for_the_rule_under_its_new_id(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await alice.sees_change(of=OLD)
    await alice.clicks(card, "Undo")
    await alice.sees_change(where=undone)
    await alice.clicks(card, "Request again")
    again = await alice.sees_change(state=State.PROPOSED)
    await cara.clicks(again, "v1.decide.approve", confirm=True)
    await alice.sees_change(where=in_force)
    assert not any(rule["name"] == "Old shop to new shop" for rule in workspace.services.rules.all())


@pytest.mark.threat("B11")
async def test_what_somebody_changed_since_is_not_overwritten(workspace: Sandbox, alice: Colleague) -> None:
    card = await alice.says(f"/rules set {OLD} destination=https://shop.example.com/sale description=Mine")
    was = workspace.services.rules.get(OLD) or {}
    theirs = {**was, "pairs": [{**pair, "destination": "https://shop.example.com/theirs"} for pair in was["pairs"]]}
    workspace.services.rules.put(theirs)
    await alice.clicks(card, "Undo")

    await alice.clicks(await alice.sees_change(state=State.STALE), "Request again")
    asked = await alice.sees_change(state=State.PROPOSED)
    assert workspace.services.rules.get(OLD) == theirs
    await alice.clicks(asked, "v1.decide.confirm")
    assert (await alice.sees_change(where=undone)).ts == card.ts

    now = workspace.services.rules.get(OLD) or {}
    assert (now["description"], "/new'" in str(now["pairs"])) == ("Since the relaunch in May.", True)


@pytest.mark.policy('guards = [{operation = "rule.*", guard = "approve"}]')
async def test_of_two_undos_in_two_channels_the_other_says_who_was_faster(
    alice: Colleague, bob: Colleague, cara: Colleague
) -> None:
    await cara.clicks(await alice.says(f"/rules delete {OLD}"), "v1.decide.approve", confirm=True)
    deleted = (await alice.change_of(await alice.sees_change(of=OLD))).id[:8]
    await alice.says(f"/gatehouse undo {deleted}")
    card = await alice.sees_change(state=State.PROPOSED)
    await bob.says(f"/gatehouse undo {deleted}")
    await bob.sees_change(state=State.PROPOSED)

    await cara.clicks(card, "v1.decide.approve")
    other = await bob.change_of(await bob.sees_change(state=State.STALE))

    assert other.run.overtaken_by == alice.id
    assert (other.run.result or {})["name"] == "Old shop to new shop", "it is there again"


@pytest.mark.threat("B10")
async def test_a_delete_whose_outcome_was_unknown_is_taken_back_once_it_is_known(
    workspace: Sandbox, alice: Colleague, cara: Colleague, clock: Clock
) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    workspace.services.rules.stage.faults.add("cut_after", method="DELETE")
    workspace.services.rules.stage.faults.add("delay", method="GET")  # the look before the write is answered
    workspace.services.rules.stage.faults.add("500", method="GET", times=30)
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    unknown = await alice.sees_change(state=State.UNKNOWN)
    assert "[Undo]" not in alice.slack_text(unknown)
    await alice.is_refused(f"/gatehouse undo {(await alice.change_of(unknown)).id[:8]}")

    workspace.services.rules.stage.faults.clear()
    clock.ahead += timedelta(minutes=2)
    done = await alice.sees_change(of=OLD)
    await alice.clicks(done, "Undo")
    assert (await alice.sees_change(where=undone)).ts == done.ts

    assert len(workspace.services.rules.calls("DELETE")) == 1
    assert len([rule for rule in workspace.services.rules.all() if rule["name"] == "Old shop to new shop"]) == 1
