"""A request that waits keeps nobody from anything: what is done first makes it out of date, and others may drop it."""

from __future__ import annotations

import pytest

from bot.changes.model import State
from sandbox.demo import Sandbox
from sandbox.slack.story import Person

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


async def state_of(workspace: Sandbox) -> State:
    """How the newest change of the rule stands."""
    (change, *_) = await workspace.bot.gatehouse.store.changes.for_targets([f"rules/{OLD}"])
    return change.state


@pytest.mark.first(1)
@pytest.mark.policy(OWN_CLICK)
@pytest.mark.parametrize(
    "command", ["/rules off {}", "/rules set {} description=Checked", "/rules off {} Redirect_chk01"], ids=str
)
async def test_what_needs_no_approval_goes_ahead_of_a_request(
    workspace: Sandbox, alice: Person, cara: Person, command: str
) -> None:
    waiting = await alice.says(f"/rules delete {OLD}")

    await cara.types(command.format(OLD))
    card = await alice.sees("Out of date")

    assert card.ts == waiting.ts, "the card that waited says that it is out of date"
    assert workspace.services.rules.calls("DELETE") == []
    assert len(workspace.services.rules.calls("PUT")) >= 1


@pytest.mark.threat("B15")
@pytest.mark.policy(OWN_CLICK)
async def test_of_two_requests_the_one_that_is_decided_first_is_done(
    workspace: Sandbox, alice: Person, cara: Person
) -> None:
    waiting = await alice.says(f"/rules delete {OLD}")
    card = await cara.says(f"/rules delete {OLD}")

    await cara.clicks(card, "v1.decide.confirm", confirm=True)
    overtaken = await alice.sees("Out of date")

    assert overtaken.ts == waiting.ts
    assert "[Delete]" not in alice.slack_text(overtaken)
    assert len(workspace.services.rules.calls("DELETE")) == 1


@pytest.mark.policy(OWN_CLICK)
async def test_who_could_make_the_change_may_drop_a_request_that_waits_for_its_requester(
    workspace: Sandbox, alice: Person, cara: Person
) -> None:
    waiting = await alice.says(f"/rules delete {OLD}")

    await cara.clicks(waiting, "v1.decide.keep")
    await alice.sees("Withdrawn by @U0CARA001")

    assert await state_of(workspace) is State.CANCELLED


@pytest.mark.policy(OWN_CLICK)
async def test_who_could_not_make_the_change_may_not_drop_it(workspace: Sandbox, alice: Person) -> None:
    bob = Person(workspace.slack, "U0BOB0001", alice.channel)
    waiting = await alice.says(f"/rules delete {OLD}")

    await bob.clicks(waiting, "v1.decide.keep")
    await bob.sees("None of your roles")

    assert await state_of(workspace) is State.PROPOSED


@pytest.mark.policy(OWN_CLICK)
async def test_a_request_to_undo_keeps_nobody_else_from_undoing(
    workspace: Sandbox, alice: Person, cara: Person
) -> None:
    await alice.opens("/rules new https://shop.example.com/a to https://shop.example.com/b")
    alice.fills(Name="For now")
    await alice.submits()
    done = await alice.sees("“For now” created")
    await cara.clicks(done, "Undo", confirm=True)
    await alice.sees("Only @U0CARA001 can confirm it")

    await alice.clicks(done, "Undo", confirm=True)
    await alice.sees("Undone by")

    assert not [rule for rule in workspace.services.rules.all() if rule["name"] == "For now"]
