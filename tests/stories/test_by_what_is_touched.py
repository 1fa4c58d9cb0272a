"""The recipes that decide by what is touched, each as a story."""

from __future__ import annotations

from typing import Final

import pytest

from bot.changes.model.states import State
from handlers.explain.table import is_problem
from sandbox.demo import Sandbox
from sandbox.slack.people import UserGroup
from tests.conftest import OPS, SUPPORT
from tests.harness.colleague import Colleague
from tests.harness.looking import open_details
from tests.policy.test_cookbook import RECIPES

AT_CHECKOUT: Final = "https://checkout.example.com/pay"


@pytest.mark.threat("A15")
@pytest.mark.policy(RECIPES["Checkout needs the payments team"]["toml"])
async def test_checkout_needs_the_payments_team(workspace: Sandbox, alice: Colleague, cara: Colleague) -> None:
    workspace.slack.state.groups["S0PAYMENT"] = UserGroup("S0PAYMENT", "payments", "Payments", (cara.id,))
    await alice.does("/rules make redirect https://shop.example.com/x to https://shop.example.com/y named Mine")
    await alice.sees_change(of="Mine")

    await alice.does(f'/rules make redirect {AT_CHECKOUT} to https://shop.example.com/y named "Pay"')
    card = await alice.sees_change(of="Pay", state=State.PROPOSED)
    await cara.clicks(card, "Approve")
    await alice.sees_change(of="Pay")

    for text, name in (
        ("/rules set Pay source=https://shop.example.com/pay", "Pay"),
        (f"/rules set Mine source={AT_CHECKOUT}", "Mine"),
        ("/rules set Mine operator=Contains", "Mine"),
        ("/rules group off Sales campaigns", "Sales campaigns"),
    ):
        await alice.does(text)
        card = await alice.sees_change(of=name, state=State.PROPOSED)
        assert (await alice.change_of(card)).decision.approvers == ("payments",)
        await alice.clicks(card, "Approve")
        await alice.sees_problem()
        await alice.clicks(card, "Withdraw")
        await alice.sees_change(of=name, state=State.CANCELLED)


@pytest.mark.policy(RECIPES["Marketing may plan campaign redirects below its host"]["toml"])
async def test_marketing_plans_below_its_host(workspace: Sandbox, alice: Colleague) -> None:
    bob = Colleague(workspace, "U0BOB0001", OPS)
    workspace.slack.state.groups["S0MARKET1"] = UserGroup("S0MARKET1", "marketing", "Marketing", (bob.id,))
    campaign = "https://campaign.example.com/xmas to https://shop.example.com/xmas"
    await bob.does(f"/rules make redirect {campaign} named Xmas tomorrow 0:00")
    await alice.clicks(await bob.sees_change(of="Xmas", state=State.PROPOSED), "Approve")
    await bob.sees_change(of="Xmas", state=State.PLANNED)

    for source in ("https://shop.example.com/a", "https://campaign.example.com.evil.example/a"):
        answer = await bob.says(f"/rules make redirect {source} to https://shop.example.com/b named Else")
        if not is_problem(answer.blocks):
            await bob.clicks(answer, "Do it")
        assert "not for everything" in bob.slack_text(await bob.sees_problem())


@pytest.mark.policy(RECIPES["Staff needs a ticket and a lead"]["toml"])
async def test_staff_needs_a_ticket_and_a_lead(workspace: Sandbox, cara: Colleague) -> None:
    bob = Colleague(workspace, "U0BOB0001", SUPPORT)
    workspace.slack.state.groups["S0SUPPORT"] = UserGroup("S0SUPPORT", "support", "Support", (bob.id,))
    await bob.does("/members grant anna.berg@example.com beta")
    await bob.sees_change(of="anna.berg")

    asked = await bob.is_refused("/members grant anna.berg@example.com staff")
    await bob.clicks(asked, "Give the reason…", opens="Why")
    bob.fills(Why="SUP-123")
    assert await bob.submits() == {}
    card = await bob.sees_change(of="anna.berg", state=State.PROPOSED)
    await open_details(cara, card)
    await cara.clicks(card, "v1.decide.approve")
    await bob.sees_change(of="anna.berg", where=lambda change: change.request.reason_url.endswith("SUP-123"))
