"""What was done can be taken back, once, and that too."""

from __future__ import annotations

from asyncio import gather
from datetime import timedelta

import pytest

from bot.changes.model import State
from sandbox.demo import Sandbox
from tests.conftest import Clock
from tests.harness.colleague import Colleague, redone, undone
from tests.harness.looking import approves

OLD = "Redirect_x1old"
ANNA = "anna.berg@example.com"


async def test_an_edit_goes_back_to_what_was_before(workspace: Sandbox, alice: Colleague) -> None:
    before = workspace.services.rules.get(OLD)
    card = await alice.says(f"/rules off {OLD}")

    await alice.clicks(card, "Undo")
    assert (await alice.sees_change(where=undone)).ts == card.ts, "one thing, one card"

    after = workspace.services.rules.get(OLD)
    assert after is not None
    assert {**after, "modificationDate": 0} == {**(before or {}), "modificationDate": 0}


async def test_a_deleted_rule_comes_back_and_answers_to_its_old_id(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await alice.sees_change(of=OLD)

    await alice.types("/gatehouse undo")
    await alice.sees_change(where=undone)

    shown = await alice.says(f"/rules show {OLD}")
    assert "Old shop to new shop" in alice.slack_text(shown)
    assert workspace.services.rules.get(OLD) is None
    assert len([rule for rule in workspace.services.rules.all() if rule["name"] == "Old shop to new shop"]) == 1


async def test_two_who_undo_at_once_undo_once(workspace: Sandbox, alice: Colleague, cara: Colleague) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    done = await alice.sees_change(of=OLD)

    await gather(alice.clicks(done, "Undo"), cara.clicks(done, "Undo"))
    await alice.sees_change(where=undone)

    assert len(workspace.services.rules.calls("POST")) == 1


async def test_what_was_made_by_mistake_is_switched_off_while_its_deletion_waits(
    workspace: Sandbox, alice: Colleague
) -> None:
    asked = await alice.says(f"/rules delete {OLD}")

    await alice.clicks(asked, "Switch off instead")
    done = await alice.sees_change(of=OLD)

    assert (workspace.services.rules.get(OLD) or {})["status"] == "Inactive"
    await alice.clicks(done, "Undo")
    await alice.sees_change(where=undone)
    assert (workspace.services.rules.get(OLD) or {})["status"] == "Active"
    assert "Switch off instead" not in alice.slack_text(await alice.says("/rules delete Cancel_poll01"))


async def test_ones_own_creation_is_taken_back_at_once(workspace: Sandbox, alice: Colleague) -> None:
    await alice.says('/rules make redirect https://shop.example.com/a to https://shop.example.com/b named "A to B"')
    card = await alice.sees_change(of="A to B")

    await alice.clicks(card, "Undo", confirm=True)

    assert (await alice.sees_change(where=undone)).ts == card.ts
    assert not any(rule["name"] == "A to B" for rule in workspace.services.rules.all())


async def test_text_alone_deletes_nothing_of_ones_own_either(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    await alice.says('/rules make redirect https://shop.example.com/a to https://shop.example.com/b named "A to B"')
    await alice.sees_change(of="A to B")
    await alice.says("/gatehouse undo")
    card = await alice.sees_change(of="A to B", state=State.PROPOSED)
    assert "https://shop.example.com/a" in alice.slack_text(card)

    await cara.clicks(card, "v1.decide.confirm", confirm=True)
    assert any(rule["name"] == "A to B" for rule in workspace.services.rules.all())
    await alice.clicks(card, "v1.decide.confirm", confirm=True)
    await alice.sees_change(where=undone)
    assert not any(rule["name"] == "A to B" for rule in workspace.services.rules.all())


async def test_a_creation_of_hours_ago_is_taken_back_with_a_second_person(
    workspace: Sandbox, alice: Colleague, cara: Colleague, clock: Clock
) -> None:
    await alice.opens("/rules new https://shop.example.com/a to https://shop.example.com/b")
    alice.fills(Name="A to B")
    await alice.submits()
    card = await alice.sees_change(of="A to B")
    clock.ahead += timedelta(hours=1, minutes=1)

    await alice.clicks(card, "Undo", confirm=True)
    asked = await alice.sees_change(of="A to B", state=State.PROPOSED)
    assert any(rule["name"] == "A to B" for rule in workspace.services.rules.all())
    await cara.clicks(asked, "v1.decide.approve", confirm=True)
    await alice.sees_change(where=undone)

    assert not any(rule["name"] == "A to B" for rule in workspace.services.rules.all())


async def test_an_undo_is_undone_and_redone_on_one_card(workspace: Sandbox, alice: Colleague, cara: Colleague) -> None:
    card = await alice.says(f"/rules off {OLD}")
    for _ in range(2):
        await alice.clicks(card, "Undo")
        await alice.sees_change(where=undone)
        assert (workspace.services.rules.get(OLD) or {})["status"] == "Active"

        await cara.clicks(card, "Redo")
        await alice.sees_change(where=redone)
        assert (workspace.services.rules.get(OLD) or {})["status"] == "Inactive"

    assert alice.cards == [card]


async def test_a_deletion_is_undone_and_redone_under_new_ids(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    for _ in range(2):
        await alice.clicks(await alice.sees_change(of=OLD), "Undo")
        await alice.sees_change(where=undone)
        assert "Old shop to new shop" in alice.slack_text(await alice.says(f"/rules show {OLD}"))

        await alice.clicks(card, "Redo", confirm=True)
        await alice.sees_change(where=redone)

    assert "Old shop to new shop" not in {rule["name"] for rule in workspace.services.rules.all()}


async def test_what_is_typed_is_answered_and_told_on_the_card(workspace: Sandbox, alice: Colleague) -> None:
    card = await alice.says(f"/rules off {OLD}")

    told = await alice.says("/gatehouse undo")

    assert told.visible_to == alice.id
    assert "Old shop to new shop" in alice.slack_text(told)
    assert (await alice.sees_change(where=undone)).ts == card.ts


@pytest.mark.threat("B11")
async def test_what_somebody_changed_since_is_not_overwritten(workspace: Sandbox, alice: Colleague) -> None:
    card = await alice.says(f"/rules off {OLD}")
    rule = workspace.services.rules.get(OLD)
    workspace.services.rules.put({**(rule or {}), "name": "Mine now"})

    await alice.clicks(card, "Undo")
    await alice.sees_change(state=State.STALE)

    after = workspace.services.rules.get(OLD)
    assert after is not None
    assert (after["name"], after["status"]) == ("Mine now", "Inactive")


async def test_a_removed_member_returns_with_name_and_segments(
    workspace: Sandbox, bob: Colleague, cara: Colleague
) -> None:
    before = workspace.services.members.get("site_1", ANNA)
    card = await bob.says(f"/members remove {ANNA}")
    await approves(cara, card)
    done = await bob.sees_change(of=ANNA)

    await bob.clicks(done, "Undo")
    await bob.sees_change(where=undone)

    after = workspace.services.members.get("site_1", ANNA)
    assert after is not None
    assert before is not None
    assert [after[name] for name in ("name", "allowedSegments")] == [
        before[name] for name in ("name", "allowedSegments")
    ]


async def test_nothing_to_undo_is_said(workspace: Sandbox, alice: Colleague) -> None:
    for text in ("/gatehouse undo", "/gatehouse undo 123456ff", "/gatehouse undo nonsense"):
        reply = await alice.says(text)
        assert reply.visible_to == alice.id
    assert await alice.store.changes.of_requester(alice.id, 1) == []


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


async def test_an_undo_takes_nothing_away_that_was_given_since(workspace: Sandbox, bob: Colleague) -> None:
    before = (workspace.services.members.get("site_1", ANNA) or {})["allowedSegments"]
    card = await bob.says(f"/members grant {ANNA} beta")
    await bob.says(f"/members grant {ANNA} staff")

    await bob.clicks(card, "Undo")
    await bob.sees_change(where=undone)

    left = (workspace.services.members.get("site_1", ANNA) or {})["allowedSegments"]
    assert sorted(left) == sorted([*before, "staff"])
