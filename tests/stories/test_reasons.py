"""A reason that a guard wants: asked for where it wasn't typed, found again in the audit, and a link where there is a URL."""

from __future__ import annotations

from typing import Final

import pytest

from bot.changes.model.states import State
from handlers.changes.people import mention
from handlers.explain.table import is_problem
from sandbox.demo import Sandbox
from tests.harness.colleague import Colleague

OLD: Final = "Redirect_x1old"
TICKETS: Final = """
[[guards]]
operation = "*"
guard = "none"
reason = "required"
pattern = "SUP-[0-9]+"
hint = "a ticket such as SUP-123"
url = "https://tickets.example.com/{}"
"""


@pytest.mark.threat("A16")
@pytest.mark.policy(TICKETS)
@pytest.mark.parametrize(
    "text",
    [
        "/rules off Old shop",
        f'/rules set {OLD} description="For the sale"',
        "/rules make redirect https://a.example/1 to https://b.example/2",
        "/rules group off Sales campaigns for 1h",
        "/rules off Old shop until tomorrow 9:00 because it loops",
        f"/rules off {OLD} Redirect_imgs2",
        "/members grant anna.berg@example.com staff because   \u00a0…",
        "/members offboard anna.berg@example.com",
        f"/rules delete {OLD}",
    ],
)
async def test_what_was_typed_without_a_reason_is_asked_for_it_and_then_done(
    workspace: Sandbox, alice: Colleague, text: str
) -> None:
    refused = await alice.says(text)
    if not is_problem(refused.blocks):
        await alice.clicks(refused, "Do it")
        refused = await alice.sees_problem("ticket")
    assert "a ticket such as SUP-123" in alice.slack_text(refused)
    assert all(call.method == "GET" for call in workspace.services.rules.calls())

    await alice.clicks(refused, "Give the reason…", opens="Why")
    alice.fills(Why="sup-1, they called")
    await alice.submits()
    assert "a ticket such as SUP-123" in str(alice.modal), "the form stays"
    alice.fills(Why="SUP-123 they called")
    assert await alice.submits() == {}

    card = await alice.sees_change(where=lambda change: change.request.reason == "SUP-123 they called")
    assert "<https://tickets.example.com/SUP-123|open>" in str(card.blocks)
    found = await alice.says("/gatehouse audit sup-123")
    assert not is_problem(found.blocks)
    assert "they called" in alice.slack_text(found)


@pytest.mark.policy(TICKETS)
async def test_a_form_stays_until_its_reason_is_one(alice: Colleague) -> None:
    await alice.clicks(await alice.says(f"/rules show {OLD}"), "Edit…", opens="Name")
    alice.fills(Name="Older shop")
    await alice.submits()
    assert "a ticket such as SUP-123" in str(alice.modal)
    alice.fills(Why="SUP-7")
    assert await alice.submits() == {}
    await alice.sees_change(of="Older shop")


NOTIFIED: Final = """
[roles.leads]
users = ["U0CARA001"]
may = ["*"]

[roles.team]
channels = ["C0OPS0001"]
may = ["*"]

[[guards]]
operation = "rule.*"
guard = "approve"
approvers = ["leads"]
notify = {}
"""


@pytest.mark.threat("A17")
@pytest.mark.parametrize(
    "mentioned",
    [
        pytest.param((), marks=pytest.mark.policy(NOTIFIED.format("[]"))),
        pytest.param(("S0ONCALL", "U0BOB0001"), marks=pytest.mark.policy(NOTIFIED.format('["S0ONCALL", "U0BOB0001"]'))),
    ],
)
async def test_who_is_told_is_not_who_may_decide(alice: Colleague, cara: Colleague, mentioned: tuple[str, ...]) -> None:
    await alice.says(f"/rules off {OLD}")
    card = await alice.sees_change(of=OLD, state=State.PROPOSED)

    change = await alice.change_of(card)
    assert change.decision.summoned == mentioned
    assert "role leads" in alice.slack_text(card)
    assert all(mention(each) in str(card.blocks) for each in mentioned)
    await cara.clicks(card, "Approve")
    await alice.sees_change(of=OLD)
