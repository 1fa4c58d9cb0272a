"""A time that can't be read, typed into any form that asks for one, is never taken for now or for good."""

from __future__ import annotations

import pytest

from bot.changes.model.states import State
from sandbox.demo import Sandbox
from tests.harness.colleague import Colleague
from tests.harness.truth import all_changes

TIMES = ("Start", "Until")
FORMS = (
    "/rules new https://shop.example.com/a to https://shop.example.com/b",
    "/rules edit Redirect_x1old",
    "/rules copy Redirect_x1old",
    "/members add nia@example.com",
    "/members edit anna.berg@example.com",
)
"""Those for which nothing has to be chosen before they are sent."""


@pytest.mark.parametrize("text", FORMS)
async def test_a_time_that_can_not_be_read_is_refused_at_its_input(
    workspace: Sandbox, alice: Colleague, text: str
) -> None:
    view = await alice.opens(text)
    if "[More options]" in alice.form:
        await alice.clicks(view, "More options", opens="Start")
    assert alice.modal is not None
    asked = {block["label"]["text"] for block in alice.modal["blocks"] if block["type"] == "input"} & {*TIMES}
    assert "Start" in asked
    alice.fills(Name="Another name", **dict.fromkeys(asked, "whenever"))

    assert (await alice.submits()).keys() == asked

    assert await all_changes(workspace.bot.gatehouse.store) == []


@pytest.mark.parametrize("text", FORMS)
@pytest.mark.parametrize("start", ["2020-01-01 9:00", "2099-01-01 9:00"])
async def test_a_time_that_can_not_be_used_costs_nothing_else_that_was_typed(
    workspace: Sandbox, alice: Colleague, text: str, start: str
) -> None:
    view = await alice.opens(text)
    if "[More options]" in alice.form:
        await alice.clicks(view, "More options", opens="Start")
    alice.fills(Name="Another name", Start=start, Why="The summer is over")

    await alice.submits()
    if "Not saved yet" in alice.form:  # a copy looks like the rule that it was copied from
        await alice.submits()

    await alice.sees_form("What you typed is kept")
    assert "Nothing was changed" in alice.form
    assert await all_changes(workspace.bot.gatehouse.store) == []
    alice.typed.clear()
    alice.fills(Start="in 2h")
    assert await alice.submits() == {}
    card = await alice.sees_change(of="Another name", state=State.PLANNED)
    assert (await alice.change_of(card)).request.reason == "The summer is over"
