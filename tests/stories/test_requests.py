"""A request that waits keeps nobody from anything: what is done first makes it out of date, and others may drop it."""

from __future__ import annotations

import pytest

from bot.changes.model.states import State
from sandbox.demo import Sandbox
from tests.harness.colleague import Colleague, undone

OLD = "Redirect_x1old"
OWN_CLICK = """
[roles.lead]
users = ["U0ALICE01", "U0CARA001"]
may = ["*"]

[roles.support]
users = ["U0BOB0001"]
may = ["read", "rule.update"]

[[guards]]
operation = "rule.delete"
guard = "confirm"
"""
"""A deletion waits for the click of its own requester."""


@pytest.mark.first(1)
@pytest.mark.policy(OWN_CLICK)
@pytest.mark.parametrize(
    "command", ["/rules off {}", "/rules set {} description=Checked", "/rules off {} Redirect_chk01"], ids=str
)
async def test_what_needs_no_approval_goes_ahead_of_a_request(
    workspace: Sandbox, alice: Colleague, cara: Colleague, command: str
) -> None:
    waiting = await alice.says(f"/rules delete {OLD}")

    await cara.types(command.format(OLD))
    card = await alice.sees_change(state=State.STALE)

    assert card.ts == waiting.ts, "the card that waited says that it is out of date"
    assert workspace.services.rules.calls("DELETE") == []
    assert len(workspace.services.rules.calls("PUT")) >= 1


@pytest.mark.policy(OWN_CLICK)
async def test_who_could_make_the_change_may_drop_a_request_that_waits_for_its_requester(
    alice: Colleague, cara: Colleague
) -> None:
    waiting = await alice.says(f"/rules delete {OLD}")
    assert (await cara.change_of(await cara.says(f"/rules delete {OLD}"))).state is State.PROPOSED

    await cara.clicks(waiting, "v1.decide.keep")
    await alice.sees_change(state=State.CANCELLED, where=lambda change: change.decision.decided_by == cara.id)


@pytest.mark.policy(OWN_CLICK)
async def test_who_could_not_make_the_change_may_not_drop_it(workspace: Sandbox, alice: Colleague) -> None:
    bob = Colleague(workspace, "U0BOB0001", alice.channel)
    waiting = await alice.says(f"/rules delete {OLD}")

    await bob.clicks(waiting, "v1.decide.keep")
    await bob.sees_problem()

    assert (await alice.change_of(waiting)).state is State.PROPOSED


@pytest.mark.policy(OWN_CLICK)
async def test_a_request_to_undo_keeps_nobody_else_from_undoing(
    workspace: Sandbox, alice: Colleague, cara: Colleague
) -> None:
    await alice.opens("/rules new https://shop.example.com/a to https://shop.example.com/b")
    alice.fills(Name="For now")
    await alice.submits()
    done = await alice.sees_change(of="For now")
    await cara.clicks(done, "Undo", confirm=True)
    await alice.sees_change(state=State.PROPOSED, where=lambda change: change.request.requester == cara.id)

    await alice.clicks(done, "Undo", confirm=True)
    await alice.sees_change(where=undone)

    assert not [rule for rule in workspace.services.rules.all() if rule["name"] == "For now"]


@pytest.mark.parametrize(
    "command",
    [f"/rules off {OLD} for 2h", f"/rules set {OLD} description=Checked", "/members grant anna.berg@example.com beta"],
)
async def test_a_write_that_found_its_service_down_is_tried_again_by_one_click_as_if_it_was_asked_for_then(
    workspace: Sandbox, alice: Colleague, cara: Colleague, command: str
) -> None:
    for service in (workspace.services.rules, workspace.services.members):
        service.stage.faults.add("429", method="PUT|POST")
    failed = await alice.says(command)
    asked = await alice.change_of(await alice.sees_change(state=State.FAILED))

    await cara.does("/gatehouse freeze everything for 1h")
    await alice.clicks(failed, "Try again")
    assert "frozen" in alice.slack_text(await alice.sees_problem("frozen"))
    await cara.says("/gatehouse unfreeze everything")

    await alice.clicks(failed, "Try again")
    done = await alice.change_of(await alice.sees_change())
    assert (done.edit, done.request.revert_after) == (asked.edit, asked.request.revert_after)
    await alice.clicks(failed, "Try again")
    await alice.sees_problem("already requested")
