"""Nobody decides alone what needs two, and whoever is asked can say no, ask back, and be told."""

from __future__ import annotations

from asyncio import gather
from datetime import timedelta

import pytest

from bot.changes.model.states import State
from bot.policy.model import Why
from bot.store.audit import Filters
from sandbox.demo import Sandbox
from sandbox.slack.message import Message
from tests.conftest import OPS, SUPPORT, Clock, until
from tests.harness.channels import buttons
from tests.harness.colleague import Colleague, approved_by
from tests.harness.payloads import Forger

OLD = "Redirect_x1old"


@pytest.fixture
def bob_in_ops(workspace: Sandbox) -> Colleague:
    return Colleague(workspace, "U0BOB0001", OPS)


async def test_what_waits_already_is_not_requested_twice(
    alice: Colleague, bob_in_ops: Colleague, cara: Colleague
) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    for person in (alice, bob_in_ops):
        await person.is_refused(f"/rules delete {OLD}")

    await cara.decides(card, "v1.decide.deny", "Reason", "Not yet")
    await alice.sees_change(state=State.DENIED)
    await bob_in_ops.says(f"/rules delete {OLD}")
    await alice.sees_change(state=State.PROPOSED)


async def test_what_is_switched_off_instead_is_not_deleted(alice: Colleague, cara: Colleague) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    await cara.clicks(card, "Switch off instead")
    stale = await alice.sees_change(state=State.STALE)
    assert stale.ts == card.ts
    assert (await alice.change_of(stale)).run.overtaken_by == cara.id


@pytest.mark.threat("A9")
async def test_the_loser_of_a_race_reads_who_won(
    workspace: Sandbox, alice: Colleague, cara: Colleague, bob_in_ops: Colleague
) -> None:
    card = await alice.says(f"/rules delete {OLD}")

    await gather(
        cara.clicks(card, "v1.decide.approve", confirm=True), bob_in_ops.clicks(card, "v1.decide.approve", confirm=True)
    )
    (winner,) = approved_by(await alice.change_of(await alice.sees_change(of=OLD)))

    loser = cara if winner == bob_in_ops.id else bob_in_ops
    told = await loser.sees_problem(f"@{winner}")
    assert told.visible_to == loser.id
    assert len(workspace.services.rules.calls("DELETE")) == 1


@pytest.mark.parametrize(
    ("channel", "why"),
    [("C0GENERAL", Why.NOT_ADDED), ("C0PARTNER", Why.SHARED_CHANNEL), ("D0ALICE01", Why.DIRECT_MESSAGE)],
)
async def test_changes_are_taken_only_where_others_of_the_workspace_see_them(
    workspace: Sandbox, alice: Colleague, channel: str, why: Why
) -> None:
    await alice.is_refused(f"/rules off {OLD}", channel=channel)
    assert [entry.detail["why"] for entry in await alice.store.audit.find(Filters(who=alice.id))] == [why]
    assert workspace.services.rules.calls("PUT") == []
    assert "API v1 to v2" in alice.slack_text(await alice.says("/rules list", channel=channel))


@pytest.mark.threat("C4")
@pytest.mark.parametrize("fault", ["cut_after", "500_after"])
async def test_a_button_on_a_copy_of_the_card_does_nothing_but_take_its_buttons(
    workspace: Sandbox, alice: Colleague, cara: Colleague, fault: str
) -> None:
    workspace.slack.faults.add(fault, method="chat.postMessage")
    await alice.types(f"/rules delete {OLD}")
    card = await alice.sees_change(state=State.PROPOSED)
    older = alice.cards[0]  # the first answer was lost, so it was posted again
    assert older.ts != card.ts

    await cara.clicks(older, "v1.decide.approve", confirm=True)
    await cara.sees_problem()
    assert workspace.services.rules.calls("DELETE") == []
    await until(lambda: [*buttons(older.blocks)] == [])
    await cara.clicks(card, "v1.decide.approve", confirm=True)
    await alice.sees_change(of=OLD)


@pytest.mark.threat("A10")
async def test_a_button_says_no_more_than_which_card_it_is_on(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    other = await alice.says("/rules delete Redirect_chk01")
    values = [cara._button(one, "v1.decide.approve")[1]["value"] for one in (card, other)]
    forger = Forger(workspace, cara.id, OPS)
    wrong = [values[1], values[0][:8], "0" * 32, "x" * 3000, f"{values[0]} ", OLD, "../..", ""]

    for value in wrong:
        await forger.clicks(card, "v1.decide.approve", value)
    await until(lambda: len(forger.told) == len(wrong))
    await Forger(workspace, cara.id, SUPPORT).clicks(card, "v1.decide.approve", values[0], channel={"id": SUPPORT})
    await until(lambda: len(forger.told) == len(wrong) + 1)

    assert not [told for told in forger.told if "went wrong in Gatehouse" in told]
    assert {change.state for change in await workspace.bot.gatehouse.store.changes.list_open()} == {"proposed"}
    assert workspace.services.rules.calls("DELETE") == []


@pytest.mark.threat("A10")
async def test_while_no_card_is_on_record_no_message_speaks_for_a_change(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    workspace.slack.faults.add("fatal_error", method="chat.postMessage", times=99)
    await alice.types(f"/rules delete {OLD}")
    await until(lambda: workspace.slack.faults.waiting[0].times < 99)
    changes = workspace.bot.gatehouse.store.changes
    waiting = await changes.list_open()
    copy = Message("9.9", OPS, workspace.slack.state.workspace.bot.id, "Delete?", [])

    await Forger(workspace, cara.id, OPS).clicks(copy, "v1.decide.approve", waiting[0].id)
    await cara.sees_problem()

    assert (await changes.list_open())[0].state == "proposed"
    assert workspace.services.rules.calls("DELETE") == []


@pytest.mark.threat("B16")
async def test_an_approval_waits_for_a_service_that_is_away(
    workspace: Sandbox, alice: Colleague, cara: Colleague, clock: Clock
) -> None:
    card = await alice.says(f"/rules delete {OLD}")
    workspace.services.rules.stage.faults.add("500", method="GET", times=3)

    await cara.clicks(card, "v1.decide.approve", confirm=True)
    held = await alice.sees_change(state=State.APPROVED, where=lambda change: change.run.waits)
    assert "[Withdraw]" in alice.slack_text(held)
    clock.ahead += timedelta(minutes=1)
    await alice.sees_change(of=OLD)

    assert len(workspace.services.rules.calls("DELETE")) == 1
