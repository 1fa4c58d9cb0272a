"""A form that passes its checks closes at once; what is refused after that comes back privately, with all that was typed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from handlers.errors import FormForgotten
from handlers.slack.forms import open_again
from handlers.slack.registry import Click
from handlers.slack.reply import Caller
from sandbox.demo import Sandbox
from sandbox.slack.delivery import Ack, Delivery
from sandbox.slack.message import Message
from tests.conftest import Clock
from tests.harness.colleague import Colleague
from tests.harness.held_service import Held

OLD = "Redirect_x1old"
ANNA = "anna.berg@example.com"
PATIENT = pytest.mark.parametrize("form_timeout", [60.0])
"""However loaded this machine is, forms are acknowledged with what they come to."""
AT_ONCE = pytest.mark.parametrize("form_timeout", [0.0])


async def refused(workspace: Sandbox, alice: Colleague) -> Message:
    """What Alice is told of an edit that the service refuses after its form has closed."""
    await alice.opens(f"/rules edit {OLD}")
    alice.fills(Name="Spring", Why="The summer is over")
    workspace.services.rules.stage.faults.add("refused_200", method="PUT")
    assert await alice.submits() == {}
    assert alice.modal is None
    return await alice.sees("Rule Payload is invalid")


@PATIENT
async def test_a_refusal_comes_privately_with_a_button_that_opens_the_form_as_it_was_sent(
    workspace: Sandbox, alice: Colleague
) -> None:
    told = await refused(workspace, alice)

    assert told.visible_to == alice.id
    await alice.clicks(told, "Open the form again…", opens="Rule Payload is invalid")
    assert "Spring" in alice.form
    assert "The summer is over" in alice.form
    assert await alice.submits() == {}
    card = await alice.sees_change(of="Spring")
    assert card.visible_to is None
    assert (workspace.services.rules.get(OLD) or {})["name"] == "Spring"


@PATIENT
async def test_a_refused_form_is_kept_for_a_day(workspace: Sandbox, alice: Colleague, clock: Clock) -> None:
    told = await refused(workspace, alice)
    clock.ahead += timedelta(hours=27)

    await alice.clicks(told, "Open the form again…")

    assert (await alice.sees("no longer kept")).visible_to == alice.id
    assert alice.modal is None


@PATIENT
async def test_a_refused_form_is_opened_for_nobody_else(workspace: Sandbox, alice: Colleague, bob: Colleague) -> None:
    told = await refused(workspace, alice)
    button = next(block["elements"][0] for block in told.blocks if block["type"] == "actions")
    click = Click("form.again", button["value"])

    await open_again(click, Caller(alice.id, alice.channel, "request"), workspace.bot.gatehouse)
    with pytest.raises(FormForgotten):
        await open_again(click, Caller(bob.id, bob.channel, "request"), workspace.bot.gatehouse)


@AT_ONCE
async def test_a_form_whose_checks_take_long_says_so_and_then_how_it_ended(
    workspace: Sandbox, alice: Colleague
) -> None:
    await alice.opens(f"/rules edit {OLD}")
    alice.fills(Name="Spring")
    workspace.services.rules.stage.faults = service = Held()

    assert await alice.submits() == {}
    assert "Saving" in alice.form
    service.free.set()

    await alice.sees_form("“Spring” saved")


@AT_ONCE
async def test_an_end_that_overtakes_the_acknowledgement_is_drawn_again(
    workspace: Sandbox, alice: Colleague, monkeypatch: pytest.MonkeyPatch
) -> None:
    overtaken, send = asyncio.Event(), Delivery.send_interaction

    async def arrives_late(delivery: Delivery, what: str, payload: Mapping[str, Any]) -> Ack:
        ack = await send(delivery, what, payload)
        await overtaken.wait()
        return ack

    await alice.opens(f"/rules edit {OLD}")
    alice.fills(Name="Spring")
    monkeypatch.setattr(Delivery, "send_interaction", arrives_late)
    submitted = asyncio.create_task(alice.submits())
    await alice.sees_form("“Spring” saved")
    overtaken.set()
    assert await submitted == {}
    assert "Saving" in alice.form

    await alice.sees_form("“Spring” saved")


@AT_ONCE
async def test_whoever_closes_a_form_while_it_is_checked_gets_it_back_with_what_is_wrong(
    workspace: Sandbox, bob: Colleague
) -> None:
    await bob.opens(f"/members add {ANNA}")
    bob.fills(Name="Anna again")
    workspace.services.members.stage.faults = service = Held()

    assert await bob.submits() == {}
    view = bob.modal
    assert view is not None
    bob.slack.acting.close(bob.id, view["id"], clear=True)
    service.free.set()

    told = await bob.sees("already a member")
    assert told.visible_to == bob.id
    await bob.clicks(told, "Open the form again…", opens="already a member")
    assert "Anna again" in bob.form
