"""A rule that a channel wants to have at hand is posted and pinned, with its secrets cut out, and says of when it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from handlers.explain.table import is_problem
from sandbox.demo import Sandbox
from sandbox.slack.message import Message
from tests.conftest import OPS, until
from tests.harness.colleague import Colleague

OLD = "Redirect_x1old"


async def pinned(workspace: Sandbox, person: Colleague, text: str) -> Message:
    """The one message that is pinned after *text*."""

    def look() -> Message | None:
        found = [one for one in workspace.slack.state.messages if one.pinned is not None and not one.deleted]
        return found[0] if len(found) == 1 else None

    await person.types(text)
    return await person._waits(look, "a pinned message")


async def test_a_rule_is_posted_for_all_and_pinned(workspace: Sandbox, alice: Colleague, bob: Colleague) -> None:
    message = await pinned(workspace, alice, f"/rules pin {OLD}")

    assert (message.channel, message.visible_to) == (OPS, None)
    assert "Old shop to new shop" in alice.slack_text(message)
    assert "As of" in alice.slack_text(message)
    await alice.clicks(message, "v1.run.privately")
    assert (await alice.sees("Switch off")).visible_to == alice.id


async def test_a_rule_that_is_pinned_again_has_one_pin_that_shows_it_as_it_is_now(
    workspace: Sandbox, alice: Colleague, bob: Colleague
) -> None:
    first = await pinned(workspace, alice, f"/rules pin {OLD}")
    other = await alice.says("/rules pin Redirect_chk01")
    await until(lambda: other.pinned is not None)
    await alice.says(f"/rules off {OLD}")
    await alice.sees_change(of=OLD)

    again = await alice.says(f"/rules pin {OLD}")

    await until(lambda: first.pinned is None)
    assert again.pinned is not None
    assert "Off" in alice.slack_text(again)
    assert other.pinned is not None, "another rule keeps its pin"


@pytest.mark.parametrize("code", ["missing_scope", "too_many_pins", "fatal_error"])
async def test_what_slack_does_not_pin_is_posted_and_said(workspace: Sandbox, alice: Colleague, code: str) -> None:
    workspace.slack.faults.add(code, method="pins.add", times=1)
    await alice.types(f"/rules pin {OLD}")

    refusal = await alice.sees(code)
    assert refusal.visible_to == alice.id
    assert is_problem(refusal.blocks)
    assert any("Old shop to new shop" in alice.slack_text(card) for card in alice.cards)


async def test_nothing_is_pinned_where_others_read_along(workspace: Sandbox, alice: Colleague) -> None:
    channels = workspace.slack.state.channels
    channels[OPS] = replace(channels[OPS], is_ext_shared=True)
    await alice.is_refused(f"/rules pin {OLD}")
    assert alice.cards == []
